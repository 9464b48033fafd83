"""Environment and files become frozen settings; the only place that reads either.

Order, first wins: an option of the command line, `PREFLIGHTS_*`, `preflights.toml`,
`[tool.preflights]` of `pyproject.toml`, the default. The compiler's specification calls some of
them `LLM_*`: those names are known too, each right behind ours. Keys come from variables alone.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast, get_args

import msgspec

from preflights_es.core.errors import SettingsError
from preflights_es.core.events import ActorKind
from preflights_es.core.keys import Secret
from preflights_es.core.text import NAME_MAX, problem, shortened
from preflights_es.provider_settings import SEED_NAMES, Layer, asked_whom, keys_of
from preflights_es.providers.capabilities import KEY_VARIABLES, MAX_TOKENS, TIMEOUT_S, Api
from preflights_es.workflows.clarification.rules import is_placeholder
from preflights_es.workflows.clarification.values import (
    COMPANION,
    OTHER,
    OTHER_OPTION,
    Category,
    Field,
    HeuristicsConfig,
    Scope,
)
from preflights_es.workflows.extraction.values import Language

FILE: Final = "preflights.toml"
PYPROJECT: Final = "pyproject.toml"
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
    model: str = ""
    """The provider's default where nobody said; empty for one that has no models."""
    base_url: str = ""
    """Of another server than the provider's own; empty without one."""
    base_url_in: str = ""
    """The file that says so; empty where an option or a variable does."""
    api: Api = "chat"
    """Which of OpenAI's APIs is asked."""
    timeout_s: float = TIMEOUT_S
    """Of one call, in seconds."""
    max_tokens: int = MAX_TOKENS
    """That a response may have, with what the model thinks."""
    temperature: float | None = None
    top_p: float | None = None
    """Both are sent only where the model takes them."""
    seed: int = 0
    """Of the simulator."""
    faults: str = "none"
    """Of the simulator, as `FaultConfig.parsed` reads them."""
    keys: Mapping[str, Secret] = {}
    """By the provider's name, as far as the environment has them."""
    actor_name: str
    """Of whoever is at work; empty when nobody said."""
    actor_kind: ActorKind | None
    """Where it is an agent's or a script's; None lets the terminal decide."""
    language: Language = "en"
    """Of the sentences that a person reads of a note."""
    heuristics: HeuristicsConfig
    source: str
    """The file that was read; empty without one."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says of a provider, as it was typed; None where it says nothing."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api: str | None = None
    timeout_s: str | None = None
    max_tokens: str | None = None
    temperature: str | None = None
    top_p: str | None = None
    seed: str | None = None
    faults: str | None = None


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
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    database: str | None = None,
    options: Options | None = None,
    language: str | None = None,
) -> Settings:
    """The settings that hold in a folder.

    Args:
        environment: instead of the process's own.
        database: what `--db` said.
        options: what the command line said of a provider.
        language: what `--language` said.

    Raises:
        SettingsError: names the key, its line and what was expected.
    """
    env = os.environ if environment is None else environment
    git = _git_folders(cwd)
    root = git[0] if git else cwd
    source, table = _read(cwd, root)
    if source and not git:
        root = source.path.parent
    project = _named(env, table.project, source) or _project(root, git)
    if found := _line_trouble(project, NAME_MAX):
        raise _wrong(None, "project", found)
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
        decisions=_folder(source, "decisions", table.decisions, "docs/decisions"),
        tasks=_folder(source, "tasks", table.tasks, "docs/tasks"),
        actor_name=name,
        actor_kind=kind,
        heuristics=_heuristics(source, table.clarification) if source else HeuristicsConfig(),
        source=str(source.path) if source else "",
        language=_language(language, env, source, table.language),
        keys=keys_of(env),
        **asked_whom(_layers(options or Options(), env, source, table)),
    )


def _language(
    asked: str | None, env: Mapping[str, str], source: _Source | None, in_file: str | None
) -> Language:
    """What is asked for, configured, or what the locale speaks; English where it is another."""
    said = asked or env.get("PREFLIGHTS_LANGUAGE") or in_file
    if said is None:
        locales = (env.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
        return "de" if next(filter(None, locales), "").lower().startswith("de") else "en"
    for language in get_args(Language):
        if said.strip().lower() == language:
            return cast("Language", language)
    found = f"found {shortened(said, 100)!r}, expected {' or '.join(get_args(Language))}"
    if asked:
        raise SettingsError(f"--language: {found}")
    raise _wrong(source if said == in_file else None, "language", found)


def _wrong(source: _Source | None, key: str, found: str) -> SettingsError:
    if source is None or line_of(source.text, (*source.prefix, key)) == 0:
        return SettingsError(f"PREFLIGHTS_{key.upper()}: {found}")
    return source.wrong((key,), found)


def _read(cwd: Path, root: Path) -> tuple[_Source | None, _File]:
    """The nearest settings file between here and the project's root."""
    for folder in (cwd, *cwd.parents):
        for name, prefix in ((FILE, ()), (PYPROJECT, ("tool", "preflights"))):
            path = folder / name
            if (text := _text(path)) is None or (prefix and "preflights" not in text):
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
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    for key in data if isinstance(data, dict) else ():
        if key.lower().endswith(("api_key", "apikey")):
            variables = ", ".join(name for name, _ in KEY_VARIABLES.values())
            raise source.wrong((key,), f"keys do not belong into a file: set one of {variables}")
    try:
        return msgspec.convert(data, _File)
    except msgspec.ValidationError as error:
        raise source.wrong(*(_place_of_category(data) or _place(str(error)))) from error


