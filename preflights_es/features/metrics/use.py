"""What people do with questions about data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from preflights_es.features.metrics.catalogue import (
    BUILT_IN,
    Folders,
    check_for,
    definitions,
    metrics_of,
    need_extra,
    own_catalogue,
    projected_table_names,
    queryable_log_tables,
)
from preflights_es.features.metrics.domain import WORKFLOW
from preflights_es.features.metrics.domain.composing import Meant, composed
from preflights_es.features.metrics.domain.events import (
    Catalogue,
    Dialect,
    FollowUpPut,
    NotTaken,
    QuestionPut,
    Table,
)
from preflights_es.features.metrics.domain.reference import QuestionBack, shown_meaning, understood
from preflights_es.features.metrics.domain.state import AnswerView, MetricsQueryResult, MetricsState
from preflights_es.kernel.errors import (
    LogDamaged,
    Refused,
    StoreError,
    StoreUnavailable,
    UnknownSession,
)
from preflights_es.kernel.events import Decision
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import one_line
from preflights_es.runtime.finder import LAST
from preflights_es.runtime.runner import Handle
from preflights_es.store.guarded_query import (
    LOG_TABLES,
    Limits,
    Rows,
    holds_log,
    listed_columns,
    run_guarded_query,
)
from preflights_es.store.urls import SqliteFile, parse_log_address, shown_url
from preflights_es.system import clock_ids
from preflights_es.use.answers import normalize_answer_pairs
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, answer_refused, session_of
from preflights_es.use.sessions import show
from preflights_es.use.use_cases import NewSession
from preflights_es.words.questions import AnswerRefusal
from preflights_es.words.workflow import View

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

    from preflights_es.store.urls import Address

PORT: Final = 5432  # of PostgreSQL, where an address names none

# 1. Asking -----------------------------------------------------------------------------------


def start_metrics(
    request: Request, new: NewSession, *, catalogue: Folders | None = None, on: str = ""
) -> View:
    """Ask a question about data.

    Args:
        catalogue: its folders; None for the one about the log.
        on: the address of the database that it is about.

    Raises:
        Refused: the catalogue says what none says, or the question cannot be recorded.
        NoExtra: the extra `metrics` is not installed.
    """
    need_extra()
    known = read_catalogue(request, catalogue, on)
    when, zone = clock_ids.local(clock_ids.now())
    setup, answers = request.setup(WORKFLOW, strict=new.strict), normalize_answer_pairs(new.answers)
    request.sessions.check(answers)
    language = request.process.settings.language
    said: dict[str, object] = {"text": new.text, "language": language, "dialect": known.dialect}
    said |= {"metrics": known.metrics, "tables": known.tables}
    beside = {"asked_at": when, "time_zone": zone}
    opened = request.sessions.opened(WORKFLOW, QuestionPut, said, setup, beside=lambda: beside)
    if answers:
        opened = request.sessions.answer(opened.handle, answers)
    return session_of(opened, request.notices)


def follow_up(request: Request, text: str, typed: str = "") -> View:
    """Answer the open question, or go on where there is none.

    Args:
        typed: the session; empty for the last one that asks about data.
    """
    need_extra()
    handle = find_metrics_session(request, typed)
    if request.leads.named:
        handle = request.led_anew(handle).handle
    day = handle.session.state.asked_at[:10]
    if day and not clock_ids.local(clock_ids.now())[0].startswith(day):
        request.notice("asked_earlier", f"the days of this session count from {day}")
    question = handle.view.questions
    if question and not handle.session.closed:
        step = request.sessions.answer(handle, [(question[0].id, (text,))])
    else:
        step = request.sessions.submitted(handle, FollowUpPut, {"text": text}, asks=True)
    return session_of(step, request.notices)


def show_metrics_session(request: Request, typed: str) -> View:
    """A session that asks about data, as it stands.

    Raises:
        Refused: it was erased; and as `found`.
    """
    session = show(request, find_metrics_session(request, typed).session_id)
    if session.erased is not None:
        id_ = short_session(session.session_id)
        raise Refused(f"session {id_} was erased: there is no query to run", code="no_query")
    return session


def find_metrics_session(request: Request, typed: str = "") -> Handle:
    """A session that asks about data; `last`, and nothing, is the newest of them.

    Raises:
        UnknownSession, AmbiguousSession: no session matches what was typed, or several do.
        Refused: there is none, or the session is of another workflow or project.
    """
    sessions = request.sessions
    try:
        session_id = sessions.resolved(typed or LAST, WORKFLOW.name)
    except UnknownSession:
        if typed not in ("", LAST):
            raise
        raise Refused("no question was asked in this project yet", code="no_question") from None
    handle = sessions.load(session_id)
    sessions.refuse_other(handle, WORKFLOW, "this command is for questions about data")
    sessions.refuse_elsewhere(handle)
    return handle


# 2. The catalogue ----------------------------------------------------------------------------


def read_catalogue(request: Request, folders: Folders | None, on: str) -> Catalogue:
    """The metrics and tables that a question is about.

    Raises:
        Refused: a file says what no catalogue says, or a database is named without a catalogue.
    """
    if folders is None and on:
        raise Refused("a database needs a catalogue", code="no_catalogue")
    dialect = _dialect(_address(request, on)) if on or folders is None else "sqlite"
    if folders is not None and not _is_the_log(request, on):
        return own_catalogue(folders, dialect)
    tables = queryable_log_tables()
    # What ships is checked by the tests; each query that comes of it is checked as any other.
    check = check_for(dialect, tables) if folders else lambda _: ()
    held = metrics_of(folders or BUILT_IN, check)
    return Catalogue(dialect=dialect, metrics=held, tables=tables)


def _is_the_log(request: Request, on: str) -> bool:
    """Whether an address is that of the log; none is not."""
    named, log = _address(request, on), _address(request, "")
    if isinstance(named, SqliteFile) or isinstance(log, SqliteFile):
        paths = {Path(one.name).resolve() for one in (named, log) if isinstance(one, SqliteFile)}
        return bool(on) and type(named) is type(log) and len(paths) == 1
    return bool(on) and _query_database_location(named) == _query_database_location(log)


def _address(request: Request, on: str) -> Address:
    return parse_log_address(on or request.process.settings.database)


def _dialect(address: Address) -> Dialect:
    return "sqlite" if isinstance(address, SqliteFile) else "postgres"


# 3. Running ----------------------------------------------------------------------------------


def run_session_query(
    request: Request,
    session: View,
    *,
    on: str = "",
    any_project: bool = False,
    limits: Limits = Limits(),  # noqa: B008  immutable
) -> View:
    """The answer with what its query brings; nothing of that is recorded.

    Raises:
        Refused: there is no query, the database refuses it, or it takes too long.
    """
    assert isinstance(session, AnswerView), "the caller asked"
    from preflights_es.features.metrics.domain.sql_check import bound

    handle = request.process.runner.load(session.session_id)
    catalogue: Catalogue | None = handle.session.state.catalogue
    address = _address(request, on)
    if not session.sql or catalogue is None:
        message = f"session {short_session(session.session_id)} has no query to run"
        raise Refused(message, code="no_query")
    if catalogue.dialect != _dialect(address):
        message = f"the query is written for {catalogue.dialect}, and the database is another"
        raise Refused(message, code="other_dialect")
    sql = handle.session.state.sql
    for kind in dict.fromkeys(handle.session.state.redacted):
        if f"[redacted:{kind}]" in sql:
            message = f"the query lacks a secret that was taken out ({kind}): ask without it"
            raise Refused(message, code="query_redacted")
    _check_and_render_query(sql, catalogue.dialect, catalogue.tables)
    address = _as_reader(request, address)
    limits = limits._replace(time_zone=_time_zone(handle.session.state))
    if on and not _is_the_log(request, on):
        brought = _of_another(address, sql, catalogue, limits)
    else:
        project = None if any_project else request.process.project
        views = _views(request, catalogue, project, handle.session.state.asked_at)
        # A log of other hands may name columns that its tables do not have.
        text = _check_and_render_query(sql, catalogue.dialect, queryable_log_tables())
        brought = run_guarded_query(address, bound(text, views), projected_table_names(), limits)
    columns, rows = brought.columns, brought.rows
    result = MetricsQueryResult(columns=columns, rows=rows, more=brought.more)
    return replace(session, result=result)


def _check_and_render_query(sql: str, dialect: Dialect, tables: Sequence[Table]) -> str:
    """A query as it may be run.

    Raises:
        Refused: it does not pass the check.
    """
    from preflights_es.features.metrics.domain.sql_check import findings, render_checked_query

    if wrong := findings(sql, dialect, tables):
        raise Refused(f"the query does not pass the check: {wrong[0]}", code="query_refused")
    return render_checked_query(sql, dialect)


def _as_reader(request: Request, address: Address) -> Address:
    """The same database by the user's login for readers; says in a line that there is none."""
    if isinstance(address, SqliteFile):
        return address  # a file is opened read-only
    said = request.process.settings.reader_url
    reader = parse_log_address(said) if said else None
    runs = "the query runs read-only, by a login that may do more"
    if reader is None or isinstance(reader, SqliteFile):
        request.notice("no_reader", runs)
        return address
    if _query_database_location(reader) != _query_database_location(address):
        text = f"the login for readers is of another database ({shown_url(reader)})"
        request.notice("no_reader", f"{text}: {runs}")
        return address
    return reader


