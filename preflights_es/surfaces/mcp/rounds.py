"""Asking the person through the client: one round is one recorded Input, in either era."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import mcp_types as types
import msgspec

from preflights_es.kernel.errors import Refused, UnknownSession
from preflights_es.kernel.ids import short
from preflights_es.runtime.runner import Handle
from preflights_es.surfaces.mcp import forms
from preflights_es.surfaces.mcp.call import Call, Round
from preflights_es.surfaces.mcp.standing import Standing, is_relayed, standing
from preflights_es.use import sessions
from preflights_es.use.inbox import PROPOSED
from preflights_es.use.request import Request
from preflights_es.use.results import Session

USED: Final = "key_used"
Came = Standing | types.InputRequiredResult
"""How a session stands, or what the client has to ask its person first."""


def mine(request: Request, typed: str) -> Handle:
    """A session of this project.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        Refused: it is another project's.
    """
    at = request.holding(typed)
    handle = at.sessions.load(typed)
    if handle.project != request.process.project:
        raise UnknownSession(typed)
    return handle


def shown(request: Request, typed: str) -> Session:
    """A session of this project as it stands."""
    return sessions.show(request, mine(request, typed).session_id)


async def asked(call: Call, session: Session) -> Came:
    """The session after its person was asked what is open, round by round.

    A form that is declined, cancelled or forgotten leaves its question open.
    """
    if call.round is not None:
        at = call.round
        open_ = next((one for one in session.questions if one.id == at.question), None)
        if not (said := forms.answered(at, call.brought, open_)):
            return standing(session)
        session = await _answered(call, at, said)
    while session.questions and is_relayed(session) and not session.refusals:
        question = session.questions[0]
        now = forms.asked(session, question)
        came = await call.form(now, forms.message(session, question), forms.asking(question))
        if isinstance(came, types.InputRequiredResult):
            return came
        if not (said := forms.answered(now, came, question)):
            break
        session = await _answered(call, now, said)
    return standing(session)


async def _answered(call: Call, at: Round, said: dict[str, tuple[str, ...]]) -> Session:
    """The person's words, relayed by the client; the same round again records nothing."""

    def answer(request: Request) -> Session:
        mine(request, at.session)
        try:
            came = sessions.answer(request, at.session, said, relays=True)
        except Refused as error:
            if error.code != USED:
                raise
            message = f"session {short(at.session)} has another answer to this form: call show"
            raise Refused(message, code="answered_already") from error
        return sessions.conversed(request, came)

    return await call.run(answer, f"elicited {at.session} {at.version}", is_form=True)


async def accepted(call: Call, typed: str) -> Came:
    """The session after an acceptance: the agent's own only proposes.

    The person is asked only where the user's own settings let a form accept, and the form can show
    all that is decided: a plan is read before it is accepted.
    """
    if call.round is not None:
        return await _agreed(call, call.round, call.brought)
    session = await call.run(lambda request: shown(request, typed))
    can_ask = call.has_forms and bool(forms.values(session))
    asks = can_ask and call.desk.request.process.settings.agents.elicited_acceptance
    if not session.can_accept or (session.status == PROPOSED and not asks):
        return standing(session)
    now = Round(session.session_id, session.version)
    if not asks:
        return standing(await call.run(partial(_accept, at=now)))
    came = await call.form(now, forms.proposal(session), forms.accepting())
    return came if isinstance(came, types.InputRequiredResult) else await _agreed(call, now, came)


async def _agreed(call: Call, at: Round, came: Mapping[str, Any] | None) -> Standing:
    """The session after its person accepted in a form, or did not."""
    if not forms.agrees(came):
        return standing(await call.run(lambda request: shown(request, at.session)))
    key = f"elicited acceptance {at.session} {at.version}"
    done = await call.run(partial(_accept, at=at, elicited=True), key, is_form=True)
    if not done.can_accept:
        return standing(done)
    proposed = await call.run(partial(_accept, at=at))  # a form has no place for choices
    return msgspec.structs.replace(standing(proposed), refused=standing(done).refused)


def _accept(request: Request, at: Round, *, elicited: bool = False) -> Session:
    mine(request, at.session)
    return sessions.accept(request, at.session, expect=at.version, elicited=elicited)
