"""What a model is asked for, and what becomes of its answers; also of a question that was written.

Keys, budget, progress, the validity of a patch and `Other (specify)` stay the rules' (docs/specs/
clarification.md, section 10): a model chooses the category, words the question and its options, and
reads the values out of what the person said. What an agent or person wrote is judged in the same
way (section 14); after it the rules lead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET

from preflights_es.features.clarification.domain import reasons, rules
from preflights_es.features.clarification.domain.events import (
    ClarificationStopped,
    DecisionForModel,
    PatchProposed,
    QuestionsEnded,
    QuestionSuggested,
    RationaleSuggested,
    ReachNoted,
    ScopeNoted,
)
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    FoundCategory,
    is_followed,
    suggested_in,
)
from preflights_es.features.clarification.domain.values import (
    TOPIC,
    Category,
    DecisionPatch,
    Field,
    Heuristics,
    HeuristicsConfig,
    LLMContext,
)
from preflights_es.kernel.completions import Accepted, CompletionRequested, Message, Violation
from preflights_es.kernel.events import Decision, Outcome
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import Usable, concluded, judge_session_response, requested
from preflights_es.kernel.text import caseless, late_pattern, one_line
from preflights_es.words.decisions import OTHER, Rationale, Reach, RejectedAlternative, Speaker
from preflights_es.words.language import canonical, fold_letters
from preflights_es.words.path_patterns import pattern_problem
from preflights_es.words.questions import (
    WRAPPING,
    EvidenceLines,
    Option,
    Recommended,
    WrittenQuestion,
    is_placeholder,
    stripped,
)

PACKAGE: Final = "preflights_es.features.clarification"
OWN: Final = "custom."
"""Before the slug, in the key of a question of the writer's own."""
CHOOSERS: Final[Mapping[Speaker, str]] = {
    "user": "the person",
    "agent": "an agent",
    "script": "a script",
    "model": "an agent",  # a model is asked for an agent
}
FACTS_MAX: Final = 4_000  # characters of what the repository says of itself, in a request
IN_FORCE_MAX: Final = 4_000  # characters of decisions in force, in a request
OPTIONS_MAX: Final = 6  # of one question, without `Other (specify)`
SLUG_MAX: Final = 31  # characters

_WORD: Final = late_pattern(r"[a-z0-9]+")

Step = Literal["clarify", "decide"]


# 1. Asking -----------------------------------------------------------------------------------


def request_clarification_step(state: ClarificationState, step: Step) -> CompletionRequested:
    """The whole of what is sent for a step, derived from the log."""
    last = (Message("user", _fields_to_fill(state)),) if step == "decide" else ()
    said = (Message("user", _surroundings(state)), *state.led.said, *last)
    default = rules.PROMPTS[step]
    is_written = step == "clarify" and state.found.writer is not None
    contract = "written.v1" if is_written else f"{step}.v1"
    return requested(
        state.led, step, contract, (PACKAGE, step, default), messages=said, output=contract
    )


def _surroundings(state: ClarificationState) -> str:
    """The intention, the topics, what is in force, and what the repository says of itself."""
    config = state.found.heuristics
    lines = ["Intention:", state.opened.intention, "", "Topics and their fields:"]
    lines += [
        f"* {c.name}: {_category_field_names(c)}"
        for name in config.menu
        if (c := config.named(name))
    ]
    found = state.found.category
    is_covered = state.found.topics is None or found is None or found[0].name != OTHER
    if found is not None and found[1].source != "suggested" and is_covered:
        detected = found[1].source == "detected"
        how = "named by the intention" if detected else f"chosen by {_chooser(state)}"
        lines += ["", f"Topic: {found[0].name} ({how})"]
    if state.offer.scope:
        lines += ["", f"For: {state.offer.scope}"]
    about = frozenset(rules.keyword_tokens(state.opened.intention))
    lines += _section("In force:", _decision_lines_by_relevance(state, about), IN_FORCE_MAX)
    lines += _section(
        "The repository says of itself:",
        _facts_by_relevance(state.opened.context, about),
        FACTS_MAX,
    )
    return "\n".join(lines)


def _section(title: str, texts: Iterable[str], room: int) -> list[str]:
    """A list within so many characters; what comes first stays."""
    kept: list[str] = []
    for text in filter(None, texts):
        room -= len(f"* {text}\n")
        if room < 0:
            break
        kept.append(f"* {text}")
    return ["", title, *kept] if kept else []


