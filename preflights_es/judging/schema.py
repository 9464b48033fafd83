"""What a contract asks of a value: a JSON Schema, compiled once, and a pydantic class behind it.

Properties that the schema does not know can be dropped: a newer contract may have added them. What
is wrong with a value is named in words of ours: place, rule, expected, found.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from preflights_es.kernel.completions import (
    MESSAGE_MAX,
    VIOLATIONS_MAX,
    Path,
    Violation,
    format_json_pointer,
    quote_foreign_value,
)
from preflights_es.kernel.text import escaped_text, one_line, shortened

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator
    from pydantic import BaseModel


Schema = dict[str, Any] | bool
"""A JSON Schema, 2020-12 unless its `$schema` names an older draft."""

NAMED_MAX: Final = 32_768  # characters of a response up to which every violation is named
SHAPES_MAX: Final = 256  # compiled schemas kept; a program has a dozen
_TYPES: Final = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))


class Shape:
    """One schema and one class, ready to check values."""

    def __init__(self, schema: Schema, model: type[BaseModel] | None = None) -> None:
        self.schema = schema
        self.model = model
        self.arrays = "array" in _admitted(schema, schema, {})
        self.validator = _validator(schema)
        exact = closed(schema)
        self._exact = None if exact is None else _validator(exact)

    def violations(self, value: Any, length: int) -> tuple[Violation, ...]:
        """What is wrong with a value, nothing when it is right; `length` is the response's."""
        if not self.validator.is_valid(value):
            return of_schema(self.validator, value, every=length <= NAMED_MAX)
        return of_model(self.model, value) if self.model is not None else ()

    def drop_unknown(self, value: Any) -> tuple[str, ...]:
        """JSON Pointers of what was removed from a value, in place."""
        if self._exact is not None and self._exact.is_valid(value):
            return ()  # the usual case, a tenth of the price of looking at every property
        return drop_unknown(self.schema, value)


def compile_schema_shape(schema: object, model: type[BaseModel] | None = None) -> Shape:
    """The compiled form of a schema, made once for equal schemas.

    Raises:
        ValueError: it is no valid JSON Schema, or points outside itself.
    """
    if not isinstance(schema, dict | bool):
        found = type(schema).__name__
        raise ValueError(f"the schema given must be a JSON Schema (a dict or a bool), not {found}")
    try:
        return _compile_encoded_schema(msgspec.json.encode(schema), model)
    except (TypeError, RecursionError, UnicodeEncodeError) as error:
        raise ValueError(f"the schema given is not JSON: {error}") from error


@lru_cache(SHAPES_MAX)
def _compile_encoded_schema(encoded: bytes, model: type[BaseModel] | None) -> Shape:
    return Shape(msgspec.json.decode(encoded), model)


