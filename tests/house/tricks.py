"""Tricks that save a line and cost a reader a look.

A text or number times a condition, a literal that is unpacked where it stands, the length of a
literal, and a call with more than four arguments of which none says what it is.

python -m tests.house.tricks
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
    trees = {path: ast.parse(path.read_text("utf-8")) for path in paths}
    variadic = {name for tree in trees.values() for name in _variadic_functions(tree)}
    return [
        f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}:{line}: {trick}"
        for path, tree in trees.items()
        for line, trick in sorted(_tricks_of(tree, variadic | LIBRARY.keys()))
    ]


def _variadic_functions(tree: ast.Module) -> Iterator[str]:
    """Functions that take any number of positions, as words of a command are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.args.vararg:
            yield node.name


def _tricks_of(tree: ast.Module, takes_positions: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                if _is_condition(left) or _is_condition(right):
                    yield node.lineno, "a condition is multiplied: write `a if b else c`"
            case ast.Starred(value=ast.Tuple() | ast.List()):
                yield node.lineno, "a literal is unpacked: write its parts"
            case ast.Call(func=ast.Name("len"), args=[ast.Constant() | ast.Tuple() | ast.List()]):
                yield node.lineno, "the length of a literal: give the number a name"
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=args):
                if len(args) > POSITIONAL_MAX and name not in takes_positions:
                    yield node.lineno, f"{name} takes {len(args)} positions: name arguments"


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
