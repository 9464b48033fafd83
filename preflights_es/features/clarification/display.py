"""How a clarification is shown in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from msgspec.structs import replace

from preflights_cli.common import Voice, is_terminal
from preflights_cli.german import Say, spoken
from preflights_cli.rendering import Shown
from preflights_es.features.clarification.domain.rules import chose_other
from preflights_es.features.clarification.domain.values import (
    COMPANION,
    HeuristicsConfig,
    Provenance,
)
from preflights_es.features.clarification.domain.views import (
    ClarificationView,
    KnownDecision,
    RelatedDecision,
    gate_words,
)
from preflights_es.kernel.events import ACTOR_WORDS
from preflights_es.kernel.ids import decision_name, short_session
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.words.decisions import (
    EXCEPTION,
    HELD,
    OTHER,
    Related,
    Speaker,
    alternative_text,
    field_label,
    list_superseded,
)
from preflights_es.words.questions import Question
from preflights_es.words.workflow import View

CATEGORY_KEY: Final = HeuristicsConfig().category.id

ADVICE = {
    "already_answered": ": change it with `preflights revise`",
    "already_proposed": " (--by NAME)",
    "undecided": ": give an option, its number or your own words, or go on later with "
    "`preflights resume`",
}
LABELS: Final = {HeuristicsConfig().description.id: "Decision"}
"""By key: what people read in place of a field's name."""
RELATED_MAX: Final = 5  # older decisions that are named; the others are counted
SOURCES = {
    "detected": "from the intention",
    "stated": "stated in the intention",
    "chosen": "chosen",
    "custom": "in own words",
    "typed": "in own words",
    "suggested": "read by the model",
}


@cache
def _german_names() -> Mapping[str, str]:
    """What the shipped topics are called, by category and by key."""
    from preflights_es.features.clarification.domain.pack import load_pack  # its classes cost time

    topics = load_pack().topics
    return {name: one.german_name for one in topics for name in (one.category, one.key)}


def topic_name(session: View, name: str, key: str = "") -> str:
    """A category, or the field of a key, as the session's language calls it."""
    found, say = as_clarification(session), spoken(session)
    is_german = found.language == "de"
    return (is_german and _german_names().get(key or name)) or say(LABELS.get(key, name))


def as_clarification(session: View) -> ClarificationView:
    """A session as a clarification."""
    assert isinstance(session, ClarificationView), "the caller checked the workflow"
    return session


def describe_clarification(voice: Voice, session: View) -> None:
    """A clarification in a few lines."""
    found, say = as_clarification(session), spoken(session)
    voice.say(f"{voice.bold(escaped_text(one_line(found.intention)))}")
    stands = {
        "stands": _clarification_status_phrase(found, say),
        "percent": round(found.progress * 100),
    }
    voice.say(
        say("  session {id}, {stands}, {percent} %", id=short_session(found.session_id), **stands)
    )
    for line in filter(None, (found.origin, str(found.signature or ""))):
        voice.say(f"  {escaped_text(line)}")
    said = proposal_lines(found, say, keyed=bool(found.to_do))
    for line in (*_known_decision_lines(found, say), *said):
        voice.say(f"  {line}")
    for path in found.artifacts:
        voice.say(f"  {say('written to {path}', path=escaped_text(path))}")
    for line in _other_decision_lines(found, say):
        voice.say(f"  {escaped_text(line)}")
    is_open = bool(decisions_awaiting_choice(session))
    related = [one for one in found.related if is_open or not one.needs_choice]
    for one in related[:RELATED_MAX]:
        voice.say(f"  {related_decision_line(session, one)}")
    if (more := len(related) - RELATED_MAX) > 0:
        voice.say(
            f"  and {more:,} more: `preflights accept {short_session(found.session_id)} --json`"
        )
    if is_open:
        voice.say(say("Nothing is accepted yet. Replace what differs, or keep it and say why:"))
        for command in _choosing(session):
            voice.say(command)


