"""What people do with the calls of other programs: take them in, look at them, erase them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from types import MappingProxyType
from typing import Final

from msgspec import structs

from preflights_es.features.calls.cleaning import find_calls_sessions, name_user
from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.calls import (
    WholeCall,
    find_provider_name,
    join_calls,
    tell_whole_calls,
)
from preflights_es.features.calls.domain.events import CallRecorded, CallsOpened
from preflights_es.features.calls.domain.state import CallsView
from preflights_es.features.calls.intake import Intake
from preflights_es.features.calls.recorded_calls import read_call_events
from preflights_es.features.calls.source_calls import SourceForm, UnreadLine
from preflights_es.features.calls.sources import (
    SourceFile,
    SourceGuess,
    read_source_calls,
    recognize_source,
)
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Event
from preflights_es.kernel.ids import iso, iso_or_none, short_session
from preflights_es.kernel.ports import Head
from preflights_es.projections.session_story import judgement_in_words
from preflights_es.projections.usage import sum_costs
from preflights_es.runtime.runner import Handle
from preflights_es.store.sqlite import make_private
from preflights_es.system import clock_ids
from preflights_es.use.request import Request
from preflights_es.use.results import Drawn, Result, Who, undrawn
from preflights_es.use.usage import price
from preflights_es.words.workflow import Cost, SpokenCall

NO_POINTERS: Final[Mapping[str, str]] = MappingProxyType({})
LISTED: Final = 20  # sessions of a list that is not whole
DAY: Final = 24 * 3_600 * 1_000_000  # microseconds

# 1. Taking in --------------------------------------------------------------------------------


class ImportedCalls(Result, frozen=True, tag_field="format", tag="calls-import/1"):
    """What became of the calls of a file."""

    file: str
    source: SourceForm
    added: int
    present: int
    """Calls that were in the log."""
    erased: int
    """Calls whose session was erased: they stay out."""
    elsewhere: int
    """Calls that the log has in other sessions than they were to be added to: they stay there."""
    sessions: int
    """That calls were added to."""
    new_sessions: int
    unread: int
    """Lines that hold no call that can be read, or another one than the log has with its id."""
    unread_lines: tuple[UnreadLine, ...]
    """The first of them."""
    refused: dict[str, int]
    """Calls that could not be recorded, by the reason."""
    redacted: dict[str, int]
    """Secrets and other private words that were taken out, by their kind."""
    left_out: int
    """Requests and answers that are too large to keep: their size and hash are kept."""


def import_calls(
    request: Request,
    files: Sequence[str],
    form: SourceForm | None = None,
    pointers: Mapping[str, str] = NO_POINTERS,
    *,
    drawn: Drawn = undrawn,
    tell: Callable[[str], None] = lambda _: None,
) -> ImportedCalls:
    """Take the calls of files into the log; a second import of them adds none.

    Args:
        files: several of one form; `-` is standard input.
        form: None to go by the first lines.
        pointers: of the form `jsonl`: where request, response, session, time and user stand; the
            others are those of the settings, or are guessed.
        tell: takes what the files look like, where that was guessed.

    Raises:
        Refused: a file cannot be read, or its form is not known.
    """
    with ExitStack() as opened:
        sources = [opened.enter_context(SourceFile(file)) for file in files]
        form = "jsonl" if form is None and pointers else form
        if form in (None, "jsonl"):
            known = {**request.process.settings.of(WORKFLOW).places, **pointers}
            guess = recognize_source(sources[0], known)
            is_said = {"request", "response"} <= known.keys()
            if form == "jsonl" and guess.form != form and is_said:
                guess = SourceGuess(form, "", known)
            if guess.form is None:
                raise Refused(f"{files[0]}: {guess.sentence}", code="unknown_form")
            if form not in (None, guess.form):
                found = f"{files[0]} looks like {guess.sentence}"
                raise Refused(f"{found}: say where --request and --response stand")
            if guess.sentence and guess.pointers != pointers:
                tell(f"{files[0]}: {guess.sentence}")
            form, pointers = guess.form, guess.pointers
        is_first = keep_calls_private(request)
        intake = Intake(request, ", ".join(files), form)
        with drawn(sum(source.size for source in sources)) as update:
            counts = intake.take(read_source_calls(sources, form, pointers), update)
    if is_first and counts.added:
        notice_where_calls_lie(request)
    return ImportedCalls(
        file=", ".join(files),
        source=form,
        **{
            **structs.asdict(counts),
            "sessions": len(counts.sessions),
            "unread_lines": tuple(counts.unread_lines),
            "redacted": dict(sorted(counts.redacted.items())),
        },
    )


def keep_calls_private(request: Request) -> bool:
    """Other people's words will lie in the log: its owner alone reads it from here on.

    Returns:
        Whether the log is a file that holds no calls yet.
    """
    # The file is made where it is not.
    is_first = not any(True for _ in request.process.store.heads_in(WORKFLOW.name))
    return make_private(request.process.settings.database) and is_first


def notice_where_calls_lie(request: Request) -> None:
    """Say where the first calls lie, and who reads them."""
    database = request.process.settings.database
    text = f"the words of these calls lie in {database}, which you alone can read from now on"
    request.notice("calls_private", text, path=database)


# 2. The list ---------------------------------------------------------------------------------


class CallsRow(Result, frozen=True):
    """One session of calls."""

    session_id: str
    about: str
    """How the first person's turn begins."""
    models: tuple[str, ...]
    calls: int
    made_at: str | None
    """When the first call was made: ISO 8601, UTC; None where the source does not say."""
    status: str
    judged: int
    missed: int
    costs: tuple[Cost, ...]
    """Of all calls of which the price is known."""