def _place_of_category(data: Any) -> tuple[tuple[str, ...], str] | None:
    """Which category is wrong, and where in it: of an entry in a table msgspec names no key."""
    at = ("clarification", "categories")
    for key in at:
        data = data.get(key) if isinstance(data, dict) else None
    for name, given in data.items() if isinstance(data, dict) else ():
        try:
            msgspec.convert(given, _CategoryTable)
        except msgspec.ValidationError as error:
            inside, text = _place(str(error))
            return (*at, name, *inside), text
    return None


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


# 3. Providers --------------------------------------------------------------------------------


def _layers(
    options: Options, env: Mapping[str, str], source: _Source | None, table: _File
) -> tuple[Layer, ...]:
    """The places that speak of providers, the first to be heard first."""
    names = options.__struct_fields__
    ours = {name: env.get(f"PREFLIGHTS_{name.upper()}") or None for name in names}
    seeds = {name: env.get(alias) or None for name, alias in SEED_NAMES.items()}
    in_file = {name: getattr(table, name) for name in names}
    seeds_in_file = {name: getattr(table, SEED_NAMES[name].lower()) for name in SEED_NAMES}
    file = source.path.name if source else ""
    found = (
        (msgspec.structs.asdict(options), lambda name: f"--{name.replace('_', '-')}", ""),
        (ours, lambda name: f"PREFLIGHTS_{name.upper()}", ""),
        (seeds, lambda name: SEED_NAMES[name], ""),
        (in_file, lambda name: name, file),
        (seeds_in_file, lambda name: SEED_NAMES[name], file),
    )
    return tuple(
        Layer(_said(values), _blamed(label, source if file else None), file)
        for values, label, file in found
    )


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _blamed(
    label: Callable[[str], str], source: _Source | None
) -> Callable[[str, str], SettingsError]:
    def wrong(name: str, found: str) -> SettingsError:
        if source is None:
            return SettingsError(f"{label(name)}: {found}")
        return source.wrong((label(name),), found)

    return wrong


# 4. Heuristics -------------------------------------------------------------------------------


