"""Tricks that save a line and cost a reader a look.

A text or number times a condition, a literal that is unpacked where it stands, the length of a
literal, and a call with more than four arguments of which none says what it is.

python -m tests.house.tricks
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

from tests.house.ceiling import modules
from tests.markdown import ROOT

SOURCES: Final = ("preflights_es", "cli/preflights_cli")
POSITIONAL_MAX: Final = 4
LIBRARY: Final = {
    "select": "SQLAlchemy: columns, any number of them",
    "Table": "SQLAlchemy: a name, the metadata, and any number of columns",
    "partial": "functools: it hands positions on; what it calls is checked by its own name",
}
_CONDITIONS: Final = ("any", "all", "bool", "callable", "hasattr", "isinstance", "issubclass")


def find_tricks(paths: list[Path] | None = None) -> list[str]:
    """Place and name of each, in the order of the files."""
    paths = modules(*SOURCES) if paths is None else paths
    tricks: list[tuple[Path, int, str]] = []
    calls: list[tuple[Path, int, str, int]] = []
    takes_positions = {*LIBRARY}
    for path in paths:  # no tree is kept: all of them take hundreds of megabytes
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() if node.args.vararg:
                    takes_positions.add(node.name)  # any number of them, as words of a command
                case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=args):
                    calls.append((path, node.lineno, name, len(args)))
            if isinstance(node, ast.expr) and (trick := _trick(node)):
                tricks.append((path, node.lineno, trick))
    tricks += [
        (path, line, f"{name} takes {count} positions: name arguments")
        for path, line, name, count in calls
        if count > POSITIONAL_MAX and name not in takes_positions
    ]
    return [
        f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}:{line}: {trick}"
        for path, line, trick in sorted(tricks)
    ]


def _trick(node: ast.expr) -> str:
    match node:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            if _is_condition(left) or _is_condition(right):
                return "a condition is multiplied: write `a if b else c`"
        case ast.Starred(value=ast.Tuple() | ast.List()):
            return "a literal is unpacked: write its parts"
        case ast.Call(func=ast.Name("len"), args=[ast.Constant() | ast.Tuple() | ast.List()]):
            return "the length of a literal: give the number a name"
    return ""


def _is_condition(node: ast.expr) -> bool:
    """Also a local that is called like one: `is_folder`."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(map(_is_condition, values))
        case ast.Call(func=ast.Name(name)):
            return name in _CONDITIONS
        case ast.Name(name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(name)):
            return isinstance(name, str) and name.startswith(("is_", "has_"))
        case _:
            return False


if __name__ == "__main__":
    print(*find_tricks(), sep="\n")
