"""A check of the tests: each mutant is a small error in the kernel, which its tests have to find.

python -m tests.house.mutants [--count 300] [--jobs 2] [--seed 1]

A mutant changes one place of a module, in a copy of the repository. A process with the libraries
imported forks for each, and runs the tests of the module until one fails. It shows those that live.
No text for people, annotation, declaration of a class or `assert` of the impossible is changed.
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
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Final

import pytest

from tests.markdown import ROOT

KILLED_MIN: Final = 0.9  # of the mutants
CPU_S: Final = 20  # that the tests of one mutant may take of a processor

LAWS: Final = ("history/test_erasure", "history/test_replayer", "test_laws")
CHAIN: Final = ("store/test_chain", "store/test_specification", "store/test_erasing")
LOST: Final = ("runtime/test_performer", "runtime/test_lost_calls")
MADE: Final = ("history/test_redacted_responses", "providers/test_in_a_session")
SUBJECTS: Final = {
    "preflights_es/kernel/session.py": (
        *("kernel/test_session", "house/test_smallest_workflow", "cli/test_plain_display"),
        *("runtime/test_runner", *LAWS),
    ),
    "preflights_es/runtime/runner.py": ("runtime/test_runner", "kernel/test_session", *LOST, *LAWS),
    "preflights_es/runtime/performer.py": (*LOST, "runtime/test_runner", *MADE),
    "preflights_es/store/stored_events.py": (
        *CHAIN,
        "store/test_codec",
        "runtime/test_runner",
        *LAWS,
    ),
}
"""The modules that are changed, and the tests of each: first those that are fast and find most."""
OPTIONS: Final = (
    *("-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-m", "not slow and not live", "-k", "not postgresql", "--hypothesis-profile=few"),
)
LIBRARIES: Final = ("alembic", "hypothesis", "msgspec", "pdb", "psycopg", "pydantic", "trio")

# 1. What is changed --------------------------------------------------------------------------

PAIRS: Final = (
    *((ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Lt, ast.LtE)),
    *((ast.Gt, ast.GtE), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv)),
)
SWAPPED: Final[dict[type, type]] = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
ADDED: Final[dict[type, Any]] = {int: 1, float: 1, str: "x", bytes: b"x"}
SILENT: Final = ("annotation", "returns", "decorator_list")  # say nothing of what is done
Node = ast.expr | ast.stmt
Mutant = tuple[str, str]  # the path of a module, and its text with one change


def mutants(subject: str) -> list[Mutant]:
    """All of a module, from its outer nodes to its inner ones."""
    source = (ROOT / subject).read_bytes()
    ends = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    found: dict[bytes, None] = {}
    for node, new in chain.from_iterable(map(_changes, _nodes(ast.parse(source)))):
        start = ends[node.lineno - 1] + node.col_offset
        end = ends[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        found[source[:start] + new.encode() + source[end:]] = None
    return [(subject, text.decode()) for text in found if text != source]


def _nodes(node: ast.AST) -> Iterator[Node]:
    match node:
        case ast.JoinedStr() | ast.Expr(value=ast.Constant()) | ast.Call(func=ast.Name("TypeVar")):
            return
        case ast.Assert() | ast.If(test=ast.Name("TYPE_CHECKING")):
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
        case ast.Assign(targets=[ast.Name()]):
            return
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Continue():
            yield node, "pass"
        case ast.Return(value=ast.expr()):
            yield node, "return None"
        case ast.Constant(value=bool() as value):
            yield node, repr(not value)
        case ast.Constant(value=value) if type(value) in ADDED and " " not in str(value):
            yield node, repr(value + ADDED[type(value)])
        case ast.Compare(ops=[op]) | ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in SWAPPED:
            new = SWAPPED[type(op)]()
            yield node, _text(node, **({"op": new} if hasattr(node, "op") else {"ops": [new]}))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, _text(operand)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Compare | ast.UnaryOp):  # which have a case of their own
                yield test, f"(not {_text(test)})"


def _text(node: ast.expr, **fields: object) -> str:
    return f"({ast.unparse(type(node)(**vars(node) | fields))})"


# 2. Whether tests find it --------------------------------------------------------------------


def living(drawn: Sequence[Mutant], copies: Sequence[Path]) -> int:
    """How many no test finds; as many are tried at once as there are copies."""
    found, waiting, free = 0, list(enumerate(drawn, 1)), list(copies)
    running: dict[int, tuple[Path, Mutant]] = {}
    while waiting or running:
        if waiting and free:
            (number, mutant), copy = waiting.pop(0), free.pop()
            (copy / mutant[0]).write_text(mutant[1], "utf-8")
            # What Python compiled is taken again by time in seconds and size: each has its time.
            os.utime(copy / mutant[0], (number, number))
            running[_started(copy, SUBJECTS[mutant[0]])] = copy, mutant
            continue
        pid, status = os.wait()
        copy, mutant = running.pop(pid)
        free.append(copy)
        shutil.copy2(ROOT / mutant[0], copy / mutant[0])
        if status == 0:
            found += 1
            print(f"\r{_shown(*mutant)}")
        done = len(drawn) - len(waiting) - len(running)
        print(f"\r{done} of {len(drawn)}, {found} live", end=" ", flush=True)
    print()
    return found


def _shown(subject: str, text: str) -> str:
    old = (ROOT / subject).read_text("utf-8")
    diff = difflib.unified_diff(old.splitlines(), text.splitlines(), n=0, lineterm="")
    return "\n    ".join((subject, *list(diff)[2:]))


def _started(copy: Path, tests: Sequence[str]) -> int:
    """The id of a process that runs tests in a copy; its code is 0 where all pass."""
    if pid := os.fork():
        return pid
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    for said in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), said)
    os.chdir(copy)
    # pytest puts the folders of the copy there, and imports what is ours from them.
    sys.path[:] = [one for one in sys.path if Path(one).resolve() not in (ROOT, ROOT / "cli")]
    for name in [name for name in sys.modules if name.startswith(("preflights_", "tests"))]:
        del sys.modules[name]
    try:
        os._exit(any(pytest.main([*OPTIONS, f"tests/{test}.py"]) for test in tests))
    finally:
        os._exit(1)


def main() -> None:
    said = argparse.ArgumentParser()
    for name, default in (("--count", 300), ("--jobs", 2), ("--seed", 1)):
        said.add_argument(name, type=int, default=default)
    options = said.parse_args()
    sys.dont_write_bytecode = False
    os.environ["CI"] = "1"  # hypothesis draws the same examples each time
    for name in LIBRARIES:
        importlib.import_module(name)
    every = [mutant for subject in SUBJECTS for mutant in mutants(subject)]
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder) / str(number) for number in range(options.jobs)]
        for copy in copies:
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*"))
        unchanged = [(subject, (ROOT / subject).read_text()) for subject in SUBJECTS]
        if living(unchanged, copies) < len(unchanged):
            sys.exit("tests fail without a change")
        killed = len(drawn) - living(drawn, copies)
    print(f"{killed} of {len(drawn)} killed in {time.monotonic() - began:.0f} s, of {len(every)}")
    sys.exit(killed < KILLED_MIN * len(drawn))


if __name__ == "__main__":
    main()
