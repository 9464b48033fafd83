"""What a coding agent has to know of one record before it starts, in few bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from preflights_es.kernel.errors import ErasedSession, Refused
from preflights_es.kernel.text import one_line, shortened
from preflights_es.records.render import (
    fill_record_template,
    inline,
    quote_as_block,
    read_template,
    related_name,
)
from preflights_es.runtime.runner import Handle
from preflights_es.words.decisions import Record, alternative_text
from preflights_es.words.signing import Signed

BRIEF_BYTES_MAX: Final = 1_200  # about 300 tokens of English, under 400 of any script
PROOF_MAX: Final = 150  # bytes of what a signature proves


def render_session_brief(
    handle: Handle, in_force: str = "", signature: Signed | None = None
) -> str:
    """What a coding agent has to know, as a session stands.

    Args:
        in_force: lines of other decisions.
        signature: what that of its own acceptance proves.

    Raises:
        ErasedSession: nothing is known of it any more.
        Refused: the workflow has no briefs for agents.
    """
    if handle.session.closed == "erased":
        raise ErasedSession(handle.session_id)
    if handle.workflow.filed.record is None:
        raise Refused(
            f"session {handle.session_id[-8:]} is of the workflow {handle.workflow.name}, "
            "which has no brief for agents: leave it out, and the brief is about the project",
            code="no_brief",
            workflow=handle.workflow.name,
        )
    record = handle.workflow.filed.record(handle.session.state)
    record = replace(record, session_id=handle.session_id)
    if handle.session.closed and record.status == "open":
        record = replace(record, status="rejected", missing=())
    return render_record_brief(record, in_force, signature)


def render_record_brief(record: Record, in_force: str = "", signature: Signed | None = None) -> str:
    """What a coding agent has to know before it starts, in fewer than 500 tokens.

    What is open and what is decided come first; the intention gets the room they leave.

    Args:
        in_force: lines of other decisions, in the room beyond `BRIEF_BYTES_MAX`.
        signature: what that of its own acceptance proves.
    """
    template = read_template("brief.v1")
    values = {"context": ">", "outcome": "*", "open": "*", "in_force": ""}
    values["more"] = _before_you_code(record, str(signature or ""))
    values["standing"] = _STANDING.get(record.status, "Superseded, do not follow")
    room = BRIEF_BYTES_MAX - len(fill_record_template(template, values).encode())
    values["open"] = _list_within_room([("", question) for question in record.missing], room // 3)
    if not record.fields and not record.missing:
        values["open"] = "* Nothing was decided: ask before you choose a technology."
    room -= len(values["open"].encode())
    values["outcome"] = _list_within_room(_decided_values(record), room * 2 // 3)
    if not values["outcome"]:
        values["standing"] = ""  # a section of which nothing is said is left out
    room -= len(values["outcome"].encode())
    values["context"] = _fitted(record.intention, room, quote_as_block)
    return fill_record_template(template, values | {"in_force": in_force.rstrip("\n")})


def _decided_values(record: Record) -> list[tuple[str, str]]:
    """Pairs of name and value."""
    if not record.fields:
        return []
    category = [("Category", record.category)] if record.category else []
    because = record.rationale.because
    reason = [("Because", because.text)] if because else []
    rejected = [("Not", alternative_text(one)) for one in record.rationale.alternatives]
    return category + [(field.name, field.value) for field in record.fields] + reason + rejected


def _list_within_room(pairs: list[tuple[str, str]], room: int) -> str:
    """A list, in at most so many bytes; says how many more there are where they do not fit."""
    lines: list[str] = []
    left = room - len(_more(len(pairs)).encode())
    for count, (name, value) in enumerate(pairs):
        shown_name = f"{_fitted(one_line(name), room // 6)}: " if name else ""
        line = f"* {shown_name}{_fitted(one_line(value), room // 3)}\n"
        left -= len(line.encode())
        if left < 0:
            lines.append(_more(len(pairs) - count))
            break
        lines.append(line)
    return "".join(lines).rstrip("\n")


def _more(count: int) -> str:
    return f"* … and {count} more: see the session\n"


def _fitted(text: str, room: int, form: Callable[[str], str] | None = None) -> str:
    """The text in its form, cut so that it takes at most so many bytes."""
    form = form or inline
    width = min(len(text), room)
    found = form(shortened(text, width))
    while (size := len(found.encode())) > room and width > 1:
        width = max(1, min(width - 1, width * room // size))
        found = form(shortened(text, width))
    return found


def _before_you_code(record: Record, accepted: str) -> str:
    newer = f" by {inline(related_name(record.superseded_by))}" if record.superseded_by else ""
    lines = (
        _STATE.get(record.status, "").format(newer=newer),
        f"Its acceptance: {_fitted(accepted, PROOF_MAX)}." if accepted else "",
        "Ask the person before you decide anything that is not decided above.",
        f"Source: Preflights session {record.session_id[-8:]}.",
    )
    return "\n".join(filter(None, lines))


_STANDING: Final = {
    "accepted": "Decided, do not reconsider",
    "proposed": "Proposed, not accepted yet",
    "rejected": "Rejected, do not follow",
    "open": "Proposed, not accepted yet",
}
_STATE: Final = {
    "open": "No person has accepted this yet: treat it as a proposal.",
    "proposed": "No person has accepted this yet: treat it as a proposal.",
    "rejected": "This proposal was rejected: do not follow it.",
    "superseded": "This decision was superseded{newer}: ask for the newer one.",
}
