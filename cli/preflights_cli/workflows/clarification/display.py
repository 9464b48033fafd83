"""How a clarification is shown: the JSON `session/1` (docs/api.md), and the words for the same."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_cli.common import Voice
from preflights_cli.rendering import Shown
from preflights_es.core.events import Decision
from preflights_es.core.ids import SHORT, short
from preflights_es.core.questions import AnswerRefusal
from preflights_es.core.text import one_line, shown
from preflights_es.core.views import Question
from preflights_es.runtime.runner import Handle, Step
from preflights_es.services.clarification.clarifications import clarifications_of
from preflights_es.services.request import Request
from preflights_es.workflows.clarification.events import (
    ChangeRefused,
)
from preflights_es.workflows.clarification.rules import chose_other
from preflights_es.workflows.clarification.values import (
    COMPANION,
    OTHER,
    OTHER_OPTION,
    HeuristicsConfig,
    Provenance,
)
from preflights_es.workflows.clarification.views import ClarificationView

FORMAT = "session/1"
CATEGORY_KEY: Final = HeuristicsConfig().category.id

REFUSED = {
    "unknown_question": "is no question of this session",
    "already_answered": "is answered already: change it with `preflights revise`",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which decides nothing",
    "several_values": "takes one value: put quotes around words that belong together",
    "other_needs_text": f"was answered {OTHER_OPTION!r} without the text",
    "no_choice": "has no such option",
    "closed": "cannot be answered any more: the decision is accepted",
}
_CHANGES = {
    "question_open": "a question is still open",
    "already_accepted": "it is accepted already",
    "already_proposed": "it is proposed already: a person has to accept it (--by NAME)",
    "patch_changed": "the session moved on since the patch was shown",
    "number_missing": "the record has no number",
    "not_accepted": "it is not accepted",
    "already_superseded": "it was superseded before",
    "not_related": "it has nothing to do with this session",
    "not_expected": "nothing of the kind is expected here",
}
_KINDS = {"user": "a person", "agent": "an agent", "script": "a script"}
SOURCES = {
    "detected": "named by the intention",
    "stated": "stated in the intention",
    "chosen": "chosen",
    "custom": "in own words",
    "typed": "in own words",
    "suggested": "read by the model",
}


def view_of(handle: Handle) -> ClarificationView:
    """What can be shown of a clarification."""
    view = handle.view
    assert isinstance(view, ClarificationView), "the caller checked the workflow"
    return view


def fields(handle: Handle) -> dict[str, Any]:
    """The fields of `session/1` that are a clarification's own."""
    view, state = view_of(handle), handle.session.state
    done = state.acknowledgement
    return {
        "format": FORMAT,
        "intention": view.intention,
        "missing_info": list(view.missing_info),
        "decision_hint": view.decision_hint,
        "progress": view.progress,
        "patch": msgspec.to_builtins(view.patch),
        "provenance": [{**msgspec.to_builtins(p), "by": _kind(p)} for p in view.provenance],
        "stated": msgspec.to_builtins(view.stated),
        "topics": list(view.topics),
        "replaced": msgspec.to_builtins(view.replaced),
        "language": view.language,
        "kind": view.kind,
        "uid": view.uid,
        "number": view.number,
        "turn": view.turn,
        "acknowledged_by": msgspec.to_builtins(done.actor) if done else None,
        "relayed_by": msgspec.to_builtins(done.relayed_by) if done else None,
        "supersedes": msgspec.to_builtins(state.supersedes),
        "superseded_by": msgspec.to_builtins(state.superseded_by),
        "artifacts": [view.written.path] if view.written else [],
    }


def refusal(decision: Decision) -> str:
    """Why something was not done, in words that say what to do."""
    if isinstance(decision, ChangeRefused):
        return _CHANGES[decision.reason]
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    text = f"{decision.key!r} {REFUSED[decision.reason]}" if decision.key else "no answer was given"
    return text + (f": it takes {', '.join(decision.expected)}" if decision.expected else "")


