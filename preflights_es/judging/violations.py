"""What is wrong with a value, named in words of ours: place, rule, expected, found."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from preflights_es.kernel.text import one_line, shortened, shown
from preflights_es.kernel.verdict import (
    MESSAGE_MAX,
    VIOLATIONS_MAX,
    Path,
    Violation,
    pointer,
    quoted,
)

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator
    from pydantic import BaseModel

_UNKNOWN: Final = "is not a property that is known here"

PlacedMessage = tuple[Path, str]
"""A place and a message."""

UNIONS_MAX: Final = 200  # branches of unions followed to the violation inside; as deep as a value

_WORDS: Final[dict[str, Callable[[Any], str]]] = {
    "const": lambda kind: f"must be {quoted(kind.expected_value)}",
    "contains": lambda _: "holds no item of the kind it must hold",
    "enum": lambda kind: "must be one of " + ", ".join(quoted(o) for o in kind.options[:12]),
    "exclusiveMaximum": lambda kind: f"must be less than {kind.limit}",
    "exclusiveMinimum": lambda kind: f"must be greater than {kind.limit}",
    "falseSchema": lambda _: "is not allowed",
    "format": lambda kind: f"must be a {kind.format}",
    "maxItems": lambda kind: f"must have at most {kind.limit} items",
    "maxLength": lambda kind: f"must have at most {kind.limit} characters",
    "maxProperties": lambda kind: f"must have at most {kind.limit} properties",
    "maximum": lambda kind: f"must be at most {kind.limit}",
    "minItems": lambda kind: f"must have at least {kind.limit} items",
    "minLength": lambda kind: f"must have at least {kind.limit} characters",
    "minProperties": lambda kind: f"must have at least {kind.limit} properties",
    "minimum": lambda kind: f"must be at least {kind.limit}",
    "multipleOf": lambda kind: f"must be a multiple of {kind.multiple_of}",
    "not": lambda _: "is what it must not be",
    "pattern": lambda kind: f"must match the pattern {quoted(kind.pattern)}",
    "propertyNames": lambda _: "has a property whose name is not allowed",
    "required": lambda _: "is required",
    "uniqueItems": lambda _: "has the same item twice",
}


def of_schema(validator: Validator, value: Any, *, every: bool) -> tuple[Violation, ...]:
    """The violations of a value that does not meet a schema, sorted by place; at least one.

    Not `every`: only the first, because naming them costs far more than finding them.
    """
    found: list[PlacedMessage] = []
    for error in validator.iter_errors(value) if every else _first(validator, value):
        found.extend(_named(error, value))
    return _sorted(found)


def _first(validator: Validator, value: Any) -> Iterator[ValidationError]:
    import jsonschema_rs

    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        yield error


def of_model(model: type[BaseModel], value: Any) -> tuple[Violation, ...]:
    """What a pydantic class refuses of a value that meets its schema; nothing when it takes it."""
    import pydantic
    import pydantic_core

    raw = pydantic_core.to_json(value)
    try:
        model.model_validate_json(raw, strict=True)
    except pydantic.ValidationError as error:
        if b"." in raw:
            with contextlib.suppress(pydantic.ValidationError):
                model.model_validate_json(pydantic_core.to_json(_whole_numbers(raw)), strict=True)
                return ()
        return _sorted(
            (_without_tags(e["loc"], value), _said(e["type"], e["msg"], e.get("ctx", {})))
            for e in error.errors(include_url=False, include_input=False)
        )
    return ()


def _whole_numbers(raw: bytes) -> Any:
    """The value with 10.0 as 10: to JSON Schema both are whole, to a strict class only one is."""

    def number(text: str) -> float:
        return int(float(text)) if float(text).is_integer() else float(text)

    return json.loads(raw, parse_float=number)


def _sorted(found: Iterable[PlacedMessage]) -> tuple[Violation, ...]:
    """Once each, in an order that no library decides, at most `VIOLATIONS_MAX`."""
    ordered = sorted(set(found), key=lambda f: ([_rank(part) for part in f[0]], f[1]))
    return tuple(
        Violation(pointer(path), shortened(one_line(shown(message)), MESSAGE_MAX))
        for path, message in ordered[:VIOLATIONS_MAX]
    )


def _rank(part: str | int) -> tuple[int, str]:
    return (part, "") if isinstance(part, int) else (-1, part)


def _named(error: ValidationError, value: Any) -> Iterator[PlacedMessage]:
    """One error as one or more violations; a union's as those of the branch that was meant."""
    work = [error]
    for _ in range(UNIONS_MAX):
        if not work:
            return
        error = work.pop()
        path = tuple(error.instance_path)
        kind: Any = error.kind  # what it holds depends on its name
        match kind.name:
            case "anyOf" | "oneOf":
                meant, instead = _meant(kind.context, path, _at(value, path))
                work.extend(meant)
                yield from instead
            case "additionalProperties" | "unevaluatedProperties":
                yield from (((*path, key), _UNKNOWN) for key in kind.unexpected[:VIOLATIONS_MAX])
            case "falseSchema" if error.schema_path[-1:] == ["additionalProperties"]:
                keys = list(_at(value, path))[:VIOLATIONS_MAX]
                yield from (((*path, key), _UNKNOWN) for key in keys)
            case "required":
                yield (*path, kind.property), "is required"
            case "type":
                yield path, f"must be {' or '.join(kind.types)}, not {_type(_at(value, path))}"
            case name if name in _WORDS:
                yield path, _WORDS[name](kind)
            case name:
                yield path, f"does not meet the rule {name!r} of the schema"


