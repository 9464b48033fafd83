"""What a shell completes: the names of sessions, decisions and topics. A key press reads the log,
and writes nothing; what cannot be read completes to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click

from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import decision_name, short_session
from preflights_es.kernel.ports import Access
from preflights_es.kernel.text import escaped_text, late_pattern, one_line, shortened
from preflights_es.runtime.finder import ANY, LAST, is_listed
from preflights_es.use.bootstrap import opened_process

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from preflights_es.use.process import Process

OFFERED: Final = 30  # newest sessions that begin as typed, and newest decisions
LOOKED_AT: Final = 5_000  # newest sessions, recorded calls among them
HELP_MAX: Final = 60  # characters beside a name
_WORDS: Final = late_pattern(r"[\w.-]+(?: [\w.-]+)*")
"""What a shell takes as it is, but for the blanks."""

Kind = Literal["session", "decision", "topic", "field"]


class Name(click.ParamType[str]):
    """The name of one of some kinds of things."""

    name = "text"

    def __init__(self, *kinds: Kind) -> None:
        self._kinds = kinds

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002  click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found: dict[str, str] = {}
        begin = incomplete.casefold()
        with suppress(PreflightsError, OSError):
            database = ctx.params.get("db") or ctx.find_root().params.get("db")
            program = opened_process(Path.cwd(), database=database, access=Access.READ)
            with closing(program.process) as process:
                for kind in self._kinds:
                    found |= dict(_names_of_kind(process, kind, begin))
        return [
            CompletionItem(_quoted(name), help=shortened(escaped_text(one_line(text)), HELP_MAX))
            for name, text in found.items()
            if name.casefold().startswith(begin) and _WORDS.fullmatch(name)
        ]


def _quoted(name: str) -> str:
    """Blanks as escapes for bash, unless a quotation is open; other shells put them themselves."""
    import shlex

    said = os.environ  # noqa: TID251  how a shell asks, and no setting
    is_bash = said.get("_PREFLIGHTS_COMPLETE") == "bash_complete"
    try:
        shlex.split(said.get("COMP_WORDS", ""))
    except ValueError:  # no quotation closes
        return name
    return name.replace(" ", "\\\\ ") if is_bash else name  # click's script reads one of the two


SESSION: Final = Name("session")
DECISION: Final = Name("decision")


def _names_of_kind(process: Process, kind: Kind, begin: str) -> Iterator[tuple[str, str]]:
    """Pairs of a name and what it names, the newest first; of sessions those that begin so."""
    if kind == "session":
        yield LAST, "the newest session that the command takes"
        heads = process.store.heads(process.project, LOOKED_AT)
        fitting = (head for head in heads if short_session(head.session_id).startswith(begin))
        found = (head.session_id for head in fitting if is_listed(process.runner, head, ANY))
        for session_id in islice(found, OFFERED):
            yield short_session(session_id), _view_of(process, session_id)[0]
        return
    given = process.store.numbers(process.project).items()
    newest = sorted(given, key=lambda one: one[0].number, reverse=True)[:OFFERED]
    for numbered, session_id in newest:
        intention, category, fields = _view_of(process, session_id)
        if kind == "decision":
            yield decision_name(numbered.number, session_id), intention
        elif kind == "topic" and category:
            yield category, ""
        elif kind == "field":
            yield from ((name, value) for name, value in fields)


def _view_of(process: Process, session_id: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """The intention of a session, and category and fields of what it decides."""
    try:
        view = process.runner.load(session_id).view
    except PreflightsError:
        return "", "", ()
    patch = getattr(view, "patch", None)
    return view.intention, *((patch.category, patch.fields) if patch is not None else ("", ()))
