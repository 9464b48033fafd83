"""What a plan must be, and where it disagrees with what was read (specification, section 5).

A *flaw* is what is wrong with a plan in itself, and rejects the response. A *finding* is no flaw: a
person may know better, and waives it with a reason. The same function finds at a response, at an
approval and for `plan check`; what was read is the pass's.
"""

from __future__ import annotations

import contextlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final, Literal, TypeVar

import msgspec

from preflights_es.features.compiler.domain.events import PassBegun
from preflights_es.features.compiler.domain.values import (
    FINDINGS_MAX,
    PACKAGE,
    PASSES,
    POLICY,
    DecidedField,
    PassName,
    PlanType,
    ReadDecision,
)
from preflights_es.judging.code_search import first_code
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import (
    VIOLATIONS_MAX,
    Path,
    Violation,
    pointer,
    quoted,
    schema,
)
from preflights_es.kernel.items import Finding, FindingKind
from preflights_es.kernel.json import encoded
from preflights_es.kernel.statements import (
    Placed,
    Statement,
    against,
    names_another,
    stated_against,
)
from preflights_es.kernel.text import caseless, is_git, late_pattern, shown, visible
from preflights_es.kernel.words import folded, words

PLAN_MAX: Final = 1_000_000  # bytes of a plan as JSON; the next pass reads it in one request
DIGITS: Final = 6  # of a finding's name
STEM: Final = 4  # letters by which a file is known to be of a module

FLAW: Final = "flaw"
Judged = Iterator[tuple[FindingKind | Literal["flaw"], Path, str]]
"""What is said of a plan: its kind, the place, and the words."""


def loaded(id_: str) -> dict[str, Any]:
    """A schema of this workflow, `name.vN`."""
    found: dict[str, Any] = json.loads(schema(PACKAGE, id_).text)
    return found


CONTRACTS: Final[dict[str, Contract]] = {
    f"{one.schema}.v1": Contract(
        name=one.schema, version=1, schema=partial(loaded, f"{one.schema}.v1"), policy=POLICY
    )
    for one in PASSES.values()
}
"""What a model must answer in each pass, by the id that a request names."""


