"""A settings file: its keys, its layers, prices, and what it says."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import NAME_MAX, late_pattern, shortened
from preflights_es.providers.capabilities import (
    ALIASES,
    KEY_VARIABLES,
    MAX_TOKENS,
    MAX_TOKENS_MAX,
    REAL,
    TIMEOUT_MAX_S,
    TIMEOUT_S,
)
from preflights_es.redaction.patterns import PersonalKind
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.system.files import Unreadable, regular

PRICE_MAX: Final = 1_000_000  # of a million tokens: one a token is a slip of the keyboard

_CURRENCY: Final = late_pattern("[A-Z]{3}")


class PriceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model costs from a day on, until a later entry for it says otherwise."""

    provider: str
    model: str
    """As it is asked for."""
    since: dt.date = msgspec.field(name="from")
    """The first day, UTC."""
    input_per_million: float | int
    output_per_million: float | int
    currency: str
    """Three capital letters, ISO 4217."""


def check_prices(tables: tuple[PriceTable, ...], refused: Callable[[str], SettingsError]) -> None:
    """See that each entry makes sense.

    Raises:
        SettingsError: names the first that does not.
    """
    seen: set[tuple[str, str, dt.date]] = set()
    for number, one in enumerate(tables, 1):
        if found := _price_problem(one, seen):
            raise refused(f"entry {number}: {found}")
        seen.add((one.provider, one.model, one.since))


def _price_problem(one: PriceTable, seen: set[tuple[str, str, dt.date]]) -> str | None:
    for name in ("provider", "model"):
        if not 0 < len(getattr(one, name).strip()) <= NAME_MAX:
            return f"{name} is empty or too long"
    for name in ("input_per_million", "output_per_million"):
        value = getattr(one, name)
        if not math.isfinite(value) or not 0 <= value <= PRICE_MAX:
            return f"{name}: found {value!r}, expected a number from 0 to {PRICE_MAX:,}"
    if not _CURRENCY.fullmatch(one.currency):
        return f"currency: found {one.currency[:20]!r}, expected three capital letters such as EUR"
    if (one.provider, one.model, one.since) in seen:
        return f"a second price of {one.model!r} from {one.since} on"
    return None


SEED_MAX: Final = 2**63 - 1  # what fits a column, in both directions
TEMPERATURE_MAX: Final = 2.0  # where a provider takes one (OpenAI's reference)


class RecordsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `records`."""

    sessions: bool = True
    """Whether sessions are kept as files beside their records."""


class PlansTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `plans`: where the documents lie that plans are made from."""

    requirements: str = ".preflights/requirements.md"
    constraints: str = ".preflights/constraints.md"
    glossary: str = ".preflights/glossary.md"


class AgentsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `agents`: what agents may do in the user's name."""

    elicited_acceptance: bool = False
    """Whether an acceptance in a form of an agent's client is the person's; else it proposes."""


class SignTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `sign`: with which key the user signs, and whose signatures count."""

    key: str = ""
    """`git` for git's `user.signingkey`, or the path of a key; empty without one."""
    always: bool = False
    """Whether each acceptance is signed, without `--sign`."""
    signers: str = ""
    """The path of a file of allowed signers; empty for git's `gpg.ssh.allowedSignersFile`."""


class MetricsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `metrics`: how questions about data reach a database."""

    reader_url: str = ""
    """A login of PostgreSQL that can only read what is asked about; empty without one."""


class Setting(msgspec.Struct, frozen=True):
    """One setting."""

    name: str
    """Its key in a file, and its option with hyphens."""
    kind: Any = str
    also: str = ""
    """Its key and variable in seed 2."""
    variable: str | None = ""
    """None where no variable says it; empty for `PREFLIGHTS_` and its name."""
    is_own: bool = False
    """Whether of all files only the user's own says it, and no repository's."""
    default: Any = None
    limits: tuple[float, float] | None = None
    metavar: str = ""
    help: str = ""
    """Of its option, where the commands that ask a model have one."""

    @property
    def read_from(self) -> str | None:
        """The variable that says it."""
        return f"PREFLIGHTS_{self.name.upper()}" if self.variable == "" else self.variable


FIELDS: Final = (
    Setting("project"),
    Setting("database", variable="PREFLIGHTS_DATABASE_URL", is_own=True),
    Setting("decisions", variable=None),
    Setting("tasks", variable=None, default="docs/tasks"),
    Setting(
        "language",
        str,
        metavar="LANGUAGE",
        help="Language of the sentences that the program writes: de or en; default: the locale.",
    ),
    Setting("actor", is_own=True),
    Setting(
        "provider",
        str,
        "LLM_PROVIDER",
        is_own=True,
        metavar="NAME",
        help=f"mock (rules, the default), sim, or a model's service: {', '.join(REAL)}.",
    ),
    Setting("model", str, "LLM_MODEL", metavar="MODEL", help="Model; default: the provider's own."),
    Setting("base_url", is_own=True, metavar="URL", help="Address of a server with OpenAI's API."),
    Setting("api"),
    Setting("timeout_s", float, "LLM_TIMEOUT", default=TIMEOUT_S, limits=(0.001, TIMEOUT_MAX_S)),
    Setting("max_tokens", int, default=MAX_TOKENS, limits=(1, MAX_TOKENS_MAX)),
    Setting("temperature", float, "LLM_TEMPERATURE", limits=(0.0, TEMPERATURE_MAX)),
    Setting("top_p", float, "LLM_TOP_P", limits=(0.0, 1.0)),
    Setting(
        "seed",
        int,
        default=0,
        limits=(-SEED_MAX, SEED_MAX),
        metavar="N",
        help="Seed of the simulator.",
    ),
    Setting("faults", metavar="FAULTS", help="Faults of the simulator: timeout=0.2,error=0.1"),
    Setting("prices", tuple[PriceTable, ...], variable=None),
    Setting("records", RecordsTable, variable=None),
    Setting("plans", PlansTable, variable=None),
    Setting("agents", AgentsTable, variable=None, is_own=True),
    Setting("sign", SignTable, variable=None, is_own=True),
    Setting("redact", tuple[PersonalKind, ...], variable=None),
    Setting("metrics", MetricsTable, variable=None, is_own=True),
)

KEYS: Final = {key: one for one in FIELDS for key in (one.name, one.also) if key}
"""By each key of a file."""
OPTIONS: Final = {one.name: one for one in FIELDS if one.help}
"""Those that commands have an option for."""


class Layer(msgspec.Struct, frozen=True):
    """One of the places."""

    values: Mapping[str, Any]
    """By the setting's name; only what is said."""
    called: Callable[[str], str]
    """What the place calls a setting."""
    file: SettingsFileSource | None = None

    def wrong(self, name: str, found: str) -> SettingsError:
        """What is wrong with a setting of this place."""
        if self.file is not None:
            return self.file.wrong((self.called(name),), found)
        return SettingsError(f"{self.called(name)}: {found}")


class FoundSetting(msgspec.Struct, frozen=True):
    """What a place says."""

    value: Any
    layer: Layer
    name: str

    def wrong(self, expected: str) -> SettingsError:
        """What is said and what should be."""
        value = shortened(safe(self.value), 60) if isinstance(self.value, str) else self.value
        return self.refused(f"found {value!r}, expected {expected}")

    def refused(self, found: str) -> SettingsError:
        """What is wrong with it."""
        return self.layer.wrong(self.name, found)


class Layers(tuple[Layer, ...]):
    """All places, the first to be heard first."""

    __slots__ = ()

    def each(self, name: str) -> Iterator[FoundSetting]:
        """What each place says that says a setting."""
        return (FoundSetting(one.values[name], one, name) for one in self if name in one.values)

    def first(self, name: str) -> FoundSetting | None:
        """What the first of them says."""
        return next(self.each(name), None)


def outside(options: Mapping[str, Any], env: Mapping[str, str]) -> Iterator[Layer]:
    """Options and variables."""
    called = {"actor": "--as"}
    given = _without_missing_values(options)
    yield Layer(given, lambda name: called.get(name, f"--{name.replace('_', '-')}"))
    for names in _OURS, _SEEDS:
        values = {name: env.get(variable) or None for name, variable in names.items()}
        yield Layer(_without_missing_values(values), names.__getitem__)


