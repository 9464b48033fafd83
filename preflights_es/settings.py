"""Environment and files become frozen settings; the only place that reads either.

Order, first wins: an option of the command line, `PREFLIGHTS_*`, `preflights.toml`,
`[tool.preflights]` of `pyproject.toml`, the default.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec

from preflights_es.core.errors import SettingsError
from preflights_es.core.events import ActorKind
from preflights_es.core.text import NAME_MAX, problem
from preflights_es.workflows.clarification.values import (
    COMPANION,
    OTHER,
    Category,
    Field,
    HeuristicsConfig,
    Scope,
)

FILE: Final = "preflights.toml"
PYPROJECT: Final = "pyproject.toml"
PROVIDERS: Final = ("mock",)
LIST_MAX: Final = 50  # categories, keywords or options in one table
TEXT_MAX: Final = 300  # characters of a name, a question or an option


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the program was told, from outside."""

    root: Path
    """Of the project: where documents are written."""
    project: str
    database: str
    """A URL, or the path of a SQLite file."""
    decisions: str
    """Folder of the records, relative to the root."""
    tasks: str
    provider: str
    actor_name: str
    """Of whoever is at work; empty when nobody said."""
    actor_kind: ActorKind | None
    """Where it is an agent's or a script's; None lets the terminal decide."""
    heuristics: HeuristicsConfig
    source: str
    """The file that was read; empty without one."""


# 1. The files' shape -------------------------------------------------------------------------


class _SecondaryTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    field: str
    id: str


class _CategoryTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    keywords: tuple[str, ...] | None = None
    field: str | None = None
    id: str | None = None
    question: str | None = None
    options: tuple[str, ...] | None = None
    scope: Scope | None = None
    secondary: tuple[_SecondaryTable, ...] | None = None


class _ClarificationTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: str | None = None
    description: str | None = None
    only: tuple[str, ...] | None = None
    menu: tuple[str, ...] | None = None
    categories: dict[str, _CategoryTable] = {}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    project: str | None = None
    database: str | None = None
    decisions: str | None = None
    tasks: str | None = None
    provider: str | None = None
    actor: str | None = None
    clarification: _ClarificationTable = _ClarificationTable()


class _Source(msgspec.Struct, frozen=True):
    """A file, and how to say where in it something is wrong."""

    path: Path
    text: str
    prefix: tuple[str, ...]

    def wrong(self, at: tuple[str, ...], found: str) -> SettingsError:
        key = ".".join((*self.prefix, *at)) or "the file"
        line = line_of(self.text, (*self.prefix, *at))
        where = f"{self.path.name}, line {line}" if line else self.path.name
        return SettingsError(f"{where}: {key}: {found}")


# 2. Loading ----------------------------------------------------------------------------------


def load(
    cwd: Path, environment: Mapping[str, str] | None = None, database: str | None = None
) -> Settings:
    """The settings that hold in a folder.

    Args:
        environment: instead of the process's own.
        database: what `--db` said.

    Raises:
        SettingsError: names the key, its line and what was expected.
    """
    env = os.environ if environment is None else environment
    git = _git_folders(cwd)
    root = git[0] if git else cwd
    source, table = _read(cwd, root)
    if source and not git:
        root = source.path.parent
    provider = env.get("PREFLIGHTS_PROVIDER") or table.provider or "mock"
    if provider not in PROVIDERS:
        raise _wrong(source, "provider", f"found {provider!r}, expected {' or '.join(PROVIDERS)}")
    project = env.get("PREFLIGHTS_PROJECT") or table.project or _project(root, git)
    if found := problem(project, NAME_MAX):
        raise _wrong(source, "project", found)
    kind, name = _actor(env, table.actor, source, cwd)
    return Settings(
        root=root,
        project=project,
        database=(
            database
            or env.get("PREFLIGHTS_DATABASE_URL")
            or _beside(source, table.database)
            or str(_log_folder(git, env) / "log.db")
        ),
        decisions=_folder(source, "decisions", table.decisions or "docs/decisions"),
        tasks=_folder(source, "tasks", table.tasks or "docs/tasks"),
        provider=provider,
        actor_name=name,
        actor_kind=kind,
        heuristics=_heuristics(source, table.clarification) if source else HeuristicsConfig(),
        source=str(source.path) if source else "",
    )


def _wrong(source: _Source | None, key: str, found: str) -> SettingsError:
    if source is None or line_of(source.text, (*source.prefix, key)) == 0:
        return SettingsError(f"PREFLIGHTS_{key.upper()}: {found}")
    return source.wrong((key,), found)


def _read(cwd: Path, root: Path) -> tuple[_Source | None, _File]:
    """The nearest settings file between here and the project's root."""
    for folder in (cwd, *cwd.parents):
        for name, prefix in ((FILE, ()), (PYPROJECT, ("tool", "preflights"))):
            path = folder / name
            if (text := _text(path)) is None or (prefix and "tool.preflights" not in text):
                continue
            source = _Source(path, text, prefix)
            found = _table(source)
            if found is not None:
                return source, found
        if folder == root:
            break
    return None, _File()


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path.name} cannot be read: {error}") from error


