"""The settings file: its shape, how it is found, and where in it something is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import late_pattern
from preflights_es.providers.capabilities import ALIASES, KEY_VARIABLES, REAL
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.fields import HELD_BACK, KEYS
from preflights_es.system.files import Unreadable, regular

BITS_MAX: Final = 128  # of a whole number; TOML itself wants 64
FILE: Final = "preflights.toml"
PYPROJECT: Final = "pyproject.toml"
TEXT_MAX: Final = 300  # characters of a name, a question, an option or a folder
FILE_MAX: Final = 1_000_000  # bytes of a settings file
DOTS_MAX: Final = 2_000_000  # steps, see `_table`; a file of 5,000 lines takes some 100,000

# 1. The shape --------------------------------------------------------------------------------


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

    def wrong(
        self, at: tuple[str, ...], found: str, code: str = "", **fields: str
    ) -> SettingsError:
        key = ".".join((*self.prefix, *at)) or "the file"
        line = line_of(self.text, (*self.prefix, *at))
        where = f"{self.name}, line {line}" if line else self.name
        return SettingsError(f"{where}: {key}: {found}", code=code, key=key, **fields)

    def file(self, at: tuple[str, ...], path: str, most: int) -> str:
        """The text of a file in this file's folder, or below it."""
        folder = self.path.parent.resolve()
        try:
            found = (folder / path).resolve()
            if not found.is_relative_to(folder):
                raise self.wrong(at, f"{path!r} leads out of the folder of {self.name}")
            return regular(found, most).decode()
        except FileNotFoundError as error:
            raise self.wrong(at, f"{path!r} does not exist") from error
        except (Unreadable, UnicodeDecodeError, OSError, RuntimeError, ValueError) as error:
            raise self.wrong(at, f"{path!r} cannot be read: {error}") from error


class FileSettings(msgspec.Struct, frozen=True):
    """What a file says."""

    source: Source
    values: Mapping[str, Any]
    """By the key, but for the tables of workflows."""
    workflows: Mapping[str, Any]
    """By the name of a workflow that has a table in it: what the table comes to."""


# 2. What a repository's file may say only when a person trusts it ------------------------------

PROVIDERS: Final = ("provider", "LLM_PROVIDER")
"""Of these, only the name of a provider that takes a key needs trust."""


class Key(msgspec.Struct, frozen=True, order=True):
    """A key that a file sets and that needs trust."""

    line: int
    name: str
    value: str


def held_back(told: FileSettings) -> list[Key]:
    """The keys of a file that need trust, in the order of their lines."""
    source = told.source
    values = ((name, told.values[name]) for name in HELD_BACK if name in told.values)
    return sorted(
        Key(line_of(source.text, (*source.prefix, name)), name, value)
        for name, value in values
        if name not in PROVIDERS or ALIASES.get(value, value) in REAL
    )


# 3. Reading ----------------------------------------------------------------------------------


def read(cwd: Path, root: Path) -> FileSettings | None:
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
                return found
        if folder == root:
            break
    return None


def own(path: Path) -> FileSettings | None:
    """The user's own file; None where there is none.

    Raises:
        SettingsError: it cannot be read, or is wrong.
    """
    if (text := _text(path, str(path), None)) is None:
        return None
    source = Source(path, text, (), is_own=True)
    return _table(source)


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


def _table(source: Source) -> FileSettings | None:
    # The parser's time grows with the square of a key's dots: 40 KB of them are 20 s.
    dots = [line.count(".") for line in source.text.split("\n")]  # TOML knows no other line's end
    if sum(n * n for n in dots) + max(dots) * len(dots) > DOTS_MAX:
        raise SettingsError(f"{source.name}: has lines with too many dots: shorten them")
    try:
        return _converted(source, _parsed(source))
    except RecursionError as error:
        raise SettingsError(f"{source.name}: is nested too deeply") from error


def _parsed(source: Source) -> Any:
    import tomllib

    try:
        return tomllib.loads(source.text)
    except ValueError as error:  # also a number of more digits than Python reads
        raise SettingsError(f"{source.name}: not valid TOML: {error}") from error


