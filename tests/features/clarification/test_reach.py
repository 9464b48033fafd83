"""The files that a decision holds for: who says them, and what counts (specification, 13.7)."""

from __future__ import annotations

from typing import Any

from preflights_es.features.clarification.domain import lead
from preflights_es.features.clarification.domain.events import (
    ClarificationChangeRefused,
    RationaleGiven,
    ReachNoted,
)
from preflights_es.kernel.events import Actor
from preflights_es.words.decisions import Reach
from preflights_es.words.path_patterns import PATTERNS_MAX
from tests.each import each
from tests.features.clarification.cases import (
    ADA,
    AGENT,
    acknowledged,
    after,
    answered,
    check,
    declared,
)

READY = (declared("Add OAuth"), answered(auth_strategy="OAuth"))


def holding(*paths: str, actor: Actor = ADA, **more: Any) -> RationaleGiven:
    return RationaleGiven(at=1, actor=actor, paths=paths, **more)


def test_paths_take_the_place_of_those_before() -> None:
    noted = ReachNoted(reach=Reach(("src/**", "x"), "tell", "agent"))
    check(*READY, when=holding(" src/** ", "x", "x", actor=AGENT), then=(noted,))
    state = after(*READY, holding("src/**", actor=AGENT), holding("lib/**", hold="deny"))
    assert state.offer.reach == Reach(("lib/**",), "deny", "user")
    assert after(*READY, holding("src/**"), holding()).offer.reach == Reach()


@each(
    ("paths", "reason"),
    [
        (("!src",), "unfit_pattern"),
        (("src/**", "../x"), "unfit_pattern"),
        (tuple(f"src/{n}" for n in range(PATTERNS_MAX + 1)), "too_many_patterns"),
    ],
)
def test_what_does_not_count_changes_nothing(paths: tuple[str, ...], reason: str) -> None:
    refused = ClarificationChangeRefused(change="rationale", reason=reason)  # type: ignore[arg-type]  # any
    check(*READY, when=holding(*paths, because="We know it"), then=(refused,))


def test_an_acceptance_carries_what_was_shown() -> None:
    state = after(*READY, holding("src/**", actor=AGENT))
    assert state.offer.reach.by == "agent"
    refused = ClarificationChangeRefused(change="acknowledgement", reason="patch_changed")
    check(*READY, holding("src/**"), when=acknowledged(state.offer.patch), then=(refused,))


def test_a_model_offers_paths_where_none_were_said() -> None:
    offer = {"paths": ["src/db/**", "src/db/**"]}
    said = lead._reach_offered(after(*READY), offer)
    assert said == (ReachNoted(reach=Reach(("src/db/**",), "tell", "model")),)
    assert lead._reach_offered(after(*READY, holding("x")), offer) == ()
    wrong = {"fields": [], "paths": ["!src"]}
    (violation,) = lead._offer_violations(after(*READY), wrong)
    assert "/paths/0" in str(violation)
