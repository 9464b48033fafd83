"""What the reference reads in the goal of a refactoring: files, symbols and layers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from preflights_es.features.compiler.domain.checks import why_no_path
from preflights_es.features.compiler.domain.reading import SUFFIX

OPERATIONS_MAX: Final = 5  # of one goal
_QUOTES: Final = "`'\"\u201c\u201d\u2018\u2019\u00ab\u00bb()[]<>{},;:!?"
_RENAME: Final = re.compile(
    r"\brename\s+(?:the\s+)?(?:\w+\s+)?(\S+)\s+(?:in)?to\s+(\S+)", re.IGNORECASE
)
_SYMBOL: Final = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[a-z]\w*_\w+|\w+(?=\(\)$)")
_PATH: Final = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+/?|[\w-]+\.[a-zA-Z]{1,5}")

Operation = dict[str, Any]


def operations(text: str, layout: Sequence[str], layers: Sequence[str]) -> list[Operation]:
    """What is to be done, as far as a text names it; nothing where it names nothing known."""
    words = [bare for word in text.split() if (bare := _bare(word))]
    if any("/" in word and why_no_path(word.removesuffix("/")) for word in words):
        return []
    files = _files(words, layout)
    return (
        _renamed(text, files, layout)
        or _moved(words, files)
        or _symbols(words, files, layout)
        or _extracted(files)
        or _layered(words, layers)
    )[:OPERATIONS_MAX]


def _bare(word: str) -> str:
    return word.strip(_QUOTES).rstrip(f".{_QUOTES}")


def _files(words: Sequence[str], layout: Sequence[str]) -> list[str]:
    """The files of the layout that are named, by their paths or by their names."""
    known = {path: path for path in layout if not why_no_path(path)}
    by_name = {path.rpartition("/")[2]: path for path in reversed(known)}
    found = (known.get(word) or by_name.get(word) for word in words)
    return list(dict.fromkeys(path for path in found if path))


def _renamed(text: str, files: Sequence[str], layout: Sequence[str]) -> list[Operation]:
    found = _RENAME.search(text)
    if found is None:
        return []
    old, new = map(_bare, found.groups())
    if not (old and new):
        return []
    if named := _files([old], layout):
        to_path = new if "/" in new else _beside(named[0], new)
        return [] if why_no_path(to_path) else [_move(named[0], to_path)]
    if _PATH.fullmatch(old):
        return []
    return [{"type": "rename_symbol", "symbol": old, "to": new, **_within(files)}]


def _moved(words: Sequence[str], files: Sequence[str]) -> list[Operation]:
    """Each file that is named goes where the one new path says."""
    new = [w for w in words if "/" in w and _PATH.fullmatch(w) and w not in files]
    if not files or not new:
        return []
    if "." in new[-1].rpartition("/")[2]:
        return [_move(files[0], new[-1])]
    folder = new[-1].rstrip("/")
    return [_move(path, f"{folder}/{path.rpartition('/')[2]}") for path in files]


def _symbols(words: Sequence[str], files: Sequence[str], layout: Sequence[str]) -> list[Operation]:
    names = [w.removesuffix("()") for w in words if _SYMBOL.fullmatch(w.removesuffix("()"))]
    if not names:
        return []
    beside = files[0] if files else next((p for p in layout if p.startswith("src/")), "")
    beside = beside if beside and not why_no_path(beside) else f"src/x{SUFFIX}"
    return [_interface(name, beside) for name in dict.fromkeys(names)]


def _extracted(files: Sequence[str]) -> list[Operation]:
    """An interface for each file that is named and nothing else is said of."""
    return [_interface(_camel(path), path) for path in files]


def _layered(words: Sequence[str], layers: Sequence[str]) -> list[Operation]:
    """A dependency from the first layer that is named to the second, or to another one."""
    known = {layer.casefold(): layer for layer in layers}
    said = (known.get(word.casefold()) for word in words)
    named = list(dict.fromkeys(layer for layer in said if layer))
    if not named:
        return []
    to = next((layer for layer in (*named[1:], *layers) if layer != named[0]), "")
    return [{"type": "enforce_dependency", "from": named[0], "to": to}] if to else []


def _move(path: str, to_path: str) -> Operation:
    return {"type": "move_file", "from_path": path, "to_path": to_path}


def _interface(symbol: str, beside: str) -> Operation:
    stem = "_".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", symbol)).lower() or "shared"
    suffix = "." + beside.rpartition(".")[2] if "." in beside.rpartition("/")[2] else SUFFIX
    to_path = _beside(beside, f"{stem}_interface{suffix}")
    return {"type": "extract_interface", "symbol": symbol, "to_path": to_path}


def _within(files: Sequence[str]) -> Operation:
    return {"from_path": files[0]} if files else {}


def _beside(path: str, name: str) -> str:
    """A path in the folder of another one."""
    head, slash, _ = path.rpartition("/")
    return head + slash + name


def _camel(path: str) -> str:
    stem = path.rpartition("/")[2].partition(".")[0] or "Shared"
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[\W_]+", stem)) or "Shared"
