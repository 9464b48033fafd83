"""What people say of answers: the right value, or whether an answer is right.

A judgement is of a call and an answer, so that the same answer is never shown twice. What a script
or an agent says is recorded as theirs, and counts for nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from preflights_es.features.calls.cleaning import find_calls_sessions
from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.events import EXPECTED_MAX, CallJudged
from preflights_es.features.calls.domain.state import CallsState
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Actor
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.text import one_line, shortened
from preflights_es.redaction.bodies import redact_body
from preflights_es.redaction.masking import redact_hidden
from preflights_es.redaction.patterns import SECRETS
from preflights_es.runtime.runner import Handle, InputGroup
from preflights_es.use.request import Request
from preflights_es.use.results import Result

COLUMNS: Final = ("session", "call", "expected", "by", "why")
CELL_MAX: Final = 200_000  # characters of a cell
FILE_MAX: Final = 50_000_000  # bytes
QUOTED: Final = 40  # characters of a cell in a message


class NewJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of one answer to a call, or of the call."""

    session: str
    """Its id, or what its source calls the conversation."""
    call: int
    answer: str = ""
    digest: str = ""
    is_right: bool | None = None
    expected: str | None = None
    """JSON."""
    by: str = ""
    """A person's name, where it is not the name of who is at work."""
    why: str = ""


class JudgedCalls(Result, frozen=True, tag_field="format", tag="calls-judged/1"):
    """What became of judgements."""

    judged: int
    present: int
    """They were in the log."""
    counting: int
    """Of those judged now: what a person said. What an agent or a script says is kept alone."""


def read_expected_value(text: str) -> str:
    """A right value as JSON: what is no JSON is a text."""
    try:
        return canonical_json(decode_plain_json(text.encode())).decode()
    except (ValueError, RecursionError, UnicodeEncodeError):
        return canonical_json(text).decode()


def redact_expected_value(request: Request, expected: str) -> str:
    """A right value, as JSON, without what a call loses as well."""
    kinds = (*SECRETS, *request.process.settings.redact_calls)
    value, _ = redact_body(decode_plain_json(expected.encode()), kinds)
    return canonical_json(value).decode()


def record_judgements(request: Request, new: Sequence[NewJudgement]) -> JudgedCalls:
    """Record all judgements, or none of them.

    Raises:
        UnknownSession, AmbiguousSession: none or several match; nothing is recorded.
        Refused: a session has no such call; nothing is recorded.
    """
    by_session: dict[str, tuple[Handle, list[NewJudgement]]] = {}
    for one in new:
        session_id = find_calls_sessions(request, one.session)[0]
        if session_id not in by_session:
            handle = request.process.runner.load(session_id)
            request.sessions.refuse_other(handle, WORKFLOW, "it holds no calls to judge")
            by_session[session_id] = (handle, [])
        handle, waiting = by_session[session_id]
        _refuse_unfit(handle, one)
        waiting.append(one)
    groups = [
        InputGroup(handle, tuple(_build_inputs(request, handle, judgements)))
        for handle, judgements in by_session.values()
    ]
    judged = sum(len(group.inputs) for group in groups)
    if judged:
        request.process.runner.submit_groups([group for group in groups if group.inputs])
    counts = sum(one.actor.kind == "user" for group in groups for one, _ in group.inputs)
    return JudgedCalls(judged=judged, present=len(new) - judged, counting=counts)


def _refuse_unfit(handle: Handle, one: NewJudgement) -> None:
    state: CallsState = handle.session.state
    where = f"session {handle.session_id[-8:]}"
    if handle.session.closed:
        raise Refused(f"{where} was {handle.session.closed}: nothing in it can be judged")
    if not 0 < one.call <= len(state.calls):
        found = f"{where} has no call {one.call}: expected 1 to {len(state.calls)}"
        raise Refused(found, code="unknown_call", most=len(state.calls))
    if one.expected is not None and len(one.expected) > EXPECTED_MAX:
        raise Refused(f"the right value has more than {EXPECTED_MAX:,} characters")


