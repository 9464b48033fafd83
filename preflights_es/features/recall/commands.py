"""What was decided, on the command line: `recall`, and how its answer is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from preflights_cli.common import (
    Voice,
    creating_command,
    key_option,
    language_option,
    require_quoted_text,
    with_lead_options,
)
from preflights_cli.rendering import Shown, say_session_result
from preflights_es.features.recall.domain.events import FoundRecord
from preflights_es.features.recall.domain.state import (
    DecisionLink,
    RecallView,
    Remembered,
    count_matching,
)
from preflights_es.features.recall.use import recall
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.use.request import Request
from preflights_es.words.workflow import View


@click.command()
@click.argument(
    "question", nargs=-1, required=True, metavar="QUESTION", callback=require_quoted_text
)
@click.option("--all", "everything", is_flag=True, help="Also decisions that match weakly.")
@click.option(
    "--strict", is_flag=True, help="If the model fails, wait; do not go on with the rules."
)
@language_option
@key_option
@with_lead_options
@creating_command
def recall_command(
    question: str, everything: bool, strict: bool, app: Request, voice: Voice
) -> int:
    """Ask what was decided; the decisions that match are shown, the best first.

    Decisions are found by their words: values, title, intention, reasons, and options that were
    turned down, in English and German. Superseded ones are marked. What nothing fits gets nothing.
    With --provider, a model rewrites the question into at most three queries.

    \b
    Examples:
      preflights recall "what do we use for login?"
      preflights recall "welche Datenbank?" --all
      preflights recall "caching" --json
    """
    return say_session_result(voice, recall(app, question, everything=everything, strict=strict))


def describe_recall(voice: Voice, session: View) -> None:
    """The question, and a line or two a decision."""
    assert isinstance(session, RecallView), "the caller checked the workflow"
    voice.say(voice.bold(escaped_text(one_line(session.question))))
    voice.say(f"  recall {short_session(session.session_id)}, {session.status}")
    if session.matches > (told := count_matching((*session.results, *session.records))):
        voice.say(f"  The best {told} of {session.matches:,} that match.")
    for one in session.results:
        voice.say(f"  {escaped_text(_remembered_line(one))}")
        if one.line:
            voice.say(f"    {escaped_text(one.line)}")
    for record in session.records:
        voice.say(f"  {escaped_text(_found_record_line(record))}")
    both: set[frozenset[str]] = set()
    for to in session.evolution:
        if (pair := frozenset((to.uid, to.other))) not in both:  # the other one has the same link
            voice.say(f"  {escaped_text(_decision_link_line(to))}")
        both.add(pair)


def _decision_link_line(to: DecisionLink) -> str:
    other = f"{short_session(to.other)} {one_line(to.title)}"
    if to.reason:  # a person said why both stay in force
        return f"{short_session(to.uid)} is kept beside {other}: {one_line(to.reason)}"
    return f"{short_session(to.uid)} {_LINKS.get(to.evolution, to.evolution)} {other}"


_LINKS: Final = {
    "supersedes": "replaces",
    "superseded_by": "is replaced by",
    "contradict": "contradicts",
}


def _found_record_line(one: FoundRecord) -> str:
    when = one.date[:10] or " " * 10
    matched = _matched_phrase(one.words)
    return f"{when}  {one.path}  {one.status}  {one_line(one.title)}  ({matched})"


def _matched_phrase(words: Sequence[str]) -> str:
    """Which words match; of none of what took the place of a match."""
    return f"matched {', '.join(words)}" if words else "took the place of one that matched"


def _remembered_line(one: Remembered) -> str:
    record = f"ADR-{one.number:04d}, " if one.number else ""
    title = one_line(one.title)
    reason = f"({record}{_matched_phrase(one.words)})"
    return f"{one.date[:10]}  {short_session(one.uid)}  {one.status}  {title}  {reason}"


def recall_hint(session: View) -> str:
    """What may come next."""
    assert isinstance(session, RecallView), "the caller checked the workflow"
    if session.results:
        return (
            f"See where it came from with: preflights why {short_session(session.results[0].uid)}"
        )
    if session.records:
        return f"Read the record: {escaped_text(session.records[0].path)}"
    if session.status != "stopped":
        return ""
    if not session.progress:
        next_command = f"preflights resume {short_session(session.session_id)}"
        return f"Nothing was looked up yet. Go on with: {next_command}"
    return NOTHING


NOTHING: Final = (
    "No decision matches: --all shows what matches weakly, `preflights decisions` lists all."
)
SHOWN: Final = Shown(describe=describe_recall, hint=recall_hint)
