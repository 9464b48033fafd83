"""How a clarification is shown in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from preflights_cli.common import Voice, is_terminal
from preflights_cli.dialogue import Say, spoken
from preflights_cli.rendering import Shown
from preflights_es.features.clarification.domain.rules import chose_other
from preflights_es.features.clarification.domain.values import (
    COMPANION,
    OTHER,
    HeuristicsConfig,
    Provenance,
)
from preflights_es.features.clarification.domain.views import (
    ClarificationView,
    KnownDecision,
    RelatedDecision,
    gate_words,
)
from preflights_es.kernel.decisions import EXCEPTION, Related, Speaker, alternative_text
from preflights_es.kernel.ids import decision_name, short
from preflights_es.kernel.questions import Question
from preflights_es.kernel.reach import HELD
from preflights_es.kernel.text import one_line, shown
from preflights_es.kernel.views import View

CATEGORY_KEY: Final = HeuristicsConfig().category.id

_KINDS = {"user": "a person", "agent": "an agent", "script": "a script"}
ADVICE = {
    "already_answered": ": change it with `preflights revise`",
    "already_proposed": " (--by NAME)",
    "undecided": ": give an option, its number or your own words, or go on later with "
    "`preflights resume`",
}
RELATED_MAX: Final = 5  # older decisions that are named; the others are counted
SOURCES = {
    "detected": "named by the intention",
    "stated": "stated in the intention",
    "chosen": "chosen",
    "custom": "in own words",
    "typed": "in own words",
    "suggested": "read by the model",
}


def own(session: View) -> ClarificationView:
    """A session as a clarification."""
    assert isinstance(session, ClarificationView), "the caller checked the workflow"
    return session


def describe(voice: Voice, session: View) -> None:
    """A clarification in a few lines."""
    found = own(session)
    voice.say(f"{voice.bold(shown(one_line(found.intention)))}")
    stands = f"{_standing(found)}, {round(found.progress * 100)} %"
    voice.say(f"  session {short(found.session_id)}, {stands}")
    for line in filter(None, (found.origin, str(found.signature or ""))):
        voice.say(f"  {shown(line)}")
    gate = (gate_line(found),) if found.gate else ()
    for line in (*values(found.provenance, keyed=bool(found.to_do)), *why(found), *gate):
        voice.say(f"  {line}")
    for line in _in_force(found):
        voice.say(f"  {line}")
    for path in found.artifacts:
        voice.say(f"  written to {shown(path)}")
    for line in _others(found):
        voice.say(f"  {shown(line)}")
    is_open = bool(waiting(session))
    related = [one for one in found.related if is_open or not one.needs_choice]
    for one in related[:RELATED_MAX]:
        voice.say(f"  {compared(one)}")
    if (more := len(related) - RELATED_MAX) > 0:
        voice.say(f"  and {more:,} more: `preflights accept {short(found.session_id)} --json`")
    if is_open:
        each = ", one option for each" if more > 0 else ""
        voice.say(f"Nothing is accepted yet. Supersede what differs, or keep it and say why{each}:")
        for command in _choosing(session):
            voice.say(command)


def _standing(found: ClarificationView) -> str:
    """Where it stands; of a proposal also who proposed it."""
    by = found.acknowledged_by
    if found.status == "proposed" and by is not None:
        return f"proposed by {shown(by.name or _KINDS[by.kind])}"
    way = found.evidence.brought if found.evidence else ""
    return found.status.replace("_", " ") + (f" ({way})" if way else "")


def _in_force(found: ClarificationView) -> Iterator[str]:
    """What is said before a decision, and what was kept in place of an answer."""
    if found.questions or found.status in ("ready", "proposed"):
        for place, one in enumerate(found.known, 1):
            yield f"{place}. {known_line(one)}"
    if (kept := found.keeps) is not None:
        name = decision_name(kept.number, kept.uid) or "a record"
        says = "says the same" if _is_same(found) else "is kept"
        yield shown(f"{name} {says}: {one_line(kept.title)}")


def _is_same(found: ClarificationView) -> bool:
    """Whether it ended with a decision that says the same."""
    kept = found.keeps
    return kept is not None and all(one.says_same for one in found.known if one.uid == kept.uid)


def known_line(one: KnownDecision, say: Say = str.format) -> str:
    """A decision in force that is said first, in one line."""
    return shown(one.said(say))


def tell_found(voice: Voice, session: View) -> None:
    """Say what the intention states: nothing of it is asked again."""
    found, id_ = session, short(session.session_id)
    assert isinstance(found, ClarificationView), "the caller checked the workflow"
    answered = {one.key: one.source == "stated" for one in found.provenance}
    others = []
    for one in found.stated:
        said = shown(f"{one.category} {one.field}: {one.value}")
        if answered.get(one.key):
            change = f"`preflights revise {id_} {one.key}=...` changes it."
            voice.hint(f"Stated in the intention: {said}. {change}")
        elif one.key not in answered:
            others.append(said)
    if others:
        voice.hint(f"The intention also states: {', '.join(others)}. Start a decision for each.")


def _others(found: ClarificationView) -> Iterator[str]:
    """One line a decision that it replaces, that replaced it, or that stays in force beside it."""
    for old in (found.supersedes, *found.also_supersedes):
        if old is not None:
            yield f"supersedes {_name(old)}: {one_line(old.title)}"
    if by := found.superseded_by:
        yield f"superseded by {short(by.uid)}: {one_line(by.title)}"
    for one in found.kept:
        name, title, reason = _name(one.related), one_line(one.related.title), one_line(one.reason)
        if reason == EXCEPTION:
            yield f"exception to {name}: {title}"
            continue
        yield f"kept beside {name}, {title}: {reason}"


def _name(old: Related) -> str:
    """The end of a decision's uid, or the path of a record of another tool."""
    return short(old.uid) or old.path or ""