def _query_database_location(url: URL) -> tuple[str | None, int, str | None]:
    return url.host, url.port or PORT, url.database


def _of_another(address: Address, sql: str, catalogue: Catalogue, limits: Limits) -> Rows:
    """What a query brings from a database that is not the log.

    Each of its columns is one that the database lists: PostgreSQL calls a function of another name.
    """
    from preflights_es.features.metrics.domain.sql_check import tables_of

    readable = frozenset(one.name.rpartition(".")[2] for one in catalogue.tables)
    try:
        if readable & LOG_TABLES and holds_log(address):
            message = "this database is a log of Preflights: ask about it as the log of a project"
            raise Refused(message, code="other_log")
        listed = listed_columns(address, tables_of(sql, catalogue.dialect), limits)
        if absent := [name for name, columns in listed.items() if not columns]:
            message = f"the database lists no columns of the table {one_line(absent[0])!r}"
            raise Refused(message, code="query_refused")
        there = [Table(*one) for one in listed.items()]
        text = _check_and_render_query(sql, catalogue.dialect, there)
        return run_guarded_query(address, text, readable, limits)
    except (StoreError, LogDamaged) as error:
        why = one_line(str(error.__cause__ or error))
        message = f"the database {shown_url(address)} cannot be read: {why}"
        raise StoreUnavailable(message, code="database_unreadable") from error


