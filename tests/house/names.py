"""Whether names can be found: how many functions and types share theirs with other files.

A function's name is searched by grep and "go to symbol", so underscores in front do not tell two
apart. Methods are left out, since those of one protocol share their names by right; so do the four
functions of a decider. As a program, it prints the figures and the names that most files share.

python -m tests.house.names
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tests.house.ceiling import modules

SOURCES: Final = ("preflights_es", "cli/preflights_cli")
FILES_MAX: Final = 3
BY_RIGHT: Final = frozenset(("decide", "evolve", "view", "initial"))
SHOWN: Final = 30
DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def names_by_file(paths: list[Path], *kinds: type[ast.AST]) -> dict[Path, list[str]]:
    """Names of top-level definitions of these kinds, without underscores in front."""
    found = {}
    for path in paths:
        found[path] = [name.lstrip("_") for kind, name in _definitions(path) if kind in kinds]
    return found


@cache
def _definitions(path: Path) -> list[tuple[type[ast.AST], str]]:
    top = ast.parse(path.read_text("utf-8")).body
    return [(type(node), node.name) for node in top if isinstance(node, DEFINITIONS)]


def files_of_names(names: Mapping[Path, list[str]]) -> Counter[str]:
    """In how many files each name is defined."""
    return Counter(name for defined in names.values() for name in set(defined))


def name_figures(paths: list[Path] | None = None) -> dict[str, float]:
    """Shares of functions, in percent, and a count of types, by the names of the ceiling."""
    paths = modules(*SOURCES) if paths is None else paths
    by_file = names_by_file(paths, ast.FunctionDef, ast.AsyncFunctionDef)
    files = files_of_names(by_file)
    functions = [name for defined in by_file.values() for name in defined if name not in BY_RIGHT]
    types = files_of_names(names_by_file(paths, ast.ClassDef))
    shared = sum(files[name] > FILES_MAX for name in functions)
    of_one_word = sum("_" not in name for name in functions)
    return {
        "functions_of_shared_names": round(100 * shared / len(functions), 1),
        "functions_of_one_word": round(100 * of_one_word / len(functions), 1),
        "ambiguous_types": sum(count > 1 for count in types.values()),
    }


if __name__ == "__main__":
    for figure, number in name_figures().items():
        print(f"{figure}: {number}")
    ours = modules(*SOURCES)
    for kinds in ((ast.FunctionDef, ast.AsyncFunctionDef), (ast.ClassDef,)):
        for name, count in files_of_names(names_by_file(ours, *kinds)).most_common(SHOWN):
            print(f"{count:3} files  {name}")
