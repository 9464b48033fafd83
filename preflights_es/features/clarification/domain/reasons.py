"""What counts of a rationale, and what becomes of it (docs/specs/clarification.md, section 13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    DecisionAcknowledged,
    QuestionSuggested,
    RationaleGiven,
    RationaleNoted,
    RationaleSuggested,
    ReachNoted,
)
from preflights_es.features.clarification.domain.state import ClarificationState, title_of
from preflights_es.features.clarification.domain.values import DecisionPatch
from preflights_es.kernel.text import caseless
from preflights_es.words.decisions import (
    AttributedReason,
    NotChosen,
    Rationale,
    Reach,
    RejectedAlternative,
    Speaker,
)
from preflights_es.words.path_patterns import PATTERNS_MAX, pattern_problem
from preflights_es.words.questions import is_placeholder, stripped

RATIONALE_MAX: Final = 20  # consequences, and alternatives, of one decision

Objection = Literal["blank", "placeholder", "too_many"]
Misplaced = Literal["unfit_pattern", "too_many_patterns"]


def noted(before: Rationale, new: RationaleGiven) -> RationaleNoted | Objection:
    """The texts that count, or why none does."""
    named = (
        RejectedAlternative(stripped(one.name), stripped(one.why_not)) for one in new.alternatives
    )
    found = RationaleNoted(
        because=stripped(new.because),
        consequences=tuple(filter(None, map(stripped, new.consequences))),
        alternatives=tuple(one for one in named if one.name),
        replaces=new.replaces,
    )
    texts = [found.because, *found.consequences]
    texts += [text for one in found.alternatives for text in (one.name, one.why_not)]
    if not any(texts) and not new.replaces:
        return "blank"
    if any(map(is_placeholder, filter(None, texts))):
        return "placeholder"
    after = added(before, found, "user")
    if max(len(after.consequences), len(after.alternatives)) > RATIONALE_MAX:
        return "too_many"
    return found


def judge_reach(before: Reach, new: RationaleGiven) -> tuple[ReachNoted, ...] | Misplaced:
    """Where and how strongly the decision holds, where that is said; or why it does not count."""
    if new.paths is UNSET and new.hold is UNSET:
        return ()
    said = before.paths if new.paths is UNSET else tuple(map(stripped, new.paths))
    paths = tuple(dict.fromkeys(filter(None, said)))
    if len(paths) > PATTERNS_MAX:
        return "too_many_patterns"
    if any(map(pattern_problem, paths)):
        return "unfit_pattern"
    hold = before.hold if new.hold is UNSET else new.hold
    by = before.by if new.paths is UNSET else new.actor.kind
    return (ReachNoted(reach=Reach(paths, hold, by if paths else "user")),)


def added(before: Rationale, new: RationaleNoted | RationaleSuggested, by: Speaker) -> Rationale:
    """What was said, with what one more speaker says."""
    unchanged = frozenset[NotChosen]()
    if isinstance(new, RationaleNoted) and new.replaces:
        unchanged, before = frozenset(before.alternatives), Rationale()
    because = AttributedReason(new.because, by) if new.because else before.because
    consequences = {one.text: one for one in before.consequences}
    consequences |= {text: AttributedReason(text, by) for text in new.consequences}
    alternatives = {caseless(one.name): one for one in before.alternatives}
    for one in new.alternatives:
        # Who saves a text in which a model's offer stands has not turned that down.
        offer = NotChosen(one.name, one.why_not, "model")
        named = offer if offer in unchanged else NotChosen(one.name, one.why_not, by)
        alternatives[caseless(one.name)] = named
    return Rationale(because, tuple(consequences.values()), tuple(alternatives.values()))


def offer_recommended_rationale(
    before: Rationale, asked: QuestionSuggested, value: str
) -> RationaleSuggested | None:
    """What the writer of a question said for the value that is decided.

    What the writer said against the others stands with the question: they were only offered.
    None where nothing was said, or all of it is said already.
    """
    best = asked.recommended
    is_best = best is not None and caseless(best.option) == caseless(value)
    said = {one.text for one in before.consequences}
    offer = RationaleSuggested(
        because=best.reason if best and is_best and not before.because else "",
        consequences=tuple(one for one in asked.consequences if one not in said)
        if is_best or best is None
        else (),
        alternatives=(),
    )
    return offer if offer.because or offer.consequences else None


def merge_model_rationale(before: Rationale, new: RationaleSuggested) -> Rationale:
    """What people said, and beside it what the model offers now."""
    kept = Rationale(
        before.because if before.because and before.because.by != "model" else None,
        tuple(one for one in before.consequences if one.by != "model"),
        tuple(one for one in before.alternatives if one.by != "model"),
    )
    offered = added(Rationale(), new, "model")
    given = {one.text for one in kept.consequences}
    named = {caseless(one.name) for one in kept.alternatives}
    return Rationale(
        kept.because or offered.because,
        (*kept.consequences, *(one for one in offered.consequences if one.text not in given)),
        (
            *kept.alternatives,
            *(one for one in offered.alternatives if caseless(one.name) not in named),
        ),
    )


def of_another_value(before: Rationale, value: str) -> Rationale:
    """What still holds once the decision is another: the alternatives that it is not."""
    return replace(of_value(before, value), because=None, consequences=())


def of_value(before: Rationale, value: str) -> Rationale:
    """Without the alternative that is decided now."""
    others = tuple(o for o in before.alternatives if caseless(o.name) != caseless(value))
    return before if others == before.alternatives else replace(before, alternatives=others)


def proposal_for_signature(state: ClarificationState, new: DecisionAcknowledged) -> dict[str, Any]:
    """All that an acceptance is about, for its signature (docs/specs/log.md, section 14).

    The title is as this program words it; all else stands in events. In a forged log the state may
    hold another decision than the acceptance says; that is named as well, and was never signed.
    """
    why = state.offer.rationale
    said = _signed_decision_terms(new.patch, new.scope or "", new.reach or Reach())
    stands = _signed_decision_terms(state.offer.patch, state.offer.scope, state.offer.reach)
    return {
        **({} if said == stands else {"decision": stands}),
        **said,
        "title": title_of(state),
        "mark": new.mark,
        "because": why.because.text if why.because else "",
        "consequences": [one.text for one in why.consequences],
        "alternatives": [[one.name, one.why_not] for one in why.alternatives],
        "options": [[one.question, list(one.options)] for one in state.turns.asked],
        "others": [*_signed_replacements(state), *_signed_choices(new)],
    }


def fixed_values(state: ClarificationState) -> tuple[object, ...]:
    """What is shown beside a decision that a person accepted; only forged events change it then."""
    opened, found, turns, offer = state.opened, state.found, state.turns, state.offer
    words = (opened.intention, opened.uid, title_of(state), opened.observed, opened.item)
    asked = (turns.asked, found.framed, found.further, found.writer, offer.offered_by)
    return (*words, *asked, found.topics, turns.provenance, offer.rationale, opened.known)


def _signed_decision_terms(patch: DecisionPatch | None, scope: str, reach: Reach) -> dict[str, Any]:
    paths = list(reach.paths)
    patch_ = msgspec.to_builtins(patch)
    return {"patch": patch_, "scope": scope, "paths": paths, "hold": reach.hold}


def _signed_replacements(state: ClarificationState) -> Iterator[dict[str, Any]]:
    """The decision that the session was begun to replace."""
    if one := state.standing.supersedes:
        named: dict[str, Any] = {"uid": one.uid} if one.uid else {"title": one.title}
        if read := state.standing.supersedes_source:
            named |= {"version": read.version, "hash": read.hash}
        yield {"choice": "supersedes", "session": one.session_id, **named}


def _signed_choices(new: DecisionAcknowledged) -> Iterator[dict[str, Any]]:
    """What the person chose about decisions that differ, as these were read."""
    for one in new.resolved or ():
        older, read = one.finding.related, one.finding.source
        yield {
            "choice": one.choice,
            "reason": one.reason,
            "session": older.session_id,
            **({"version": read.version, "hash": read.hash} if read else {}),
            "uid": older.uid,
            "title": older.title,
        }
