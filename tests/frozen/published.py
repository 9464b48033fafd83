"""All that is published, by kind, as it is in this tree, and what to do instead of changing it."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, get_type_hints

import click
import msgspec

import preflights_cli
import preflights_es
from preflights_cli.main import _exit_code_of_error, preflights
from preflights_es.kernel import errors
from preflights_es.providers.capabilities import BASE_URL_VARIABLES, KEY_VARIABLES
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.settings.file import FIELDS, KEYS
from preflights_es.settings.load import READER_URL
from preflights_es.store import jsonl, stored_events
from preflights_es.surfaces.mcp_rounds import schema_in, schema_out
from preflights_es.surfaces.mcp_server import list_offered_tools
from preflights_es.use.results import AgentPrompt, SessionRow
from preflights_es.words import signing
from preflights_es.words.imports import WORKFLOW as IMPORTS
from preflights_es.words.workflow import ANY, HEAD, STATUSES, TAIL, View, Workflow
from tests.frozen.shapes import LEFT_OUT, Shape, shape_of, shape_of_schema
from tests.house.api_page import methods
from tests.house.test_fields import events
from tests.markdown import ROOT, tables, ticked

Published = dict[str, Shape]
"""Parts of each published thing by its name."""

FOLDER: Final = Path(__file__).parent
OURS: Final = ("preflights_es.", "preflights_cli.")
ROOMS: Final = ("preflights_es/use", "preflights_es/features", "cli/preflights_cli")
"""Where the classes lie that `--json` prints."""
ON_PAGE: Final = "on docs/api.md alone"
_FORMAT: Final = re.compile(r"[a-z-]+/\d")
_CODE: Final = re.compile(r'\bcode="([a-z_]+)"')


class PublishedKind(NamedTuple):
    """One kind of published things."""

    found: Callable[[], Published]
    instead: str
    """What to do instead of changing one."""
    is_read: bool = False
    """Whether what others wrote before is read by it: a new part must be one to leave out."""
    grows: bool = True
    """Whether something may be added."""


# 1. What a program or a log holds ------------------------------------------------------------


def recorded(kind: str) -> Published:
    """As it was recorded; nothing where that is to come."""
    path = FOLDER / f"{kind}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _event_shapes() -> Published:
    """Also of tags that give way to newer ones: their upcasters take what was recorded."""
    before = recorded("events")
    former = {tag for one in our_workflows() for tag in one.decider.upcasters}
    shapes = {tag: shape_of(kind) for tag, kind in events().items()}
    return shapes | {tag: before.get(tag, {}) for tag in former}


def our_workflows() -> list[Workflow[Any]]:
    """Those of our folder; other tests register workflows of other packages."""
    ours = (name for name, one in FEATURES.items() if one.workflow)
    return [IMPORTS, *(WORKFLOWS[name] for name in ours if not FEATURES.is_foreign(name))]


def _line_shapes() -> Published:
    formats = {"chain": stored_events.FORMAT, "signature": signing.FORMAT}
    formats["first line"] = jsonl.FIRST.decode().strip()
    return {"line": shape_of(jsonl.EventLine), "formats": formats}


def _file_hashes(*patterns: str) -> Callable[[], Published]:
    def found() -> Published:
        hashes: Published = {}
        for path in sorted(path for one in patterns for path in ROOT.glob(one)):
            folder = hashes.setdefault(path.parent.relative_to(ROOT).as_posix(), {})
            folder[path.name] = sha256(path.read_bytes()).hexdigest()
        return hashes

    return found


# 2. What `--json` prints -----------------------------------------------------------------------


@cache
def json_classes() -> dict[str, type[msgspec.Struct]]:
    """The classes of ours that are a shape of their own, by format."""
    for room in ROOMS:
        for path in (ROOT / room).rglob("[a-z]*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            import_module(name.removeprefix("cli."))
    tagged = {str(one.__struct_config__.tag): one for one in _ours_below(msgspec.Struct)}
    return {tag: kind for tag, kind in tagged.items() if _FORMAT.fullmatch(tag)}


def _ours_below(kind: type[Any]) -> Iterator[Any]:
    for one in kind.__subclasses__():
        if one.__module__.startswith(OURS):
            yield one
        yield from _ours_below(one)


def documented(shape: str) -> Shape:
    """The types of a shape's fields by path, as docs/api.md has them."""
    return {ticked(row["field"])[0]: row["type"] for row in tables("docs/api.md")[shape]}