def _converted(source: Source, data: Any) -> FileSettings | None:
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
    named = data.items() if isinstance(data, dict) else ()
    tables = {name: value for name, value in named if name not in KEYS and _is_workflow(name)}
    rest = {name: value for name, value in named if name not in tables} if tables else data
    try:
        table = msgspec.convert(rest, _shape())
    except msgspec.ValidationError as error:
        raise source.wrong(*_place(str(error), _shape())) from error
    values = {key: value for key in KEYS if (value := getattr(table, key)) is not None}
    for key in values if not source.is_own else ():
        if KEYS[key].is_own:
            found = "no repository says this: set it in your own settings file"
            raise source.wrong((key,), found, code="own_file_only")
    return FileSettings(
        source, values, {name: _workflow(source, name, tables[name]) for name in tables}
    )


def _shape() -> type[msgspec.Struct]:
    """All keys but the tables of workflows."""
    fields = [(key, one.kind | None, None) for key, one in KEYS.items()]
    return msgspec.defstruct("File", fields, forbid_unknown_fields=True)


def _is_workflow(name: str) -> bool:
    """Whether a workflow has settings under a name that is no key of ours."""
    workflow = WORKFLOWS.get(name)
    return workflow is not None and workflow.settings is not None


def _workflow(source: Source, name: str, data: Any) -> Any:
    """What the table of a workflow comes to."""
    workflow = WORKFLOWS[name]
    assert workflow.settings is not None, "looked at before"
    told = workflow.settings()
    try:
        table = msgspec.convert(data, told.shape)
    except msgspec.ValidationError as error:
        at, found = _place_of_entry(data, told.shape) or _place(str(error), told.shape)
        raise source.wrong((name, *at), found) from error
    return told.configured(source, table)


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


def _place_of_entry(data: Any, shape: type) -> tuple[tuple[str, ...], str] | None:
    """Which entry of a table of tables is wrong, and where in it: msgspec names no key of one."""
    for field, kind in get_type_hints(shape).items():
        entries = data.get(field) if isinstance(data, dict) and get_origin(kind) is dict else None
        for name, given in entries.items() if isinstance(entries, dict) else ():
            try:
                msgspec.convert(given, get_args(kind)[1])
            except msgspec.ValidationError as error:
                inside, text = _place(str(error), get_args(kind)[1])
                return (field, name, *inside), text
    return None


_PLACE = late_pattern(r" - at `(?:key in )?\$(.*)`$")
_UNKNOWN = late_pattern(r"Object contains unknown field `([^`]*)`")


def _place(message: str, shape: Any) -> tuple[tuple[str, ...], str]:
    """The path of keys in a validation message about a shape, and the message without it."""
    found = _PLACE.search(message)
    text = message[: found.start()] if found else message
    path = tuple(re.findall(r"[^.\[\]]+", found.group(1))) if found else ()
    path = tuple(part for part in path if not part.isdigit() and part != "...")
    if unknown := _UNKNOWN.search(text):
        known = ", ".join(_keys_at(shape, path))
        return (*path, unknown.group(1)), f"unknown key: expected one of {known}"
    return path, (text[0].lower() + text[1:]).replace(" | null`", "`")


def _keys_at(shape: Any, path: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of a table within a shape."""
    for key in path:
        shape = get_type_hints(_struct_of(shape))[key]
    return tuple(_struct_of(shape).__struct_encode_fields__)


def _struct_of(kind: Any) -> type[msgspec.Struct]:
    """The table in a type: itself, or what it is a list or a choice of."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    inner = filter(None, (_struct_of(one) for one in get_args(kind)))
    return next(inner, msgspec.Struct)


def line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of a TOML text that sets a key, or the nearest table above it; 0 when neither.

    Reads table headers and keys at the start of lines, which is where people write them.
    """
    best, best_depth = 0, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
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
    """The parts of a dotted key, as the parser reads them; none where it reads no key."""
    if (bare := dotted.strip()).isidentifier():
        return (bare,)
    import tomllib

    try:
        node: Any = tomllib.loads(f"{dotted} = 0")
    except ValueError:
        return ()
    parts: list[str] = []
    while isinstance(node, dict):
        ((part, node),) = node.items()
        parts.append(part)
    return tuple(parts)
