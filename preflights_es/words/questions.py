"""Questions to a person, and what comes back.

Each workflow has its own events, with its own tags.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import ClassVar, Final, Literal

from msgspec import UNSET, UnsetType

from preflights_es.kernel.events import Decision, Input, Typed, Value
from preflights_es.kernel.text import ANSWER_MAX, late_pattern
from preflights_es.words.items import ItemRef

RefusalReason = Literal[
    "unknown_question",
    "already_answered",
    "blank",
    "placeholder",
    "undecided",
    "several_values",
    "other_needs_text",
    "not_an_option",
    "too_long",
    "closed",
]


class GivenAnswer(Value, frozen=True):
    """One answer as it was given."""

    key: str
    values: tuple[str, ...]


class Answers(Input, frozen=True):
    """Root of the Inputs that answer questions."""

    typed: ClassVar = {"answers": Typed(ANSWER_MAX)}
    answers: tuple[GivenAnswer, ...]
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class Opening(Input, frozen=True, kw_only=True):
    """Root of the Inputs that open a session and may answer what it would ask."""

    answers: tuple[GivenAnswer, ...] | UnsetType = UNSET
    """Those that count already, where a model leads: it is told of them. Not written otherwise."""


def answers_in(new: Input) -> tuple[GivenAnswer, ...]:
    """What an Input answers; nothing where it is another kind of Input."""
    return (new.answers or ()) if isinstance(new, Answers | Opening) else ()


class Option(Value, frozen=True):
    """An option of a question, as its writer offers it."""

    label: str
    description: str = ""
    """What it means, in a sentence."""
    against: str = ""
    """What speaks against it."""


class Recommended(Value, frozen=True):
    """The option that the writer of a question recommends."""

    option: str
    reason: str


class EvidenceLines(Value, frozen=True):
    """Lines of a file that a question follows from."""

    path: str
    """Relative to the project's root, with forward slashes."""
    lines: str = ""
    """`12` or `12-40`; empty for the whole file."""


