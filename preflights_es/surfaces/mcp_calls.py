"""One call of a client of the MCP server, and the log of the server.

Only the command `mcp` imports the modules `mcp_*`, and only they import the SDK.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

import mcp_types as types
import msgspec
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import is_version_at_least
from pydantic import ValidationError

from preflights_es.kernel.errors import Notice, StoreUnavailable
from preflights_es.kernel.events import Actor
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.text import NAME_MAX, escaped_text, one_line, shortened
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.store.urls import SqliteFile
from preflights_es.use.process import Process
from preflights_es.use.request import Request


class LogFile:
    """The file that a server began with; once deleted, it takes records and loses them."""

    def __init__(self) -> None:
        self._began_with: tuple[int, int] | None = None

    def check(self, process: Process) -> None:
        """See that the log is still where it was.

        Raises:
            StoreUnavailable: it is gone, or another file lies there.
        """
        url: Any = process.store.database.url
        if not isinstance(url, SqliteFile):
            return
        try:
            lies = os.stat(url.name)
            now = (lies.st_dev, lies.st_ino)
        except OSError:
            now = None
        if now is None or now != (self._began_with or now):
            message = f"the log {url.name} was moved or replaced: restart `preflights mcp`"
            raise StoreUnavailable(message)
        self._began_with = now


R = TypeVar("R")
Worded = Callable[[str, str, Mapping[str, Any]], str]
"""A text with the command that helps, by its code and fields."""

MODERN: Final = "2026-07-28"
"""From here on a question is a result, and the client calls again with the answer."""
UNNAMED: Final = "unknown client"
FORM: Final = " (form)"
"""Behind the name of a client whose form brought a person's words; no client's own name ends so."""
ROUND: Final = "question"
"""Key of the one form of a round."""


class Desk(msgspec.Struct, frozen=True):
    """What all calls share."""

    request: Request
    """Of the process; each call gets requests of its own."""
    pool: ThreadPoolExecutor
    worded: Worded
    patience_s: float
    """How long a form waits for its person, where the server waits."""
    log: LogFile


class Round(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a client brings back with an answer, sealed: which session was asked, and when."""

    session: str
    version: int
    """Of the session, as the person saw it."""
    question: str = ""
    """Its key; empty where the form asked for an acceptance."""
    own: str = ""
    """The key of own words."""


class ToolCall:
    """One call of a client."""

    def __init__(
        self,
        desk: Desk,
        context: ServerRequestContext[Any, Any],
        params: types.InputResponseRequestParams | None = None,
    ) -> None:
        self.desk = desk
        self._context = context
        state = None if params is None else params.request_state  # its seal was checked before
        self.round = None if state is None else msgspec.json.decode(state, type=Round)
        """The round that this call answers; None of a first call."""
        brought = (params and params.input_responses) or {}
        self.brought = _accepted_form_content(brought.get(ROUND))
        """What the person filled in before this call; None where it stayed open."""
        told = desk.request.actor  # by the environment, or `--as`
        known = told.name if told.kind == "agent" else ""
        said = _client(context, desk.request.process.sanitizer)
        self.client = said or (known or UNNAMED, "")
        """Its name and version."""
        self._said = " ".join(filter(None, said or ()))
        self.actor = Actor("agent", " ".join(filter(None, self.client)))
        self.notices: list[str] = []

    # 1. Work ---------------------------------------------------------------------------------

    async def run(self, use: Callable[[Request], R], key: str = "", *, is_form: bool = False) -> R:
        """What a service comes to, in a thread; it works to its end if the client cancels.

        Args:
            key: makes what is recorded happen once.
            is_form: whether it records what a form of the client brought.
        """
        loop = asyncio.get_running_loop()
        actor = Actor("agent", f"{self.actor.name}{FORM}") if is_form else self.actor
        request = self.desk.request.another(actor, key, self._said)
        request.tell = self._tell
        request.watch = partial(self._watch, loop)
        return await loop.run_in_executor(self.desk.pool, self._used, use, request)

    def _used(self, use: Callable[[Request], R], request: Request) -> R:
        self.desk.log.check(request.process)
        return use(request)

    def _tell(self, notice: Notice) -> None:
        self.notices.append(self.desk.worded(notice.text, notice.code, notice.fields))

    def _watch(self, loop: asyncio.AbstractEventLoop, lead: Lead, seconds: int | None) -> None:
        """Tell the client that a model is at work; a client that is gone hears nothing."""
        if seconds is None:
            return
        said = f"asking {' '.join(filter(None, (lead.provider, lead.model)))}"
        telling = self._context.session.report_progress(seconds + 1, message=escaped_text(said))
        try:
            asyncio.run_coroutine_threadsafe(telling, loop)
        except RuntimeError:  # the server stopped meanwhile
            telling.close()

    # 2. Asking the person --------------------------------------------------------------------

    @property
    def has_forms(self) -> bool:
        """Whether the client shows forms to its person."""
        capable = self._context.session.client_capabilities
        known = capable.elicitation if capable else None
        return known is not None and (known.form is not None or known.url is None)

    async def form(
        self, round_: Round, message: str, schema: dict[str, Any]
    ) -> Mapping[str, Any] | types.InputRequiredResult | None:
        """What the person filled in; or what the client has to ask; None where it stays open."""
        if not self.has_forms:
            return None
        params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
        asked = types.ElicitRequest(params=params)
        if is_version_at_least(self._context.protocol_version, MODERN):
            state = canonical_json(round_).decode()
            return types.InputRequiredResult(input_requests={ROUND: asked}, request_state=state)
        return await self._elicited(asked)

    async def _elicited(self, asked: types.ElicitRequest) -> Mapping[str, Any] | None:
        """A form that the server waits for: refused, forgotten or broken, it stays open."""
        about = ServerMessageMetadata(related_request_id=self._context.request_id)
        session = self._context.session
        wait = self.desk.patience_s
        with suppress(MCPError, ValidationError):
            came = await session.send_request(asked, types.ElicitResult, wait, metadata=about)
            return _accepted_form_content(came)
        return None


def _accepted_form_content(response: object) -> Mapping[str, Any] | None:
    """What a form came back with; None where the person declined or cancelled it."""
    if not isinstance(response, types.ElicitResult) or response.action != "accept":
        return None
    return response.content or {}


def _client(
    context: ServerRequestContext[Any, Any], sanitizer: Sanitizer
) -> tuple[str, str] | None:
    """Name and version of the client, as it says them."""
    said = context.session.client_params
    if said is None:
        return None
    name, version = said.client_info.name, said.client_info.version
    return _clean_client_name(name, sanitizer) or UNNAMED, _clean_client_name(version, sanitizer)


def _clean_client_name(text: str, sanitizer: Sanitizer) -> str:
    """What a client says of itself, without parentheses: `(form)` is this server's to say."""
    line = one_line(escaped_text(text[:NAME_MAX])).replace("(", "[").replace(")", "]")
    return sanitizer.cleaned_name(shortened(line, NAME_MAX // 3))