def hint(session: View) -> str:
    """What may come next."""
    if waiting(session):
        return f"Or revise an answer: preflights revise {short(session.session_id)} KEY=VALUE"
    id_, by = short(session.session_id), own(session).superseded_by
    if kept := own(session).keeps:
        look = f" Look at it with: preflights show {short(kept.uid)}" if kept.uid else ""
        if _is_same(own(session)) and (own(session).because or own(session).alternatives):
            name = decision_name(kept.number, kept.uid)
            return f"To record your reasons, start again with --supersedes {name}.{look}"
        return f"Nothing new is recorded. `--again` records a decision once more.{look}"
    if same := next((one for one in own(session).known if one.says_same and one.uid), None):
        name = decision_name(same.number, same.uid)
        if session.status == "ready":
            return f"Accepting records nothing new, since {name} says the same (or: --again)."
    newer = short(by.uid) if by else ""
    return {
        "ready": f"Accept with: preflights accept {id_}",
        "stopped": f"Nothing was decided. File it as a task with: preflights accept {id_}",
        "proposed": f"A person confirms it at a terminal with: preflights accept {id_}",
        "accepted": f"Brief an agent with: preflights prompt {id_}",
        "superseded": f"Look at the newer one with: preflights show {newer}",
    }.get(session.status, "")


HOW: Final = {"because": "--because TEXT", "alternatives": '--alternative "NAME: WHY NOT"'}
"""The options that give what a record needs beside the decision."""


def completed(session: View) -> View:
    """With the words that give each line of a record."""
    found = own(session)
    fields = tuple(
        replace(one, how=HOW.get(one.key, f"--answer {one.key}=TEXT")) for one in found.fields
    )
    return replace(found, fields=fields)


def _below(session: View) -> Iterator[str]:
    """What may be said beside the decision, and how."""
    say = spoken(session)
    for one in own(completed(session)).fields:
        if not one.required:
            yield say("{label}: may stay empty; {how}", label=say(one.label), how=one.how)
    if own(session).can_dismiss:
        yield say("Not about this: preflights answer {id} --not-this", id=short(session.session_id))


def values(
    provenance: tuple[Provenance, ...], say: Say = str.format, *, keyed: bool = False
) -> list[str]:
    """One line a value, with how it came about; with its key, where it can be revised."""
    names = [shown(f"{p.field} ({p.key})" if keyed else p.field) for p in provenance]
    width = max(map(len, names), default=0)
    return [
        f"{name:<{width}}  {shown(one_line(p.value))}  ({say(SOURCES[p.source])}{_by(p, say)})"
        for name, p in zip(names, provenance, strict=True)
    ]


def _by(one: Provenance, say: Say) -> str:
    if one.source in ("detected", "stated", "suggested"):
        return ""  # the source says who
    relayer = one.relayed_by
    who = shown(relayer.name or _KINDS[relayer.kind]) if relayer else ""
    relayed = say(", relayed by {who}", who=who) if who else ""
    return f", {say(f'by {_KINDS[one.by]}')}{relayed}"