def _validator(schema: Schema) -> Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(schema, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        found = str(error).partition("\n")[0]
        raise ValueError(f"the schema given is not a valid JSON Schema: {found}") from error


def _admitted(root: Schema, node: object, known: dict[str, frozenset[str]]) -> frozenset[str]:
    """The JSON types that a schema's own words admit; all of them where it says nothing."""
    if not isinstance(node, dict):
        return frozenset() if node is False else _TYPES
    named = node.get("type", _TYPES)
    types = frozenset((named,) if isinstance(named, str) else named)
    if isinstance(reference := node.get("$ref"), str):
        if reference not in known:
            known[reference] = _TYPES  # what a circle of references comes to
            known[reference] = _admitted(root, target(root, reference), known)
        types &= known[reference]
    for part in node.get("allOf", ()):
        types &= _admitted(root, part, known)
    for union in ("anyOf", "oneOf"):
        if union in node:
            types &= frozenset().union(*(_admitted(root, part, known) for part in node[union]))
    return types


DROPPED_MAX: Final = 100  # pointers kept of what was dropped
_APPLIED: Final = ("allOf", "if", "then", "else")
_UNIONS: Final = ("anyOf", "oneOf")
_NAMED: Final = ("properties", "$defs", "definitions")


def target(root: object, reference: object) -> Any:
    """What a reference within the document points at; True, which knows nothing, for any other."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return True
    node: Any = root
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(key, True)
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return True
    return node


_UNCLEAR: Final = frozenset(
    ("patternProperties", "unevaluatedProperties", "dependentSchemas", "if", "not", "propertyNames")
)


def closed(schema: Any) -> Any:
    """The schema with every property forbidden that it does not declare; None where it is unclear.

    What meets it holds nothing to drop; what does not may still do so.
    """
    if isinstance(schema, list):
        parts = [closed(part) for part in schema]
        return None if any(part is None for part in parts) else parts
    if not isinstance(schema, dict):
        return schema
    if _UNCLEAR & schema.keys() or schema.get("additionalProperties", False) is not False:
        return None
    made: dict[str, Any] = {}
    for key, part in schema.items():
        inner = _closed_each(part) if key in _NAMED else closed(part)
        if inner is None and part is not None:
            return None
        made[key] = inner
    return {**made, "additionalProperties": False} if "properties" in made else made


def _closed_each(named: Any) -> Any:
    """Of a mapping whose keys are names of properties or definitions, and no words of a schema."""
    if not isinstance(named, dict):
        return None
    parts = {name: closed(part) for name, part in named.items()}
    return None if any(part is None for part in parts.values()) else parts


def drop_unknown(root: object, value: Any) -> tuple[str, ...]:
    """Remove what no part of the schema that applies declares; JSON Pointers of what it was.

    Works in place, from the top, without recursion on the value. An object of which the schema
    declares no property at all is free and stays as it is.
    """
    dropped: list[str] = []
    work: list[tuple[Any, tuple[Any, ...], Path]] = [(value, (root,), ())]
    while work:
        item, schemas, path = work.pop()
        nodes = _applying(root, schemas, item)
        if isinstance(item, dict):
            known = _collect_declared_properties(nodes)
            for key in [k for k in item if known is not None and k not in known]:
                del item[key]
                if len(dropped) < DROPPED_MAX:
                    dropped.append(format_json_pointer((*path, key)))
            members: Iterator[tuple[str | int, Any]] = iter(item.items())
        elif isinstance(item, list):
            members = iter(enumerate(item))
        else:
            continue
        work.extend(
            (inner, below, (*path, name))
            for name, inner in members
            if isinstance(inner, dict | list)
            and (below := tuple(_walk_member_schemas(nodes, name)))
        )
    return tuple(sorted(dropped))


def _applying(root: object, schemas: tuple[Any, ...], item: Any) -> list[dict[str, Any]]:
    """Every part of these schemas that speaks of this value: references and unions resolved."""
    nodes: list[dict[str, Any]] = []
    seen: set[int] = set()
    work = list(schemas)
    while work:
        node = work.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        nodes.append(node)
        work.extend(target(root, node[ref]) for ref in ("$ref", "$dynamicRef") if ref in node)
        for keyword in _APPLIED:
            part = node.get(keyword, ())
            work.extend(part if isinstance(part, list) else (part,))
        work.extend(node.get("dependentSchemas", {}).values())
        for keyword in _UNIONS:
            branches = node.get(keyword, ())
            work.extend(b for b in branches if _may_be(target_of(root, b), item))
    return nodes


def target_of(root: object, branch: object) -> object:
    """A branch of a union, or what it refers to."""
    for _ in range(8):  # references to references: two are rare, eight a circle
        if not isinstance(branch, dict) or "$ref" not in branch:
            break
        branch = target(root, branch["$ref"])
    return branch


def _may_be(branch: object, item: Any) -> bool:
    """Whether the fixed values of a branch are those of the object: its discriminator."""
    if not isinstance(branch, dict) or not isinstance(item, dict):
        return True
    for name, declared in branch.get("properties", {}).items():
        if name in item and isinstance(declared, dict):
            if "const" in declared and declared["const"] != item[name]:
                return False
            if "enum" in declared and item[name] not in declared["enum"]:
                return False
    return True


def _collect_declared_properties(nodes: list[dict[str, Any]]) -> set[str] | None:
    """The properties that are declared; None when the object is free."""
    known: set[str] = set()
    declares = False
    for node in nodes:
        if "patternProperties" in node or node.get("additionalProperties", False) is not False:
            return None
        if "properties" in node:
            declares = True
            known.update(node["properties"])
    return known if declares or any("additionalProperties" in node for node in nodes) else None


def _walk_member_schemas(nodes: list[dict[str, Any]], name: str | int) -> Iterator[Any]:
    """The schemas of one member."""
    for node in nodes:
        if isinstance(name, str):
            if name in node.get("properties", {}):
                yield node["properties"][name]
            elif isinstance(node.get("additionalProperties"), dict):
                yield node["additionalProperties"]
            continue
        items = node.get("items")
        first = node.get("prefixItems", items if isinstance(items, list) else ())
        if name < len(first):
            yield first[name]
        elif isinstance(items, dict):
            yield items


_UNKNOWN: Final = "is not a property that is known here"

PlacedMessage = tuple[Path, str]
"""A place and a message."""

UNIONS_MAX: Final = 200  # branches of unions followed to the violation inside; as deep as a value

_WORDS: Final[dict[str, Callable[[Any], str]]] = {
    "const": lambda kind: f"must be {quote_foreign_value(kind.expected_value)}",
    "contains": lambda _: "holds no item of the kind it must hold",
    "enum": lambda kind: (
        "must be one of " + ", ".join(quote_foreign_value(o) for o in kind.options[:12])
    ),
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
    "pattern": lambda kind: f"must match the pattern {quote_foreign_value(kind.pattern)}",
    "propertyNames": lambda _: "has a property whose name is not allowed",
    "required": lambda _: "is required",
    "uniqueItems": lambda _: "has the same item twice",
}


def of_schema(validator: Validator, value: Any, *, every: bool) -> tuple[Violation, ...]:
    """The violations of a value that does not meet a schema, sorted by place; at least one.

    Not `every`: only the first, because naming them costs far more than finding them.
    """
    found: list[PlacedMessage] = []
    for error in validator.iter_errors(value) if every else _find_first_violation(validator, value):
        found.extend(_describe_schema_error(error, value))
    return _sorted(found)


def _find_first_violation(validator: Validator, value: Any) -> Iterator[ValidationError]:
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
            (
                _without_tags(e["loc"], value),
                _word_pydantic_error(e["type"], e["msg"], e.get("ctx", {})),
            )
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
    ordered = sorted(
        set(found), key=lambda f: ([(p, "") if isinstance(p, int) else (-1, p) for p in f[0]], f[1])
    )
    return tuple(
        Violation(
            format_json_pointer(path), shortened(one_line(escaped_text(message)), MESSAGE_MAX)
        )
        for path, message in ordered[:VIOLATIONS_MAX]
    )


def _describe_schema_error(error: ValidationError, value: Any) -> Iterator[PlacedMessage]:
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
                inner = _follow_value_path(value, path)
                meant, instead = _pick_meant_branch(kind.context, path, inner)
                work.extend(meant)
                yield from instead
            case "additionalProperties" | "unevaluatedProperties":
                yield from (((*path, key), _UNKNOWN) for key in kind.unexpected[:VIOLATIONS_MAX])
            case "falseSchema" if error.schema_path[-1:] == ["additionalProperties"]:
                keys = list(_follow_value_path(value, path))[:VIOLATIONS_MAX]
                yield from (((*path, key), _UNKNOWN) for key in keys)
            case "required":
                yield (*path, kind.property), "is required"
            case "type":
                found_type = _type(_follow_value_path(value, path))
                yield path, f"must be {' or '.join(kind.types)}, not {found_type}"
            case name if name in _WORDS:
                yield path, _WORDS[name](kind)
            case name:
                yield path, f"does not meet the rule {name!r} of the schema"


def _read_error_kind(error: ValidationError) -> Any:
    """What an error says of itself, which depends on its kind's name."""
    return error.kind


def _pick_meant_branch(
    branches: list[list[ValidationError]], path: Path, item: Any
) -> tuple[list[ValidationError], list[PlacedMessage]]:
    """The errors of the branch that a value was meant to be, or what is wrong with all of them.

    Its type decides, then its fixed values (a discriminator), then what all branches say.
    """
    if not all(branches):
        return [], [(path, "matches more than one of the forms of which it must be one")]
    fitting = [b for b in branches if not any(_is(e, path, "type") for e in b)]
    if not fitting:
        kinds = (_read_error_kind(e).types for b in branches for e in b if _is(e, path, "type"))
        types = {t: None for kind in kinds for t in kind}
        return [], [(path, f"must be {' or '.join(types)}, not {_type(item)}")]
    untagged = [b for b in fitting if not any(_is_discriminator_mismatch(e, path) for e in b)]
    if not untagged:
        fixed = [e for b in fitting for e in b if _is_discriminator_mismatch(e, path)]
        at = tuple(fixed[0].instance_path)
        there = (_read_error_kind(e) for e in fixed if tuple(e.instance_path) == at)
        values = {quote_foreign_value(kind.expected_value): None for kind in there}
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


def _is_discriminator_mismatch(error: ValidationError, path: Path) -> bool:
    """Whether a direct member has another value than the one that is fixed for this branch."""
    return error.kind.name == "const" and len(error.instance_path) == len(path) + 1


def _follow_value_path(value: Any, path: Path) -> Any:
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
        is_item = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if is_item or (isinstance(value, dict) and part in value):
            value = inside[part]
        elif not (last and isinstance(value, dict)):
            continue
        path.append(part)
    return tuple(path)


def _word_pydantic_error(kind: str, message: str, context: dict[str, Any]) -> str:
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
