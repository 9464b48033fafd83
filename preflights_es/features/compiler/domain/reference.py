"""The reference: what the rules plan, a pure function of the request (specification, section 6).

It reads the user message and the conversation behind it, as a model does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import msgspec

from preflights_es.features.compiler.domain import reading, refactoring
from preflights_es.features.compiler.domain.contracts import CONTRACTS
from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.values import PassName
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.simulation import References

Payload = dict[str, Any]

STYLES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "clean": (
        ("domain", "application", "interface", "infrastructure"),
        (
            "domain_cannot_import_infrastructure",
            "application_depends_on_domain",
            "infrastructure_depends_on_application",
        ),
    ),
    "hexagonal": (
        ("domain", "application", "ports", "adapters"),
        ("domain_cannot_import_infrastructure", "application_depends_on_domain"),
    ),
    "ddd": (
        ("domain", "application", "infrastructure", "presentation"),
        ("domain_cannot_import_infrastructure", "application_depends_on_domain"),
    ),
    "custom": (
        ("domain", "application", "infrastructure"),
        ("domain_cannot_import_infrastructure",),
    ),
}
"""Layers, from the inside out, and rules of a style."""

TESTS_MAX: Final = 40  # tests that one implementation is planned from


class Asked(msgspec.Struct, frozen=True):
    """A pass as its request says it."""

    documents: dict[str, str] = {}
    """Texts by name."""
    plans: dict[str, Payload] = {}
    """Payloads by type."""
    layout: list[str] = []
    target: str = ""
    goal: str = ""
    answers: list[str] = []
    """What the person said behind the user message."""


def asked(request: CompletionRequested) -> Asked:
    """What a request says; nothing where its user message is not that of a pass."""
    said = [one.content for one in request.messages if one.role == "user"]
    try:
        told = msgspec.json.decode(said[0] if said else "{}", type=_Told)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return Asked()
    return Asked(
        documents={one.name: one.text for one in reversed(told.documents)},
        plans={one.type: one.payload for one in told.artifacts if _is_plan(one)},
        layout=told.layout,
        target=told.target,
        goal=told.goal,
        answers=[text for text in said[1:] if text.strip()],
    )


class _ToldDocument(msgspec.Struct):
    name: str
    text: str


class _ToldPlan(msgspec.Struct):
    type: str
    payload: Payload


class _Told(msgspec.Struct):
    documents: list[_ToldDocument] = []
    artifacts: list[_ToldPlan] = []
    layout: list[str] = []
    target: str = ""
    goal: str = ""


def _is_plan(told: _ToldPlan) -> bool:
    """Whether it meets the schema of its type."""
    contract = next(
        (CONTRACTS[f"{p.schema}.v1"] for p in PASSES.values() if p.writes == told.type), None
    )
    return contract is not None and not contract.shape.violations(told.payload, 0)


def planned(name: PassName, request: CompletionRequested) -> Payload:
    """The payload that the rules have for a request, or a failure object."""
    return _PLANS[name](asked(request))


def missing(details: str) -> Payload:
    """A failure object that asks a person."""
    return {"error": "missing_information", "details": details}


# 1. The passes -------------------------------------------------------------------------------


def _project(said: Asked) -> Payload:
    domains = reading.headings(said.documents.get("requirements", ""))
    if not domains and said.answers:
        parts = said.answers[-1].replace(";", ",").replace("\n", ",").replace(" and ", ",")
        domains = reading.named(parts.split(","))
    if not domains:
        return missing(
            "The requirements have no second-level heading, so they name no domain. "
            "Which domains does the project have? Name them, with commas between them."
        )
    constraints = said.documents.get("constraints", "")
    return {
        "domains": [
            {"name": name, "responsibility": f"Everything that the requirements ask of {name}."}
            for name in domains
        ],
        "modules": [
            {"name": slug, "domain": name}
            for slug, name in zip(reading.slugs(domains), domains, strict=True)
        ],
        "constraints": {
            "architecture": reading.style(constraints),
            "languages": reading.languages(constraints),
        },
    }


def _architecture(said: Asked) -> Payload:
    constraints = said.plans.get("ProjectPlan", {}).get("constraints", {})
    layers, rules = STYLES.get(constraints.get("architecture"), STYLES["custom"])
    return {"layers": [*layers], "rules": [{"rule": rule} for rule in rules]}


def _scaffold(said: Asked) -> Payload:
    project = said.plans.get("ProjectPlan", {})
    names = [one["name"] for one in project.get("modules", ())]
    if not names:
        return missing("The ProjectPlan has no module. Which modules does the program have?")
    suffix = reading.suffix(project["constraints"]["languages"][0])
    files = []
    for slug, name in zip(reading.slugs(names), names, strict=True):
        files += [
            _file(f"src/{slug}{suffix}", f"Carries the module {name}.", "source"),
            _file(f"tests/test_{slug}{suffix}", f"Tests of the module {name}.", "test"),
        ]
    about = "Says what the program is for, and how people work on it."
    return {"files": [*files, _file("README.md", about, "doc")]}


def _file(path: str, description: str, kind: str) -> Payload:
    return {"path": path, "description": description, "kind": kind}


def _test(said: Asked) -> Payload:
    files = said.plans.get("ScaffoldPlan", {}).get("files", ())
    paths = [one["path"] for one in files if one["kind"] == "source"]
    if not paths:
        return missing("The ScaffoldPlan has no source file. Which files are to be tested?")
    return {
        "tests": [
            {
                "id": f"{slug}_keeps_its_word",
                "target": path,
                "assertions": [
                    "Given what the requirements allow, the result is what they ask for.",
                    "Given what the requirements rule out, it is refused, and nothing changes.",
                ],
            }
            for slug, path in zip(reading.slugs(map(_stem, paths)), paths, strict=True)
        ]
    }


def _stem(path: str) -> str:
    """A path without its first folder and its suffix."""
    inside = path.partition("/")[2] or path
    head, slash, last = inside.rpartition("/")
    return head + slash + (last.rpartition(".")[0] or last)


def _implementation(said: Asked) -> Payload:
    tests = said.plans.get("TestPlan", {}).get("tests", ())
    own = [one for one in tests if one["target"] == said.target][:TESTS_MAX]
    first = "Offer what other files need of this one, and nothing else."
    if "target" in said.documents:
        first = "Keep what this file offers to others today."
    return {
        "target": said.target,
        "steps": [first, *_steps(own), "Refuse what the requirements rule out, with a reason."],
        "related_tests": [one["id"] for one in own],
    }


def _steps(tests: Iterable[Payload]) -> list[str]:
    return [f"Make the test {one['id']} pass: {one['assertions'][0]}" for one in tests]


def _refactor(said: Asked) -> Payload:
    layers = said.plans.get("ArchitecturePlan", {}).get("layers", [])
    words = " ".join((said.goal, *said.answers))
    operations = refactoring.operations(words, said.layout, layers)
    if not operations:
        return missing(
            "The goal names no file of the layout, no symbol and no layer. "
            "Which file, symbol or layer is to change, and what becomes of it?"
        )
    return {
        "goal": said.goal,
        "operations": operations,
        "constraints": {"preserve_behavior": True},
    }


_PLANS: Final[dict[PassName, Callable[[Asked], Payload]]] = {
    "project": _project,
    "architecture": _architecture,
    "scaffold": _scaffold,
    "test": _test,
    "implementation": _implementation,
    "refactor": _refactor,
}


# 2. As a provider ----------------------------------------------------------------------------


def _answer(name: PassName, request: CompletionRequested) -> str:
    return encoded(planned(name, request)).decode()


REFERENCES: Final[References] = {one.schema: partial(_answer, one.name) for one in PASSES.values()}