def _views(request: Request, catalogue: Catalogue, project: str | None, asked_at: str) -> str:
    """The tables of the log in front of a query, brought up to date; days are the question's."""
    ours = {one.name for one in queryable_log_tables()}
    if not all(one.columns and one.name in ours for one in catalogue.tables):
        raise Refused("the question is about another database", code="other_database")
    request.process.projector.catch_up()
    ahead_s, today = _ahead_s(asked_at), asked_at[:10]
    return definitions(catalogue.dialect, project, ahead_s, today)


def _time_zone(state: MetricsState) -> str:
    """The person's time zone as PostgreSQL names it; its offset where the name is not clear."""
    ahead_s = _ahead_s(state.asked_at)
    name = state.time_zone.removeprefix(":")
    try:
        asked_at = datetime.fromisoformat(state.asked_at)
        offset = asked_at.astimezone(ZoneInfo(name)).utcoffset()
        if offset is not None and offset.total_seconds() == ahead_s:
            return name
    except (ValueError, OSError, ZoneInfoNotFoundError):
        pass  # an abbreviation such as CST is of several zones
    minutes = abs(ahead_s) // 60
    # POSIX counts to the west.
    return f"UTC{'-' if ahead_s >= 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


def _ahead_s(local: str) -> int:
    """Seconds by which a clock is before UTC; 0 where a log of other hands has no time."""
    try:
        offset = datetime.fromisoformat(local).utcoffset()
    except ValueError:
        return 0
    return int(offset.total_seconds()) if offset else 0


# 4. An answer --------------------------------------------------------------------------------

_REFUSED: Final = {
    "unknown_question": "is no open question of this session",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "several_values": "takes one value: put quotes around words that belong together",
}
_NOT_TAKEN: Final = {
    "question_open": "a question is open: answer it first",
    "asking": "the model has not answered yet",
    "not_expected": NOT_EXPECTED,
    "blank": "the follow-up is empty",
}


def metrics_refusal(decision: Decision) -> tuple[str, str]:
    """Why a question or an answer does not count, as a code and in words."""
    if isinstance(decision, NotTaken):
        return decision.reason, _NOT_TAKEN[decision.reason]
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    return decision.reason, answer_refused(decision, _REFUSED[decision.reason])


def in_words(handle: Handle, view: View) -> View:
    """An answer with its query as it may be run, and how the rules read the conversation.

    As it is recorded where SQL cannot be read here, or where the check does not let it pass: a log
    of other hands may hold it.
    """
    from preflights_es.features.metrics.domain.sql_check import (
        NoExtra,
        findings,
        render_checked_query,
    )

    assert isinstance(view, AnswerView), "the caller checked the workflow"
    state, sql = handle.session.state, view.sql
    catalogue = state.catalogue
    if catalogue is None:
        return view
    said = [one.content for one in state.led.said if one.role == "user"]
    meant = understood(said, catalogue.metrics, _parse_asked_day(state.asked_at), state.language)
    if isinstance(meant, QuestionBack) and meant.text == view.text:
        return replace(view, options=meant.options)
    if not sql:
        return replace(view, options=view.candidates)
    try:
        if findings(sql, catalogue.dialect, catalogue.tables):
            return view
    except NoExtra:
        return view
    read_as = ""
    if isinstance(meant, Meant) and composed(meant, catalogue.dialect) == sql:
        read_as = shown_meaning(meant, state.language)
    return replace(view, sql=render_checked_query(sql, catalogue.dialect), read_as=read_as)


def _parse_asked_day(asked_at: str) -> date | None:
    try:
        return date.fromisoformat(asked_at.partition("T")[0])
    except ValueError:  # a log of other hands
        return None