def list_calls(request: Request, *, everything: bool = False) -> tuple[Iterator[CallsRow], bool]:
    """The sessions of calls of this project, newest first, and whether older ones are left out.

    Erased ones are listed where everything is.
    """
    rows = (_build_row(request, head) for head in _heads(request))
    if everything:
        return rows, False
    rest = (row for row in rows if row.status != "erased")
    shown = [*islice(rest, LISTED)]
    return iter(shown), next(rest, None) is not None


def _heads(request: Request) -> list[Head]:
    process = request.process
    heads = process.store.heads_in(WORKFLOW.name)
    found = [head for head in heads if head.project == process.project]
    return sorted(found, key=lambda head: head.session_id, reverse=True)


def _build_row(request: Request, head: Head) -> CallsRow:
    handle, events = load_call_events(request, head.session_id)
    view = handle.view
    if not isinstance(view, CallsView):
        raise Refused(f"session {head.session_id} holds no calls", code="no_calls")
    calls = [*join_calls(events)]
    times = [call.made_at for call in calls if call.made_at is not None]
    return CallsRow(
        session_id=head.session_id,
        about=view.intention,
        models=view.models,
        calls=view.calls,
        made_at=iso_or_none(min(times, default=None)),
        status=handle.status,
        judged=view.judged,
        missed=view.missed,
        costs=compute_costs(request, calls),
    )


def compute_costs(request: Request, calls: Iterable[WholeCall]) -> tuple[Cost, ...]:
    """What calls cost by the prices of the settings, on the day on which each was made."""
    prices = [price(one) for one in request.process.settings.prices]
    return sum_costs(
        (
            {
                "provider": find_provider_name(call.recorded, call.kept),
                "model": call.kept.model,
                "at": call.made_at if call.made_at is not None else call.recorded.at,
                "input_tokens": call.kept.input_tokens,
                "output_tokens": call.kept.output_tokens,
            }
            for call in calls
        ),
        prices,
    )


def load_call_events(request: Request, session: str) -> tuple[Handle, list[Event]]:
    process = request.process
    handle = process.runner.load(find_calls_sessions(request, session)[0])
    request.sessions.refuse_other(handle, WORKFLOW, "it holds no calls of another program")
    return handle, read_call_events(process.runner, handle)


def read_opening(request: Request, session_id: str) -> CallsOpened | None:
    """Where the calls of a session are from; None where it was erased, or holds no calls."""
    first = request.process.store.read(session_id)[0]
    opened = request.process.runner.codec(WORKFLOW).decode(first) if first.data else None
    return opened if isinstance(opened, CallsOpened) else None


# 3. One session ------------------------------------------------------------------------------


class SpokenTurn(Result, frozen=True):
    """What was said once."""

    role: str
    words: str


class CalledTool(Result, frozen=True):
    """A tool that a model called."""

    name: str
    arguments: str
    """JSON, where the model wrote that."""


