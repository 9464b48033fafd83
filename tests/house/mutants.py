"""A check of the tests: small errors are put into the kernel, and its tests have to find them.

python -m tests.house.mutants [--count 300] [--jobs 2] [--seed 1]

Each mutant is one changed place of one module, in a copy of the repository. A process that has
imported what tests need of others is forked for each, and runs the tests of that module until one
fails. It prints the mutants that no test finds, and fails where these are more than a tenth. Texts
for people, annotations and what only types are made of are not changed.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.markdown import ROOT

KILLED_MIN: Final = 0.9  # of the mutants
TIME_S: Final = 120  # of the tests of one mutant, which may wait for ever
CPU_S: Final = 30  # of the same, which may turn for ever
MEMORY: Final = 4 * 1024**3  # bytes of the same, which may grow for ever

LAWS: Final = ("tests/history/test_replayer.py", "tests/test_laws.py")
SUBJECTS: Final = {
    "preflights_es/kernel/session.py": (
        "tests/kernel/test_session.py",
        "tests/runtime/test_runner.py",
        *LAWS,
    ),
    "preflights_es/runtime/runner.py": (
        "tests/runtime/test_runner.py",
        "tests/runtime/test_performer.py",
        "tests/runtime/test_lost_calls.py",
        *LAWS,
    ),
    "preflights_es/runtime/performer.py": (
        "tests/runtime/test_performer.py",
        "tests/runtime/test_lost_calls.py",
    ),
    "preflights_es/store/chain.py": (
        "tests/store/test_chain.py",
        "tests/store/test_specification.py",
        *LAWS,
    ),
    "preflights_es/store/codec.py": (
        "tests/store/test_codec.py",
        "tests/runtime/test_runner.py",
        *LAWS,
    ),
}
"""The modules that are changed, and the tests of each, the fastest first."""
OPTIONS: Final = (
    *("-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-m", "not slow and not live", "-k", "not postgresql", "--hypothesis-profile=few"),
)
IMPORTED: Final = (
    "alembic",
    "asyncio",
    "hypothesis",
    "msgspec",
    "psycopg",
    "pydantic",
    "sqlalchemy",
)
"""What takes long to import, before the processes are forked."""
OURS: Final = ("preflights_es", "preflights_cli", "tests")

# 1. What is changed --------------------------------------------------------------------------

PAIRS: Final = (
    *((ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Lt, ast.LtE)),
    *((ast.Gt, ast.GtE), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv)),
)
SWAPPED: Final[dict[type, type]] = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
SILENT: Final = ("annotation", "returns", "decorator_list", "msg")
"""Fields of nodes that say nothing of what is done."""

Node = ast.expr | ast.stmt


class Mutant(NamedTuple):
    """A module in which other bytes stand between two places."""

    path: str
    start: int
    end: int
    new: str

    def text(self) -> str:
        """The module with the change."""
        old = (ROOT / self.path).read_bytes()
        return (old[: self.start] + self.new.encode() + old[self.end :]).decode()

    def shown(self) -> str:
        """Where it is, and the lines that differ."""
        old = (ROOT / self.path).read_text("utf-8")
        diff = difflib.unified_diff(old.splitlines(), self.text().splitlines(), n=0, lineterm="")
        line = old.encode()[: self.start].count(b"\n") + 1
        return "\n    ".join((f"{self.path}:{line}", *list(diff)[3:]))


def mutants(path: str) -> list[Mutant]:
    """All of a module, in the order of its lines."""
    source = (ROOT / path).read_bytes()
    ends = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    found: set[Mutant] = set()
    for node, new in chain.from_iterable(map(_changes, _nodes(ast.parse(source)))):
        start = ends[node.lineno - 1] + node.col_offset
        end = ends[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        if source[start:end] != new.encode():
            found.add(Mutant(path, start, end, new))
    return sorted(found)


def _nodes(node: ast.AST) -> Iterator[Node]:
    match node:
        case ast.JoinedStr() | ast.Expr(value=ast.Constant()) | ast.Call(func=ast.Name("TypeVar")):
            return
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return
        case ast.expr() | ast.stmt():
            yield node
    for name, value in ast.iter_fields(node):
        if name not in SILENT and not (name == "keywords" and isinstance(node, ast.ClassDef)):
            for child in value if isinstance(value, list) else [value]:
                yield from _nodes(child) if isinstance(child, ast.AST) else ()


def _changes(node: Node) -> Iterator[tuple[Node, str]]:
    """A node, or its condition, and what can stand there instead."""
    match node:
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, "pass"
        case ast.Return(value=ast.expr()):
            yield node, "return None"
        case ast.Constant(value=value) if (other := _other(value)) is not None:
            yield node, repr(other)
        case ast.Compare(ops=[op]):
            yield node, _unparsed(node, ops=[SWAPPED[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in SWAPPED:
            yield node, _unparsed(node, op=SWAPPED[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, _unparsed(operand)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Compare | ast.UnaryOp):  # which have a case of their own
                yield test, f"(not ({ast.unparse(test)}))"


def _other(value: object) -> object:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str() if " " not in value:
            return value + "!"
        case bytes():
            return value + b"!"
    return None


def _unparsed(node: ast.expr, **fields: object) -> str:
    return f"({ast.unparse(type(node)(**vars(node) | fields))})"


# 2. Whether tests find it --------------------------------------------------------------------


def survivors(drawn: Sequence[Mutant], copies: Sequence[Path]) -> list[Mutant]:
    """Those that no test finds; as many are tried at once as there are copies."""
    found: list[Mutant] = []
    waiting, free = list(enumerate(drawn, 1)), list(copies)
    running: dict[int, tuple[Path, Mutant]] = {}
    while waiting or running:
        if waiting and free:
            number, mutant = waiting.pop(0)
            copy = free.pop()
            (copy / mutant.path).write_text(mutant.text(), "utf-8")
            # What Python compiled is taken again by time in seconds and size: each has its time.
            os.utime(copy / mutant.path, (number, number))
            running[_started(copy, mutant.path)] = copy, mutant
            continue
        pid, status = os.wait()
        copy, mutant = running.pop(pid)
        shutil.copy2(ROOT / mutant.path, copy / mutant.path)
        free.append(copy)
        found += [mutant] if status == 0 else []
        done = len(drawn) - len(waiting) - len(running)
        print("S" if status == 0 else ".", end="" if done % 60 else f" {done}\n", flush=True)
    print()
    return found


def _started(copy: Path, path: str) -> int:
    """A process that runs the tests of a module in a copy, and ends with the code of pytest."""
    pid = os.fork()
    if pid:
        return pid
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(TIME_S)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(copy)
    # pytest puts the folders of the copy there, and imports what is ours from them.
    sys.path[:] = [one for one in sys.path if Path(one).resolve() not in (ROOT, ROOT / "cli")]
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    code = 99
    try:
        code = pytest.main([*OPTIONS, *SUBJECTS[path]])
    finally:
        os._exit(code)


def main() -> None:
    said = argparse.ArgumentParser()
    said.add_argument("--count", type=int, default=300)
    said.add_argument("--jobs", type=int, default=2)
    said.add_argument("--seed", type=int, default=1)
    options = said.parse_args()
    os.environ["CI"] = "1"  # hypothesis draws the same examples each time
    for name in IMPORTED:
        importlib.import_module(name)
    every = [mutant for path in SUBJECTS for mutant in mutants(path)]
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder) / str(number) for number in range(options.jobs)]
        for copy in copies:
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*"))
        unchanged = [Mutant(path, 0, 0, "") for path in SUBJECTS]
        if failing := {*unchanged} - {*survivors(unchanged, copies)}:
            sys.exit(f"tests fail without a change: {sorted(one.path for one in failing)}")
        found = survivors(drawn, copies)
    for mutant in sorted(found):
        print(mutant.shown())
    rate = 1 - len(found) / len(drawn)
    seconds = time.monotonic() - began
    print(
        f"{len(drawn) - len(found)} of {len(drawn)} killed ({rate:.1%}), in {seconds:.0f} s;",
        end=" ",
    )
    print(f"drawn from {len(every)}")
    sys.exit(rate < KILLED_MIN)


if __name__ == "__main__":
    main()
