"""What a contract asks of a value: a JSON Schema, compiled once, and a pydantic class behind it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from preflights_es.judging.unknown_properties import closed, drop_unknown, target
from preflights_es.judging.violations import of_model, of_schema
from preflights_es.kernel.verdict import Violation

if TYPE_CHECKING:
    from jsonschema_rs import Validator
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


def shape(schema: object, model: type[BaseModel] | None = None) -> Shape:
    """The compiled form of a schema, made once for equal schemas.

    Raises:
        ValueError: it is no valid JSON Schema, or points outside itself.
    """
    if not isinstance(schema, dict | bool):
        found = type(schema).__name__
        message = f"the schema given must be a JSON Schema (a dict or a bool), not {found}"
        raise ValueError(message)
    try:
        return _shape(msgspec.json.encode(schema), model)
    except (TypeError, RecursionError, UnicodeEncodeError) as error:
        message = f"the schema given is not JSON: {error}"
        raise ValueError(message) from error


@lru_cache(SHAPES_MAX)
def _shape(encoded: bytes, model: type[BaseModel] | None) -> Shape:
    return Shape(msgspec.json.decode(encoded), model)


def _validator(schema: Schema) -> Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(schema, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        found = str(error).partition("\n")[0]
        message = f"the schema given is not a valid JSON Schema: {found}"
        raise ValueError(message) from error


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
