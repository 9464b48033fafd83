"""What a type or a JSON Schema holds, as one line for each place in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

Shape = dict[str, str]
"""What stands at each place, such as `actor.kind`: `(agent | script | user)`."""

LEFT_OUT: Final = ", or left out"
NOTES: Final = frozenset(("title", "description", "type", "format", "default", "required"))
WITHIN: Final = frozenset(("$defs", "items", "properties", "prefixItems", "additionalProperties"))
"""What is no limit of a value: other lines say it, or none does."""


def shape_of(kind: Any, *, is_written: bool = False) -> Shape:
    """What a type holds.

    Args:
        is_written: whether the program alone writes it, all of its fields each time.
    """
    (schema,), named = msgspec.json.schema_components((kind,), ref_template="{name}")
    return shape_of_schema(schema, named, is_written=is_written)


def shape_of_schema(
    schema: Any, named: Mapping[str, Any] | None = None, *, is_written: bool = False
) -> Shape:
    """What a JSON Schema holds, and the schemas that it names."""
    found = dict[str, dict[str, None]]()  # several where one of several classes stands there
    for place, text in _Places(named or {}, is_written).within(schema, "", ()):
        found.setdefault(place, {})[text] = None
    return {place: " or ".join(texts) for place, texts in found.items()}


class _Places:
    def __init__(self, named: Mapping[str, Any], is_written: bool) -> None:
        self.named = named
        self.is_written = is_written

    def within(self, schema: Any, place: str, seen: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """All places in a value, and what stands there."""
        if not isinstance(schema, dict):
            return
        if (name := schema.get("$ref")) is not None:
            if name not in seen:  # a class may hold others of its kind
                yield from self.within(self.named[name], place, (*seen, name))
            return
        for one in (*schema.get("anyOf", ()), *schema.get("prefixItems", ())):
            yield from self.within(one, place, seen)
        yield from self.within(schema.get("items"), f"{place}[]", seen)
        yield from self.within(schema.get("additionalProperties"), f"{place}{{}}", seen)
        for name, one in schema.get("properties", {}).items():
            at = f"{place}.{name}".removeprefix(".")
            is_there = self.is_written or name in schema.get("required", ())
            instead = f" for {json.dumps(one['default'])}" if "default" in one else ""
            yield at, self.text(one) + ("" if is_there else LEFT_OUT + instead)
            yield from self.within(one, at, seen)

    def text(self, schema: Any) -> str:
        """What a value is, in a few words."""
        match schema:
            case {"$ref": name}:
                return self.text(self.named[name])
            case {"anyOf": some}:
                return " or ".join(dict.fromkeys(map(self.text, some)))
            case {"enum": values}:
                return f"({' | '.join(sorted(map(str, values)))})"
            case {"const": value}:
                return f"({value})"
            case {"prefixItems": some}:
                return f"[{', '.join(map(self.text, some))}]"
            case {"items": one}:
                return f"list of {self.text(one)}{_limits(schema)}"
            case {"additionalProperties": dict(one)}:
                return f"object of {self.text(one)}{_limits(schema)}"
            case {"type": kind}:
                return f"{kind}{_limits(schema)}"
            case _:
                return "any"


def _limits(schema: dict[str, Any]) -> str:
    return "".join(f" {name}={schema[name]}" for name in sorted(schema.keys() - NOTES - WITHIN))
