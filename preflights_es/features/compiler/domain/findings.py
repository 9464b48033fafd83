"""Where a plan disagrees with what was read (docs/specs/compiler.md, section 5.3).

A finding is no flaw of the plan: a person may know better, and waives it with a reason. The same
function finds at a response, at an approval and for `plan check`; what was read is the pass's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, TypeVar

import msgspec

from preflights_es.features.compiler.domain.checks import leaves
from preflights_es.features.compiler.domain.contradictions import contradictions, mentions
from preflights_es.features.compiler.domain.events import PassBegun
from preflights_es.features.compiler.domain.values import FINDINGS_MAX, PassName, PlanType
from preflights_es.kernel.completions import Path, pointer, quoted
from preflights_es.kernel.items import Finding, FindingKind
from preflights_es.kernel.statements import Placed
from preflights_es.kernel.text import late_pattern
from preflights_es.kernel.words import folded, words

DIGITS: Final = 6  # of a finding's name
STEM: Final = 4  # letters by which a file is known to be of a module

Disagreeing = Iterator[tuple[FindingKind, Path, str]]


def findings(begun: PassBegun, payload: dict[str, Any]) -> tuple[Finding, ...]:
    """Where the plan of a pass disagrees with what the pass has read.

    Args:
        payload: that meets its schema.
    """
    own = (_found(*one) for one in _CHECKS[begun.pass_type](begun, payload))
    ids = (_found(*one) for one in _requirements(begun, payload))
    said = contradictions(_texts(payload), begun.decisions)
    decided = (_named("decision", at, what) for at, what in said)
    found = tuple(dict.fromkeys((*own, *ids, *decided)))
    if len(found) <= FINDINGS_MAX:
        return found
    more = f"and {len(found) - FINDINGS_MAX + 1:,} more findings: too many to waive"
    return (*found[: FINDINGS_MAX - 1], _named("more", "", more))


def perhaps(begun: PassBegun, payload: dict[str, Any]) -> tuple[Finding, ...]:
    """What names something that was decided against, and states nothing; it never blocks."""
    said = mentions(_texts(payload), begun.decisions)
    return tuple(_named("decision", at, what) for at, what in said)[:FINDINGS_MAX]


def _found(kind: FindingKind, at: Path, message: str) -> Finding:
    return _named(kind, pointer(at), message)


def _named(kind: FindingKind, at: str, message: str) -> Finding:
    digest = sha256(f"{kind}\0{at}\0{message}".encode()).hexdigest()
    return Finding(f"{kind}-{digest[:DIGITS]}", kind, at, message)


# 1. One pass each ----------------------------------------------------------------------------


def _project(_: PassBegun, _payload: dict[str, Any]) -> Disagreeing:
    yield from ()


_LAYERS_OF: Final = {
    "domain_cannot_import_infrastructure": ("domain",),
    "application_depends_on_domain": ("application", "domain"),
    "infrastructure_depends_on_application": ("infrastructure", "application"),
}
"""The layers that a rule needs; what must not be imported need not be there."""
_CALLED: Final = {
    "domain": ("domain", "core", "model", "entities"),
    "application": ("application", "app", "use cases", "usecases", "services"),
    "infrastructure": ("infrastructure", "infra", "adapters", "adapter"),
}
"""Names of these layers in the usual styles."""


def _architecture(_: PassBegun, payload: dict[str, Any]) -> Disagreeing:
    layers = {folded(one) for one in payload["layers"]}
    for n, one in enumerate(payload["rules"]):
        for layer in _LAYERS_OF[one["rule"]]:
            if layers.isdisjoint(_CALLED[layer]):
                at = ("rules", n, "rule")
                yield "layer", at, f"{quoted(one['rule'])} needs the layer {quoted(layer)}"


def _scaffold(begun: PassBegun, payload: dict[str, Any]) -> Disagreeing:
    said = (text for one in payload["files"] for text in (one["path"], one["description"]))
    known = folded(" ".join(said))
    for plan in _read(begun, "ProjectPlan", _Modules):
        for one in plan.modules:
            stems = [word[:STEM] for word in words(one.name)]
            if stems and not any(stem in known for stem in stems):
                yield "name", ("files",), f"no file is of the module {quoted(one.name)}"


def _test(begun: PassBegun, payload: dict[str, Any]) -> Disagreeing:
    there = _files(begun)
    for n, one in enumerate(payload["tests"] if there else ()):
        if one["target"] not in there:
            yield "file", ("tests", n, "target"), _nowhere(one["target"])


def _implementation(begun: PassBegun, payload: dict[str, Any]) -> Disagreeing:
    target, there = payload["target"], _files(begun)
    if there and target not in there:
        yield "file", ("target",), _nowhere(target)
    tests = {one.id for plan in _read(begun, "TestPlan", _Tests) for one in plan.tests}
    for n, one in enumerate(payload["related_tests"]):
        if one not in tests:
            yield "test", ("related_tests", n), f"{quoted(one)} is no test of the TestPlan"


def _refactor(begun: PassBegun, payload: dict[str, Any]) -> Disagreeing:
    plans = tuple(_read(begun, "ArchitecturePlan", _Layers))
    layers = {folded(layer) for plan in plans for layer in plan.layers}
    moved = set[str]()
    for n, one in enumerate(payload["operations"]):
        path = one.get("from_path") or ""
        is_known = not _is_cut(begun) and path not in {*begun.layout, *moved}
        if one["type"] == "move_file" and is_known:
            yield (
                "file",
                ("operations", n, "from_path"),
                f"{quoted(path)} is no file that git lists",
            )
        moved.add(one.get("to_path") or "")
        for name in ("from", "to") if one["type"] == "enforce_dependency" and plans else ():
            if folded(one.get(name) or "") not in layers:
                what = f"{quoted(one.get(name))} is no layer of the ArchitecturePlan"
                yield "layer", ("operations", n, name), what


_CHECKS: Final[dict[PassName, Callable[[PassBegun, dict[str, Any]], Disagreeing]]] = {
    "project": _project,
    "architecture": _architecture,
    "scaffold": _scaffold,
    "test": _test,
    "implementation": _implementation,
    "refactor": _refactor,
}


def _files(begun: PassBegun) -> set[str]:
    """Paths of the ScaffoldPlan, of the layout and of what was read; none where some are cut."""
    if _is_cut(begun):
        return set()
    planned = (one.path for plan in _read(begun, "ScaffoldPlan", _Files) for one in plan.files)
    return {*planned, *begun.layout, *(one.path for one in begun.documents)}


def _is_cut(begun: PassBegun) -> bool:
    return any(one.what == "layout" for one in begun.left_out)


def _nowhere(path: str) -> str:
    return f"{quoted(path)} is neither in the ScaffoldPlan nor a file that git lists"


# 2. Of all -----------------------------------------------------------------------------------

_DEFINED: Final = late_pattern(
    r"^[ \t]*(?:#+[ \t]*|[-*+][ \t]+|\d+[.)][ \t]+|\|[ \t]*)?[*_`\[(]*"
    r"([A-Z][A-Z0-9]{0,7})-(\d{1,5})\b",
    8,  # re.MULTILINE
)
"""A requirement's id where a line begins with it: as a heading, an item or in a table."""
_CITED: Final = late_pattern(r"(?<![\w-])([A-Z][A-Z0-9]{0,7})-(\d{1,5})(?![\w-])")


