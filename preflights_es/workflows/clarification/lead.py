"""What a model is asked for, and what becomes of its answers.

Keys, budget, progress, the validity of a patch and `Other (specify)` stay the rules' (docs/specs/
clarification.md, section 10): a model chooses the category, words the question and its options, and
reads the values out of what the person said.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

from msgspec import UNSET

from preflights_es.core.completion_step import Usable, concluded, requested
from preflights_es.core.completions import CompletionRequested, Message
from preflights_es.core.events import ActorKind, Decision, Outcome
from preflights_es.core.prompts import wanted
from preflights_es.core.questions import is_placeholder, stripped
from preflights_es.core.rationale import Alternative
from preflights_es.core.verdict import Violation
from preflights_es.workflows.clarification import rules
from preflights_es.workflows.clarification.events import (
    PatchProposed,
    QuestionSuggested,
    RationaleSuggested,
)
from preflights_es.workflows.clarification.state import State
from preflights_es.workflows.clarification.values import (
    OTHER,
    Category,
    DecisionPatch,
    Field,
    HeuristicsConfig,
    LLMContext,
)

PACKAGE = "preflights_es.workflows.clarification"
WITH_REASONS = "decide.v2"
OWN = "custom."
"""Before the slug, in the key of a question of the model's own."""
CHOOSERS: dict[ActorKind, str] = {
    "user": "the person",
    "agent": "an agent",
    "script": "a script",
}
EVERY_ACTOR_A_PERSON = "clarification/1"
"""The rules that named a person to the model as the one who chose, whatever the actor."""
CONTEXT_MAX = 4_000  # characters of what the repository says of itself, in a request
OPTIONS_MAX = 6  # of one question, without `Other (specify)`

Step = Literal["clarify", "decide"]


# 1. Asking -----------------------------------------------------------------------------------


def request(state: State, step: Step) -> CompletionRequested:
    """The whole of what is sent for a step, derived from the log."""
    last = (Message("user", _fields_to_fill(state)),) if step == "decide" else ()
    said = (Message("user", _surroundings(state)), *state.led.said, *last)
    default = (rules.FIRST_PROMPTS if state.decider in rules.FIRST_DECIDERS else rules.PROMPTS)[
        step
    ]
    system = wanted(PACKAGE, step, state.led.prompts, default)
    contract = WITH_REASONS if system.id == WITH_REASONS else f"{step}.v1"
    return requested(state.led, step, contract, (PACKAGE, step, default), said)


def _surroundings(state: State) -> str:
    """The intention, what can be chosen, what is decided; nothing else of the project."""
    config = state.heuristics
    lines = ["Intention:", state.intention, "", "Categories and their fields:"]
    lines += [f"* {c.name}: {_names(c)}" for c in _menu(config)]
    lines.append(f"* {OTHER}: {config.description.name}")
    found = state.found
    is_covered = state.topics is None or found is None or found[0].name != OTHER
    if found is not None and found[1].source != "suggested" and is_covered:
        detected = found[1].source == "detected"
        how = "named by the intention" if detected else f"chosen by {_chooser(state)}"
        lines += ["", f"Category: {found[0].name} ({how})"]
    lines += _of_the_repository(state.context)
    if state.known:
        lines += ["", "Accepted decisions:"]
        lines += [f"* {known.title} ({_shown(known.patch)})" for known in state.known]
    if state.told:
        lines += ["", "In force, perhaps related:", *(f"* {one.line}" for one in state.told)]
    return "\n".join(lines)


def _of_the_repository(context: LLMContext | None) -> list[str]:
    """What the repository says of itself, within `CONTEXT_MAX`: the rest of its packages is cut."""
    if context is None:
        return []
    left, said = CONTEXT_MAX, list[str]()
    for line in (context.architecture_summary, context.file_summary, *context.technology_signals):
        left -= len(line) + 3
        if line and left >= 0:
            said.append(f"* {line}")
    return ["", "The repository, as data:", *said]


def _chooser(state: State) -> str:
    """Who chose the category; under the first rules, every actor was a person."""
    key = state.heuristics.category.id
    chosen = (p.by for p in state.provenance if p.key == key)
    by: ActorKind = "user" if state.decider == EVERY_ACTOR_A_PERSON else next(chosen, "user")
    return CHOOSERS[by]


def _menu(config: HeuristicsConfig) -> list[Category]:
    return [c for name in config.menu if (c := config.named(name)) is not None]


def _names(of: Category) -> str:
    return ", ".join(field.name for field in of.fields()) or "no fields"


def _shown(patch: DecisionPatch) -> str:
    return ", ".join((patch.category, *(f"{name}: {value}" for name, value in patch.fields)))


def _fields_to_fill(state: State) -> str:
    found = state.found
    assert found is not None, "the patch is asked for only when the category is known"
    return f"Category: {found[0].name}\nFields: {_names(found[0])}"


# 2. Judging ----------------------------------------------------------------------------------


def answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome, but for the step after it.

    Ends with the retry, a fallback, a stall, the suggested question or the patch.
    """
    asked = state.led.request
    assert asked is not None, "an outcome answers an open step"
    # Imported where a response is judged: sessions without a lead need no pydantic.
    from preflights_es.workflows.clarification import contracts

    clarifies = asked.contract.startswith("clarify.")
    # A forged log may name any contract: then it is judged by the first of its step.
    first = contracts.CLARIFY if clarifies else contracts.DECIDE_V1
    contract = contracts.CONTRACTS.get(asked.contract, first)
    check = partial(clarify_violations if clarifies else decide_violations, state)
    verdict = concluded(state.led, outcome, contract, check)
    if not isinstance(verdict, Usable):
        return verdict
    if clarifies:
        return (verdict.accepted, _suggested(state, verdict.payload))
    return (
        verdict.accepted,
        *_offered(state, verdict.payload),
        _patched(state, verdict.payload),
    )


def clarify_violations(state: State, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What the schema of `clarify.v1` cannot say of a payload."""
    config = state.heuristics
    names = [*(c.name for c in config.categories), OTHER]
    found = state.found
    wanted = found[0].name if found and found[1].source in ("chosen", "custom") else None
    said = payload["category"]
    options = [option.casefold() for option in _options(payload)]
    own = payload.get("own")
    violations = []
    if said not in names:
        violations.append(Violation("/category", f"expected one of {', '.join(names)}"))
    elif wanted is not None and said != wanted:
        expected = f"expected {wanted}, which {_chooser(state)} chose"
        violations.append(Violation("/category", expected))
    if len(set(options)) != len(options) or len(options) == 1 or len(options) > OPTIONS_MAX:
        expected = f"expected none, or 2 to {OPTIONS_MAX} different ones"
        violations.append(Violation("/options", expected))
    if any(map(is_placeholder, (payload["question"], *options))):
        violations.append(Violation("", "expected no placeholder"))
    if own is not None and own["field"] in ("Category", *_taken(config, said)):
        violations.append(Violation("/own/field", "expected a name that no field has"))
    return tuple(violations)


def _options(payload: dict[str, Any]) -> tuple[str, ...]:
    """Without what every question gets anyway."""
    return tuple(o for o in payload["options"] if not o.casefold().startswith("other"))


def _taken(config: HeuristicsConfig, name: str) -> tuple[str, ...]:
    known = config.named(name) or config.other()
    return tuple(field.name for field in known.fields())


def _suggested(state: State, payload: dict[str, Any]) -> QuestionSuggested:
    config = state.heuristics
    known = config.named(payload["category"]) or config.other()
    own = payload.get("own")
    base = known.primary or config.description
    field = Field(
        own["field"] if own else base.name,
        f"{OWN}{own['slug']}" if own else base.id,
        payload["question"],
        _options(payload),
    )
    return QuestionSuggested(category=known.name, field=field)


def decide_violations(state: State, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What the schemas of `decide` cannot say: only what a person said becomes a value."""
    found = state.found
    if found is None:
        return (Violation("/category", "nothing is known of it"),)
    fields = {field.name: field for field in found[0].fields()}
    heard = set(rules.tokens(" ".join((state.intention, *_spoken(state)))))
    violations = []
    if payload["category"] != found[0].name:
        violations.append(Violation("/category", f"expected {found[0].name}"))
    names = [entry["name"] for entry in payload["fields"]]
    if len(set(names)) != len(names):
        violations.append(Violation("/fields", "expected each field once"))
    for i, entry in enumerate(payload["fields"]):
        at, value = f"/fields/{i}", entry["value"]
        given = (
            rules.value_of(fields[entry["name"]], state.answers)
            if entry["name"] in fields
            else None
        )
        if entry["name"] not in fields:
            violations.append(Violation(f"{at}/name", f"expected one of {', '.join(fields)}"))
        elif given is not None and stripped(value).casefold() != given.value.casefold():
            violations.append(Violation(f"{at}/value", f"expected {given.value!r}, as answered"))
        elif is_placeholder(value):
            violations.append(Violation(f"{at}/value", "expected no placeholder"))
        elif not set(rules.tokens(value)) <= heard:
            violations.append(Violation(f"{at}/value", "expected only what the person said"))
    return (*violations, *_offer_violations(state, payload))


def _offer_violations(state: State, payload: dict[str, Any]) -> Iterator[Violation]:
    """What is wrong with a reason, consequences and alternatives."""
    said = [("/because", payload.get("because") or "")]
    said += [(f"/consequences/{i}", text) for i, text in enumerate(payload.get("consequences", ()))]
    taken = {value.value.casefold() for value in state.provenance}
    taken |= {entry["value"].casefold() for entry in payload["fields"]}
    for i, one in enumerate(payload.get("alternatives", ())):
        at, name = f"/alternatives/{i}", stripped(one["name"]).casefold()
        said += [(f"{at}/name", one["name"]), (f"{at}/why_not", one["why_not"])]
        if name in taken:
            yield Violation(f"{at}/name", "expected what was not chosen, each once")
        taken.add(name)
    for at, text in said:
        if text and is_placeholder(text):
            yield Violation(at, "expected no placeholder")


def _spoken(state: State) -> list[str]:
    return [message.content for message in state.led.said if message.role == "user"]


def _offered(state: State, payload: dict[str, Any]) -> tuple[RationaleSuggested, ...]:
    """The model's reasons; also that it has none any more."""
    offer = RationaleSuggested(
        because=stripped(payload.get("because") or ""),
        consequences=tuple(map(stripped, payload.get("consequences", ()))),
        alternatives=tuple(
            Alternative(stripped(one["name"]), stripped(one["why_not"]))
            for one in payload.get("alternatives", ())
        ),
    )
    is_empty = not (offer.because or offer.consequences or offer.alternatives)
    return () if is_empty and not state.rationale.by_model else (offer,)


def _patched(state: State, payload: dict[str, Any]) -> PatchProposed:
    """The answers as the rules file them, and what else the model read out of them."""
    found = state.found
    assert found is not None, "checked before"
    read = {entry["name"]: stripped(entry["value"]) for entry in payload["fields"]}
    values = []
    for field in found[0].fields():
        given = rules.value_of(field, state.answers)
        value = given.value if given else read.get(field.name)
        if value:
            values.append((field.name, value))
    return PatchProposed(
        patch=DecisionPatch(found[0].name, tuple(values)),
        hint=rules.hint(found[0]),
        scope=state.scope or UNSET,
    )
