"""What an import changes of sessions that are held here: said first, and asked about."""

from __future__ import annotations

from typing import Final

import click

from preflights_cli.common import Voice, is_terminal
from preflights_cli.progress import count_in_words
from preflights_es.history.imports import ActorInputs, Review, SessionChange
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text, shortened

CHANGES_SHOWN_MAX: Final = 20  # sessions that are named one by one
SAID_SHOWN_MAX: Final = 5  # kinds of Inputs that are named of each
TITLE_MAX: Final = 60  # characters of a title


class Consent:
    """Whether sessions that are held here may change as a file wants it."""

    def __init__(self, voice: Voice, *, yes: bool) -> None:
        """Args:
        yes: whether the person has agreed to everything.
        """
        self._voice = voice
        self._yes = yes
        self.refused = ""
        """Why nothing may be taken, and what to do; empty where it may."""

    def agrees(self, review: Review) -> bool:
        """Whether everything may be taken; lists what changes where it was not said to be right."""
        for warning in review.warnings[:CHANGES_SHOWN_MAX]:
            self._voice.warn(warning)
        self.refused = self._trouble(review)
        return not self.refused

    def _trouble(self, review: Review) -> str:
        if not review.changes or self._yes:
            return ""
        self._list(review)
        sessions = count_in_words(len(review.changes), "session")
        if is_terminal() and not self._voice.as_json:
            done = click.confirm(f"Let {sessions} go on as listed?")
            return "" if done else "you did not agree"
        held = "that is held here" if len(review.changes) == 1 else "that are held here"
        return f"the file changes {sessions} {held}: read the list, then run this again with --yes"

    def _list(self, review: Review) -> None:
        for change in review.changes[:CHANGES_SHOWN_MAX]:
            title = escaped_text(shortened(change.title, TITLE_MAX))
            project = escaped_text(change.project)
            self._voice.say(f"{short_session(change.session_id)} ({project})  {title}")
            self._voice.say(f"  {_does(change)}: {_inputs_in_words(change.said)}")
        if more := max(len(review.changes) - CHANGES_SHOWN_MAX, 0):
            self._voice.say(f"and {count_in_words(more, 'other session')}")


def _does(change: SessionChange) -> str:
    events = count_in_words(change.new_events, "event")
    parts = [f"extends it by {events}"]
    if change.superseded_by is not None:
        parts.append(f"it is replaced by {escaped_text(short_session(change.superseded_by))}")
    elif change.status_before != change.status_after:
        before, after = (
            status.replace("_", " ") for status in (change.status_before, change.status_after)
        )
        parts.append(f"it was {before}, and becomes {after}")
    return ", ".join(parts)


def _inputs_in_words(said: tuple[ActorInputs, ...]) -> str:
    """`decision acknowledged by user Mallory, 2 answers given by agent claude`."""
    parts = [_input_in_words(one) for one in said[:SAID_SHOWN_MAX]]
    if len(said) > SAID_SHOWN_MAX:
        parts.append("and others")
    return ", ".join(parts) or "no Input"


def _input_in_words(one: ActorInputs) -> str:
    times = f" ({one.events:,} times)" if one.events > 1 else ""
    return f"{event_tag_in_words(one.type)} by {recorded_by(one.actor_kind, one.actor_name)}{times}"


def event_tag_in_words(tag: str) -> str:
    """The words of a tag: `decision acknowledged` of `NAME.decision_acknowledged.v1`."""
    parts = tag.split(".")
    return escaped_text(parts[1] if len(parts) == 3 else tag).replace("_", " ")


def recorded_by(kind: str, name: str) -> str:
    """An actor as its events call it."""
    return escaped_text(f"{kind} {shortened(name, TITLE_MAX)}".strip())