def describe(voice: Voice, handle: Handle, status: str) -> None:
    """A clarification in a few lines."""
    view, id_ = view_of(handle), short(handle.session_id)
    voice.say(f"{voice.bold(shown(one_line(view.intention)))}")
    voice.say(f"  session {id_}, {status.replace('_', ' ')}, {round(view.progress * 100)} %")
    for line in values(view.provenance):
        voice.say(f"  {line}")
    if view.written:
        voice.say(f"  written to {shown(view.written.path)}")
    if by := handle.session.state.superseded_by:
        voice.say(f"  superseded by {by.uid[-SHORT:]}: {shown(one_line(by.title))}")


def tell_found(voice: Voice, handle: Handle) -> None:
    """What the intention states, and what else it is about: nothing of it is asked again."""
    view, id_ = view_of(handle), short(handle.session_id)
    taken = {one.key for one in view.provenance if one.source == "stated"}
    for one in view.stated:
        said = shown(f"{one.category} {one.field}: {one.value}")
        if one.key in taken:
            change = f"`preflights revise {id_} {one.key}=...` changes it."
            voice.hint(f"Stated in the intention: {said}. {change}")
    others = [shown(f"{one.category} {one.field}: {one.value}") for one in view.stated]
    others = [said for one, said in zip(view.stated, others, strict=True) if one.key not in taken]
    if others:
        voice.hint(f"Also stated: {', '.join(others)}. `preflights start` records each.")
    if further := [topic for topic in view.topics if topic != view.topic]:
        voice.hint(f"Also found: {shown(', '.join(further))}. `preflights start` each.")


def hint(handle: Handle, status: str) -> str:
    """What may come next."""
    id_ = short(handle.session_id)
    return {
        "ready": f"Accept with: preflights accept {id_}",
        "stopped": f"Nothing was decided. File it as a task with: preflights accept {id_}",
        "proposed": f"A person confirms it with: preflights accept {id_} --by NAME",
        "accepted": f"Brief an agent with: preflights prompt {id_}",
        "superseded": f"Look at the newer one with: preflights show {_successor(handle)}",
    }.get(status, "")


def _successor(handle: Handle) -> str:
    by = handle.session.state.superseded_by
    return by.uid[-SHORT:] if by else ""


def values(provenance: tuple[Provenance, ...]) -> list[str]:
    """One line a value, with how it came about."""
    width = max((len(shown(p.field)) for p in provenance), default=0)
    return [
        f"{shown(p.field):<{width}}  {shown(one_line(p.value))}  ({SOURCES[p.source]}{_by(p)})"
        for p in provenance
    ]


def _kind(one: Provenance) -> str:
    """The kind of actor behind a value: a model's reading is not an agent's word."""
    return "model" if one.source == "suggested" else one.by


def _by(one: Provenance) -> str:
    if one.source in ("detected", "stated", "suggested"):
        return ""  # the source says who
    return f", by {_KINDS[one.by]}"


def _companion(question: Question, value: str) -> str:
    """Where a choice needs words of the person's own; the bare category `Other` needs none."""
    is_category = question.id == CATEGORY_KEY and value.casefold() == OTHER.casefold()
    return question.id + COMPANION if chose_other(question, value) and not is_category else ""


def _converse(app: Request, voice: Voice, step: Step, accepting: bool, by: str | None) -> int:
    from preflights_cli.workflows.clarification import conversation

    return conversation.run(app, voice, step, accepting=accepting, by=by)


def _filed(app: Request, voice: Voice, handle: Handle) -> None:
    """Say which files no new number is counted from."""
    if view_of(handle).number is None or not (found := clarifications_of(app).uncounted()):
        return
    which = f"{found[0]:04d}" if len(found) == 1 else f"{found[0]:04d} to {found[-1]:04d}"
    voice.warn(
        f"{app.process.settings.decisions} has a file with a number far beyond the others "
        f"({which}): "
        "new records do not count from it; rename it if its number is wrong"
    )


SHOWN: Final = Shown(
    fields=fields,
    describe=describe,
    hint=hint,
    refusal=refusal,
    companion=_companion,
    converse=_converse,
    filed=_filed,
    sources=SOURCES,
)
