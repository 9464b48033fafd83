"""Properties that a schema does not know, dropped: what a newer contract may have added."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from preflights_es.kernel.verdict import Path, pointer

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
            known = _known(nodes)
            for key in [k for k in item if known is not None and k not in known]:
                del item[key]
                if len(dropped) < DROPPED_MAX:
                    dropped.append(pointer((*path, key)))
            members: Iterator[tuple[str | int, Any]] = iter(item.items())
        elif isinstance(item, list):
            members = iter(enumerate(item))
        else:
            continue
        work.extend(
            (inner, below, (*path, name))
            for name, inner in members
            if isinstance(inner, dict | list) and (below := tuple(_below(nodes, name)))
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


def _known(nodes: list[dict[str, Any]]) -> set[str] | None:
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


def _below(nodes: list[dict[str, Any]], name: str | int) -> Iterator[Any]:
    """The schemas of one member."""
    for node in nodes:
        if isinstance(name, str):
            if name in node.get("properties", {}):
                yield node["properties"][name]
            elif isinstance(node.get("additionalProperties"), dict):
                yield node["additionalProperties"]
            continue
        first = node.get(
            "prefixItems", node["items"] if isinstance(node.get("items"), list) else ()
        )
        if name < len(first):
            yield first[name]
        elif isinstance(node.get("items"), dict):
            yield node["items"]
