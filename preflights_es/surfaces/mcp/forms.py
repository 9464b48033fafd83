"""A question as a form that a client shows its person, and what the person filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from preflights_es.kernel.text import one_line, shortened, shown, visible
from preflights_es.kernel.views import Question
from preflights_es.surfaces.mcp.call import Round
from preflights_es.use.results import Session

OTHER: Final = "Other"
INTENTION_SHOWN: Final = 120  # characters
CHOICE, OWN, AGREES = "choice", "other", "accept"
"""Keys of a form."""


def message(session: Session, question: Question) -> str:
    """What stands above the form: the question, and what it is asked for."""
    return f"{shown(one_line(whole(session, question)))} {_source(session)}"


def whole(session: Session, question: Question, *, numbered: bool = False) -> str:
    """The question, why it matters, what its options mean, and what is recommended.

    Args:
        numbered: whether every option is named; a form lists them itself.
    """
    shape = session.shape()
    word = WORDS["de" if shape.get("language") == "de" else "en"]
    offer, beside = shape.get("offer"), dict(shape.get("beside", ()))
    told = {one.label: one for one in offer.options} if offer else {}
    parts = [
        worded(session, question),
        _sentence(f"{word.why}: {offer.why}") if offer and offer.why else "",
    ]
    for number, option in enumerate(question.options, 1):
        one = told.get(option)
        against = f"{word.against}: {one.against}" if one and one.against else ""
        means = one.description if one else ""
        said = "; ".join(filter(None, (means or beside.get(option, ""), against)))
        if numbered or said:
            parts.append(f"{number}. {option}{f' ({said})' if said else ''}")
    if offer and (best := offer.recommended):
        parts.append(f"({offer.by} {word.recommends} {best.option}: {best.reason})")
    return " ".join(filter(None, parts))


def worded(session: Session, question: Question) -> str:
    """The question in words: where no topic fits, a terminal shows the label of a line alone."""
    shape = session.shape()
    if not shape.get("fields"):
        return question.question
    asks = WORDS["de" if shape.get("language") == "de" else "en"].decided
    return asks.format(intention=_cut(session.intention))


class Words(NamedTuple):
    """What stands around a question, in its language."""

    decided: str
    why: str
    against: str
    recommends: str


WORDS: Final = {
    "en": Words('What do you decide on "{intention}"?', "Why it matters", "against", "recommends"),
    "de": Words(
        "Was wird zu \u201e{intention}\u201c entschieden?",
        "Warum es z\u00e4hlt",
        "dagegen",
        "empfiehlt",
    ),
}


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _cut(intention: str) -> str:
    """An intention as it is quoted: it may be a page long."""
    return shown(shortened(one_line(intention), INTENTION_SHOWN))


def asking(question: Question) -> dict[str, Any]:
    """The form of a question: its options with one for other words, or free text."""
    own = {"type": "string", "title": "In your own words"}
    if not question.options:
        return _form({CHOICE: own}, CHOICE)
    choice: dict[str, Any] = {"type": "string", "enum": options(question)}
    if question.type == "multi_choice":
        choice = {"type": "array", "items": choice}
    own["description"] = "Where none of the options fits."
    return _form({CHOICE: {**choice, "title": "Your answer"}, OWN: own}, CHOICE)


def options(question: Question) -> list[str]:
    """The options, with one for other words."""
    found = list(question.options)
    has_other = any(_is_other(one) for one in found)
    return found if has_other else [*found, OTHER]


def asked(session: Session, question: Question) -> Round:
    """The round of a question.

    Where the question offers other words, they have a key of their own: a number among them
    stands for no option.
    """
    has_other = any(_is_other(one) for one in question.options)
    own = f"{question.id}__other" if has_other else question.id
    return Round(session.session_id, session.version, question.id, own)


def answered(
    at: Round, content: Mapping[str, Any] | None, question: Question | None
) -> dict[str, tuple[str, ...]]:
    """What a person answered, by key; nothing where the form did not allow what came back.

    Args:
        question: None where the session went on since it was asked.
    """
    own, chosen = (content or {}).get(OWN), (content or {}).get(CHOICE)
    values = chosen if isinstance(chosen, list) else [chosen]
    said = [one for one in values if isinstance(one, str) and visible(one)]
    if question is not None and question.options and not set(said) <= {*options(question)}:
        return {}
    found = tuple(one for one in said if not _is_other(one))
    if isinstance(own, str) and visible(own):  # a comment may take the choice back
        return {at.own: (f"{', '.join(found)} ({own.strip()})" if found else own,)}
    return {at.question: found} if found else {}


def proposal(session: Session) -> str:
    """What stands above the form that asks for an acceptance."""
    said = "; ".join(f"{name}: {one_line(value)}" for name, value in values(session).items())
    return f"{shown(said)} {_source(session)}"


def values(session: Session) -> dict[str, str]:
    """What is decided so far, by field."""
    patch = session.shape().get("patch")
    return dict(patch.fields) if patch else {}


def accepting() -> dict[str, Any]:
    """The form that asks whether a proposal is accepted."""
    return _form({AGREES: {"type": "boolean", "title": "Accept this decision"}}, AGREES)


def agrees(content: Mapping[str, Any] | None) -> bool:
    """Whether the person accepted."""
    return (content or {}).get(AGREES) is True


def _source(session: Session) -> str:
    """Who asks, and what for: the intention may be a page long."""
    return f"(Preflights, for: {_cut(session.intention)})"


def _is_other(option: str) -> bool:
    return option.casefold().partition(" (")[0] == OTHER.casefold()


def _form(properties: dict[str, Any], required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [required]}
