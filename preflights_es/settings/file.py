"""The settings file: its shape, how it is found, and where in it something is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.core.errors import SettingsError
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.text import problem
from preflights_es.providers.capabilities import ALIASES, KEY_VARIABLES, REAL
from preflights_es.settings.prices import PriceTable
from preflights_es.system.bounded_read import Unreadable, regular
from preflights_es.workflows.clarification.values import Scope

BITS_MAX: Final = 128  # of a whole number; TOML itself wants 64
FILE: Final = "preflights.toml"
PYPROJECT: Final = "pyproject.toml"
TEXT_MAX: Final = 300  # characters of a name, a question, an option or a folder
FILE_MAX: Final = 1_000_000  # bytes of a settings file
DOTS_MAX: Final = 2_000_000  # steps, see `_table`; a file of 5,000 lines takes some 100,000

# 1. The shape --------------------------------------------------------------------------------


class SecondaryTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    field: str
    id: str


class CategoryTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    keywords: tuple[str, ...] | None = None
    field: str | None = None
    id: str | None = None
    question: str | None = None
    options: tuple[str, ...] | None = None
    scope: Scope | None = None
    secondary: tuple[SecondaryTable, ...] | None = None


class ClarificationTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: str | None = None
    description: str | None = None
    only: tuple[str, ...] | None = None
    menu: tuple[str, ...] | None = None
    categories: dict[str, CategoryTable] = {}


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    project: str | None = None
    database: str | None = None
    decisions: str | None = None
    tasks: str | None = None
    language: str | None = None
    actor: str | None = None
    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api: str | None = None
    timeout_s: float | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    faults: str | None = None
    llm_provider: str | None = msgspec.field(default=None, name="LLM_PROVIDER")
    llm_model: str | None = msgspec.field(default=None, name="LLM_MODEL")
    llm_temperature: float | None = msgspec.field(default=None, name="LLM_TEMPERATURE")
    llm_top_p: float | None = msgspec.field(default=None, name="LLM_TOP_P")
    llm_timeout: float | None = msgspec.field(default=None, name="LLM_TIMEOUT")
    clarification: ClarificationTable | None = None
    prices: tuple[PriceTable, ...] | None = None


class Source(msgspec.Struct, frozen=True):
    """A file, and how to say where in it something is wrong."""

    path: Path
    text: str
    prefix: tuple[str, ...]
    is_own: bool = False
    """Whether it is the user's own file, and not one of the project."""

    @property
    def name(self) -> str:
        """How a message names it: the user's own file with its whole path."""
        return str(self.path) if self.is_own else self.path.name

    def wrong(self, at: tuple[str, ...], found: str) -> SettingsError:
        key = ".".join((*self.prefix, *at)) or "the file"
        line = line_of(self.text, (*self.prefix, *at))
        where = f"{self.name}, line {line}" if line else self.name
        return SettingsError(f"{where}: {key}: {found}")


class Told(NamedTuple):
    """What a file says."""

    source: Source
    table: File


# 2. What a repository's file may say only when a person trusts it ------------------------------

HELD_BACK: Final = ("project", "database", "actor", "provider", "LLM_PROVIDER", "base_url")
"""Where a log lies, who acts, and where a key is used."""

PROVIDERS: Final = ("provider", "LLM_PROVIDER")
"""Of these, only the name of a provider that takes a key needs trust."""


class Key(NamedTuple):
    """A key that a file sets and that needs trust."""

    line: int
    name: str
    value: str


def held_back(told: Told) -> list[Key]:
    """The keys of a file that need trust, in the order of their lines."""
    source, table = told
    values = ((name, getattr(table, name.lower())) for name in HELD_BACK)
    return sorted(
        Key(line_of(source.text, (*source.prefix, name)), name, value)
        for name, value in values
        if value is not None and (name not in PROVIDERS or ALIASES.get(value, value) in REAL)
    )


# 3. Reading ----------------------------------------------------------------------------------


def read(cwd: Path, root: Path) -> Told | None:
    """The nearest settings file between here and the project's root.

    Raises:
        SettingsError: it cannot be read, leads out of the project, or is wrong.
    """
    for folder in (cwd, *cwd.parents):
        for name, prefix in ((FILE, ()), (PYPROJECT, ("tool", "preflights"))):
            path = folder / name
            if (text := _text(path, name, root)) is None or (prefix and "preflights" not in text):
                continue
            source = Source(path, text, prefix)
            found = _table(source)
            if found is not None:
                return Told(source, found)
        if folder == root:
            break
    return None


def own(path: Path) -> Told | None:
    """The user's own file; None where there is none.

    Raises:
        SettingsError: it cannot be read, or is wrong.
    """
    if (text := _text(path, str(path), None)) is None:
        return None
    source = Source(path, text, (), is_own=True)
    found = _table(source)
    return Told(source, found) if found is not None else None


