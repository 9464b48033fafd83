"""`transcripts`: what a person decided in an agent's old conversations is proposed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
import msgspec

from preflights_cli.common import Voice, reading_where
from preflights_cli.dates import DAY_LENGTH
from preflights_cli.progress import bar, counted
from preflights_cli.table import streamed
from preflights_es.features.agents.transcripts.importing import (
    READERS,
    TranscriptQuestion,
    Transcripts,
    imported,
)
from preflights_es.features.agents.transcripts.reader import Agent
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import one_line
from preflights_es.use.request import Request

BAR_BYTES: Final = 64 * 1024 * 1024  # less is read before a bar is drawn
SHOWN_MAX: Final = 20  # files that are named one by one
CAME: Final = {
    "empty": "left empty",
    "timed_out": "timed out",
    "denied": "refused",
    "by_hook": "answered by a program",
    "unattended": "no person was there",
}
"""Why a question is no decision."""
PASSED: Final = {
    "unknown": "{} of a kind this program does not know",
    "damaged": "{} that cannot be read",
    "subagents": "{} of an agent's own agents",
}
"""Lines that were passed over."""


@click.command()
@click.argument("agent", type=click.Choice(tuple(READERS)))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would be proposed; record nothing.")
@reading_where("dry_run", creates=True)
def transcripts_command(
    agent: Agent, path: Path | None, dry_run: bool, app: Request, voice: Voice
) -> int:
    """Read an agent's old conversations, and propose the decisions that a person took in them.

    PATH is a transcript or a folder of them. Without PATH the command reads the agent's own folder.
    Only conversations in this project count.

    Each question that a person answered becomes a proposal: confirm it with `preflights inbox`.
    Questions that timed out, that a person refused or that a program answered are listed apart
    and never become decisions. You can run the command again: a question is proposed once.

    \b
    Examples:
      preflights transcripts claude --dry-run
      preflights transcripts codex
      preflights transcripts claude ~/backup/projects --json
    """
    read, taken = bar(voice, "Reading", least=BAR_BYTES), bar(voice, "Proposing")
    found = imported(app, agent, path, is_dry=dry_run, reading=read, recording=taken)
    voice.json(found)
    for file in found.unread[:SHOWN_MAX]:
        voice.warn(f"{file.path} was not read: {file.why}")
    if len(found.unread) > SHOWN_MAX:
        voice.warn(f"and {counted(len(found.unread) - SHOWN_MAX, 'more file')}")
    if not voice.as_json:
        _say(voice, found)
    return 0


def _say(voice: Voice, found: Transcripts) -> None:
    new, known = found.those("new"), found.those("known")
    refused, apart = found.those("refused"), found.those("apart")
    what = "to propose" if found.is_dry else "proposed"
    before = f", {counted(len(known), 'decision')} proposed before" if known else ""
    voice.say(f"{counted(len(new), 'decision')} {what}{before}.")
    names = ("day", "question", "answer") if found.is_dry else ("day", "question", "answer", "id")
    streamed(names, ((*_asked(one), _answer(one), _id(one))[: len(names)] for one in new))
    if refused:
        voice.say(f"\n{counted(len(refused), 'answer')} cannot be recorded:")
        streamed(("day", "question", "why"), ((*_asked(one), one.why) for one in refused))
    if apart:
        voice.say(f"\n{counted(len(apart), 'question')} without a person's answer, no decision:")
        rows = ((*_asked(one), CAME[one.outcome]) for one in apart)
        streamed(("day", "question", "what came of it"), rows)
    _say_read(voice, found)
    if new and not found.is_dry:
        voice.hint("Confirm them one by one: preflights inbox")


def _say_read(voice: Voice, found: Transcripts) -> None:
    """What was read, and what was passed over."""
    read = found.read
    voice.say(f"\nRead {counted(read.files, 'transcript')}, {counted(read.lines, 'line')}.")
    counts = msgspec.structs.asdict(read)
    for name, words in PASSED.items():
        if counts[name]:
            voice.say("  passed over " + words.format(counted(counts[name], "line")))
    if read.elsewhere:
        voice.say(f"  passed over {counted(read.elsewhere, 'question')} of other projects")
    if read.repeated:
        repeated = counted(read.repeated, "question")
        voice.say(f"  {repeated} again, in a resumed or forked conversation")
    if read.more:
        voice.warn(f"{counted(read.more, 'question')} more: name a folder with fewer transcripts")
    if read.lines and read.unknown + read.damaged == read.lines:
        voice.warn(f"no line is one of {found.agent}: is it a transcript of another agent?")


def _asked(one: TranscriptQuestion) -> tuple[str, str]:
    return (one.answered_at or one.asked_at or "")[:DAY_LENGTH], one_line(one.question)


def _answer(one: TranscriptQuestion) -> str:
    return one_line(", ".join(one.answers))


def _id(one: TranscriptQuestion) -> str:
    return short(one.session_id) if one.session_id else ""