def _heuristics(source: _Source, table: _ClarificationTable) -> HeuristicsConfig:
    """The seed's tables, with what the file replaces or adds.

    Raises:
        SettingsError: a category lacks what it needs, or two answer to one key.
    """
    base = HeuristicsConfig()
    merged = {category.name: category for category in base.categories}
    given_names: set[str] = set()
    for name, given in table.categories.items():
        known = base.named(name)
        if name.casefold() in given_names:
            raise source.wrong(("clarification", "categories", name), "has a table twice")
        given_names.add(name.casefold())
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
    if name.casefold() in (OTHER.casefold(), OTHER_OPTION.casefold()):
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
    made = Category(
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
    _check_fields(source, at, made, "field" if given.secondary is None else "secondary")
    return made


def _check_fields(source: _Source, at: tuple[str, ...], made: Category, key: str) -> None:
    """Every field of a patch has a name of its own, and none that of the category."""
    _check_list(source, (*at, "secondary"), tuple(field.name for field in made.secondary))
    names = [field.name.casefold() for field in made.fields()]
    if "category" in names:
        where = "field" if names[0] == "category" and made.primary else "secondary"
        raise source.wrong((*at, where), "'Category' stands for the category itself")
    if len(set(names)) != len(names):
        raise source.wrong((*at, key), "two fields of the category have one name")


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
    for option in made.options:
        if is_placeholder(option):
            raise source.wrong((*at, "options"), f"{option!r} is a placeholder: it decides nothing")
    if any(option.casefold().startswith("other") for option in made.options):
        raise source.wrong((*at, "options"), "every question gets `Other (specify)`: leave it out")
    return made


def _check_text(source: _Source, at: tuple[str, ...], text: str) -> None:
    if found := _line_trouble(text, TEXT_MAX):
        raise source.wrong(at, found)


def _line_trouble(text: str, limit: int) -> str | None:
    """Why a text is no name; None where it is one."""
    if not text.strip():
        return "is empty"
    return problem(text, limit) or ("has more than one line" if "\n" in text else None)


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
            key = "id" if field is category.primary else "secondary"
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", field.id) or field.id.endswith(COMPANION):
                raise source.wrong(
                    (*at, key),
                    f"found {field.id!r}, expected lower-case letters, digits and underscores",
                )
            if field.id in seen:
                raise source.wrong((*at, key), f"{field.id!r} is the key of {seen[field.id]} too")
            seen[field.id] = f"{category.name}.{field.name}"


# 5. Places and people ------------------------------------------------------------------------


def _git_folders(cwd: Path) -> tuple[Path, Path] | None:
    """The top of the work tree, and git's common directory; None outside of git."""
    for folder in (cwd, *cwd.parents):
        dot = folder / ".git"
        if dot.is_dir():
            return folder, dot
        if dot.is_file() and (common := _common(folder, dot)):
            return folder, common
    return None


def _common(folder: Path, dot: Path) -> Path | None:
    """Of a linked work tree or a submodule, whose `.git` is a file that points elsewhere.

    None where it points nowhere: then the file is not git's.
    """
    key, _, path = dot.read_text("utf-8", "replace").partition(":")
    pointed = folder / path.strip()
    if key != "gitdir" or not path.strip() or not pointed.is_dir():
        return None
    shared = pointed / "commondir"
    if shared.is_file():
        return (pointed / shared.read_text("utf-8").strip()).resolve()
    return pointed.resolve()


def _named(env: Mapping[str, str], told: str | None, source: _Source | None) -> str | None:
    """The project's name, where a variable or the file says one."""
    if name := env.get("PREFLIGHTS_PROJECT"):
        return name
    if told is not None and (found := _line_trouble(told, NAME_MAX)):
        raise _wrong(source, "project", found)
    return told


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
    if source is None or database is None or "://" in database:
        return database
    if not database.strip() or "\0" in database:
        found = "holds a NUL character" if database.strip() else "is empty"
        raise source.wrong(("database",), found)
    return str(source.path.parent / database)


def _folder(source: _Source | None, key: str, told: str | None, default: str) -> str:
    folder = default if told is None else told
    parts = PurePosixPath(folder)
    leads_out = parts.is_absolute() or ".." in parts.parts or "\\" in folder
    if leads_out or _line_trouble(folder, TEXT_MAX):
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
    told = None if env.get("PREFLIGHTS_ACTOR") else source
    kind, colon, name = text.partition(":")
    kinds: dict[str, ActorKind | None] = {"user": None, "agent": "agent", "script": "script"}
    if colon and kind not in kinds:
        raise _wrong(
            told, "actor", f"found {text!r}, expected NAME, user:NAME, agent:NAME or script:NAME"
        )
    if not colon:
        name = text or _git_name(env, cwd) or env.get("USER", "")
    if found := problem(name, NAME_MAX):
        message = f"the name {found}"
        if text:
            raise _wrong(told, "actor", message)
        raise SettingsError(f"git config user.name: {message}, or set PREFLIGHTS_ACTOR")
    return kinds[kind] if colon else None, name.strip()


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