def _held(error: ValidationError) -> Any:
    """What an error says of itself, which depends on its kind's name."""
    return error.kind


def _meant(
    branches: list[list[ValidationError]], path: Path, item: Any
) -> tuple[list[ValidationError], list[PlacedMessage]]:
    """The errors of the branch that a value was meant to be, or what is wrong with all of them.

    Its type decides, then its fixed values (a discriminator), then what all branches say.
    """
    if not all(branches):
        return [], [(path, "matches more than one of the forms of which it must be one")]
    fitting = [b for b in branches if not any(_is(e, path, "type") for e in b)]
    if not fitting:
        types = {
            t: None for b in branches for e in b if _is(e, path, "type") for t in _held(e).types
        }
        return [], [(path, f"must be {' or '.join(types)}, not {_type(item)}")]
    untagged = [b for b in fitting if not any(_fixed(e, path) for e in b)]
    if not untagged:
        fixed = [e for b in fitting for e in b if _fixed(e, path)]
        at = tuple(fixed[0].instance_path)
        values = {
            quoted(_held(e).expected_value): None for e in fixed if tuple(e.instance_path) == at
        }
        return [], [(at, f"must be one of {', '.join(values)}")]
    if len(untagged) > 1:
        said = [{(*e.instance_path, e.kind.name, e.message) for e in b} for b in untagged]
        common = set.intersection(*said)
        if common:
            first = untagged[0]
            return [e for e in first if (*e.instance_path, e.kind.name, e.message) in common], []
    return min(untagged, key=len), []


def _is(error: ValidationError, path: Path, name: str) -> bool:
    return error.kind.name == name and tuple(error.instance_path) == path


def _fixed(error: ValidationError, path: Path) -> bool:
    """Whether a direct member has another value than the one that is fixed for this branch."""
    return error.kind.name == "const" and len(error.instance_path) == len(path) + 1


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _type(value: Any) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _without_tags(location: tuple[str | int, ...], value: Any) -> Path:
    """pydantic's path without the names of branches and validators that it puts in between."""
    path: list[str | int] = []
    for at, part in enumerate(location):
        last = at == len(location) - 1
        inside: Any = value
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            value = inside[part]
        elif not (last and isinstance(value, dict)):
            continue
        path.append(part)
    return tuple(path)


def _said(kind: str, message: str, context: dict[str, Any]) -> str:
    """pydantic's own words only where a class says nothing and we have none."""
    match kind:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return _UNKNOWN
        case "value_error" | "assertion_error":
            return str(context.get("error", message))
        case _:
            return message