def _json_shapes() -> Published:
    """Of classes; what a command adds, and shapes without a class, as docs/api.md has them.

    tests/cli/test_docs.py holds that page to what commands print.
    """
    views = {kind.FORMAT: _view_fields(kind) for kind in (View, *_ours_below(View))}
    kinds: dict[str, Any] = {**json_classes(), **views, "prompt/1": AgentPrompt}
    kinds["sessions/1"] = msgspec.defstruct("Rows", [("sessions", tuple[SessionRow, ...])])
    return {
        shape: {place: f"{told}, {ON_PAGE}" for place, told in documented(shape).items()}
        | (shape_of(kinds[shape], is_written=True) if shape in kinds else {})
        for shape in tables("docs/api.md")
        if _FORMAT.fullmatch(shape)
    }


def _view_fields(kind: type[View]) -> type[msgspec.Struct]:
    """A class of the fields that `View.shape` prints."""
    own = ANY if kind.FORMAT == View.FORMAT else kind.SHAPE or tuple(kind.__annotations__)
    names = (*HEAD, *own, *TAIL)
    typed = get_type_hints(kind, include_extras=True)
    for name in names:
        if isinstance(derived := getattr(kind, name), property):
            typed[name] = get_type_hints(derived.fget)["return"]
    return msgspec.defstruct("Shown", [(name, typed[name]) for name in names])


# 3. What scripts and agents name ---------------------------------------------------------------


def _codes() -> Published:
    kinds = {errors.code_of(one): one for one in _ours_below(errors.PreflightsError)}
    kinds["OSError"] = OSError  # of a file, folder or stream that no error of ours tells of
    sources = (path for room in ("preflights_es", "cli") for path in (ROOT / room).rglob("*.py"))
    said = {code for path in sources for code in _CODE.findall(path.read_text("utf-8"))}
    told = {code for row in tables("docs/api.md")["Codes"] for code in ticked(row["code"])}
    exits = {name: code for name, code in vars(preflights_cli).items() if name.startswith("EXIT_")}
    return {
        "exit codes": {name: str(code) for name, code in exits.items()},
        "exit codes of errors": {
            code: str(_exit_code_of_error(kind.__new__(kind))) for code, kind in kinds.items()
        },
        "codes": {**dict.fromkeys(told, ON_PAGE), **dict.fromkeys(said, "in a source")},
        "statuses": {
            one.name: f"({' | '.join(sorted({*one.shown.statuses, *STATUSES}))})"
            for one in our_workflows()
        },
    }