def _clarification_status_phrase(found: ClarificationView, say: Say) -> str:
    """Where it stands; of a proposal also who proposed it."""
    by = found.acknowledged_by
    if found.status == "proposed" and by is not None:
        return say("proposed by {who}", who=escaped_text(by.name or say(ACTOR_WORDS[by.kind])))
    way = found.evidence.brought if found.evidence else ""
    return say(found.status.replace("_", " ")) + (f" ({way})" if way else "")


def _known_decision_lines(found: ClarificationView, say: Say) -> Iterator[str]:
    """What is said before a decision, and what was kept in place of an answer."""
    if found.questions or found.status in ("ready", "proposed"):
        if found.known:
            yield say("In force:")
        for place, one in enumerate(found.known, 1):
            yield f"  {place}. {known_line(one, say)}"
    if (kept := found.keeps) is not None:
        name = kept.name or "a record"
        says = "{name} says the same: {title}" if _is_same(found) else "{name} is kept: {title}"
        yield escaped_text(say(says, name=name, title=one_line(kept.title)))


def _is_same(found: ClarificationView) -> bool:
    """Whether it ended with a decision that says the same."""
    kept = found.keeps
    return kept is not None and all(one.says_same for one in found.known if one.uid == kept.uid)


def known_line(one: KnownDecision, say: Say) -> str:
    """A decision in force that is said first, in one line."""
    return escaped_text(one.said(say))


def tell_found(voice: Voice, session: View) -> None:
    """Say what the intention states: nothing of it is asked again."""
    found, id_, say = session, short_session(session.session_id), spoken(session)
    assert isinstance(found, ClarificationView), "the caller checked the workflow"
    answered = {one.key: one.source == "stated" for one in found.provenance}
    others = []
    for one in found.stated:
        said = escaped_text(f"{topic_name(found, one.category)}: {one.value}")
        if answered.get(one.key):
            voice.hint(say(_STATED, said=said, id=id_, key=one.key))
        elif one.key not in answered:
            others.append(said)
    if others:
        voice.hint(say(_ALSO_STATED, said=", ".join(others)))


_STATED: Final = "Stated in the intention: {said}. `preflights revise {id} {key}=...` changes it."
_ALSO_STATED: Final = "The intention also states: {said}. Start a decision for each."


def _other_decision_lines(found: ClarificationView, say: Say) -> Iterator[str]:
    """One line a decision that it replaces, that replaced it, or that stays in force beside it."""
    for old in () if found.keeps else list_superseded(found):
        yield say("replaces {name}", name=f"{_older_decision_name(old)}: {one_line(old.title)}")
    if by := found.superseded_by:
        yield say("replaced by {name}", name=f"{short_session(by.uid)}: {one_line(by.title)}")
    for one in found.kept:
        name, title, reason = (
            _older_decision_name(one.related),
            one_line(one.related.title),
            one_line(one.reason),
        )
        if reason == EXCEPTION:
            yield say("exception to {name}", name=f"{name}: {title}")
            continue
        yield say("kept beside {name}", name=f"{name}, {title}: {reason}")


def _older_decision_name(old: Related) -> str:
    """The end of a decision's uid, or the path of a record of another tool."""
    return short_session(old.uid) or old.path or ""


def clarification_hint(session: View) -> str:
    """What may come next."""
    say, found, id_ = spoken(session), as_clarification(session), short_session(session.session_id)
    if decisions_awaiting_choice(session):
        return say("Or revise an answer: preflights revise {id} KEY=VALUE", id=id_)
    if kept := found.keeps:
        name, id_ = kept.name, short_session(kept.uid)
        look = f" {say('Look at it with: preflights show {id}', id=id_)}" if id_ else ""
        if stays := list_superseded(found):
            return say(_STAYS, name=_older_decision_name(stays[0]))
        if not _is_same(found):
            return say("Nothing new is recorded.") + look
        if found.because or found.alternatives:
            return say(_REASONS_LOST, name=id_ or name) + look
        return say("Nothing new is recorded. `--again` records a decision once more.") + look
    same = next((one for one in found.known if one.says_same and one.uid), None)
    if same and session.status == "ready":
        return say(_SAME, name=decision_name(same.number, same.uid))
    if session.status == "superseded" and found.superseded_by:
        id_ = short_session(found.superseded_by.uid)
    return say(_NEXT[session.status], id=id_) if session.status in _NEXT else ""


