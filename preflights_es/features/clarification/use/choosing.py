"""What a person chooses about decisions in force that differ from the one that is accepted."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import DecisionAcknowledged, Differing
from preflights_es.features.clarification.domain.state import State, accepted
from preflights_es.kernel.decisions import EXCEPTION, Choice, Choices, OlderDecision, Resolution
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short
from preflights_es.kernel.questions import is_placeholder
from preflights_es.kernel.text import ANSWER_MAX
from preflights_es.runtime.runner import Proposed, Step
from preflights_es.runtime.sanitizing import cleaned
from preflights_es.use.request import Request
from preflights_es.use.results import Session


class Choosing:
    """The comparison of one acceptance, and what the person said about it."""

    def __init__(self, request: Request, said: Choices | None = None) -> None:
        """Raises:
        UnknownSession, AmbiguousSession: none or several match what was typed of a decision.
        Refused: a reason is blank, a placeholder, or cannot be recorded; or one is named twice.
        """
        self._request = request
        self._said = said or Choices()
        self.found: tuple[OlderDecision, ...] = ()
        """How the decision stands to others, as it was compared last."""
        self.perhaps: tuple[Differing, ...] = ()
        """Records of other tools that it perhaps contradicts."""
        self._chosen = self._by_session()

    @property
    def open(self) -> tuple[OlderDecision, ...]:
        """Those that a person has to choose about."""
        return tuple(one for one in self.found if one.needs_choice)

    @property
    def same(self) -> OlderDecision | None:
        """The decision in force that says the same, unless it is to be recorded once more."""
        if self._said.again:
            return None
        return next((one for one in self.found if one.evolution == "same"), None)

    @property
    def known(self) -> tuple[str, ...]:
        """Sessions of the decisions that it was compared with."""
        return tuple(one.related.session_id for one in self.found)

    def is_accepted(self, step: Step) -> bool:
        """Whether a person accepted just now."""
        state: State = step.handle.session.state
        return accepted(state) and bool(step.decisions)

    def completed(self, first: Proposed) -> Proposed | None:
        """The acknowledgement with what a person chose; None where a choice is missing.

        Raises:
            Refused: a choice is about a decision that is not related, or no person makes it.
        """
        state: State = first.handle.session.state
        if first.input.actor.kind != "user":
            self.refuse_choices()
            return first
        if accepted(state) or state.led.request is not None:
            return first  # it will be refused, in the log
        # Until now nothing of it is needed: looking and answering import none of it.
        from preflights_es.features.recall.use.comparing import findings

        self.found = findings(self._request, first.handle)
        if self.same:
            return None
        new, is_said = first.input, bool(self.open or self._said)
        assert isinstance(new, DecisionAcknowledged), "a clarification is accepted"
        if resolved := self._resolved(state, first.handle.session_id) if is_said else ():
            new = replace(new, resolved=resolved)
        if not {one.finding for one in resolved}.issuperset(self.open):
            return None
        from preflights_es.features.recall.use.relating import differing

        if perhaps := tuple(differing(self._request, first.handle)):
            new = replace(new, perhaps=perhaps)
        self.perhaps = perhaps
        return replace(first, input=new)

    def refuse_choices(self) -> None:
        """Refuse what was chosen where no person accepts.

        Raises:
            Refused: something was.
        """
        if self._said.supersedes or self._said.keeps or self._said.exceptions:
            message = "only a person supersedes a decision, or keeps it beside another"
            is_agent = self._request.actor.kind == "agent"  # it gives no --by
            raise Refused(message, code="agent_at_work" if is_agent else "person_chooses")

    def is_said(self, before: Any) -> bool:
        """Whether an acknowledgement that was recorded before holds the same choices."""
        resolved = () if before.resolved is UNSET else before.resolved
        was = {(one.finding.related.session_id, one.choice, one.reason) for one in resolved}
        return was == {(id_, *rest) for id_, (_, *rest) in self._chosen.items()}

    def told(self, session: Session) -> Session:
        """The result of the acceptance, with what it was compared with."""
        if not self.found:
            return session
        from preflights_es.features.clarification.use.results import RelatedDecision

        related = tuple(map(RelatedDecision.of, self.found))
        is_open = session.can_accept and self.open
        to_do = "choose what becomes of the related decisions" if is_open else session.to_do
        return replace(session, related=related, to_do=to_do)

    # 1. What was said --------------------------------------------------------------------------

    def _reason(self, typed: str, text: str) -> str:
        reason, _ = cleaned("the reason", text.strip(), ANSWER_MAX)
        if not reason or is_placeholder(reason):
            what = f"the reason {reason!r} is a placeholder" if reason else "the reason is blank"
            message = f"{what}: say why {typed!r} stays in force, too"
            raise Refused(message, code="no_reason_to_keep", typed=typed)
        self._request.notice_redacted("the reason", text)
        return reason

    def _by_session(self) -> dict[str, tuple[str, Choice, str]]:
        """By session: what was typed of the decision, the choice, and the reason."""
        kept = [(typed, self._reason(typed, text)) for typed, text in self._said.keeps]
        said: list[tuple[str, Choice, str]] = []
        said += [(typed, "supersedes", "") for typed in self._said.supersedes]
        said += [(typed, "keeps", reason) for typed, reason in kept]
        said += [(typed, "keeps", EXCEPTION) for typed in self._said.exceptions]
        chosen: dict[str, tuple[str, Choice, str]] = {}
        for one in said:
            id_ = self._request.sessions.resolved(one[0])
            if chosen.setdefault(id_, one)[1:] != one[1:]:
                raise _named_twice(one[0])
        return chosen

    def _resolved(self, state: State, own: str) -> tuple[Resolution, ...]:
        by_id = {one.related.session_id: one for one in self.found}
        replaced = state.supersedes.session_id if state.supersedes else ""
        resolved: list[Resolution] = []
        for session_id, (typed, choice, reason) in self._chosen.items():
            if session_id == replaced and choice == "supersedes":
                continue  # it was named when the session began
            if session_id == replaced:
                raise _named_twice(typed)
            if session_id not in by_id:
                message = f"{typed!r} is not related to this decision: leave it out"
                raise Refused(message, code="not_related", typed=typed, session=short(own))
            finding = by_id[session_id]
            if reason == EXCEPTION and finding.evolution != "exception":
                message = f"{typed!r} does not hold for the whole project: supersede or keep it"
                raise Refused(message, code="no_exception", typed=typed, session=short(own))
            resolved.append(Resolution(finding=finding, choice=choice, reason=reason))
        return tuple(resolved)


def _named_twice(typed: str) -> Refused:
    message = f"{typed!r} is named twice: it is superseded, or kept for one reason"
    return Refused(message, code="chosen_twice", typed=typed)
