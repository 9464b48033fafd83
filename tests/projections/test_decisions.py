"""Every patch of a session, and where each value came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.clarification.domain.events import (
    ClarificationQuestionAsked,
    PatchProposed,
)
from preflights_es.kernel.completions import CompletionReceived
from preflights_es.kernel.events import Actor, Input
from preflights_es.kernel.ports import Head, Stored, Stream
from preflights_es.projections.decisions import (
    accepted_at,
    decode_patch_row,
    filter_decisions_in_force,
    fold_decision_rows,
)
from preflights_es.projections.projection import Read
from preflights_es.projections.sessions import fold_session_rows as session_rows
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store.sql import SqlStore
from preflights_es.use.process import build_projection_reader
from preflights_es.words.decisions import DecidedPatch, Origin
from preflights_es.words.questions import Answers
from tests.projections.given import following, recorded
from tests.projections.recording import golden, goldens
from tests.store.given import sql


def read(events: Sequence[Stored]) -> Read:
    """A session as projections see it."""
    last = events[-1]
    head = Head(last.session_id, last.project, last.workflow, last.version, last.hash)
    return build_projection_reader().read(Stream(head, tuple(events)))


def decided(name: str, number: int = 0) -> tuple[DecidedPatch, ...]:
    """The patches of a golden session."""
    return read(golden(name)[number]).patches


def origins(patch: DecidedPatch) -> dict[str, Origin]:
    """By field."""
    return {origin.field: origin for origin in patch.origins}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(sql(tmp_path)) as made:
        yield made


# 1. Patches ----------------------------------------------------------------------------------


def test_a_keyword_and_an_answer_are_where_a_decision_comes_from() -> None:
    session = read(golden("keyword_skips_the_generic_question")[0])
    (patch,) = session.patches
    assert (patch.standing, patch.kind, patch.category) == ("accepted", "adr", "Authentication")
    category, strategy = patch.origins
    assert (category.field, category.source, category.input, category.asked) == (
        *("Category", "detected", 1),
        None,
    )
    assert (strategy.field, strategy.source) == ("Strategy", "chosen")
    assert strategy.asked is not None
    asked, answered = session.events[strategy.asked - 1], session.events[strategy.input - 1]
    assert isinstance(asked, ClarificationQuestionAsked)
    assert asked.question.id == strategy.key
    assert isinstance(answered, Answers)
    assert strategy.by == answered.actor
    assert patch.acknowledged_by is not None
    assert patch.acknowledged_by.kind == "user"
    assert accepted_at(patch) == patch.acknowledged_at
    assert patch.written is not None


def test_what_a_model_read_is_the_models_and_what_it_asked_was_answered_by_a_person() -> None:
    session = read(golden("a_model_leads")[0])
    patch = session.patches[-1]
    found = origins(patch)
    read_by_model = [o for o in found.values() if o.source == "suggested"]
    assert read_by_model
    for origin in read_by_model:
        assert origin.by == Actor("agent")
        assert origin.response is not None
        assert isinstance(session.events[origin.response - 1], CompletionReceived)
    answered = [o for o in found.values() if o.asked is not None]
    assert answered
    for origin in answered:
        assert origin.by.kind != "agent"
        assert origin.response is not None, "the model worded the question"
        assert origin.response < (origin.asked or 0)


def test_a_proposal_of_a_script_is_not_accepted_until_a_person_confirms() -> None:
    whole = golden("a_script_proposes_and_a_person_confirms")[0]
    standings = []
    for upto in range(1, len(whole) + 1):
        found = read(whole[:upto]).patches
        if found:
            standings.append((found[-1].standing, accepted_at(found[-1]) is not None))
    seen = list(dict.fromkeys(standings))
    assert seen == [("ready", False), ("proposed", False), ("accepted", True)]


def test_a_patch_that_was_revised_stays_as_replaced_and_its_value_comes_from_the_revision() -> None:
    found = decided("a_proposal_is_revised_before_a_person_accepts")
    assert len(found) > 1
    assert {patch.standing for patch in found[:-1]} == {"replaced"}
    assert found[-1].standing == "accepted"
    assert found[0].fields != found[-1].fields
    session = read(golden("a_proposal_is_revised_before_a_person_accepts")[0])
    former, last = session.patches[0], session.patches[-1]
    changed = [name for name, value in last.fields if dict(former.fields).get(name) != value]
    for name in changed:
        assert origins(last)[name].input > former.version


def test_supersession_is_seen_from_both_sides() -> None:
    sessions = golden("one_decision_supersedes_another")
    former, later = (read(events).patches[-1] for events in sessions)
    if former.standing != "superseded":
        former, later = later, former
    assert former.standing == "superseded"
    assert former.superseded_by is not None
    assert former.superseded_by.uid == later.uid
    assert former.superseded_at is not None
    assert accepted_at(former) is not None
    assert later.supersedes is not None
    assert later.supersedes.uid == former.uid
    assert later.standing == "accepted"


def test_what_was_given_up_or_came_to_nothing_is_no_decision() -> None:
    for events in golden("an_abandoned_session"):
        assert all(patch.standing in ("abandoned", "replaced") for patch in read(events).patches)
    assert decided("an_unknown_label_is_filed_under_other")[-1].category == "Accounting"
    for events in goldens():
        session = read(events)
        if session.workflow.filed.decided is None:
            assert session.patches == ()


def test_every_patch_of_every_golden_session_is_what_its_log_says() -> None:
    for events in goldens():
        session = read(events)
        proposed = [
            (n, event)
            for n, event in enumerate(session.events, 1)
            if isinstance(event, PatchProposed)
        ]
        found = session.patches
        assert [patch.version for patch in found] == [n for n, _ in proposed]
        for patch, (_, event) in zip(found, proposed, strict=True):
            assert patch.fields == event.patch.fields
            values = {origin.field: origin.value for origin in patch.origins}
            assert dict(patch.fields).items() <= values.items()
            # In place of `Other` stands the label that a person gave, or the question's topic.
            own = (values.get("Category"), patch.fields[0][0])
            assert patch.category in (event.patch.category, *own)
            for origin in patch.origins:
                assert origin.input < origin.version <= patch.version
                assert origin.asked is None or origin.asked < origin.input
        if found:
            view: Any = session.workflow.shown.view(session.sessions[-1].state)
            if session.sessions[-1].state.offer.patch is not None:
                assert [o.field for o in found[-1].origins] == [p.field for p in view.provenance]
                spoke = [p.relayed_by.kind if p.relayed_by else p.by for p in view.provenance]
                heard = [
                    "model" if o.source == "suggested" else o.by.kind for o in found[-1].origins
                ]
                assert heard == spoke


@given(st.sampled_from(goldens()), st.integers(1, 60))
def test_a_session_cut_anywhere_has_rows(events: Sequence[Stored], upto: int) -> None:
    session = read(events[:upto])
    assert not session.trouble
    first = session.events[0]
    for row in fold_decision_rows(session):
        found = decode_patch_row(_row(row)).decided
        assert isinstance(first, Input)
        assert found.asked_by == first.actor
        assert found in session.patches
    ((_, _, _, status, *_),) = session_rows(session)
    assert status


def _row(row: tuple[Any, ...]) -> dict[str, Any]:
    names = ("session_id", "version", "project", "uid", "standing", "category", "accepted_at")
    return dict(zip((*names, "superseded_at", "decided"), row, strict=True))


# 2. On a day ---------------------------------------------------------------------------------


def test_of_a_moment_is_told_what_was_in_force_then_and_nothing_later(store: SqlStore) -> None:
    recorded(store, golden("one_decision_supersedes_another"))
    kept = list(following(store).rows("decisions", None))
    former = next(row for row in kept if row["superseded_at"] is not None)
    later = next(row for row in kept if row["superseded_at"] is None)
    began, ended = former["accepted_at"], former["superseded_at"]

    def standing(at: int | None) -> list[str]:
        return [one.decided.uid for one in filter_decisions_in_force(kept, at)]

    assert standing(began - 1) == []
    assert standing(began) == [former["uid"]]
    assert standing(later["accepted_at"] - 1) == [former["uid"]]
    assert standing(ended) == [later["uid"]]
    assert standing(None) == [later["uid"]]
    (one,) = filter_decisions_in_force(kept, former["accepted_at"])
    assert one.decided.standing == "accepted"
    assert one.decided.superseded_by is None
    assert one.decided.superseded_at is None


def test_a_moment_has_the_number_and_the_document_that_it_had(store: SqlStore) -> None:
    sessions = golden("a_record_is_renumbered")
    recorded(store, sessions)
    kept = list(following(store).rows("decisions", None))
    seen = set()
    for events in sessions:
        for upto in range(1, len(events) + 1):
            state = read(events[:upto]).sessions[-1].state
            # Of several events of one Input, the last is what stands at its time.
            if upto < len(events) and events[upto].input_id is None:
                continue
            for one in filter_decisions_in_force(kept, state.turns.input.at):
                if one.decided.uid == state.opened.uid:
                    assert one.decided.number == state.filed.number
                    assert one.decided.written == state.filed.written
                    assert one.decided.supersedes == state.standing.supersedes
                    assert one.decided.former == ()
                    seen.add((state.opened.uid, state.filed.number, state.filed.written))
    assert len(seen) > len(sessions), "some of it changed"


def test_a_proposal_is_never_in_force(store: SqlStore) -> None:
    whole = golden("a_script_proposes_and_a_person_confirms")[0]
    proposed = next(
        whole[:upto]
        for upto in range(1, len(whole) + 1)
        if [p.standing for p in read(whole[:upto]).patches] == ["proposed"]
    )
    recorded(store, [proposed])
    kept = list(following(store).rows("decisions", None))
    assert [row["standing"] for row in kept] == ["proposed"]
    assert list(filter_decisions_in_force(kept)) == []
    assert list(filter_decisions_in_force(kept, 2**62)) == []


def test_only_workflows_that_decide_have_decisions() -> None:
    assert {name for name, one in WORKFLOWS.items() if one.filed.decided} == {"clarification"}
