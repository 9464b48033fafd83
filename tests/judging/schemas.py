"""Frozen schemas: where they stand, and what a newer version may change (CONTRIBUTING.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import preflights_es
from preflights_es.judging.contract import Contract

FEATURES = Path(preflights_es.__file__).parent / "features"
TESTS = Path(__file__).parent.parent / "features"
# What says nothing of the values that a schema takes.
NOTES = frozenset(("title", "description", "default", "examples", "$comment", "$schema", "$id"))
# What is compared in a way of its own, or where it is referred to.
PARTS = frozenset(("properties", "required", "$defs", "discriminator"))
UNIONS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))


class SchemaFile(NamedTuple):
    """`schemas/NAME.vN.json` of a workflow."""

    workflow: str
    name: str
    version: int

    @property
    def id(self) -> str:
        """The same as the id of its contract."""
        return f"{self.name}.v{self.version}"

    @property
    def schema(self) -> dict[str, Any]:
        """What stands in it."""
        found: dict[str, Any] = json.loads(
            (FEATURES / self.workflow / "data" / "schemas" / f"{self.id}.json").read_text("utf-8")
        )
        return found

    @property
    def contracts(self) -> list[Contract]:
        """The contracts of the workflow that ask for it."""
        domain = f"preflights_es.features.{self.workflow}.domain"
        folder = FEATURES / self.workflow / "domain"
        modules = [import_module(f"{domain}.{one.stem}") for one in sorted(folder.glob("*.py"))]
        values = [value for module in modules for value in vars(module).values()]
        values += [one for value in values if isinstance(value, dict) for one in value.values()]
        found = (value for value in values if isinstance(value, Contract))
        return list(dict.fromkeys(contract for contract in found if contract.id == self.id))

    @property
    def answers(self) -> list[Path]:
        """Answers that were given when it was the newest version."""
        return sorted((TESTS / self.workflow / "fixtures" / self.id).glob("*.json"))


def schema_files() -> list[SchemaFile]:
    """All of them, each workflow's versions in order."""
    found = (
        SchemaFile(path.parents[2].name, name, int(version))
        for path in FEATURES.glob("*/data/schemas/*.json")
        for name, _, version in (path.stem.rpartition(".v"),)
    )
    return sorted(found)


def changes(old: Any, new: Any) -> list[str]:
    """What a newer schema has beyond optional properties: places, and what is different there.

    Nothing for a newer version as it should be: old answers meet it, and old programs only have to
    drop what they do not know.
    """
    return list(_Comparison(old, new).of(old, new, ""))


class _Comparison:
    """Two schemas and the pairs of references that were followed, as schemas may be circles."""

    def __init__(self, old: Any, new: Any) -> None:
        self.roots = old, new
        self.followed: set[tuple[str, str]] = set()

    def of(self, old: Any, new: Any, path: str) -> Iterator[str]:
        if self._known(old, new):
            return
        old, new = _resolved(old, self.roots[0]), _resolved(new, self.roots[1])
        if not (isinstance(old, dict) and isinstance(new, dict)):
            if old != new:
                yield f"{path}: another value"
            return
        yield from self._properties(old, new, path)
        for keyword in sorted((set(old) | set(new)) - NOTES - PARTS):
            at = f"{path}/{keyword}"
            if keyword not in old or keyword not in new:
                yield f"{at}: {'new' if keyword in new else 'gone'}"
            elif keyword in UNIONS:
                yield from self._parts(old[keyword], new[keyword], at)
            else:
                yield from self.of(old[keyword], new[keyword], at)

    def _known(self, old: Any, new: Any) -> bool:
        """Whether both are references that were compared, or are about to be."""
        if not all(isinstance(node, dict) and "$ref" in node for node in (old, new)):
            return False
        pair = (old["$ref"], new["$ref"])
        known = pair in self.followed
        self.followed.add(pair)
        return known

    def _properties(self, old: Any, new: Any, path: str) -> Iterator[str]:
        if set(old.get("required", ())) != set(new.get("required", ())):
            yield f"{path}/required: another list"
        after = new.get("properties", {})
        for name, schema in old.get("properties", {}).items():
            at = f"{path}/properties/{name}"
            if name in after:
                yield from self.of(schema, after[name], at)
            else:
                yield f"{at}: gone"

    def _parts(self, old: list[Any], new: list[Any], path: str) -> Iterator[str]:
        if len(old) != len(new):
            yield f"{path}: another number of parts"
        for i, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from self.of(one, other, f"{path}/{i}")


def _resolved(node: Any, root: Any) -> Any:
    """A node with what it refers to in its place."""
    while isinstance(node, dict) and "$ref" in node:
        found = root
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = {**found, **{key: value for key, value in node.items() if key != "$ref"}}
    return node