def _table(source: _Source) -> _File | None:
    import tomllib

    try:
        data: Any = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{source.path.name}: not valid TOML: {error}") from error
    for key in source.prefix:
        data = data.get(key)
        if data is None:
            return None
    try:
        return msgspec.convert(data, _File)
    except msgspec.ValidationError as error:
        raise source.wrong(*_place(str(error))) from error


_PLACE = re.compile(r" - at `(?:key in )?\$(.*)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`")


def _place(message: str) -> tuple[tuple[str, ...], str]:
    """The path of keys in a validation message, and the message without it."""
    found = _PLACE.search(message)
    text = message[: found.start()] if found else message
    path = tuple(re.findall(r"[^.\[\]]+", found.group(1))) if found else ()
    path = tuple(part for part in path if not part.isdigit() and part != "...")
    if unknown := _UNKNOWN.search(text):
        return (*path, unknown.group(1)), "unknown key: see docs/configuration.md for those known"
    return path, text[0].lower() + text[1:]


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
        depth = len(here)
        if depth > best_depth and here == path[:depth]:
            best, best_depth = number, depth
    return best


def _keys(dotted: str) -> tuple[str, ...]:
    found = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^.\s"\']+)', dotted)
    return tuple(next(part for part in parts if part) for parts in found if any(parts))


# 3. Heuristics -------------------------------------------------------------------------------


def _heuristics(source: _Source, table: _ClarificationTable) -> HeuristicsConfig:
    """The seed's tables, with what the file replaces or adds.

    Raises:
        SettingsError: a category lacks what it needs, or two answer to one key.
    """
    base = HeuristicsConfig()
    merged = {category.name: category for category in base.categories}
    for name, given in table.categories.items():
        known = base.named(name)
        merged[known.name if known else name] = _category(source, name, known, given)
    order = list(merged)
    if table.only is not None:
        for name in table.only:
            if name not in merged:
                raise source.wrong(
                    ("clarification", "only"),
                    f"{name!r} is no category: expected some of {', '.join(merged)}",
                )
        order = list(dict.fromkeys(table.only))
    menu = table.menu or (*(n for n in base.menu if n in order), *order)
    if table.menu is not None and sorted(table.menu) != sorted(order):
        raise source.wrong(("clarification", "menu"), f"expected each of {', '.join(order)}, once")
    made = HeuristicsConfig(
        categories=tuple(merged[name] for name in order),
        menu=tuple(dict.fromkeys(menu)),
        category=_asked(source, "question", base.category, table.question),
        description=_asked(source, "description", base.description, table.description),
    )
    _check_keys(source, made)
    return made


def _asked(source: _Source, key: str, field: Field, text: str | None) -> Field:
    if text is None:
        return field
    _check_text(source, ("clarification", key), text)
    return msgspec.structs.replace(field, question=text)


def _category(
    source: _Source, name: str, known: Category | None, given: _CategoryTable
) -> Category:
    at = ("clarification", "categories", name)
    _check_text(source, at, name)
    if name.casefold() == OTHER.casefold():
        raise source.wrong(
            at, "the name stands for everything that has no category: choose another"
        )
    base = known or Category(name)
    keywords = base.keywords if given.keywords is None else given.keywords
    _check_list(source, (*at, "keywords"), keywords)
    for word in keywords:
        if not re.fullmatch(r"[^\W_]+(-[^\W_]+)?", word):
            raise source.wrong(
                (*at, "keywords"),
                f"{word!r} is not one word: expected letters and digits, or two joined by a hyphen",
            )
    return Category(
        name=base.name,
        keywords=tuple(word.casefold() for word in keywords),
        primary=_primary(source, at, base.primary, given),
        secondary=(
            base.secondary
            if given.secondary is None
            else tuple(Field(s.field, s.id) for s in given.secondary)
        ),
        scope=given.scope or base.scope,
    )


def _primary(
    source: _Source, at: tuple[str, ...], base: Field | None, given: _CategoryTable
) -> Field | None:
    values = {
        "name": given.field,
        "id": given.id,
        "question": given.question,
        "options": given.options,
    }
    changes: dict[str, Any] = {k: v for k, v in values.items() if v is not None}
    if base is None:
        if not changes:
            return None
        for key, toml in (("name", "field"), ("id", "id"), ("question", "question")):
            if key not in changes:
                raise source.wrong(at, f"the key {toml!r} is missing: a question needs it")
        base = Field("", "")
    made = msgspec.structs.replace(base, **changes)
    for key in ("name", "question"):
        _check_text(source, (*at, "field" if key == "name" else key), getattr(made, key))
    _check_list(source, (*at, "options"), made.options)
    if any(option.casefold().startswith("other") for option in made.options):
        raise source.wrong((*at, "options"), "every question gets `Other (specify)`: leave it out")
    return made