def violations(begun: PassBegun, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """The flaws of a payload that meets its schema, and where; nothing where it passes."""
    if (size := len(encoded(payload))) > PLAN_MAX:
        return (Violation("", f"expected at most {PLAN_MAX:,} bytes, the plan has {size:,}"),)
    said = JUDGED[begun.pass_type](begun, payload)
    found = [Violation(pointer(at), what) for kind, at, what in said if kind == FLAW]
    for at, text in leaves(payload):
        if at[0] != "operations" and not visible(text):  # a field that one does not need may be so
            found.append(Violation(pointer(at), "expected words"))
    return tuple(found[:VIOLATIONS_MAX])


def findings(begun: PassBegun, payload: dict[str, Any]) -> tuple[Finding, ...]:
    """Where the plan of a pass disagrees with what the pass has read.

    Args:
        payload: that meets its schema.
    """
    said = (*JUDGED[begun.pass_type](begun, payload), *_requirements(begun, payload))
    own = (_named(kind, pointer(at), what) for kind, at, what in said if kind != FLAW)
    stated = contradictions(_texts(payload), begun.decisions)
    decided = (_named("decision", at, what) for at, what in stated)
    found = tuple(dict.fromkeys((*own, *decided)))
    if len(found) <= FINDINGS_MAX:
        return found
    more = f"and {len(found) - FINDINGS_MAX + 1:,} more findings: too many to waive"
    return (*found[: FINDINGS_MAX - 1], _named("more", "", more))


def disagreements(begun: PassBegun, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """The flaws and the findings, where no log could say who waives one."""
    found = (Violation(one.pointer, one.message) for one in findings(begun, payload))
    return (*violations(begun, payload), *found)[:VIOLATIONS_MAX]


def perhaps(begun: PassBegun, payload: dict[str, Any]) -> tuple[Finding, ...]:
    """What names something that was decided against, and states nothing; it never blocks."""
    said = mentions(_texts(payload), begun.decisions)
    return tuple(_named("decision", at, what) for at, what in said)[:FINDINGS_MAX]


def _named(kind: FindingKind, at: str, message: str) -> Finding:
    digest = sha256(f"{kind}\0{at}\0{message}".encode()).hexdigest()
    return Finding(f"{kind}-{digest[:DIGITS]}", kind, at, message)


# 1. One pass each ----------------------------------------------------------------------------


def _project(_: PassBegun, payload: dict[str, Any]) -> Judged:
    domains = [one["name"] for one in payload["domains"]]
    modules = payload["modules"]
    yield from _twice(domains, lambda n: ("domains", n, "name"))
    yield from _twice([one["name"] for one in modules], lambda n: ("modules", n, "name"))
    for n, one in enumerate(modules):
        if one["domain"] not in domains:
            what = f"{quoted(one['domain'])} is no domain of this plan"
            yield FLAW, ("modules", n, "domain"), what


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


def _architecture(_: PassBegun, payload: dict[str, Any]) -> Judged:
    yield from _twice(payload["layers"], lambda n: ("layers", n))
    yield from _twice([one["rule"] for one in payload["rules"]], lambda n: ("rules", n, "rule"))
    layers = {folded(one) for one in payload["layers"]}
    for n, one in enumerate(payload["rules"]):
        for layer in _LAYERS_OF[one["rule"]]:
            if layers.isdisjoint(_CALLED[layer]):
                at = ("rules", n, "rule")
                yield "layer", at, f"{quoted(one['rule'])} needs the layer {quoted(layer)}"


def _scaffold(begun: PassBegun, payload: dict[str, Any]) -> Judged:
    paths = [one["path"] for one in payload["files"]]
    for n, path in enumerate(paths):
        yield from _path(path, ("files", n, "path"))
    yield from _twice(paths, lambda n: ("files", n, "path"), _in_any_case)
    said = (text for one in payload["files"] for text in (one["path"], one["description"]))
    known = folded(" ".join(said))
    for plan in _read(begun, "ProjectPlan", _Modules):
        for one in plan.modules:
            stems = [word[:STEM] for word in words(one.name)]
            if stems and not any(stem in known for stem in stems):
                yield "name", ("files",), f"no file is of the module {quoted(one.name)}"


def _test(begun: PassBegun, payload: dict[str, Any]) -> Judged:
    yield from _twice([one["id"] for one in payload["tests"]], lambda n: ("tests", n, "id"))
    there = _files(begun)
    for n, one in enumerate(payload["tests"]):
        yield from _path(one["target"], ("tests", n, "target"))
        if there and one["target"] not in there:
            yield "file", ("tests", n, "target"), _nowhere(one["target"])


def _implementation(begun: PassBegun, payload: dict[str, Any]) -> Judged:
    target, there = payload["target"], _files(begun)
    yield from _path(target, ("target",))
    if target != begun.target:
        yield FLAW, ("target",), f"expected {quoted(begun.target)}, which was asked for"
    if there and target not in there:
        yield "file", ("target",), _nowhere(target)
    tests = {one.id for plan in _read(begun, "TestPlan", _Tests) for one in plan.tests}
    for n, one in enumerate(payload["related_tests"]):
        if one not in tests:
            yield "test", ("related_tests", n), f"{quoted(one)} is no test of the TestPlan"


OPERATIONS: Final[dict[str, tuple[str, str]]] = {
    "move_file": ("from_path", "to_path"),
    "rename_symbol": ("symbol", "to"),
    "extract_interface": ("symbol", "to_path"),
    "enforce_dependency": ("from", "to"),
}
"""The fields that an operation of a type needs."""


def _refactor(begun: PassBegun, payload: dict[str, Any]) -> Judged:
    if payload["goal"].split() != begun.goal.split():
        yield FLAW, ("goal",), f"expected {quoted(begun.goal)}, which was asked for"
    plans = tuple(_read(begun, "ArchitecturePlan", _Layers))
    layers = {folded(layer) for plan in plans for layer in plan.layers}
    known = None if _is_cut(begun) else {*begun.layout}
    for n, one in enumerate(payload["operations"]):
        for name in OPERATIONS[one["type"]]:
            if not visible(one.get(name) or ""):
                yield FLAW, ("operations", n, name), f"is required for {one['type']}"
        for name in ("from_path", "to_path"):
            yield from _path(one.get(name) or "", ("operations", n, name))
        path = one.get("from_path") or ""
        if one["type"] == "move_file" and known is not None and path not in known:
            at = ("operations", n, "from_path")
            yield "file", at, f"{quoted(path)} is no file that git lists"
        if known is not None:
            known.add(one.get("to_path") or "")
        for name in ("from", "to") if one["type"] == "enforce_dependency" and plans else ():
            if folded(one.get(name) or "") not in layers:
                what = f"{quoted(one.get(name))} is no layer of the ArchitecturePlan"
                yield "layer", ("operations", n, name), what


JUDGED: Final[dict[PassName, Callable[[PassBegun, dict[str, Any]], Judged]]] = {
    "project": _project,
    "architecture": _architecture,
    "scaffold": _scaffold,
    "test": _test,
    "implementation": _implementation,
    "refactor": _refactor,
}
"""By pass, the flaws and the findings of its plan."""


def _twice(
    names: Iterable[str], place: Callable[[int], Path], alike: Callable[[str], str] = str
) -> Judged:
    """What stands before already, as `alike` has it."""
    before: set[str] = set()
    for n, name in enumerate(names):
        if alike(name) in before:
            yield FLAW, place(n), f"{quoted(name)} stands twice"
        before.add(alike(name))


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


# 2. Every text of a plan ---------------------------------------------------------------------


def why_no_path(path: str) -> str:
    """Why a text is no path within the repository; empty where it is one."""
    parts = path.split("/")
    if "\\" in path:
        return "has a backslash"
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return "is not relative"
    if not all(map(visible, parts)):
        return "has an empty part"
    if ".." in parts:
        return "leaves its folder with '..'"
    if "." in parts:
        return "has the part '.'"
    if any(part != part.strip() for part in parts) or shown(path) != path:
        return "has white space or control characters that are not seen"
    if any(map(is_git, parts)):
        return "is within .git, which is not part of the repository's files"
    return ""


def why_no_goal(goal: str) -> str:
    """Why no plan can repeat a goal: code would be found in it; empty where one can."""
    found = first_code(goal)
    return f"looks like {found[0]}: say it in words" if found else ""


def _path(path: str, at: Path) -> Judged:
    if visible(path) and (why := why_no_path(path)):
        yield FLAW, at, f"{quoted(path)} {why}; expected a path within the repository"


def _in_any_case(path: str) -> str:
    """As a file system has it that knows no case and one form of each letter."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def leaves(value: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text of a payload and its place; a schema bounds the depth."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*at, key))
    elif isinstance(value, list):
        for n, one in enumerate(value):
            yield from leaves(one, (*at, n))


_DEFINED: Final = late_pattern(
    r"^[ \t]*(?:#+[ \t]*|[-*+][ \t]+|\d+[.)][ \t]+|\|[ \t]*)?[*_`\[(]*"
    r"([A-Z][A-Z0-9]{0,7})-(\d{1,5})\b",
    8,  # re.MULTILINE
)
"""A requirement's id where a line begins with it: as a heading, an item or in a table."""
_CITED: Final = late_pattern(r"(?<![\w-])([A-Z][A-Z0-9]{0,7})-(\d{1,5})(?![\w-])")


def _requirements(begun: PassBegun, payload: dict[str, Any]) -> Judged:
    """Ids of requirements that no document has, of the kinds that documents define."""
    cited = [(at, match) for at, text in leaves(payload) for match in _CITED.finditer(text)]
    texts = [one.text for one in begun.documents] if cited else []  # long ones are read for these
    kinds = {match[1] for text in texts for match in _DEFINED.finditer(text)}
    known = {match.groups() for text in texts for match in _CITED.finditer(text)} if kinds else ()
    for at, match in cited:
        if match[1] in kinds and match.groups() not in known:
            yield "requirement", at, f"no document has the requirement {quoted(match[0])}"


def _texts(payload: dict[str, Any]) -> Sequence[Placed]:
    """What the model itself chose to say: not what it repeats of the request."""
    repeated = (("goal",), ("target",))
    return [(pointer(at), text) for at, text in leaves(payload) if at not in repeated]


# 3. Decisions (section 5.2) ------------------------------------------------------------------

VALUES: Final = ("/constraints/languages/", "/constraints/architecture")
"""Beginnings of places of which a whole text is a value: standing there states it."""
_ENDINGS: Final = ("en", "es", "e", "n", "s")


def contradictions(
    texts: Iterable[Placed], decisions: Iterable[ReadDecision]
) -> Iterator[tuple[str, str]]:
    """Pairs of a place that states another value than a decision in force has, and what it says.

    Each option of a decision is found once, where it is stated first.
    """
    placed = tuple(texts)
    for decision, field in _fields(decisions):
        seen = set[str]()
        for at, text in placed:
            value = _stated(at, text, field, decision.scope)
            if value and value not in seen:
                seen.add(value)
                yield at, _message("states", value, decision, field)


def mentions(
    texts: Iterable[Placed], decisions: Iterable[ReadDecision]
) -> Iterator[tuple[str, str]]:
    """Pairs of a place that names another option and states nothing of it, and what it says.

    It is told and never blocks. Of a decision whose own value is named nothing is.
    """
    placed = tuple(texts)
    whole = caseless("\n".join(text for _, text in placed))
    for decision, field in _fields(decisions):
        stating = {at for at, text in placed if _stated(at, text, field, decision.scope)}
        for option, at in against(placed, whole, field):
            if at not in stating:
                yield at, _message("names", option, decision, field)


def _fields(decisions: Iterable[ReadDecision]) -> Iterator[tuple[ReadDecision, DecidedField]]:
    return ((decision, field) for decision in decisions for field in decision.fields)


def _message(says: str, value: str, decision: ReadDecision, field: DecidedField) -> str:
    scope = f" of {quoted(decision.scope)}" if decision.scope else ""
    return (
        f"{says} {quoted(value)}, but the decision {decision.uid} "
        f"has {quoted(field.value)} for {quoted(field.name)}{scope}"
    )


def _stated(at: str, text: str, field: DecidedField, scope: str) -> str:
    """The other value that a text states where the decision holds; empty where none."""
    if at.startswith(VALUES):
        return text if not scope and names_another(text, field) else ""
    said = stated_against(text, field)
    return said.value if said is not None and _holds(scope, said) else ""


def _holds(scope: str, said: Statement) -> bool:
    """Whether a decision of a scope says something of a statement; one of all does of any.

    What replaces the decided value, and says not where, replaces it there too.
    """
    if not scope or (said.replaced and not said.scope):
        return True
    return _stems(scope) == _stems(said.scope)


def _stems(scope: str) -> frozenset[str]:
    """Words of a scope without their endings. Where that is wrong, it is told as a mention."""
    return frozenset(map(_stem, words(scope)))


def _stem(word: str) -> str:
    return next((word.removesuffix(end) for end in _ENDINGS if word.endswith(end)), word)