_STAYS: Final = (
    "Nothing new is recorded, so {name} stays in force. To replace it, record a decision: start "
    "again with --supersedes {name} --again, and keep none."
)
_REASONS_LOST: Final = "To record your reasons, start again with --supersedes {name}."
_SAME: Final = "Accepting records nothing new, since {name} says the same (or: --again)."
_NEXT: Final = {
    "ready": "Accept with: preflights accept {id}",
    "stopped": "Nothing was decided. File it as a task with: preflights accept {id}",
    "proposed": "A person confirms it at a terminal with: preflights accept {id}",
    "accepted": "Brief an agent with: preflights prompt {id}",
    "superseded": "Look at the newer one with: preflights show {id}",
}

HOW: Final = {"because": "--because TEXT", "alternatives": '--alternative "NAME: WHY NOT"'}
"""The options that give what a record needs beside the decision."""


def completed(session: View) -> View:
    """With the words that give each line of a record."""
    found = as_clarification(session)
    fields = tuple(
        replace(one, how=HOW.get(one.key, f"--answer {one.key}=TEXT")) for one in found.fields
    )
    return replace(found, fields=fields)


def _optional_field_lines(session: View) -> Iterator[str]:
    """What may be said beside the decision, and how."""
    say = spoken(session)
    for one in as_clarification(completed(session)).fields:
        if not one.required:
            yield say("{label}: may stay empty; {how}", label=say(one.label), how=one.how)
    if as_clarification(session).can_dismiss:
        yield say(
            "Not about this: preflights answer {id} --not-this",
            id=short_session(session.session_id),
        )


def proposal_lines(found: ClarificationView, say: Say, *, keyed: bool = False) -> Iterator[str]:
    """Each value and reason in a line, then what accepting it will stop.

    Args:
        keyed: whether a value stands with the key by which it can be revised.
    """
    yield from provenance_lines(found, keyed=keyed)
    yield from rationale_lines(found, say)
    if (gate := found.gate) is not None:
        text, gaps = gate_words(found, gate.stops, gate.elsewhere, gate.folders)
        yield say(text, **{name: escaped_text(one_line(said)) for name, said in gaps.items()})


def provenance_lines(found: ClarificationView, *, keyed: bool = False) -> list[str]:
    """One line a value, with how it came about; with its key, where it can be revised."""
    say, names, values = spoken(found), list[str](), list[str]()
    shown = [p for p in found.provenance if (p.key, p.value) != (CATEGORY_KEY, OTHER)]
    for p in shown:
        label = topic_name(found, p.field, p.key)
        names.append(escaped_text(f"{label} ({p.key})" if keyed else label))
        value = topic_name(found, p.value) if p.key == CATEGORY_KEY else p.value
        values.append(escaped_text(one_line(value)))
    width = max(map(len, names), default=0)
    return [
        f"{name:<{width}}  {value}  ({say(SOURCES[p.source])}{_speaker_suffix(p, say)})"
        for name, value, p in zip(names, values, shown, strict=True)
    ]


def _speaker_suffix(one: Provenance, say: Say) -> str:
    if one.source in ("detected", "stated", "suggested"):
        return ""  # the source says who
    relayer = one.relayed_by
    who = escaped_text(relayer.name or ACTOR_WORDS[relayer.kind]) if relayer else ""
    relayed = say(", relayed by {who}", who=who) if who else ""
    return f", {say(f'by {ACTOR_WORDS[one.by]}')}{relayed}"


def rationale_lines(found: ClarificationView, say: Say) -> list[str]:
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
    return [
        f"{say(how, text=escaped_text(one_line(text)))}{say(_said_by(by))}"
        for how, text, by in said
    ]


def _said_by(speaker: Speaker) -> str:
    if speaker == "model":
        return "  (offered by the model)"
    return "" if speaker == "user" else f"  (by {ACTOR_WORDS[speaker]})"


def _companion(question: Question, value: str) -> str:
    """Where a choice needs words of the person's own; the bare category `Other` needs none."""
    is_category = question.id == CATEGORY_KEY and value.casefold() == OTHER.casefold()
    return question.id + COMPANION if chose_other(question, value) and not is_category else ""