class WrittenQuestion(Value, frozen=True):
    """A question that an actor wrote, for a session to begin with."""

    question: str
    options: tuple[Option, ...] = ()
    topic: str = ""
    """What it is about."""
    recommended: Recommended | None = None
    why: str = ""
    """Why it matters: what depends on the answer."""
    scope: str = ""
    """What the decision is for; empty for the whole project."""
    consequences: tuple[str, ...] = ()
    """What follows from the recommended option."""
    evidence: tuple[EvidenceLines, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """All that it says, a text each."""
        parts = [text for o in self.options for text in (o.label, o.description, o.against)]
        parts += [self.question, self.topic, self.why, self.scope, *self.consequences]
        parts += [text for one in self.evidence for text in (one.path, one.lines)]
        if self.recommended is not None:
            parts += [self.recommended.option, self.recommended.reason]
        return tuple(filter(None, parts))


def written_question(
    question: str,
    options: Iterable[str | Option] = (),
    topic: str = "",
    recommended: tuple[str, str] | None = None,
    why: str = "",
    scope: str = "",
    evidence: Iterable[str] = (),
    consequences: Iterable[str] = (),
) -> WrittenQuestion:
    """A question in the parts that a surface takes.

    Args:
        recommended: an option and the reason.
        evidence: places as `path`, `path:12` or `path:12-40`.
    """
    places = [one.strip() for one in evidence]
    found = [(one, _LINES.search(one)) for one in places]
    return WrittenQuestion(
        question=stripped(question),
        options=tuple(one if isinstance(one, Option) else Option(stripped(one)) for one in options),
        topic=stripped(topic),
        recommended=Recommended(*recommended) if recommended else None,
        why=why,
        scope=scope,
        consequences=tuple(consequences),
        evidence=tuple(
            EvidenceLines(one[: at.start()], at["lines"]) if at else EvidenceLines(one)
            for one, at in found
        ),
    )


_LINES: Final = late_pattern(r":(?P<lines>[0-9]{1,7}(?:-[0-9]{1,7})?)\Z")


def lacking(written: WrittenQuestion) -> tuple[str, ...]:
    """What a good question has besides, one short text each; none where nothing is missing."""
    has_choice = bool(written.options)
    described = all(one.description for one in written.options)
    weighed = any(one.against for one in written.options)
    missing = {
        "why it matters: what depends on the answer": not written.why,
        "options that exclude each other": not has_choice,
        "a description of each option": has_choice and not described,
        "what speaks against the options": has_choice and not weighed,
        "a recommendation with its reason": has_choice and written.recommended is None,
        "scope: what the decision is for": not written.scope,
        "evidence: the files and lines that it follows from": not written.evidence,
    }
    return tuple(text for text, is_missing in missing.items() if is_missing)


class Refusal(Decision, frozen=True):
    """Root of the Decisions by which something that was asked for is not done."""


class AnswerRefusal(Refusal, frozen=True):
    """Root of the Decisions by which an answer does not count; the question stays as it was."""

    key: str
    reason: RefusalReason
    expected: tuple[str, ...] = ()
    """Keys that would be taken, where the key was the trouble."""


class TextAccepted(Decision, frozen=True):
    """Root of the Decisions by which an answer in free text counts."""

    key: str
    answer: str
    """Stripped."""


# What counts as an answer --------------------------------------------------------------------

PLACEHOLDER: Final = late_pattern(
    r"tbd|tba|tbc|to-?do|n/a|to be (?:determined|decided|defined|confirmed)|placeholder|xxx+"
    r"|[?\u2013\u2014-]+|redacted:[a-z]+"
)
_PLACEHOLDERS_BEGIN: Final = frozenset("tnpxr?-\u2013\u2014")
"""First characters of those: other words need no pattern, which takes time to compile."""
OWN_PLACEHOLDER: Final = "VALUE"
"""As our own hints print it, in capitals: "value" may be a decision."""
WRAPPING: Final = " \t\n.,:;!'\"`()[]{}<>"


def is_placeholder(text: str) -> bool:
    """A word in place of a decision (TBD); brackets and full stops do not hide it."""
    said = " ".join(text.split()).strip(WRAPPING)
    bare = said.casefold()
    if not bare or bare[0] not in _PLACEHOLDERS_BEGIN:
        return said in ("", OWN_PLACEHOLDER)
    return PLACEHOLDER.fullmatch(bare) is not None


def is_slip(text: str) -> bool:
    """Whether a text is a digit, a small letter, or marks alone, as of a key; `R` is a language.

    Brackets hide no key: `[a]` is as a menu of keys writes it.
    """
    bare = _ARROW.sub("", stripped(text))
    if len(key := bare.strip(WRAPPING)) == 1:
        return not key.isalpha() or key.islower()
    return not any(map(str.isalnum, bare))


_ARROW: Final = late_pattern(r"\x1b(?:\[[0-9;]*|O)[A-Za-z~]")
"""What a terminal sends for an arrow or a function key."""


UNDECIDED: Final = late_pattern(
    r"-\d+|idk|dunno|unsure|undecided|no (?:idea|clue)|(?:i am |i['\u2019]m )?not sure(?: yet)?"
    r"|(?:i )?(?:do not|don['\u2019]?t) know(?: yet)?"
    r"|(?:ich )?weiss (?:ich |es )?(?:noch )?nicht|(?:ich habe )?keine ahnung|unentschieden"
)

_UNDECIDED_BEGIN: Final = frozenset("-idunwk")


def is_undecided(text: str) -> bool:
    """Words that say that the person has no answer; around them may stand what hides no word."""
    bare = " ".join(text.split()).strip(WRAPPING).casefold()
    return bare[:1] in _UNDECIDED_BEGIN and UNDECIDED.fullmatch(bare) is not None


INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


def stripped(text: str) -> str:
    """Without white space around it, also that which has no width."""
    while (bare := text.strip().strip(INVISIBLE)) != text:
        text = bare
    return text


# One question in free text -------------------------------------------------------------------


def text_answers(
    new: Answers,
    question: str | None,
    answered: Collection[str],
    accepted: type[TextAccepted],
    refused: type[AnswerRefusal],
) -> tuple[TextAccepted | AnswerRefusal, ...]:
    """One verdict a key, where at most one question is open; never empty.

    Args:
        question: the open question's key.
        answered: keys of questions that have their answer.
    """
    verdicts: list[TextAccepted | AnswerRefusal] = []
    for given in new.answers:
        verdict = _text_answer(given, question, answered, accepted, refused=refused)
        if isinstance(verdict, TextAccepted):
            question, answered = None, (*answered, verdict.key)
        verdicts.append(verdict)
    return tuple(verdicts) or (refused(key="", reason="blank"),)


def _text_answer(
    given: GivenAnswer,
    question: str | None,
    answered: Collection[str],
    accepted: type[TextAccepted],
    refused: type[AnswerRefusal],
) -> TextAccepted | AnswerRefusal:
    key = given.key
    if key in answered:
        return refused(key=key, reason="already_answered")
    if key != question:
        expected = () if question is None else (question,)
        return refused(key=key, reason="unknown_question", expected=expected)
    if len(given.values) > 1:
        return refused(key=key, reason="several_values")
    answer = stripped("".join(given.values))
    if not answer or is_placeholder(answer):
        return refused(key=key, reason="placeholder" if answer else "blank")
    return accepted(key=key, answer=answer)


AskOutcome = Literal[
    "answered", "typed", "several", "empty", "timed_out", "denied", "by_hook", "unattended"
]
"""`answered`: an option was chosen; `typed`: the person's own words; `several`: more than one
option; `empty`: an answer without content; `timed_out`: silence until a limit; `denied`: the person
refused the question; `by_hook`: a program answered; `unattended`: no person was there."""

ANSWERED: tuple[AskOutcome, ...] = ("answered", "typed", "several")
"""The only outcomes in which a person said something."""

Channel = Literal["hook", "tool"]
"""How the program learned of it: none of them shows the person. `tool`: the agent says so."""


class Observed(Value, frozen=True, kw_only=True):
    """Where and how a question was asked; stands in the Input that opens its session."""

    channel: Channel
    agent: str
    """`claude-code`, `codex`: as the channel names it."""
    agent_version: str = ""
    """Empty where the channel does not say it."""
    conversation: str = ""
    """The agent's own id of its session."""
    call: str = ""
    """The agent's own id of the question."""
    outcome: AskOutcome


_OUTCOMES: Final[Mapping[AskOutcome, str]] = {
    "answered": "answered there",
    "typed": "answered there in own words",
    "several": "answered there with several options",
    "empty": "left empty",
    "timed_out": "timed out",
    "denied": "refused",
    "by_hook": "answered by a hook",
    "unattended": "no person was there",
}


def call_of(call: str, place: int) -> str:
    """The id of one question of a call that asked several, the first of which is at 0.

    Empty where the agent gives its calls no id.
    """
    return f"{call}/{place + 1}" if call and place else call


def asked_elsewhere(one: Observed) -> str:
    """Who asked, and what came of it: `asked by codex, timed out`."""
    who = " ".join(filter(None, (one.agent, one.agent_version)))
    return f"asked by {who}, {_OUTCOMES[one.outcome]}"


Language = Literal["en", "de"]
"""Of the sentences that a person reads."""

QuestionType = Literal["single_choice", "multi_choice", "free_text"]


class Question(Value, frozen=True):
    """One short question to a person (seed 0, section 4)."""

    id: str
    type: QuestionType
    question: str
    options: tuple[str, ...] = ()
    optional: bool = False


class OriginDetails(Value, frozen=True):
    """What an event says of where a decided value came from."""

    intention: str | None = None
    keyword: str | None = None
    """The word of the intention that named the value."""
    question: Question | None = None
    item: ItemRef | None = None
    """The task that the session clarifies."""
    observed: Observed | None = None
    """Where an agent asked the session's question."""


class Reached(Value, frozen=True, kw_only=True):
    """What a session comes to, and what a person made of it: a regression run compares both."""

    result: object = None
    """What the rules or the model came to, as JSON will have it; None while that is nothing."""
    accepted: object = None
    """What a person accepted, in the same form; None while that is nothing."""
    answers: tuple[tuple[str, str], ...] = ()
    """Pairs of a question's key and the value that was accepted for it."""