def settings_file_layers(files: Sequence[FileSettings]) -> Iterator[Layer]:
    """What files say, each by our names first."""
    for told in files:
        seeds = {name: told.values.get(also) for name, also in _SEEDS.items()}
        yield Layer(told.values, str, told.source)
        yield Layer(_without_missing_values(seeds), _SEEDS.__getitem__, told.source)


def safe(text: str) -> str:
    """A text without a key, which people put into the wrong variable, too."""
    from preflights_es.redaction.masking import redact

    return redact(text).text


def _without_missing_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


_OURS = {one.name: one.read_from for one in FIELDS if one.read_from}
_SEEDS = {one.name: one.also for one in FIELDS if one.also}


BITS_MAX: Final = 128  # of a whole number; TOML itself wants 64
FILE: Final = "preflights.toml"
PYPROJECT: Final = "pyproject.toml"
TEXT_MAX: Final = 300  # characters of a name, a question, an option or a folder
FILE_MAX: Final = 1_000_000  # bytes of a settings file
DOTS_MAX: Final = 2_000_000  # steps, see `_table`; a file of 5,000 lines takes some 100,000

# 1. The shape --------------------------------------------------------------------------------


class SettingsFileSource(msgspec.Struct, frozen=True):
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
        line = find_key_line(self.text, (*self.prefix, *at))
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

    source: SettingsFileSource
    values: Mapping[str, Any]
    """By the key, but for the tables of workflows."""
    workflows: Mapping[str, Any]
    """By the name of a workflow that has a table in it: what the table comes to."""


# 2. What no repository's file says -------------------------------------------------------------

PROVIDERS: Final = ("provider", "LLM_PROVIDER")
"""Of these, a repository may name one that takes no key."""


def users_keys(told: FileSettings) -> list[str]:
    """The keys of a file that only the user's own may have, in the order of their lines."""
    source = told.source
    own = ((name, value) for name, value in told.values.items() if KEYS[name].is_own)
    names = (n for n, value in own if n not in PROVIDERS or ALIASES.get(value, value) in REAL)
    return sorted(names, key=lambda name: find_key_line(source.text, (*source.prefix, name)))


# 3. Reading ----------------------------------------------------------------------------------


def read_project_settings(cwd: Path, root: Path) -> FileSettings | None:
    """The nearest settings file between here and the project's root.

    Raises:
        SettingsError: it cannot be read, leads out of the project, or is wrong.
    """
    for folder in (cwd, *cwd.parents):
        read = partial(_read_settings_text, folder, root)
        if (found := parse_project_settings(folder, read)) is not None or folder == root:
            return found
    return None


def parse_project_settings(folder: Path, read: Callable[[str], str | None]) -> FileSettings | None:
    """What the settings files of a folder say; of two the first counts.

    Args:
        read: the text of a file of this name; None where there is none.

    Raises:
        SettingsError: it is wrong.
    """
    for name, prefix in ((FILE, ()), (PYPROJECT, ("tool", "preflights"))):
        if (text := read(name)) is None or (prefix and "preflights" not in text):
            continue
        found = _parse_settings_source(SettingsFileSource(folder / name, text, prefix))
        if found is not None:
            return found
    return None


def read_own_settings(path: Path) -> FileSettings | None:
    """The user's own file; None where there is none.

    Raises:
        SettingsError: it cannot be read, or is wrong.
    """
    if (text := _read_settings_text(path.parent, None, path.name)) is None:
        return None
    return _parse_settings_source(SettingsFileSource(path, text, (), is_own=True))


def _read_settings_text(folder: Path, root: Path | None, name: str) -> str | None:
    """What a file holds; None where there is none.

    Args:
        root: of a repository, whose settings are not read through links; None for one's own file.
    """
    path = folder / name
    try:
        if root is not None and path.is_symlink():
            lies = path.resolve()
            is_ours = name == FILE or not lies.is_relative_to(root.resolve())
            if is_ours or "preflights" in regular(lies, FILE_MAX).decode():
                found = f"{name} is a link, and no settings are read through one"
                raise SettingsError(f"{found}: put the file itself there")
        return regular(path, FILE_MAX).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (Unreadable, UnicodeDecodeError, OSError, RuntimeError) as error:
        shown = name if root is not None else path
        raise SettingsError(f"{shown} cannot be read: {error}") from error


