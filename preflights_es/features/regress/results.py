"""What `regress` says of each session and of all of them, as typed values.

Every report is made of `Report` and of nothing else, so that a terminal, a file and a page
agree.
"""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import msgspec

Outcome = Literal["same", "changed", "failed", "fixed", "flaky", "open", "faulted", "damaged"]
"""Of one session.

`same`: nothing differs. `changed`: it differs, and what a person accepted says nothing for or
against it. `failed`: the recorded run agreed with what the person accepted, or was valid, and this
one is not. `fixed`: the other way round. `flaky`: the unchanged side differs from itself. `open`:
a question has no answer, or a call no response.
`faulted`: today's code raises. `damaged`: it does not verify, or cannot be read; not judged.
"""
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

Measure = Literal["validity", "questions", "turns", "result", "fallback", "tokens", "cost"]
"""What may change in a session that runs with a change."""

CauseKind = Literal[
    "prompt", "provider", "model", "parameter", "data", "code or data", "unexplained"
]
"""Where a difference comes from."""

VerdictWord = Literal["same", "different", "PASS", "BLOCK", "INCONCLUSIVE", "could not run"]
"""`same` and `different` are those of a strict run, the others those of a change."""

Drift = Literal["", "unchanged", "changed", "both"]
"""Which of two sides that a model was asked for today differ from the recording."""

Paired = Literal["agreement", "validity"]
"""What is compared pair by pair: with what a person accepted, and of the responses."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Where the differences of a session come from."""

    kind: CauseKind
    detail: str = ""
    """In the words of a replay, such as `prompt clarify.v1 changed`."""
    together: bool = False
    """Only several changes together make the difference."""


UNREADABLE: Final = Cause(kind="data", detail="it does not verify, or cannot be read")
"""Of a session that is damaged."""


class ValueDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One value that differs."""

    version: int
    """Of the event; 0 for what the whole session comes to."""
    type: str
    """Of the event; empty for what the whole session comes to."""
    pointer: str
    """JSON Pointer into the event, or into what is told of a session."""
    place: str
    """The same in words."""
    expected: Any
    """As recorded."""
    actual: Any


class RunMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """What one run of a session comes to."""

    valid: bool | None
    """Whether every step ended in a response that meets its contract; None without a response, or
    where the run is open, or a call brought nothing."""
    agrees: bool | None
    """With what the person accepted; None where nothing was accepted, or as for `valid`."""
    result: str | None
    """SHA-256 of the result's canonical JSON, in hexadecimal; None without a result."""
    questions: int
    turns: int
    """Inputs of people that counted."""
    fallbacks: int
    calls: int
    tokens: int | None
    """In and out; None where the provider of a response said none."""
    cost: float | None
    """In the currency of the settings; None where no price is set."""
    asked: int = 0
    """Calls of a model that were made now, in all runs of this side."""
    unanswered: int = 0
    """Of them, those that brought nothing: a timeout, a rate limit, an error of the API."""
    failure: str = ""
    """What the first of those said; empty where all steps were answered in the end."""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """How much the unchanged side differs from itself (`--repeat`)."""

    runs: int
    agreement: float
    """Share of two runs of the same, one after the other, whose results differ."""
    validity: float


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One session."""

    session_id: str
    """Empty where it cannot be read."""
    workflow: str
    source: str
    """Where it lies: `log`, or the file's path as it was given."""
    head: str
    """Hash of its last event, in hexadecimal; empty where it cannot be read."""
    call: int = 0
    """The first call of a conversation that is the pair; 0 where the whole session is."""
    outcome: Outcome
    measures: tuple[Measure, ...] = ()
    """What changed, in the order of `Measure`."""
    causes: tuple[Cause, ...] = ()
    differences: tuple[ValueDifference, ...] = ()
    """The first ones."""
    difference_count: int = 0
    message: str = ""
    """What is open, raises or is damaged, in one line."""
    recorded: RunMeasures | None = None
    """The recording, or the unchanged session where a model was asked for both sides."""
    candidate: RunMeasures | None = None
    """None of a strict run."""
    drift: Drift = ""
    noise: Noise | None = None
    """Of this session; None where its unchanged side was not run several times."""
    assumed: tuple[str, ...] = ()
    """Keys of questions that were answered with what the person accepted."""
    live_calls: int = 0
    """Calls of a model that were made, for both sides."""
    calls_needed: int = 0
    """Calls of a model that `--live` would make at most, for both sides."""
    is_undecided: bool = False
    """Of a pair whose answers differ: nothing says yet which is right."""
    repeat: str = ""
    """The command that repeats this case alone."""
    intention: str = ""
    """What the session is about; empty where nothing differs, or it cannot be read."""
    group: str = ""
    """The name of those that differ in the same way; empty where nothing differs."""
    accepted_by: str = ""
    """The person who accepted every difference of it; empty where none did."""
    rest_digest: str = ""
    """SHA-256 of the differences beyond the first ones; empty where there are none."""


class SessionLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is not judged."""

    session_id: str
    source: str
    why: str
    """In words that are the same for all of a kind."""


class PairedTest(msgspec.Struct, frozen=True, kw_only=True):
    """One measure, recorded against candidate, over all pairs that have it on both sides."""

    measure: Paired
    pairs: int
    unknown: int
    """Right as recorded, and nothing to compare with the change, or undecided: `loss_bound` counts
    them as worse, the other figures leave them out."""
    worse: int
    """Right as recorded, wrong with the change."""
    better: int
    p: float
    """Of exact McNemar, one-sided: that it is not worse; larger while pairs wait for a person."""
    p_adjusted: float
    """After Holm, over the measures."""
    loss: float
    """Share of pairs that got worse, less those that got better."""
    loss_bound: float
    """Upper 95 % bound of the loss."""
    smallest_loss: float
    """The smallest loss that this number of pairs could have shown."""
    pairs_needed: int
    """Pairs with which a change without loss passes at the margin, four times of five."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What it all comes to."""

    word: VerdictWord
    why: str
    """What it comes to, and what that rests on: two sentences at most."""
    figures: str = ""
    """The numbers of each measure, and how many calls failed; empty of a strict run."""
    margin: float | None = None
    tests: tuple[PairedTest, ...] = ()
    noise: Noise | None = None
    chance_is_loss: bool = False
    """Whether the recording is the other side of a model that was asked (`--recorded`)."""


class Report(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="regress/1"):
    """Of one run; two runs of the same give the same bytes, `seconds` apart."""

    preflights: str
    """Version of the program."""
    changes: tuple[str, ...]
    """In words, such as `model gpt-6`; none for a strict run."""
    selection: str
    """What was asked for, in words."""
    sessions: int
    unit: Literal["session", "pair"] = "session"
    """What is counted: a recorded run of a program is one session and several pairs."""
    counts: dict[str, int]
    """By outcome, in the order of `OUTCOMES`."""
    cause_counts: dict[str, int]
    """By kind of cause."""
    cases: tuple[Case, ...]
    """By session id, then by source."""
    verdict: Verdict
    accepted: dict[str, int] = {}
    """By person: sessions of which every difference was accepted."""
    drifted: int = 0
    """Sessions of which both sides differ from the recording: the provider answers otherwise."""
    left_out: tuple[str, ...] = ()
    """What was not judged, in words: such as sessions whose workflow is not here."""
    notes: tuple[str, ...] = ()
    """What a reader has to know of the comparison."""
    live_calls: int = 0
    """Calls of a model that were made, for both sides."""
    seconds: float | None = None
    """Wall time; left out of comparisons."""
