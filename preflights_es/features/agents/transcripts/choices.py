"""What a person chose, by the labels of the options: the same for every agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from preflights_es.features.agents.transcripts.asked import LABELS_MAX, cut
from preflights_es.kernel.questions import AskOutcome
from preflights_es.kernel.text import visible

Choice = tuple[AskOutcome, tuple[str, ...]]
"""What came of a question, and the answers."""
BETWEEN = ", "
"""What stands between several labels that were chosen."""


NOTE: Final = "user_note: "
"""How an answer begins in Codex that the person wrote beside an option."""
NONE: Final = "None of the above"
"""The option that Codex adds; it decides nothing."""


def apart(said: Sequence[str]) -> tuple[list[str], list[str]]:
    """The labels, and the notes, among the answers of Codex."""
    notes = [one.removeprefix(NOTE) for one in said if one.startswith(NOTE)]
    return [one for one in said if not one.startswith(NOTE) and one != NONE], notes


def chosen(said: Sequence[str], labels: Sequence[str], note: str = "") -> Choice:
    """The outcome of what was said: an option, several, or the person's own words.

    Args:
        note: what the person wrote beside the choice; it may take the choice back.
    """
    bare = tuple(dict.fromkeys(cut(one.strip()) for one in said if visible(one)))[:LABELS_MAX]
    if visible(note):
        beside = f"{BETWEEN.join(bare)} ({note.strip()})" if bare else note.strip()
        return "typed", (cut(beside),)
    if len(bare) > 1:
        return "several", bare
    if not bare:
        return "empty", ()
    return ("answered" if bare[0] in {cut(one.strip()) for one in labels} else "typed"), bare


def parts(said: str, labels: Sequence[str]) -> Iterator[str]:
    """Labels that stand one after the other, and words between them; a label may hold a comma."""
    said = cut(said)
    longest = sorted((one for one in labels if one), key=len, reverse=True)
    while said:
        found = next((one for one in longest if _begins(said, one)), None)
        part = found if found is not None else said.partition(BETWEEN)[0]
        said = said[len(part) :].removeprefix(BETWEEN)
        yield part


def _begins(said: str, label: str) -> bool:
    return said == label or said.startswith(label + BETWEEN)