def _parse_settings_source(source: SettingsFileSource) -> FileSettings | None:
    # The parser's time grows with the square of a key's dots: 40 KB of them are 20 s.
    dots = [line.count(".") for line in source.text.split("\n")]  # TOML knows no other line's end
    if sum(n * n for n in dots) + max(dots) * len(dots) > DOTS_MAX:
        raise SettingsError(f"{source.name}: has lines with too many dots: shorten them")
    try:
        return _converted(source, _parse_settings_toml(source))
    except RecursionError as error:
        raise SettingsError(f"{source.name}: is nested too deeply") from error


def _parse_settings_toml(source: SettingsFileSource) -> Any:
    import tomllib

    try:
        return tomllib.loads(source.text)
    except ValueError as error:  # also a number of more digits than Python reads
        raise SettingsError(f"{source.name}: not valid TOML: {error}") from error


def _converted(source: SettingsFileSource, data: Any) -> FileSettings | None:
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
        table = msgspec.convert(rest, _settings_file_shape())
    except msgspec.ValidationError as error:
        raise source.wrong(*_locate_validation_error(str(error), _settings_file_shape())) from error
    values = {key: value for key in KEYS if (value := getattr(table, key)) is not None}
    workflows = {name: _workflow(source, name, table) for name, table in tables.items()}
    return FileSettings(source, values, workflows)


def _settings_file_shape() -> type[msgspec.Struct]:
    """All keys but the tables of workflows."""
    fields = [(key, one.kind | None, None) for key, one in KEYS.items()]
    return msgspec.defstruct("File", fields, forbid_unknown_fields=True)


def _is_workflow(name: str) -> bool:
    """Whether a workflow has settings under a name that is no key of ours."""
    workflow = WORKFLOWS.get(name)
    return workflow is not None and workflow.asked.settings is not None


def _workflow(source: SettingsFileSource, name: str, data: Any) -> Any:
    """What the table of a workflow comes to."""
    workflow = WORKFLOWS[name]
    assert workflow.asked.settings is not None, "looked at before"
    told = workflow.asked.settings()
    try:
        table = msgspec.convert(data, told.shape)
    except msgspec.ValidationError as error:
        place = _place_of_entry(data, told.shape)
        at, found = place or _locate_validation_error(str(error), told.shape)
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
                inside, text = _locate_validation_error(str(error), get_args(kind)[1])
                return (field, name, *inside), text
    return None


_PLACE = late_pattern(r" - at `(?:key in )?\$(.*)`$")
_NO_CHOICE = late_pattern(r"Invalid enum value ('.*')")
_UNKNOWN = late_pattern(r"Object contains unknown field `([^`]*)`")


def _locate_validation_error(message: str, shape: Any) -> tuple[tuple[str, ...], str]:
    """The path of keys in a validation message about a shape, and the message without it."""
    found = _PLACE.search(message)
    text = message[: found.start()] if found else message
    path = tuple(re.findall(r"[^.\[\]]+", found.group(1))) if found else ()
    path = tuple(part for part in path if not part.isdigit() and part != "...")
    if unknown := _UNKNOWN.search(text):
        known = ", ".join(_struct_of(_kind_at(shape, path)).__struct_encode_fields__)
        return (*path, unknown.group(1)), f"unknown key: expected one of {known}"
    if found := _NO_CHOICE.fullmatch(text):
        expected = " or ".join(_allowed_words(_kind_at(shape, path)))
        return path, f"found {found[1]}, expected {expected}"
    return path, (text[0].lower() + text[1:]).replace(" | null`", "`")


def _kind_at(shape: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        shape = get_type_hints(_struct_of(shape))[key]
    return shape


def _allowed_words(kind: Any) -> list[str]:
    """The words that a type takes: its own, or those of its parts."""
    if get_origin(kind) is Literal:
        return [repr(one) for one in get_args(kind)]
    return [word for part in get_args(kind) for word in _allowed_words(part)]


def _struct_of(kind: Any) -> type[msgspec.Struct]:
    """The table in a type: itself, or what it is a list or a choice of."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    inner = filter(None, (_struct_of(one) for one in get_args(kind)))
    return next(inner, msgspec.Struct)


def find_key_line(text: str, path: tuple[str, ...]) -> int:
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