def why(found: ClarificationView, say: Say = str.format) -> list[str]:
    """One line for the scope, a reason, a consequence, an alternative, and where it holds.

    A person's own words bear no mark.
    """
    because = [("because: {text}", found.because)] if found.because else []
    said: list[tuple[str, str, Speaker]] = []
    if found.scope:
        said.append(("for: {text}", found.scope, "user"))
    said += [(how, one.text, one.by) for how, one in because]
    said += [("follows: {text}", one.text, one.by) for one in found.consequences]
    said += [("not {text}", alternative_text(one), one.by) for one in found.alternatives]
    if found.paths:
        said.append(("holds for {text}", ", ".join(found.paths), found.paths_by or "user"))
    if found.hold != "tell":
        said.append(("agents: {text}", HELD[found.hold], "user"))
    return [f"{say(how, text=shown(one_line(text)))}{_said_by(by)}" for how, text, by in said]


def gate_line(found: ClarificationView, say: Say = str.format) -> str:
    """What accepting the proposal will stop; empty where nothing waits to be accepted."""
    gate = found.gate
    if gate is None:
        return ""
    text, gaps = gate_words(found, gate.stops, gate.elsewhere, gate.folders)
    return say(text, **{name: shown(one_line(said)) for name, said in gaps.items()})


def _said_by(speaker: Speaker) -> str:
    if speaker == "model":
        return "  (offered by the model)"
    return "" if speaker == "user" else f"  (by {_KINDS[speaker]})"


def _companion(question: Question, value: str) -> str:
    """Where a choice needs words of the person's own; the bare category `Other` needs none."""
    is_category = question.id == CATEGORY_KEY and value.casefold() == OTHER.casefold()
    return question.id + COMPANION if chose_other(question, value) and not is_category else ""


def _beside(session: View, option: str) -> str:
    """Who recommends the option, and why; or what it is first for."""
    offer = own(session).offer
    if offer is None:
        return dict(own(session).beside).get(option, "")
    if offer.quote and option == offer.default:
        return f"{offer.by} reads it in the intention: \u201c{offer.quote}\u201d"
    best = offer.recommended
    return f"recommended by {offer.by}: {best.reason}" if best and best.option == option else ""


def _explained(session: View, option: str) -> list[str]:
    """What an option means, and what speaks against it; of an empty one, why the question is asked.

    One line each.
    """
    offer = own(session).offer
    if offer is None:
        return []
    if not option:
        places = [f"{one.path}:{one.lines}" if one.lines else one.path for one in offer.evidence]
        evidence = f"see {', '.join(places)}" if places else ""
        return [text for text in (offer.why, evidence) if text]
    one = next((one for one in offer.options if one.label == option), None)
    if one is None:
        return []
    return [
        text for text in (one.description, f"against: {one.against}" * bool(one.against)) if text
    ]


def _default(session: View) -> str:
    """The option that Enter takes."""
    offer = own(session).offer
    return offer.default if offer else ""


EVOLUTIONS: Final = {
    "update": "Updates",
    "contradict": "Contradicts",
    "exception": "Is an exception to",
    "same": "Has the same value as",
    "extend": "Extends",
    "derive": "Builds on",
}


def compared(one: RelatedDecision) -> str:
    """An older decision in one line: how this one stands to it, its uid, date, field and value."""
    number = f", ADR-{one.number:04}" if one.number is not None else ""
    values = ", ".join(f"{name}: {one_line(value)}" for name, value in one.values)
    what = f"{EVOLUTIONS[one.evolution]} {short(one.uid)}{number} of {one.date}"
    return shown(f"{what}: {one.category}, {values}")


def waiting(session: View) -> list[RelatedDecision]:
    """Those that a person has to choose about before the decision is accepted."""
    related = own(session).related if session.can_accept else ()
    return [one for one in related if one.needs_choice]


def _choosing(session: View) -> list[str]:
    """The commands that choose."""
    from shlex import quote  # most acceptances differ from nothing

    found = waiting(session)
    command = f"preflights accept {short(session.session_id)}"
    command += "" if is_terminal() else " --by NAME"
    if len(found) > RELATED_MAX:
        return [f"  {command} --supersedes UID --keep UID=REASON"]
    replaced = " ".join(f"--supersedes {short(one.uid)}" for one in found)
    kept = " ".join(
        f"--exception {short(one.uid)}"
        if one.evolution == "exception"
        else f"--keep {quote(short(one.uid) + '=REASON')}"
        for one in found
    )
    return [f"  {command} {replaced}", f"  {command} {kept}"]


SHOWN: Final = Shown(
    describe=describe,
    hint=hint,
    advice=ADVICE,
    beside=_beside,
    explained=_explained,
    default=_default,
    below=_below,
    completed=completed,
    companion=_companion,
    conversation="preflights_es.features.clarification.conversation",
    sources=SOURCES,
)