def _requirements(begun: PassBegun, payload: dict[str, Any]) -> Disagreeing:
    """Ids of requirements that no document has, of the kinds that documents define."""
    texts = [one.text for one in begun.documents]
    kinds = {match[1] for text in texts for match in _DEFINED.finditer(text)}
    known = {match.groups() for text in texts for match in _CITED.finditer(text)} if kinds else ()
    for at, text in leaves(payload) if kinds else ():
        for match in _CITED.finditer(text):
            if match[1] in kinds and match.groups() not in known:
                yield "requirement", at, f"no document has the requirement {quoted(match[0])}"


def _texts(payload: dict[str, Any]) -> Sequence[Placed]:
    """What the model itself chose to say: not what it repeats of the request."""
    repeated = (("goal",), ("target",))
    return [(pointer(at), text) for at, text in leaves(payload) if at not in repeated]


class _Module(msgspec.Struct):
    name: str


class _Modules(msgspec.Struct):
    modules: list[_Module]


class _Layers(msgspec.Struct):
    layers: list[str]


class _File(msgspec.Struct):
    path: str


class _Files(msgspec.Struct):
    files: list[_File]


class _Test(msgspec.Struct):
    id: str


class _Tests(msgspec.Struct):
    tests: list[_Test]


P = TypeVar("P", _Modules, _Layers, _Files, _Tests)


def _read(begun: PassBegun, type_: PlanType, part: type[P]) -> Iterator[P]:
    """The payloads of this type that the pass has read; a forged log may hold any text there."""
    for plan in begun.plans:
        if plan.type == type_:
            with contextlib.suppress(msgspec.DecodeError):
                yield msgspec.json.decode(plan.payload, type=part)
