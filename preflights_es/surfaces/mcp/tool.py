"""What a tool is: its words, what it takes and gives, and what runs when a client calls it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from preflights_es.kernel.text import shown_lines
from preflights_es.use.results import Result

if TYPE_CHECKING:
    from preflights_es.surfaces.mcp.call import Call

UNSAID: Final = ("title", "default", "additionalProperties")
"""What a schema says and no client needs: descriptions are read at every start of an agent."""


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Root of what tools take."""


class Nothing(Arguments, frozen=True):
    """Takes nothing."""


class Given(Result, frozen=True, omit_defaults=True):
    """Root of what tools give."""

    notices: tuple[str, ...] = ()
    """What a person should know of the call."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool."""

    name: str
    description: str
    takes: type[Arguments]
    gives: type[Given]
    run: Callable[[Call, Any], Awaitable[Any]]
    """Takes the call and its arguments; gives what `gives` says, or what the client must ask."""
    reads: bool = False
    """Whether it changes nothing that a person would mind; a search may record its question."""
    repeats: bool = False
    """Whether the same call again records nothing more."""


def schema_in(takes: type[Arguments]) -> dict[str, Any]:
    """What a tool takes, as JSON Schema."""
    found = _bare(_schema(takes))
    del found["description"]  # the tool's own says it
    return found


def schema_out(gives: type[Given]) -> dict[str, Any]:
    """What a tool gives, as JSON Schema: the types of its own fields alone."""
    known = _schema(gives)["properties"]
    own = [name for name in known if name not in Given.__struct_fields__]
    fields = {name: {"type": known[name].get("type", "object")} for name in own}
    return {"type": "object", "properties": fields}


def quoted(value: Any) -> Any:
    """JSON without characters that a model reads and its person does not see."""
    match value:
        case str():
            return shown_lines(value)
        case dict():
            return {shown_lines(name): quoted(one) for name, one in value.items()}
        case list() | tuple():
            return [quoted(one) for one in value]
        case _:
            return value


def _schema(of: type[msgspec.Struct]) -> dict[str, Any]:
    (found,), defs = msgspec.json.schema_components((of,), ref_template="{name}")
    schema: dict[str, Any] = defs[found["$ref"]]
    return schema


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in schema.items() if name not in UNSAID}
    if "properties" in found:
        found["properties"] = {name: _bare(one) for name, one in found["properties"].items()}
    return {name: value for name, value in found.items() if value != [] or name != "required"}