def _command_shapes() -> Published:
    """What each command takes, and how the program is started."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    programs: Published = {f"program {name}": {} for name in project["scripts"]}
    return programs | dict(_shapes_below("", preflights))


def _shapes_below(words: str, command: click.Command) -> Iterator[tuple[str, Shape]]:
    yield f"preflights {words}".rstrip(), _command_shape(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(context := click.Context(command)):
            found = command.get_command(context, name)
            assert found is not None, "it was listed"
            yield from _shapes_below(f"{words} {name}".lstrip(), found)


def _command_shape(command: click.Command) -> Shape:
    found, places = Shape(), count(1)
    for one in command.params:
        if isinstance(one, click.Argument):
            found[f"argument {next(places)}"] = _parameter_text(one)
        else:
            found |= dict.fromkeys((*one.opts, *one.secondary_opts), _parameter_text(one))
    return found


def _parameter_text(one: click.Parameter) -> str:
    told = one.to_info_dict()
    limits = [told["type"][key] for key in ("min", "max") if told["type"].get(key) is not None]
    text = f"({' | '.join(told['type'].get('choices', ()))})".replace("()", one.type.name)
    text = "flag" if told.get("is_flag") else " ".join((text, *map(str, limits)))
    text = f"list of {text}" if told["multiple"] or one.nargs == -1 else text
    instead = (
        f" for {one.default}" if one.default and isinstance(one.default, str | int | float) else ""
    )
    return text + ("" if one.required else LEFT_OUT + instead)


def _python_shapes() -> Published:
    """What programs import and call, by the names and the order of arguments."""
    own = {name: getattr(preflights_es, name) for name in preflights_es.__all__}
    called: dict[str, Callable[..., Any]] = {
        f"Preflights.{name}": one for name, one in methods().items()
    }
    called |= {name: one for name, one in own.items() if inspect.isfunction(one)}
    return {name: {} for name in own} | {name: _arguments(one) for name, one in called.items()}


def _arguments(one: Callable[..., Any]) -> Shape:
    """By name; those by position with their number."""
    found, places = Shape(), count(1)
    for name, argument in inspect.signature(one).parameters.items():
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD) or name == "self":
            continue
        place = "by name" if argument.kind == argument.KEYWORD_ONLY else f"{next(places)}"
        found[name] = place + (LEFT_OUT if argument.default is not argument.empty else "")
    return found


def _setting_shapes() -> Published:
    keys = msgspec.defstruct("File", [(key, one.kind, None) for key, one in KEYS.items()])
    own_tables = {
        f"table {one.name}": shape_of(one.asked.settings().shape)
        for one in our_workflows()
        if one.asked.settings is not None
    }
    return {
        "keys": shape_of(keys),
        "variables": {
            **{one.name: str(one.read_from) for one in FIELDS},
            "metrics.reader_url": READER_URL,
        },
        "variables of providers": {
            **{f"{name}, key": " | ".join(of_key) for name, of_key in KEY_VARIABLES.items()},
            **{f"{name}, address": of_url for name, of_url in BASE_URL_VARIABLES.items()},
        },
        "defaults": {one.name: f"{one.default!r}, {one.limits}" for one in FIELDS},
        **own_tables,
    }


def _tool_shapes() -> Published:
    return {
        f"{one.name} {what}": shape_of_schema(schema)
        for one in list_offered_tools()
        for what, schema in (("takes", schema_in(one.takes)), ("gives", schema_out(one.gives)))
    }


FEATURE_DATA: Final = "preflights_es/features/*/data"
BESIDE: Final = "leave the file as it is, and write its next version beside it"

KINDS: Final[Mapping[str, PublishedKind]] = {
    "events": PublishedKind(
        _event_shapes,
        "give the event a new tag beside the old one, and add an upcaster "
        "(docs/writing-a-workflow.md)",
        is_read=True,
    ),
    "lines": PublishedKind(
        _line_shapes,
        "raise the number of the format, read both (docs/decisions/0041), and record it with "
        "`python -m tests.frozen --all`",
        is_read=True,
        grows=False,
    ),
    "prompts": PublishedKind(_file_hashes(f"{FEATURE_DATA}/prompts/*"), BESIDE),
    "schemas": PublishedKind(
        _file_hashes(f"{FEATURE_DATA}/schemas/*"),
        f"{BESIDE}, which only adds optional properties (docs/contracts.md)",
    ),
    "packs": PublishedKind(_file_hashes(f"{FEATURE_DATA}/packs/*"), BESIDE),
    "templates": PublishedKind(
        _file_hashes("preflights_es/records/templates/*", f"{FEATURE_DATA}/starters/*"), BESIDE
    ),
    "migrations": PublishedKind(
        _file_hashes("alembic/versions/*.py"), "leave it, and write the next migration beside it"
    ),
    "json": PublishedKind(
        _json_shapes,
        "keep the field as it is and print another one beside it, or a new version of the shape, "
        "such as `session/2`",
    ),
    "codes": PublishedKind(_codes, "keep it, since scripts branch on it, and add another one"),
    "commands": PublishedKind(
        _command_shapes,
        "keep it with what it means, hidden from the help if need be, and add another one",
        is_read=True,
    ),
    "python": PublishedKind(
        _python_shapes,
        "keep the name and its arguments, and add another one with a default, by name",
        is_read=True,
    ),
    "settings": PublishedKind(
        _setting_shapes, "keep the key and what it means, and add another one", is_read=True
    ),
    "tools": PublishedKind(
        _tool_shapes,
        "keep what the tool takes and gives, and add an optional argument or another tool",
        is_read=True,
    ),
}
