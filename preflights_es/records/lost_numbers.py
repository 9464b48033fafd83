"""Numbers of records that no row tells any more: they are given again, as the log has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from preflights_es.kernel.errors import PreflightsError
from preflights_es.runtime.runner import Runner
from preflights_es.store.side_tables import SqlAuditing


class Borne(msgspec.Struct, frozen=True, order=True):
    """A number that the record of a session is said to have."""

    session_id: str
    project: str
    number: int


def given_again(runner: Runner, borne: Iterable[Borne], tables: SqlAuditing) -> Iterator[Borne]:
    """Numbers that no session had, and that a session's own log says it has; each is given.

    Args:
        borne: of two sessions with one number, the first one gets it.
    """
    given: dict[str, dict[int, str]] = {}
    for one in borne:
        if one.project not in given:
            given[one.project] = runner.store.numbers(one.project)
        if one.number in given[one.project]:
            continue
        try:
            handle = runner.load(one.session_id)
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        own = (handle.project, handle.workflow.number(handle.session.state))
        if own == (one.project, one.number):
            tables.give_number(one.project, one.number, one.session_id)
            given[one.project][one.number] = one.session_id
            yield one