class ShownJudgement(Result, frozen=True, kw_only=True):
    """What was said of the answer to a call; what no person said does not count."""

    by: Who | None
    at: str
    """ISO 8601, UTC."""
    is_right: bool | None
    """Of the answer that is shown; None where another answer was judged."""
    expected: str
    """The right value as JSON; empty where it is not said."""
    why: str
    words: str
    """All of it in a sentence."""


class ShownCall(Result, frozen=True, kw_only=True):
    """One call as people read it."""

    call: int
    """Its number in the session."""
    made_at: str | None
    """ISO 8601, UTC."""
    dialect: str
    model: str
    status: int
    stop: str
    turns: tuple[SpokenTurn, ...]
    """Those that the call before does not have."""
    answer: str
    tools: tuple[CalledTool, ...]
    """What the model called."""
    ended: str
    """Why the call failed, or its answer is not whole; empty where neither is so."""
    input_tokens: int | None
    output_tokens: int | None
    left_out: tuple[str, ...]
    """What was too large to keep, in words."""
    judged: tuple[ShownJudgement, ...]


class ShownCalls(Result, frozen=True, tag_field="format", tag="calls-show/1"):
    """A session of calls as people read it."""

    session_id: str
    about: str
    source: str
    file: str
    conversation: str
    missed: int
    calls: tuple[ShownCall, ...]


def show_calls(request: Request, session: str) -> ShownCalls:
    """A conversation, call by call.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        Refused: it is of another workflow, or was erased.
    """
    handle, events = load_call_events(request, session)
    if handle.status == "erased":
        raise Refused(f"session {short_session(handle.session_id)} was erased", code="erased")
    opened = next((one for one in events if isinstance(one, CallsOpened)), None)
    view = handle.view
    return ShownCalls(
        session_id=handle.session_id,
        about=view.intention,
        source=opened.source if opened else "",
        file=opened.file if opened else "",
        conversation=opened.conversation if opened else "",
        missed=view.missed if isinstance(view, CallsView) else 0,
        calls=tuple(_build_shown_call(*told) for told in tell_whole_calls(events)),
    )


def _build_shown_call(call: WholeCall, spoken: SpokenCall) -> ShownCall:
    kept = call.kept
    return ShownCall(
        call=call.number,
        made_at=iso_or_none(call.made_at),
        dialect=call.dialect,
        model=kept.model,
        status=kept.status,
        stop=kept.stop,
        turns=tuple(SpokenTurn(role=role, words=words) for role, words in spoken.messages),
        answer=spoken.answer,
        tools=tuple(CalledTool(name=name, arguments=given) for name, given in spoken.tools),
        ended=spoken.ended,
        input_tokens=kept.input_tokens,
        output_tokens=kept.output_tokens,
        left_out=tuple(
            f"the {one.part}: {one.size:,} bytes of {one.type or 'an unknown type'}, "
            f"SHA-256 {one.sha256}"
            for one in call.recorded.left_out
        ),
        judged=tuple(
            ShownJudgement(
                by=Who.of(one.by),
                at=iso(one.at),
                is_right=one.is_right,
                expected=one.expected,
                why=one.why,
                words=judgement_in_words(one),
            )
            for one in spoken.judged
        ),
    )


# 4. Which are to be erased -------------------------------------------------------------------


def find_calls_of_user(request: Request, user: str) -> list[str]:
    """The sessions in which a user of the program is named, by the id that the source had."""
    hashed, store = name_user(request.process.log_id(), user).encode(), request.process.store
    return [
        head.session_id
        for head in _heads(request)
        if any(one.data and hashed in one.data for one in store.read(head.session_id))
    ]


def find_calls_older_than(request: Request, days: int) -> list[str]:
    """The sessions whose last call was made, or taken in, more than some days ago."""
    before = clock_ids.now() - days * DAY
    return [
        head.session_id
        for head in _heads(request)
        if (last := _last_made_at(request, head)) is not None and last < before
    ]


def _last_made_at(request: Request, head: Head) -> int | None:
    times = (
        one.at if one.made_at is None else one.made_at
        for one in read_call_events(request.process.runner, head)
        if isinstance(one, CallRecorded)
    )
    return max(times, default=None)
