"""What of the program runs while a session is folded and shown: nothing that judges it again."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, Final, NamedTuple

import preflights_es
from preflights_es.kernel import session as kernel
from preflights_es.kernel.events import Event, Input
from preflights_es.words.workflow import Workflow

HOUSE: Final = os.path.join(os.path.dirname(preflights_es.__file__), "")

READERS: Final = (
    *("kernel/events.py", "kernel/session.py", "kernel/lead.py", "words/signing.py"),
    "words/imports.py",
    *("domain/events.py", "domain/values.py", "domain/state.py", "domain/evolve.py"),
    "domain/standing.py",
    "domain/pack.py",  # the topics that the first event names by their hash
    "domain/reasons.py",  # puts reasons that count together; what judges one asks the kernel
)
"""Ends of modules that read what events say. All others may judge: a fold calls none of them."""

SPELLING: Final = ("kernel/text.py caseless", "kernel/text.py composed", "kernel/ids.py iso")
"""Functions by which two spellings of a name or a day are one; they refuse nothing."""

JUDGES: Final = ("words/questions.py", "judging/", "redaction/")
"""What a view calls of these is no verdict only if no decision calls it."""


class Called(NamedTuple):
    """A function of the program that ran."""

    module: str
    """Below the package, with forward slashes."""
    function: str
    caller: str


def judged_again(workflow: Workflow[Any], events: Sequence[Event]) -> Iterator[Called]:
    """What judges, and ran while the events were folded or what they fold to was shown."""
    session = kernel.begin(workflow.decider)
    deciding: set[str] = set()
    for event in events:
        if isinstance(event, Input):
            ran, _ = observed(kernel.decide, workflow.decider, session, event)
            deciding |= {f"{one.module} {one.function}" for one in ran}
        ran, session = observed(kernel.evolve, workflow.decider, session, event)
        read = (one for one in ran if f"{one.module} {one.function}" not in SPELLING)
        yield from (one for one in read if not one.module.endswith(READERS))
        ran, _ = observed(_shown, workflow, session.state)
        judging = [one for one in ran if one.module.startswith(JUDGES)]
        yield from (one for one in judging if f"{one.module} {one.function}" in deciding)


def _shown(workflow: Workflow[Any], state: Any) -> None:
    shown, filed = workflow.shown, workflow.filed
    tells = (filed.record, filed.items, filed.related)
    for tell in (shown.view, shown.reached, workflow.is_terminal, shown.fixed, *tells):
        if tell is not None:
            tell(state)


def observed(work: Callable[..., Any], *given: Any) -> tuple[list[Called], Any]:
    """The functions of the program that run in a piece of work, and what this returns."""
    ran: set[Called] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(HOUSE):
            caller = frame.f_back.f_code.co_qualname if frame.f_back else ""
            module = code.co_filename.removeprefix(HOUSE).replace(os.sep, "/")
            ran.add(Called(module, code.co_qualname, caller))

    former, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # what another test left would end here, and its end is no part of the work
    sys.setprofile(note)
    try:
        result = work(*given)
    finally:
        sys.setprofile(former)
        if collects:
            gc.enable()
    return sorted(ran), result
