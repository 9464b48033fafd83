"""The picture of the rooms in docs/architecture.md; as a program, it draws it anew.

python -m tests.house.picture
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Collection
from string import ascii_lowercase
from typing import Final

import grimp

from tests.house.generated import rewrite
from tests.markdown import ROOT

PAGE: Final = "docs/architecture.md"
NAME: Final = "rooms"
WIDTH: Final = 130  # columns
FRAME: Final = "preflights_cli"
FEATURES: Final = "preflights_es.features"


def rooms() -> list[str]:
    """The modules of the rooms, from the top down, as the contract on layers says."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    testing, features, *below = (
        f"preflights_es.{one}" for row in layers for one in row.split(" | ")
    )
    return [testing, features, FRAME, *below]


def features() -> list[str]:
    """The modules of the features."""
    folders = (ROOT / "preflights_es" / "features").iterdir()
    return sorted(f"{FEATURES}.{one.name}" for one in folders if (one / "__init__.py").is_file())


def drawn() -> str:
    """A row for each room: a letter for each room that it imports; then the features."""
    graph = grimp.build_graph("preflights_es", FRAME, cache_dir=None)
    letters = dict(zip(rooms(), ascii_lowercase, strict=False))
    imports = {room: _imported(graph, room, letters) for room in rooms()}
    rows = [f"{'room':17}   it imports"]
    for room, letter in letters.items():
        marks = " ".join(letters[one] if one in imports[room] else "·" for one in letters)
        rows.append(f"{letter} {_short(room):15}   {marks}   {_purpose(room)}")
    rows += ["", f"{'feature':17}   other features that it imports"]
    for one in features():
        others = ", ".join(map(_short, sorted(_imported(graph, one, features()))))
        rows.append(f"  {_short(one):15}   {others or '·':20}   {_purpose(one)}")
    assert max(map(len, rows)) <= WIDTH, max(rows, key=len)
    return "".join(f"    {row}".rstrip() + "\n" for row in rows)


def _imported(graph: grimp.ImportGraph, module: str, others: Collection[str]) -> set[str]:
    """Which of the others a room or feature imports."""
    return {
        other
        for within in (module, *graph.find_descendants(module))
        for one in graph.find_modules_directly_imported_by(within)
        for other in others
        if other != module and f"{one}.".startswith(f"{other}.")
    }


def _short(module: str) -> str:
    return module.rpartition(".")[2]


def _folder(module: str) -> str:
    folder = module.replace(".", "/")
    return f"cli/{folder}" if module == FRAME else folder


def _purpose(module: str) -> str:
    """The first line of its docstring."""
    text = (ROOT / _folder(module) / "__init__.py").read_text("utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].removesuffix(".")


def main() -> None:
    """Draw the picture anew."""
    rewrite(PAGE, NAME, drawn())


if __name__ == "__main__":
    main()