def _decision_lines_by_relevance(state: ClarificationState, about: frozenset[str]) -> list[str]:
    """What was said first, then the decisions that share words with the intention, then others."""
    told = state.opened.told or ()
    first = [one.line for one in told]
    said = {one.kept.session_id for one in told}
    others = [one for one in state.opened.known if one.source.session_id not in said]
    others.sort(key=lambda one: -len(about & {*rules.keyword_tokens(_model_decision_line(one))}))
    return [*first, *map(_model_decision_line, others)]


def _model_decision_line(one: DecisionForModel) -> str:
    scope = f", for {one.scope}" if one.scope else ""
    because = f": {one_line(one.because)}" if one.because else ""
    fields = (f"{name}: {value}" for name, value in one.patch.fields)
    return f"{one.title} ({', '.join((one.patch.category, *fields))}{scope}){because}"


def _facts_by_relevance(context: LLMContext | None, about: frozenset[str]) -> list[str]:
    """The README and the languages, then what the intention names, then products, then the rest."""
    if context is None:
        return []
    named = sorted(
        context.technology_signals, key=lambda one: about.isdisjoint(rules.keyword_tokens(one))
    )
    return [context.architecture_summary, context.file_summary, *named]


def _chooser(state: ClarificationState) -> str:
    """Who chose the category."""
    key = state.found.heuristics.category.id
    chosen = (p.by for p in state.turns.provenance if p.key == key)
    return CHOOSERS[next(chosen, "user")]


def _category_field_names(of: Category) -> str:
    return ", ".join(field.name for field in of.fields()) or "no fields"


def _fields_to_fill(state: ClarificationState) -> str:
    found = state.found.category
    assert found is not None, "the patch is asked for only when the category is known"
    return f"Category: {found[0].name}\nFields: {_category_field_names(found[0])}"


# 2. Judging ----------------------------------------------------------------------------------


def conclude_clarification_step(
    state: ClarificationState, outcome: Outcome
) -> tuple[Decision, ...]:
    """What follows from an outcome, but for the step after it.

    Ends with the retry, a fallback, a stall, the suggested question or the patch.
    """
    asked = state.led.request
    assert asked is not None, "an outcome answers an open step"
    # Imported where a response is judged: sessions without a lead need no pydantic.
    from preflights_es.features.clarification.domain import contracts

    clarifies = asked.contract.startswith(("clarify.", "written."))
    # A forged log may name any contract: then it is judged by the first of its step.
    first = contracts.CLARIFY if clarifies else contracts.DECIDE
    contract = contracts.CONTRACTS.get(asked.contract, first)
    check = partial(clarify_violations if clarifies else decide_violations, state)
    verdict = concluded(state.led, outcome, contract, check)
    if not isinstance(verdict, Usable):
        return verdict
    if clarifies:
        return (verdict.accepted, *_clarified(state, verdict.payload))
    return (
        verdict.accepted,
        *_offer_model_rationale(state, verdict.payload),
        *_reach_offered(state, verdict.payload),
        _patched(state, verdict.payload),
    )