def _option_remark(session: View, option: str) -> str:
    """Who recommends the option, and why; or what it is first for."""
    offer, say = as_clarification(session).offer, spoken(session)
    if offer is None:
        sign = dict(as_clarification(session).beside).get(option, "")
        package, is_in, path = sign.partition(" is in ")
        said = "{package} is in {path}"
        return say(said, package=package, path=path) if is_in else say(sign)
    if offer.quote and option == offer.default:
        said = "{by} reads it in the intention: \u201c{quote}\u201d"
        return say(said, by=offer.by, quote=offer.quote)
    best = offer.recommended
    if best is None or best.option != option:
        return ""
    return say("recommended by {by}: {reason}", by=offer.by, reason=best.reason)


def _explained(session: View, option: str) -> list[str]:
    """What an option means, and what speaks against it; of an empty one, why the question is asked.

    One line each.
    """
    offer, say = as_clarification(session).offer, spoken(session)
    if offer is None:
        return []
    if not option:
        places = [f"{one.path}:{one.lines}" if one.lines else one.path for one in offer.evidence]
        evidence = say("see {places}", places=", ".join(places)) if places else ""
        return [text for text in (offer.why, evidence) if text]
    one = next((one for one in offer.options if one.label == option), None)
    if one is None:
        return []
    against = say("against: {text}", text=one.against) if one.against else ""
    return [text for text in (one.description, against) if text]


def _question_label(session: View, key: str) -> str:
    return topic_name(session, dict(session.labels).get(key, ""), key)


def _default(session: View) -> str:
    """The option that Enter takes."""
    offer = as_clarification(session).offer
    return offer.default if offer else ""


EVOLUTIONS: Final = {
    "update": "Updates",
    "contradict": "Contradicts",
    "exception": "Is an exception to",
    "same": "Has the same value as",
    "extend": "Extends",
    "derive": "Speaks of",
}


def related_decision_line(session: View, one: RelatedDecision) -> str:
    """An older decision in one line: how this one stands to it, its uid, date, field and value."""
    say = spoken(session)
    number = f", ADR-{one.number:04}" if one.number is not None else ""
    (first, value), *others = one.values or (("", ""),)
    topic = topic_name(session, one.category)
    if one.category == OTHER:
        topic = say(field_label(first))
    more = (f"{name}: {one_line(other)}" for name, other in others)
    what = ", ".join((f"{topic}: {one_line(value)}", *more))
    name = f"{short_session(one.uid)}{number}"
    stands = {"stands": say(EVOLUTIONS[one.evolution]), "date": one.date}
    return escaped_text(say("{stands} {name} of {date}: {what}", **stands, name=name, what=what))


def decisions_awaiting_choice(session: View) -> list[RelatedDecision]:
    """Those that a person has to choose about before the decision is accepted."""
    related = as_clarification(session).related if session.can_accept else ()
    return [one for one in related if one.needs_choice]


def _choosing(session: View) -> list[str]:
    """The commands that choose."""
    from shlex import quote  # most acceptances differ from nothing

    found = decisions_awaiting_choice(session)
    command = f"preflights accept {short_session(session.session_id)}"
    command += "" if is_terminal() else " --by NAME"
    if len(found) > RELATED_MAX:
        return [f"  {command} --supersedes UID --keep UID=REASON"]
    replaced = " ".join(f"--supersedes {short_session(one.uid)}" for one in found)
    kept = " ".join(
        f"--exception {short_session(one.uid)}"
        if one.evolution == "exception"
        else f"--keep {quote(short_session(one.uid) + '=REASON')}"
        for one in found
    )
    return [f"  {command} {replaced}", f"  {command} {kept}"]


SHOWN: Final = Shown(
    describe=describe_clarification,
    hint=clarification_hint,
    advice=ADVICE,
    beside=_option_remark,
    explained=_explained,
    default=_default,
    below=_optional_field_lines,
    completed=completed,
    companion=_companion,
    label=_question_label,
    conversation="preflights_es.features.clarification.conversation",
    sources=SOURCES,
)