def _build_inputs(
    request: Request, handle: Handle, judgements: Iterable[NewJudgement]
) -> Iterator[tuple[CallJudged, str]]:
    """The Inputs, each with an id; none for what the same actor said last of the same answer."""
    said = {
        (one.actor, one.call, one.digest): (one.is_right, one.expected, one.why)
        for one in (kept.said for kept in handle.session.state.judgements)
    }
    for one in judgements:
        actor = _choose_judge(request, one.by)
        why = request.process.sanitizer.cleaned_fields(CallJudged, {"why": one.why})["why"]
        why = redact_hidden(why, request.process.settings.redact_calls).text
        expected = one.expected and redact_expected_value(request, one.expected)
        now = (one.is_right, expected, why)
        if said.get((actor, one.call, one.digest)) == now:
            continue
        said[actor, one.call, one.digest] = now
        new = CallJudged(
            at=request.process.runner.now(),
            actor=actor,
            call=one.call,
            answer=one.answer,
            digest=one.digest,
            is_right=one.is_right,
            expected=expected,
            why=why,
        )
        yield new, request.process.runner.new_id()


def _choose_judge(request: Request, by: str) -> Actor:
    """Who is at work; else the person whose word is passed on, by anything but an agent or CI."""
    actor = request.actor
    if not by:
        return actor
    is_person = actor.kind != "agent" and request.process.settings.actor_kind != "script"
    return request.inputs.cleaned(Actor("user" if is_person else actor.kind, by))


# 1. Of a file --------------------------------------------------------------------------------


def read_judgement_file(raw: bytes, where: str) -> list[NewJudgement]:
    """The judgements of a CSV file: session, call, expected, by, why; `,` or `;` between them.

    Raises:
        Refused: the file is no such table; names the line.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{where} is not UTF-8, at byte {error.start + 1}: save it as UTF-8") from (
            error
        )
    first = text.split("\n", 1)[0]
    csv.field_size_limit(CELL_MAX)
    rows = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        names = [name.strip().casefold() for name in next(rows, [])]
        _check_columns(where, names)
        return [
            _read_judgement(where, rows.line_num, dict(zip(names, cells, strict=False)))
            for cells in rows
            if any(cell.strip() for cell in cells)
        ]
    except csv.Error as error:
        raise Refused(f"{where}, line {rows.line_num}: {error}") from error


def _check_columns(where: str, names: Sequence[str]) -> None:
    lacking = [name for name in COLUMNS[:3] if name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    if lacking or unknown or len({*names}) < len(names):
        found = shortened(one_line(", ".join(names)), QUOTED) or "nothing"
        expected = f"{', '.join(COLUMNS)} (the last two can be left out)"
        raise Refused(f"{where}: found the columns {found}, expected {expected}")


def _read_judgement(where: str, line: int, cells: dict[str, str]) -> NewJudgement:
    call = cells.get("call", "").strip()
    if not (call.isascii() and call.isdigit() and len(call) < 10):
        found = shortened(one_line(call), QUOTED)
        raise Refused(f"{where}, line {line}: found the call {found!r}, expected its number")
    session, expected = cells.get("session", "").strip(), cells.get("expected", "")
    if not session or not expected.strip():
        lacking = "expected" if session else "session"
        raise Refused(f"{where}, line {line}: {lacking} is empty")
    return NewJudgement(
        session=session,
        call=int(call),
        expected=read_expected_value(expected.strip()),
        by=cells.get("by", "").strip(),
        why=cells.get("why", "").strip(),
    )


# 2. What holds -------------------------------------------------------------------------------


class CallJudgements(msgspec.Struct, frozen=True):
    """What holds of one call: of several people's words the newest."""

    expected: Any = msgspec.UNSET
    """The right value, read from its JSON; UNSET without one."""
    right: dict[str, bool] = {}
    """Whether an answer is right, by its digest."""
    disputed: int = 0
    """Judgements of the same that another person contradicted."""


def collect_judgements(state: CallsState) -> dict[int, CallJudgements]:
    """What counts, by the number of the call."""
    found: dict[int, CallJudgements] = {}
    latest: dict[tuple[int, str], CallJudged] = {}
    for one in (kept.said for kept in state.judgements if kept.counts):
        now = found.get(one.call, CallJudgements())
        before = latest.get((one.call, one.digest))
        said = (one.is_right, one.expected)
        if (
            before is not None
            and before.actor != one.actor
            and (before.is_right, before.expected) != said
        ):
            now = msgspec.structs.replace(now, disputed=now.disputed + 1)
        latest[one.call, one.digest] = one
        if one.expected is not None:
            expected = decode_plain_json(one.expected.encode())
            now = msgspec.structs.replace(now, expected=expected)
        if one.is_right is not None:
            now = msgspec.structs.replace(now, right={**now.right, one.digest: one.is_right})
        found[one.call] = now
    return found