def _check_text(source: _Source, at: tuple[str, ...], text: str) -> None:
    if not text.strip():
        raise source.wrong(at, "is empty")
    if found := problem(text, TEXT_MAX):
        raise source.wrong(at, found)
    if "\n" in text:
        raise source.wrong(at, "has more than one line")


def _check_list(source: _Source, at: tuple[str, ...], values: tuple[str, ...]) -> None:
    if len(values) > LIST_MAX:
        raise source.wrong(at, f"has {len(values)} entries, at most {LIST_MAX} are taken")
    for value in values:
        _check_text(source, at, value)
    if len({value.casefold() for value in values}) != len(values):
        raise source.wrong(at, "names something twice")


def _check_keys(source: _Source, config: HeuristicsConfig) -> None:
    """Every key answers one question, so that no answer is filed under another field."""
    if len(config.categories) > LIST_MAX:
        raise source.wrong(("clarification", "categories"), f"at most {LIST_MAX} are taken")
    seen = {config.category.id: "Category", config.description.id: "Description"}
    for category in config.categories:
        for field in category.fields():
            at = ("clarification", "categories", category.name)
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", field.id) or field.id.endswith(COMPANION):
                raise source.wrong(
                    (*at, "id"),
                    f"found {field.id!r}, expected lower-case letters, digits and underscores",
                )
            if field.id in seen:
                raise source.wrong((*at, "id"), f"{field.id!r} is the key of {seen[field.id]} too")
            seen[field.id] = f"{category.name}.{field.name}"


# 4. Places and people ------------------------------------------------------------------------


def _git_folders(cwd: Path) -> tuple[Path, Path] | None:
    """The top of the work tree, and git's common directory; None outside of git."""
    for folder in (cwd, *cwd.parents):
        dot = folder / ".git"
        if dot.is_dir():
            return folder, dot
        if dot.is_file():
            return folder, _common(folder, dot)
    return None


def _common(folder: Path, dot: Path) -> Path:
    """Of a linked work tree or a submodule, whose `.git` is a file that points elsewhere."""
    pointed = folder / dot.read_text("utf-8").removeprefix("gitdir:").strip()
    shared = pointed / "commondir"
    if shared.is_file():
        return (pointed / shared.read_text("utf-8").strip()).resolve()
    return pointed.resolve()


def _project(root: Path, git: tuple[Path, Path] | None) -> str:
    """The name that all work trees of a repository share.

    Folders outside of git share one log, so that theirs needs more than a name.
    """
    if git is None:
        top = root.resolve()
        return f"{top.name or 'root'}-{sha256(str(top).encode()).hexdigest()[:6]}"
    common = git[1].resolve()
    return (common.parent.name if common.name == ".git" else root.resolve().name) or "root"


def _log_folder(git: tuple[Path, Path] | None, env: Mapping[str, str]) -> Path:
    if git is not None:
        return git[1] / "preflights"
    return _state_folder(env) / "preflights"


def _state_folder(env: Mapping[str, str]) -> Path:
    home = Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())
    if sys.platform == "win32":
        return Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(env.get("XDG_STATE_HOME") or home / ".local" / "state")


def _beside(source: _Source | None, database: str | None) -> str | None:
    """A path in a settings file is relative to that file."""
    if source is None or not database or "://" in database:
        return database
    return str(source.path.parent / database)


def _folder(source: _Source | None, key: str, folder: str) -> str:
    parts = PurePosixPath(folder)
    if parts.is_absolute() or ".." in parts.parts or "\\" in folder or not folder.strip():
        error = f"found {folder!r}, expected a folder inside the project, with forward slashes"
        raise _wrong(source, key, error)
    return parts.as_posix()


def _actor(
    env: Mapping[str, str], configured: str | None, source: _Source | None, cwd: Path
) -> tuple[ActorKind | None, str]:
    """`PREFLIGHTS_ACTOR=kind:name`, or a name from the file or from git.

    Nobody becomes a user by saying so: that takes a terminal, or `--by` where one accepts.
    """
    text = env.get("PREFLIGHTS_ACTOR") or configured or ""
    kind, colon, name = text.partition(":")
    kinds: dict[str, ActorKind | None] = {"user": None, "agent": "agent", "script": "script"}
    if colon and kind not in kinds:
        raise _wrong(
            source, "actor", f"found {text!r}, expected NAME, user:NAME, agent:NAME or script:NAME"
        )
    if colon:
        return kinds[kind], name.strip()
    return None, text or _git_name(env, cwd) or env.get("USER", "")


def _git_name(env: Mapping[str, str], cwd: Path) -> str:
    """As git knows the person; git itself is asked, since its configuration has many sources."""
    if name := env.get("GIT_AUTHOR_NAME"):
        return name
    import subprocess

    try:
        found = subprocess.run(
            ["git", "config", "user.name"],  # noqa: S607  whichever git the person uses
            cwd=cwd,
            capture_output=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.decode("utf-8", "replace").strip()
