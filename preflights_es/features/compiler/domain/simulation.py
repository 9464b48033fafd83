"""What the simulator and the reference answer in place of a model that plans.

The simulator varies around the reference by seed: order, counts, further parts, code fences. It
also draws failure objects, and payloads that meet the schema and that only the final checks refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from preflights_es.features.compiler.domain.reference import (
    REFERENCES,
    Payload,
    asked,
    missing,
    planned,
)
from preflights_es.features.compiler.domain.values import BASE, PASSES, PassName
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.simulation import Bank, Draws, Route

__all__ = ["BANK", "REFERENCES"]

_KINDS: Final = ("plan", "refused", "missing_information", "invalid_request")
_WEIGHTS: Final = (16, 3, 2, 1)
_LACKS: Final = (
    "The glossary does not say what an account is. What is it?",
    "Two constraints contradict each other. Which one holds?",
    "A limit has no number. How many are allowed?",
)
_REFUSALS: Final = (
    "The documents do not describe software.",
    "The goal is a new feature, and no refactoring.",
)
_WORDS: Final = (
    "Says why where it refuses.",
    "Keeps what was there before.",
    "Leaves the rest to other files.",
    "Works within the limits of the constraints.",
)
_GUESSED: Final = ("Accounts", "Orders", "Billing", "Search", "Reports")


def varied(name: PassName, draws: Draws, request: CompletionRequested) -> str:
    """A response to a pass."""
    kind = draws.weighted(_KINDS, _WEIGHTS)
    if kind == "missing_information" and not asked(request).answers:
        return _written(draws, missing(draws.pick(_LACKS)))
    if kind == "invalid_request":
        return _written(draws, {"error": kind, "details": draws.pick(_REFUSALS)})
    payload = planned(name, request)
    if "error" in payload:
        return _written(draws, payload)
    vary, spoil = _PLANS[name]
    payload = vary(draws, payload)
    return _written(draws, spoil(draws, payload) if kind == "refused" else payload)


def base(draws: Draws, _request: CompletionRequested) -> str:
    """The rules alone name no pass."""
    return _written(draws, {"error": "invalid_request", "details": "The request names no pass."})


def _written(draws: Draws, payload: Payload) -> str:
    text = encoded(payload).decode()
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


# 1. Plans that pass --------------------------------------------------------------------------


def _project(draws: Draws, payload: Payload) -> Payload:
    domains = draws.shuffle(payload["domains"])
    if draws.chance(0.3) and all(one["name"] not in _GUESSED for one in domains):
        name = draws.pick(_GUESSED)
        domains.append({"name": name, "responsibility": draws.pick(_WORDS)})
    modules = payload["modules"]
    if draws.chance(0.4):
        one = draws.pick(modules)
        modules = [*modules, {**one, "name": _other(one["name"], [m["name"] for m in modules])}]
    return {**payload, "domains": domains, "modules": modules}


def _architecture(draws: Draws, payload: Payload) -> Payload:
    layers = [*payload["layers"]]
    if draws.chance(0.3):
        layers.append(_other("shared", layers))
    rules = draws.sample(payload["rules"], draws.below(len(payload["rules"]) + 1))
    return {"layers": layers, "rules": rules}


def _scaffold(draws: Draws, payload: Payload) -> Payload:
    files = draws.shuffle(payload["files"])
    if draws.chance(0.5):
        more = {"path": "config/settings.toml", "description": draws.pick(_WORDS), "kind": "config"}
        files += [more] if all(one["path"] != more["path"] for one in files) else []
    return {"files": files}


def _test(draws: Draws, payload: Payload) -> Payload:
    tests = draws.shuffle(payload["tests"])
    more = draws.sample(_WORDS, draws.below(3))
    first = {**tests[0], "assertions": [*tests[0]["assertions"], *more]}
    return {"tests": [first, *tests[1:]]}


def _implementation(draws: Draws, payload: Payload) -> Payload:
    steps = [*payload["steps"], *draws.sample(_WORDS, draws.below(3))]
    related = payload["related_tests"]
    return {**payload, "steps": steps, "related_tests": draws.sample(related, len(related))}


def _refactor(draws: Draws, payload: Payload) -> Payload:
    operations = payload["operations"]
    if draws.chance(0.4):
        operations = [{"symbol": None, "from": None, **one} for one in operations]
    constraints = draws.pick((None, {}, {"preserve_behavior": True}))
    return {**payload, "operations": operations, "constraints": constraints}


def _other(name: str, taken: list[str]) -> str:
    """A name like this one that is free."""
    while name in taken:
        name += "_more"
    return name


# 2. Plans that only the final checks refuse ----------------------------------------------------


def _bad_project(draws: Draws, payload: Payload) -> Payload:
    if draws.chance(0.5):
        return {**payload, "domains": [*payload["domains"], payload["domains"][0]]}
    modules = payload["modules"]
    unknown = {"name": _other("more", [one["name"] for one in modules]), "domain": "Unheard of"}
    return {**payload, "modules": [*modules, unknown]}


def _bad_architecture(draws: Draws, payload: Payload) -> Payload:
    if payload["rules"] and draws.chance(0.5):
        return {**payload, "rules": [*payload["rules"], payload["rules"][0]]}
    return {**payload, "layers": [*payload["layers"], payload["layers"][0]]}


def _bad_scaffold(draws: Draws, payload: Payload) -> Payload:
    first = payload["files"][0]
    paths = (first["path"], first["path"].upper(), "../outside.md", "/tmp/x", "src\\x", "a//b")  # noqa: S108  # no file of ours
    return {"files": [*payload["files"], {**first, "path": draws.pick(paths)}]}


def _bad_test(draws: Draws, payload: Payload) -> Payload:
    first = payload["tests"][0]
    broken: tuple[dict[str, Any], ...] = (first, {**first, "id": "elsewhere", "target": "../x"})
    return {"tests": [*payload["tests"], draws.pick(broken)]}


def _bad_implementation(draws: Draws, payload: Payload) -> Payload:
    if draws.chance(0.5):
        return {**payload, "target": "src/unheard_of.txt"}
    return {**payload, "related_tests": [*payload["related_tests"], "unheard_of"]}


def _bad_refactor(draws: Draws, payload: Payload) -> Payload:
    broken: tuple[dict[str, Any], ...] = (
        {"type": "move_file", "from_path": "src/x"},
        {"type": "rename_symbol", "symbol": None, "to": "x"},
        {"type": "enforce_dependency", "from": "", "to": "domain"},
        {"type": "move_file", "from_path": "src/x", "to_path": "/x"},
    )
    return {**payload, "operations": [*payload["operations"], draws.pick(broken)]}


Varied = Callable[[Draws, Payload], Payload]
_PLANS: Final[dict[PassName, tuple[Varied, Varied]]] = {
    "project": (_project, _bad_project),
    "architecture": (_architecture, _bad_architecture),
    "scaffold": (_scaffold, _bad_scaffold),
    "test": (_test, _bad_test),
    "implementation": (_implementation, _bad_implementation),
    "refactor": (_refactor, _bad_refactor),
}
"""By pass, what varies a plan, and what makes one that only the final checks refuse."""


# 3. The table --------------------------------------------------------------------------------

BANK: Final[Bank] = {
    **{one.schema: Route(partial(varied, one.name)) for one in PASSES.values()},
    **{
        one.prompt: Route(partial(varied, one.name), (one.prompt.replace("_", " "),))
        for one in PASSES.values()
    },
    BASE: Route(base, ("artifact builder",)),
}
"""By contract, which is looked at first, since every request names the base prompt; by prompt
file."""