def clarify_violations(state: ClarificationState, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What the schemas of `clarify` and `written` cannot say of a payload."""
    payload = _complete_payload(payload)
    match payload["outcome"]:
        case "ask":
            return (*_topic_violations(state, payload), *_question_violations(payload))
        case "said" if not is_followed(state):
            return (*_topic_violations(state, payload), *_said_violations(state, payload))
        case "said":
            return (Violation("/outcome", "expected ask or nothing: a question was answered"),)
        case _:
            return tuple(_nothing_violations(state, payload))


_ABSENT: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("topic", "question", "why", "scope", "value", "quote", "reason"), ""),
    **dict.fromkeys(("options", "consequences", "evidence"), ()),
    "recommended": None,
    "more": False,
}
"""What a part says that a response leaves out."""


def _complete_payload(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload with every part; `Other` is no option of its own, since every question gets it."""
    found = {**_ABSENT, **payload}
    options = [{"description": "", "against": "", **one} for one in found["options"]]
    found["options"] = [
        one
        for one in options
        if caseless(stripped(one["label"])).partition(" (")[0] != OTHER.casefold()
    ]
    return found


def _topic_violations(state: ClarificationState, payload: dict[str, Any]) -> Iterator[Violation]:
    topic = stripped(payload["topic"])
    if is_placeholder(topic) or caseless(topic) == "category":
        yield Violation("/topic", "expected a topic of the list, or a name of your own for it")
        return
    config, chosen = state.found.heuristics, _chosen_category(state)
    if is_followed(state):
        if caseless(topic) in {caseless(one.field.name) for one in suggested_in(state)}:
            yield Violation("/topic", "expected another topic than those that were asked")
    elif (
        chosen
        and (known := config.named(topic) or _other_category(topic, config))
        and known.name != chosen.name
    ):
        expected = f"expected {chosen.name}, which {_chooser(state)} chose, or a name of your own"
        yield Violation("/topic", expected)


def _chosen_category(state: ClarificationState) -> Category | None:
    """The category that an actor chose."""
    found = state.found.category
    return found[0] if found and found[1].source in ("chosen", "custom") else None


def _other_category(topic: str, config: HeuristicsConfig) -> Category | None:
    return config.other() if caseless(topic) == OTHER.casefold() else None


def _question_violations(payload: dict[str, Any]) -> Iterator[Violation]:
    if is_placeholder(payload["question"]):
        yield Violation("/question", "expected a question")
    options = payload["options"]
    labels = [caseless(stripped(one["label"])) for one in options]
    if len(set(labels)) != len(labels) or len(labels) == 1 or len(labels) > OPTIONS_MAX:
        expected = f"expected none, or 2 to {OPTIONS_MAX} that differ"
        yield Violation("/options", expected)
    texts = [text for one in options for text in (one["description"], one["against"]) if text]
    if any(map(is_placeholder, (*labels, *texts, *filter(None, [payload["why"]])))):
        yield Violation("", "expected no placeholder")
    best = payload["recommended"]
    if best is not None and caseless(stripped(best["option"])) not in labels:
        yield Violation("/recommended/option", "expected one of the options")
    if best is not None and is_placeholder(best["reason"]):
        yield Violation("/recommended/reason", "expected a reason")
    if payload["scope"] and is_placeholder(payload["scope"]):
        yield Violation("/scope", "expected what the decision is for, or nothing")
    yield from _evidence_violations(payload["evidence"])


def _evidence_violations(places: list[dict[str, str]]) -> Iterator[Violation]:
    for i, one in enumerate(places):
        path = one["path"]
        if path.startswith(("/", "\\", "~")) or ".." in path.split("/"):
            yield Violation(f"/evidence/{i}/path", "expected a path below the project's root")
        elif ":" in path or not path.isprintable():
            yield Violation(f"/evidence/{i}/path", "expected PATH, PATH:12 or PATH:12-40")
        first, _, last = one.get("lines", "").partition("-")
        if first and (int(first) < 1 or int(last or first) < int(first)):
            yield Violation(f"/evidence/{i}/lines", "expected 12 or 12-40, the first line first")


def _said_violations(state: ClarificationState, payload: dict[str, Any]) -> Iterator[Violation]:
    value, quote = payload["value"], _comparable_quote(payload["quote"])
    if is_placeholder(value):
        yield Violation("/value", "expected a value")
    if not quote or quote not in _comparable_quote(state.opened.intention):
        yield Violation("/quote", "expected words that stand in the intention")
    elif not is_placeholder(value) and not _mentions(quote, value):
        yield Violation("/value", "expected a value that the quoted words name")


def _comparable_quote(text: str) -> str:
    return caseless(" ".join(text.split()))


def _mentions(quote: str, value: str) -> bool:
    """Whether a text names a value, by its own words or another name of the product."""
    words, wanted = rules.keyword_tokens(quote), rules.keyword_tokens(value)
    if wanted and set(wanted) <= set(words):
        return True
    parts = quote.split()
    spans = (" ".join(parts[at : at + n]) for n in (1, 2, 3) for at in range(len(parts)))
    return any(canonical(one.strip(WRAPPING)) == canonical(value) for one in spans)


def _nothing_violations(state: ClarificationState, payload: dict[str, Any]) -> Iterator[Violation]:
    if is_placeholder(payload["reason"]):
        yield Violation("/reason", "expected why nothing has to be decided")
    if not is_followed(state) and _chosen_category(state):
        expected = f"expected ask: {_chooser(state)} chose what is to be decided"
        yield Violation("/outcome", expected)


def _clarified(state: ClarificationState, payload: dict[str, Any]) -> tuple[Decision, ...]:
    """The question, or that nothing is asked."""
    payload = _complete_payload(payload)
    if payload["outcome"] == "nothing":
        if is_followed(state):
            return (QuestionsEnded(reason=stripped(payload["reason"])),)
        return (ClarificationStopped(reason="nothing_to_ask"),)
    scope = one_line(stripped(payload["scope"]))
    noted = (ScopeNoted(scope=scope),) if scope and not state.offer.scope else ()
    return (*noted, _suggest_question(state, payload))


def _suggest_question(state: ClarificationState, payload: dict[str, Any]) -> QuestionSuggested:
    category, base = _place_topic(state, stripped(payload["topic"]))
    if payload["outcome"] == "said":
        value = stripped(payload["value"])
        others = (one for one in base.options if canonical(one) != canonical(value))
        options = (value, *others)[:OPTIONS_MAX]
        question = base.question or state.found.heuristics.description.question
        field = Field(base.name, base.id, question, options)
        return QuestionSuggested(
            category=category, field=field, quote=" ".join(payload["quote"].split())
        )
    parts = ("label", "description", "against")
    offered = [Option(*(stripped(one[name]) for name in parts)) for one in payload["options"]]
    best = payload["recommended"]
    recommended = None
    if best is not None:
        offered.sort(key=lambda one: caseless(one.label) != caseless(stripped(best["option"])))
        recommended = Recommended(offered[0].label, stripped(best["reason"]))
    evidence = (EvidenceLines(one["path"], one.get("lines", "")) for one in payload["evidence"])
    return QuestionSuggested(
        category=category,
        field=Field(
            base.name, base.id, stripped(payload["question"]), tuple(one.label for one in offered)
        ),
        why=stripped(payload["why"]),
        offered=tuple(offered),
        recommended=recommended,
        more=payload["more"],
        consequences=tuple(map(stripped, payload["consequences"])),
        evidence=tuple(evidence),
    )


def _place_topic(state: ClarificationState, topic: str) -> tuple[str, Field]:
    """The category and the field of a topic: the table's, or one of its own."""
    config, chosen = state.found.heuristics, _chosen_category(state)
    if state.found.framed is not None and state.found.category is not None and is_followed(state):
        category = state.found.category[0]
        fields = category.fields()
        known = next((one for one in fields if caseless(one.name) == caseless(topic)), None)
        return state.found.framed.category, known or _build_own_field(topic, fields)
    known_category = config.named(topic) or _other_category(topic, config)
    if known_category is not None:
        return known_category.name, known_category.primary or config.description
    category = chosen or config.other()
    return category.name, _build_own_field(topic, category.fields())


def _build_own_field(topic: str, taken: Iterable[Field]) -> Field:
    """A field of the writer's own, with a key that no other has."""
    words = "_".join(_WORD.findall(fold_letters(topic)))
    slug = (words if words[:1].isalpha() else f"topic_{words}")[:SLUG_MAX].rstrip("_")
    keys = {one.id for one in taken}
    ids = (f"{OWN}{slug}{n or ''}" for n in range(len(keys) + 2))
    return Field(one_line(topic), next(id_ for id_ in ids if id_ not in keys))


def decide_violations(state: ClarificationState, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What the schemas of `decide` cannot say: only what a person said becomes a value."""
    found = state.found.category
    if found is None:
        return (Violation("/category", "nothing is known of it"),)
    fields = {field.name: field for field in found[0].fields()}
    spoken = (message.content for message in state.led.said if message.role == "user")
    heard = set(rules.keyword_tokens(" ".join((state.opened.intention, *spoken))))
    violations = []
    if payload["category"] != found[0].name:
        violations.append(Violation("/category", f"expected {found[0].name}"))
    names = [entry["name"] for entry in payload["fields"]]
    if len(set(names)) != len(names):
        violations.append(Violation("/fields", "expected each field once"))
    for i, entry in enumerate(payload["fields"]):
        at, value = f"/fields/{i}", entry["value"]
        field = fields.get(entry["name"])
        given = state.turns.answers.get(field.id) if field else None
        if field is None:
            violations.append(Violation(f"{at}/name", f"expected one of {', '.join(fields)}"))
        elif given is not None and caseless(stripped(value)) != caseless(given.value):
            violations.append(Violation(f"{at}/value", f"expected {given.value!r}, as answered"))
        elif is_placeholder(value):
            violations.append(Violation(f"{at}/value", "expected no placeholder"))
        elif not set(rules.keyword_tokens(value)) <= heard:
            violations.append(Violation(f"{at}/value", "expected only what the person said"))
    return (*violations, *_offer_violations(state, payload))


def _offer_violations(state: ClarificationState, payload: dict[str, Any]) -> Iterator[Violation]:
    """What is wrong with a reason, consequences and alternatives."""
    said = [("/because", payload.get("because") or "")]
    said += [(f"/consequences/{i}", text) for i, text in enumerate(payload.get("consequences", ()))]
    taken = {caseless(value.value) for value in state.turns.provenance}
    taken |= {caseless(entry["value"]) for entry in payload["fields"]}
    for i, one in enumerate(payload.get("alternatives", ())):
        at, name = f"/alternatives/{i}", caseless(stripped(one["name"]))
        said += [(f"{at}/name", one["name"]), (f"{at}/why_not", one["why_not"])]
        if name in taken:
            yield Violation(f"{at}/name", "expected what was not chosen, each once")
        taken.add(name)
    for i, path in enumerate(payload.get("paths", ())):
        if why := pattern_problem(path):
            yield Violation(f"/paths/{i}", f"expected a pattern of files; this one {why}")
    for at, text in said:
        if text and is_placeholder(text):
            yield Violation(at, "expected no placeholder")


def _offer_model_rationale(
    state: ClarificationState, payload: dict[str, Any]
) -> tuple[RationaleSuggested, ...]:
    """The model's reasons, and what it said of the options; also that it has none any more."""
    said = {
        caseless(one["name"]): RejectedAlternative(stripped(one["name"]), stripped(one["why_not"]))
        for one in payload.get("alternatives", ())
    }
    because = stripped(payload.get("because") or "")
    consequences = tuple(map(stripped, payload.get("consequences", ())))
    own = () if state.found.writer else suggested_in(state)[:1]  # a writer's words are no model's
    for asked in own:
        value = state.turns.answers.get(asked.field.id)
        if value and (more := reasons.offer_recommended_rationale(Rationale(), asked, value.value)):
            because = because or more.because
    alternatives = tuple(said.values())
    offer = RationaleSuggested(
        because=because, consequences=consequences, alternatives=alternatives
    )
    is_empty = not (because or consequences or alternatives)
    return () if is_empty and not state.offer.rationale.by_model else (offer,)


def _reach_offered(state: ClarificationState, payload: dict[str, Any]) -> tuple[ReachNoted, ...]:
    """The paths that the model offers, where nothing was said of any."""
    paths = tuple(dict.fromkeys(map(stripped, payload.get("paths", ()))))
    if not paths or (state.offer.reach.paths and state.offer.reach.by != "model"):
        return ()
    return (ReachNoted(reach=Reach(paths, state.offer.reach.hold, "model")),)


def _patched(state: ClarificationState, payload: dict[str, Any]) -> PatchProposed:
    """The answers as the rules file them, and what else the model read out of them."""
    found = state.found.category
    assert found is not None, "checked before"
    read = {entry["name"]: stripped(entry["value"]) for entry in payload["fields"]}
    values = []
    for field in found[0].fields():
        given = state.turns.answers.get(field.id)
        value = given.value if given else read.get(field.name)
        if value:
            values.append((field.name, value))
    return PatchProposed(
        patch=DecisionPatch(found[0].name, tuple(values)),
        hint=rules.category_hint(found[0]),
        scope=state.offer.scope or UNSET,
    )


# 3. A question that an agent or person wrote ----------------------------------------------------


def written_question_response(written: WrittenQuestion) -> str:
    """The question as a model would have answered, with what only its writer knows."""
    said = {**msgspec.to_builtins(written), "topic": written.topic or TOPIC}
    answer = {"outcome": "ask", **{name: said[name] for name in _WRITTEN}}
    return canonical_json(answer).decode()


_WRITTEN: Final = """
    topic question why options recommended scope consequences evidence
    """.split()  # noqa: SIM905  a table
"""The parts of a written question, in the order of a response: a digest of it is recorded."""


def tables_of(chosen: Heuristics) -> HeuristicsConfig:
    """The categories of a session that begins with these."""
    if chosen.pack is None:
        return chosen.tables
    from preflights_es.features.clarification.domain.pack import merge_session_tables

    return merge_session_tables(chosen.inlined, "en", chosen.tables)


def written_question_trouble(text: str, config: HeuristicsConfig) -> str:
    """Why a question cannot be asked, in one line; empty where it can.

    Args:
        text: its `response`.
    """
    # Imported where a response is judged: other sessions need no pydantic.
    from preflights_es.features.clarification.domain import contracts

    state = ClarificationState(found=FoundCategory(heuristics=config))
    verdict = judge_session_response(
        text, contracts.WRITTEN, lambda payload: clarify_violations(state, payload)
    )
    if isinstance(verdict, Accepted):
        return ""
    named = (f"{v.pointer or '/'} {v.message}" for v in verdict.violations)
    why = "; ".join(named) or verdict.details or verdict.kind
    return f"the question cannot be asked: {why}"
