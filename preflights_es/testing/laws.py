"""Laws that every workflow keeps, and golden sessions that are replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from preflights_es.history.replayer import Replayer
from preflights_es.kernel import json
from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import RoundsExhausted, SessionFaulted
from preflights_es.kernel.events import Decision, Event, Input, InputQuarantined
from preflights_es.kernel.ports import Provider, Stored
from preflights_es.providers.base import GivenProvider
from preflights_es.runtime.performer import open_completion
from preflights_es.store import jsonl, stored_events
from preflights_es.store.stored_events import Codec
from preflights_es.testing.played import NOON, PlayedSession, SessionMove
from preflights_es.use.replays import own_code
from preflights_es.words.workflow import STATUSES, Workflow, compute_session_status

if TYPE_CHECKING:
    from hypothesis import settings as Settings  # noqa: N812  a class that is called so
    from hypothesis.strategies import SearchStrategy


Law = Callable[[PlayedSession], None]


def law_of_reading_back(session: PlayedSession) -> None:
    """`decide` answers every Input with Decisions; each can be read back and folded."""
    workflow = session.workflow
    codec, folded = Codec(workflow.decider), kernel.begin(workflow.decider)
    for place, new in enumerate(session.inputs):
        decision: Event | None = None
        try:
            _, event = codec.read_back(new, "input")
            folded, before = kernel.evolve(workflow.decider, folded, event), folded
            for decision in kernel.decide(workflow.decider, before, new):
                folded = kernel.evolve(workflow.decider, folded, codec.read_back(decision)[1])
        except Exception as error:  # any bug of the workflow, which the message names
            why = f"{type(error).__name__}: {error}"
            inputs = session.inputs[: place + 1]
            raise _broken(session, "reading back", why, inputs, decision=decision) from error


def law_of_folding(session: PlayedSession) -> None:
    """`evolve` gives the same state for the same events, and changes none that it was given."""
    workflow = session.workflow
    folded = kernel.begin(workflow.decider)
    for version, event in enumerate(session.events, 1):
        before = repr(folded.state)
        after = kernel.evolve(workflow.decider, folded, event)
        if repr(folded.state) != before:
            raise _broken_at(session, "folding", "evolve changed the state it was given", version)
        if kernel.evolve(workflow.decider, folded, event) != after:
            raise _broken_at(session, "folding", "evolve gives another state each time", version)
        folded = after
    if session.runner.load(session.handle.session_id).session != session.handle.session:
        why = "the log is read to another state than was folded"
        raise _broken_at(session, "folding", why, session.handle.version)


def law_of_replay(session: PlayedSession) -> None:
    """The session replays without a difference, and the same Inputs give the same session.

    So nothing but its Inputs enters it: no clock, no chance, and nothing that the code remembers.
    """
    replay = session.replay()
    if replay.fault is not None:
        raise _broken_at(session, "replay", f"{replay.fault}", replay.fault.version)
    if replay.divergences:
        one = replay.divergences[0]
        why = f"{one.pointer or '/'} is {one.computed!r} when it is replayed"
        raise _broken_at(session, "replay", why, one.version)
    if replay.undecided:
        why = "it failed, and is decided when it is replayed"
        raise _broken_at(session, "replay", why, replay.events)
    again = PlayedSession(session.workflow, began=NOON + 7_777_777, ids_from=4_711)
    again.play(session.inputs)
    _see_the_same(session, "replay", again)


def law_of_resuming(session: PlayedSession) -> None:
    """Cut after any Input, the session resumes to the same log and state."""
    for resumes_each in (True, False):
        cut, inputs = PlayedSession(session.workflow), session.inputs
        for place, new in enumerate(inputs):
            if cut.handle.session.undecided is not None:
                cut.feed(new)  # the next Input resumes it
                continue
            cut.crash_after(new)
            sets_aside = isinstance((*inputs, None)[place + 1], InputQuarantined | None)
            if resumes_each or sets_aside:
                cut.resume()
        _see_the_same(session, "resuming", cut)


def law_of_ending(session: PlayedSession) -> None:
    """A terminal state stays terminal."""
    has_ended = False
    for place, (_, after) in enumerate(session.steps(), 1):
        is_ended = bool(after.closed) or session.workflow.is_terminal(after.state)
        if has_ended and not is_ended:
            why, inputs = "a state that was terminal is not any more", session.inputs[:place]
            raise _broken(session, "ending", why, inputs)
        has_ended = is_ended


def law_of_showing(session: PlayedSession) -> None:
    """Every state has a status that the workflow lists, a view, and a record where it has any."""
    workflow = session.workflow
    for place, (_, after) in enumerate(session.steps(), 1):
        try:
            status = compute_session_status(workflow, after)
            assert status in (*workflow.shown.statuses, *STATUSES), (
                f"the status {status!r} is not among its statuses"
            )
            json.canonical_json(workflow.shown.view(after.state))
            if workflow.filed.record is not None:
                json.canonical_json(workflow.filed.record(after.state))
        except Exception as error:  # any bug of the workflow, which the message names
            why = f"{type(error).__name__}: {error}"
            raise _broken(session, "showing", why, session.inputs[:place]) from error


def law_of_settling(session: PlayedSession) -> None:
    """A provider whose answers are of no use is not asked for ever."""
    if open_completion(session.handle.session) is None:
        return
    again = PlayedSession(session.workflow).play(session.inputs)
    try:
        again.settle(GivenProvider("script", "?"))
    except RoundsExhausted as error:
        raise _broken(session, "settling", str(error), session.inputs) from error


LAWS: Final[tuple[Law, ...]] = (
    law_of_reading_back,
    law_of_folding,
    law_of_replay,
    law_of_resuming,
    law_of_ending,
    law_of_showing,
    law_of_settling,
)


def check_laws(
    workflow: Workflow[Any],
    sessions: SearchStrategy[Sequence[SessionMove]] | None = None,
    *,
    texts: Sequence[str] = (),
    laws: Sequence[Law] = LAWS,
    settings: Settings | None = None,
) -> None:
    """See that generated sessions of a workflow keep the laws.

    Args:
        sessions: of hypothesis; by default what `testing.generated.wild_sessions` makes from the
            classes of the events.
        texts: that the rules look at, for those: random letters rarely meet them.
        settings: of hypothesis; by default those of the profile, without a deadline.

    Raises:
        AssertionError: one does not; names the Inputs, and the Decision at fault.
        ProviderMissing: hypothesis is not installed.
    """
    from preflights_es.testing.generated import try_sessions, wild_sessions  # the extra `testing`

    def keeps(moves: Sequence[SessionMove]) -> None:
        session = PlayedSession(workflow)
        try:
            session.play(moves)
        except SessionFaulted:
            law_of_reading_back(session)  # names the Decision
            law_of_replay(session)  # it failed, and does not fail again
            raise
        for law in laws:
            law(session)

    drawn = wild_sessions(workflow, texts=texts) if sessions is None else sessions
    try_sessions(drawn, keeps, settings)


# Which Input and Decision are at fault ---------------------------------------------------------


def _see_the_same(session: PlayedSession, law: str, other: PlayedSession) -> None:
    pairs = zip_longest(session.stored, other.stored)
    for version, (mine, its) in enumerate(pairs, 1):
        if mine is None or its is None or (mine.type, mine.data) != (its.type, its.data):
            found = "nothing" if its is None else f"{its.type} {(its.data or b'').decode()}"
            raise _broken_at(session, law, f"it came to {found} the second time", version)
    if other.handle.session != session.handle.session:
        raise _broken_at(session, law, "the same log came to another state", len(session.stored))


def _broken_at(session: PlayedSession, law: str, why: str, version: int) -> AssertionError:
    """An event of a session breaks a law."""
    events = session.events[:version]
    inputs = [event for event in events if isinstance(event, Input)]
    last = events[-1] if events else None
    decision = last if isinstance(last, Decision) else None
    return _broken(session, law, f"event {version}: {why}", inputs, decision=decision)


def _broken(
    session: PlayedSession,
    law: str,
    why: str,
    inputs: Sequence[Input],
    decision: Event | None = None,
) -> AssertionError:
    lines = [f"{session.workflow.name} breaks the law of {law}: {why}"]
    lines += [f"  Input {number}: {new!r}" for number, new in enumerate(inputs, 1)]
    lines += [f"  Decision: {decision!r}"] if decision is not None else []
    return AssertionError("\n".join(lines))


def record_golden(
    workflow: Workflow[Any],
    inputs: Iterable[SessionMove],
    path: Path,
    provider: Provider | None = None,
) -> None:
    """Write the session that the Inputs come to, as an export writes one.

    Time, ids and salts are counted: the same rules write the same bytes.

    Args:
        provider: answers the calls, where the first Input says who leads.

    Raises:
        SessionFaulted: deciding an Input failed; nothing is written.
    """
    session = PlayedSession(workflow, provider).play(inputs)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl.encode_event_file(session.stored))


def golden_sessions(path: Path) -> list[list[Stored]]:
    """The events of each session of a file.

    Raises:
        LogDamaged: it is no file of sessions.
    """
    lines = path.read_bytes().splitlines()
    return list(stored_events.group_events_by_session(jsonl.stored(lines, path.name)).values())


def check_golden(workflow: Workflow[Any], path: Path) -> None:
    """See that each session of a file replays without a difference.

    Raises:
        AssertionError: one does not; names the file, the event and what differs.
        LogDamaged: it is no file of sessions.
    """
    replayer = Replayer({workflow.name: workflow}, own_code())
    for stored in golden_sessions(path):
        replay = replayer.replay(stored)
        if replay.status != "identical":
            why = replay.fault or replay.divergences[0]
            raise AssertionError(f"{path}: session {replay.session_id} is {replay.status}: {why}")
