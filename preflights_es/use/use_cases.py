"""What a caller says of a use case: a struct that surfaces fill and that is handed through."""

from __future__ import annotations

from typing import Literal

import msgspec

from preflights_es.use.answers import Given
from preflights_es.words.decisions import Choices, StatedReasons
from preflights_es.words.questions import WrittenQuestion


class NewSession(msgspec.Struct, frozen=True):
    """What is said to begin a session; the first event is made of it."""

    text: str
    """An intention, a note, or what else the workflow takes."""
    workflow: str = "clarification"
    answers: Given = ()
    """To what it will ask."""
    strict: bool = False
    """Whether it waits where the model fails."""
    written: WrittenQuestion | None = None
    """The first question, which the actor wrote."""
    reasons: StatedReasons | None = None
    """Why it is decided so."""
    scope: str = ""
    """What the decision is for."""
    mark: Literal["", "task", "adr"] = ""
    """What a person said about the reach of the change."""
    supersedes: str | None = None
    """The decision that this one replaces."""
    task: str | None = None
    """The open task that it clarifies; its title is the intention where the text is empty."""
    keep_known: str | None = None
    """The decision in force that is kept, of those that are said first."""
    accepts: bool = False
    """Whether the outcome is accepted, where no question is left and no model suggested a value."""
    asks: bool = False
    """Whether a person is there, who is asked about an answer that is not taken."""
    by: str | None = None
    """The person who accepts, or who keeps."""
    choices: Choices | None = None
    """With `accepts`, what becomes of decisions in force that differ."""


class NewAcceptance(msgspec.Struct, frozen=True):
    """What is said to accept what a session proposes."""

    session: str
    by: str | None = None
    """The person, where the request is a script's."""
    expect: int | None = None
    """The version at which the person saw it."""
    mark: Literal["", "task", "adr"] = ""
    """What a person said about the reach of the change."""
    reasons: StatedReasons | None = None
    """Why it is decided so; they are recorded first."""
    choices: Choices | None = None
    """What becomes of decisions in force that differ. Where one is missing, nothing is accepted,
    and `related` of the result says which."""
    elicited: bool = False
    """Whether a person accepted in a form of the agent's client. It counts as the person's where
    the user's own settings say so, else as the agent's."""