def _text(path: Path, name: str, root: Path | None) -> str | None:
    """What a file holds; None where there is none.

    Args:
        root: a link must not lead out of this folder; None for a file that may lie anywhere.
    """
    try:
        if root is not None and path.is_symlink():
            path = path.resolve()
            if not path.is_relative_to(root.resolve()):
                raise SettingsError(f"{name} is a link that leads out of the project: remove it")
        return regular(path, FILE_MAX).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (Unreadable, UnicodeDecodeError, OSError, RuntimeError) as error:
        raise SettingsError(f"{name} cannot be read: {error}") from error


def _table(source: Source) -> File | None:
    import tomllib

    # The parser's time grows with the square of a key's dots: 40 KB of them are 20 s.
    dots = [line.count(".") for line in source.text.splitlines()] or [0]
    if sum(n * n for n in dots) + max(dots) * len(dots) > DOTS_MAX:
        raise SettingsError(f"{source.name}: has lines with too many dots: shorten them")
    try:
        data: Any = tomllib.loads(source.text)
    except RecursionError as error:
        raise SettingsError(f"{source.name}: is nested too deeply") from error
    except ValueError as error:  # also a number of more digits than Python reads
        raise SettingsError(f"{source.name}: not valid TOML: {error}") from error
    for key in source.prefix:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    if (large := _too_large(data)) is not None:
        raise source.wrong(large, "the number is too large")
    for key in data if isinstance(data, dict) else ():
        if key.lower().endswith(("api_key", "apikey")):
            variables = ", ".join(name for name, _ in KEY_VARIABLES.values())
            raise source.wrong((key,), f"keys do not belong into a file: set one of {variables}")
    try:
        return msgspec.convert(data, File)
    except msgspec.ValidationError as error:
        raise source.wrong(*(_place_of_category(data) or _place(str(error)))) from error


def _too_large(data: Any) -> tuple[str, ...] | None:
    """Where a whole number stands that nothing could hold or show; None where none does."""
    named = data.items() if isinstance(data, dict) else ()
    each = [("", value) for value in data] if isinstance(data, list) else named
    for key, value in each:
        at = (key,) if key else ()
        if isinstance(value, int) and value.bit_length() > BITS_MAX:
            return at
        if (found := _too_large(value)) is not None:
            return (*at, *found)
    return None


def _place_of_category(data: Any) -> tuple[tuple[str, ...], str] | None:
    """Which category is wrong, and where in it: of an entry in a table msgspec names no key."""
    at = ("clarification", "categories")
    for key in at:
        data = data.get(key) if isinstance(data, dict) else None
    for name, given in data.items() if isinstance(data, dict) else ():
        try:
            msgspec.convert(given, CategoryTable)
        except msgspec.ValidationError as error:
            inside, text = _place(str(error))
            return (*at, name, *inside), text
    return None


_PLACE = late_pattern(r" - at `(?:key in )?\$(.*)`$")
_UNKNOWN = late_pattern(r"Object contains unknown field `([^`]*)`")


def _place(message: str) -> tuple[tuple[str, ...], str]:
    """The path of keys in a validation message, and the message without it."""
    found = _PLACE.search(message)
    text = message[: found.start()] if found else message
    path = tuple(re.findall(r"[^.\[\]]+", found.group(1))) if found else ()
    path = tuple(part for part in path if not part.isdigit() and part != "...")
    if unknown := _UNKNOWN.search(text):
        return (*path, unknown.group(1)), "unknown key: see docs/configuration.md for those known"
    return path, (text[0].lower() + text[1:]).replace(" | null`", "`")


def line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of a TOML text that sets a key, or the nearest table above it; 0 when neither.

    Reads table headers and keys at the start of lines, which is where people write them.
    """
    best, best_depth = 0, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = _keys(stripped.strip("[]").split("]")[0])
            here = table
        elif "=" in stripped and not stripped.startswith("#"):
            here = (*table, *_keys(stripped.partition("=")[0]))
        else:
            continue
        # A table below the key, such as [a.b.c] for a.b, is where the key begins.
        depth = min(len(here), len(path))
        if depth > best_depth and here[:depth] == path[:depth]:
            best, best_depth = number, depth
    return best


def _keys(dotted: str) -> tuple[str, ...]:
    found = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^.\s"\']+)', dotted)
    return tuple(next(part for part in parts if part) for parts in found if any(parts))


def line_trouble(text: str, limit: int) -> str | None:
    """Why a text is no name; None where it is one."""
    if not text.strip():
        return "is empty"
    return problem(text, limit) or ("has more than one line" if "\n" in text else None)


def wrong_setting(source: Source | None, key: str, found: str) -> SettingsError:
    """What is wrong with a key that the file or its variable says."""
    if source is None or line_of(source.text, (*source.prefix, key)) == 0:
        return SettingsError(f"PREFLIGHTS_{key.upper()}: {found}")
    return source.wrong((key,), found)
