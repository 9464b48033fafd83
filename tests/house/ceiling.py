"""How large the project is, and may become; as a program, it writes what stands.

python -m tests.house.ceiling
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import click

from preflights_cli.commands import commands
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from tests.markdown import ROOT

FILE: Final = Path(__file__).with_name("ceiling.toml")
HEAD: Final = """\
# The ceiling of the whole project; 2 % above it is slack. A number falls with what goes, and rises
# in a commit that says why. `code` counts no blank line, docstring, comment or import; an option
# counts once for each command that has it, and not where every command has it.
"""
SLACK: Final = 1.02
SOURCES: Final = ("preflights_es", "cli/preflights_cli", "alembic")
KB: Final = 1024
EVERYWHERE: Final = frozenset(("as_json", "debug", "quiet", "verbose", "db", "who"))


def modules(*folders: str) -> list[Path]:
    """The modules of some folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def line_count(paths: list[Path]) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in paths)


def code_line_count(path: Path) -> int:
    """Lines that are code: no blank ones, docstrings, comments and imports."""
    text = path.read_text("utf-8")
    stripped = enumerate(map(str.strip, text.splitlines()), 1)
    lines = {number for number, line in stripped if line and not line.startswith("#")}
    left_out = set[int]()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                left_out.update(_lines_of(node))
            case ast.JoinedStr() | ast.Constant(value=str() | bytes()):
                lines.update(_lines_of(node))  # also those that are blank or begin with a #
    return len(lines - left_out)


def _lines_of(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def data_kb() -> int:
    """What the program ships beside modules."""
    files = (one for folder in SOURCES for one in (ROOT / folder).rglob("*"))
    shipped = (one for one in files if one.suffix != ".py" and "__pycache__" not in one.parts)
    sizes = (one.stat().st_size for one in shipped if one.is_file())
    return math.ceil(sum(sizes) / KB)


def options() -> Iterator[tuple[str, str]]:
    """Pairs of a command and one of its options, but for those that every command has."""
    for name in commands():
        module, _, function = commands()[name][0].partition(":")
        for parameter in getattr(import_module(module), function).params:
            if isinstance(parameter, click.Option) and parameter.name not in EVERYWHERE:
                yield name, parameter.opts[0]


def event_classes() -> set[type]:
    """Classes of events that a log of ours may hold; tests bring workflows of their own."""
    ours = (name for name, one in FEATURES.items() if one.workflow)
    names = [name for name in ours if not FEATURES.is_foreign(name)]
    return {cls for name in names for cls in WORKFLOWS[name].decider.events}


def found() -> dict[str, int]:
    """What stands, by the names of the file."""
    paths = modules(*SOURCES)
    benchmark_lines = line_count(modules("tests/benchmarks"))
    return {
        "lines": line_count(paths),
        "code": sum(map(code_line_count, paths)),
        "modules": len(paths),
        "data_kb": data_kb(),
        "commands": len(commands()),
        "options": sum(1 for _ in options()),
        "event_classes": len(event_classes()),
        "test_lines": line_count(modules("tests")) - benchmark_lines,
        "benchmark_lines": benchmark_lines,
    }


if __name__ == "__main__":
    FILE.write_text(HEAD + "".join(f"{name} = {number}\n" for name, number in found().items()))
