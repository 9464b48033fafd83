"""What is shown of a clarification: progress, patch, missing information, status and record."""

from __future__ import annotations

from itertools import accumulate

from msgspec.structs import replace

from preflights_es.features.clarification.domain import WORKFLOW, views
from preflights_es.features.clarification.domain.events import (
    ClarificationAnswerAccepted,
    DecisionRecorded,
    PatchProposed,
)
from preflights_es.features.clarification.domain.evolve import evolve
from preflights_es.features.clarification.domain.record_content import record_from_state
from preflights_es.features.clarification.domain.state import ClarificationState, FoundCategory
from preflights_es.features.clarification.domain.values import (
    OTHER_OPTION,
    Category,
    DecisionPatch,
    Provenance,
)
from preflights_es.kernel import session as kernel
from preflights_es.kernel.events import Input, WrittenFile
from preflights_es.words.decisions import Record, RecordField, ShownQuestion
from preflights_es.words.questions import Option, Question
from tests.each import each
from tests.features.clarification.cases import (
    AGENT,
    CONFIG,
    FORMER,
    LATER,
    OAUTH,
    SCRIPT,
    UID,
    acknowledged,
    after,
    answered,
    config_of,
    declared,
    log,
    renumbered,
    revised,
    superseded,
    written,
)

READY = (declared("Add OAuth"), answered(auth_strategy="OAuth"))
ACCEPTED = (*READY, acknowledged())
STOPPED = (declared("Write docs", heuristics=config_of(Category("Docs", ("docs",)))),)
MOBILE = DecisionPatch("Other", (("Description", "Use Flutter"),))

REFUSED_BY_NOW = ClarificationAnswerAccepted(
    key="auth_strategy", answer="TBD", field="Strategy", value="TBD", source="custom"
)
"""As if the rule about placeholders were younger than the session."""

STRATEGIES = ("OAuth", "Email/Password", "Magic Link")


def of_former_rules(*later: Input) -> ClarificationState:
    """A session that accepted what today's rules refuse, and the Inputs after it, decided today."""
    patch = DecisionPatch("Authentication", (("Strategy", "TBD"),))
    events = [
        *log(declared("Add OAuth")),
        *(answered(auth_strategy="TBD"), REFUSED_BY_NOW, PatchProposed(patch=patch, hint="adr")),
    ]
    session = kernel.fold(WORKFLOW.decider, events)
    for new in later:
        for event in (new, *kernel.decide(WORKFLOW.decider, session, new)):
            session = kernel.evolve(WORKFLOW.decider, session, event)
    return session.state


# 1. Progress, missing information and patch --------------------------------------------------


@each(
    ("given", "progress", "missing", "patch"),
    [
        ((), 0.0, ("change_category",), None),
        ((declared(),), 0.0, ("change_category",), None),
        ((declared(), answered(change_category="")), 0.0, ("change_category",), None),
        ((declared(), answered(change_category="Infra")), 0.5, ("hosting",), None),
        ((declared(), answered(change_category="Mobile")), 0.5, ("description",), None),
        ((declared("Add OAuth"),), 0.5, ("auth_strategy",), None),
        ((declared("Add OAuth"), answered(auth_library="X")), 0.5, ("auth_strategy",), None),
        ((declared("Add OAuth"), answered(auth_strategy="TBD")), 0.5, ("auth_strategy",), None),
        (READY, 1.0, (), OAUTH),
        (ACCEPTED, 1.0, (), OAUTH),
        ((*READY, revised(change_category="Infra")), 0.5, ("hosting",), None),
        (STOPPED, 1.0, (), None),
        (
            (declared(), answered(change_category="Mobile"), answered(description="Use Flutter")),
            1.0,
            (),
            MOBILE,
        ),
    ],
)
def test_progress_missing_and_patch_follow_the_log(
    given: tuple[Input, ...], progress: float, missing: tuple[str, ...], patch: DecisionPatch | None
) -> None:
    view = views.view(after(*given))
    assert (view.progress, view.missing_info, view.patch) == (progress, missing, patch)


def test_the_views_are_of_any_beginning_of_a_log_and_say_what_it_recorded() -> None:
    events = log(*ACCEPTED)
    states = accumulate(events, evolve, initial=ClarificationState())
    found = [views.view(state).progress for state in states]
    assert found == [0.0, 0.0, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    recorded = views.view(kernel.fold(WORKFLOW.decider, events).state)
    assert (recorded.kind, recorded.decision_hint) == ("adr", "adr")
    was_task = [replace(e, kind="task") if isinstance(e, DecisionRecorded) else e for e in events]
    assert views.view(kernel.fold(WORKFLOW.decider, was_task).state).kind == "task"
    was = [replace(e, hint="task") if isinstance(e, PatchProposed) else e for e in log(*READY)]
    assert views.view(kernel.fold(WORKFLOW.decider, was).state).decision_hint == "task"


# 2. Status and view --------------------------------------------------------------------------


@each(
    ("given", "status"),
    [
        ((declared(),), "needs_answers"),
        ((declared("Add OAuth"),), "needs_answers"),
        (READY, "ready"),
        (STOPPED, "stopped"),
        ((*READY, acknowledged(actor=SCRIPT)), "proposed"),
        ((*READY, acknowledged(actor=AGENT)), "proposed"),
        (ACCEPTED, "accepted"),
        ((*ACCEPTED, superseded()), "superseded"),
        ((*STOPPED, acknowledged(None)), "accepted"),
        ((*READY, acknowledged(actor=SCRIPT), revised(auth_strategy="SAML")), "ready"),
        ((*READY, acknowledged(actor=SCRIPT), revised(change_category="Infra")), "needs_answers"),
        ((*READY, acknowledged(actor=SCRIPT), revised(auth_strategy="OAuth")), "proposed"),
        ((*READY, acknowledged(actor=SCRIPT), revised(auth_strategy="TBD")), "proposed"),
    ],
)
def test_one_word_says_where_a_clarification_stands(given: tuple[Input, ...], status: str) -> None:
    assert views.clarification_status(after(*given)) == status
    assert views.view(after(*given)).status == status


def test_an_answer_that_a_younger_rule_refuses_counts_as_it_was_recorded() -> None:
    patch = DecisionPatch("Authentication", (("Strategy", "TBD"),))
    for later, status in (((), "ready"), ((acknowledged(patch),), "accepted")):
        view = views.view(of_former_rules(*later))
        assert (view.status, view.progress, view.missing_info) == (status, 1.0, ())
        assert view.patch == patch
        assert view.provenance[-1].value == "TBD"
    view = views.view(of_former_rules(answered(auth_library="Authlib")))
    fields = (("Strategy", "TBD"), ("Library", "Authlib"))
    assert view.patch == DecisionPatch("Authentication", fields)


def test_a_view_says_all_of_an_open_session() -> None:
    assert views.view(after(declared("Add OAuth"))) == views.ClarificationView(
        status="needs_answers",
        intention="Add OAuth",
        uid=UID,
        questions=(
            Question(
                "auth_strategy",
                "single_choice",
                "Which authentication approach?",
                (*STRATEGIES, OTHER_OPTION),
            ),
        ),
        missing_info=("auth_strategy",),
        decision_hint="adr",
        progress=0.5,
        patch=None,
        provenance=(
            Provenance("change_category", "Category", "Authentication", "detected", "user"),
        ),
        kind="adr",
        number=None,
        turn=1,
        title="Add OAuth",
        to_do="answer the question",
        can_dismiss=True,
    )


def test_a_view_says_all_of_an_accepted_session() -> None:
    view = views.view(after(*ACCEPTED, written()))
    assert (view.status, view.questions, view.patch) == ("accepted", (), OAUTH)
    assert (view.kind, view.number, view.turn) == ("adr", 7, 2)
    assert view.written == WrittenFile("docs/decisions/0007-use-oauth-for-authentication.md", "00")
    assert views.view(after(*ACCEPTED, renumbered(8))).number == 8


def test_the_kind_follows_the_mark() -> None:
    given = (declared("Add an api", mark="task"), answered(api_style="REST"))
    rest = DecisionPatch("Backend", (("API_Style", "REST"),))
    assert views.view(after(*given)).kind == "task"
    assert views.view(after(*given, acknowledged(rest, mark="adr"))).kind == "adr"


def test_what_was_taken_out_and_an_edited_document_are_warned_of() -> None:
    one = after(declared(redacted=("key",)))
    assert views.view(one).warnings == ("1 secret was taken out before recording (key)",)
    more = after(declared(redacted=("key", "email", "key")))
    assert views.view(more).warnings == ("3 secrets were taken out before recording (key, email)",)
    assert views.view(after(declared())).warnings == ()
    (warning,) = views.view(after(*ACCEPTED, written(path="a.md.new", beside=True))).warnings
    assert warning == "the document was edited: the new text lies in a.md.new"


# 3. Provenance -------------------------------------------------------------------------------


def test_every_value_says_how_it_came_about_and_by_whom() -> None:
    state = after(
        declared("Add OAuth", actor=SCRIPT),
        answered(auth_strategy="Passkeys"),
        answered(AGENT, auth_library="Authlib"),
    )
    assert views.view(state).provenance == (
        Provenance("change_category", "Category", "Authentication", "detected", "script"),
        Provenance("auth_strategy", "Strategy", "Passkeys", "custom", "user"),
        Provenance("auth_library", "Library", "Authlib", "typed", "agent"),
    )


def test_an_explicit_category_replaces_the_detected_one_without_a_trace() -> None:
    state = after(declared("Add OAuth"), answered(change_category="Mobile"))
    assert views.view(state).provenance == (
        Provenance("change_category", "Category", "Mobile", "custom", "user"),
    )
    state = after(declared("Add OAuth"), answered(auth_strategy="TBD"))
    assert [found.key for found in views.view(state).provenance] == ["change_category"]
    state = after(*READY, revised(AGENT, auth_strategy="magic link"))
    assert views.view(state).provenance[-1] == Provenance(
        "auth_strategy", "Strategy", "Magic Link", "chosen", "agent"
    )
    assert len(views.view(state).provenance) == 2


# 4. Record -----------------------------------------------------------------------------------


def test_an_open_record_lists_what_was_asked_and_not_answered() -> None:
    record = record_from_state(after(declared("Add\n OAuth")))
    assert record == Record(
        uid=UID,
        session_id="",
        title="Add OAuth",
        intention="Add\n OAuth",
        status="open",
        missing=("Which authentication approach?",),
    )
    assert record_from_state(ClarificationState()).status == "open"
    assert (
        views.view(ClarificationState(found=FoundCategory(heuristics=CONFIG))).status
        == "needs_answers"
    )


def test_an_accepted_record_names_the_person_the_day_and_each_value() -> None:
    record = record_from_state(after(*ACCEPTED))
    assert record == Record(
        uid=UID,
        session_id="",
        title="Use OAuth for authentication",
        intention="Add OAuth",
        status="accepted",
        number=7,
        folder="docs/decisions",
        date="2026-09-21",
        decided_by="Ada Lovelace",
        category="Authentication",
        fields=(RecordField("Strategy", "OAuth", "chosen", "user"),),
        considered=("OAuth",),
        shown=(
            ShownQuestion(
                question="Which authentication approach?", options=tuple(map(Option, STRATEGIES))
            ),
        ),
    )


def test_a_proposed_record_names_no_decision_maker_and_is_open_again_once_revised() -> None:
    record = record_from_state(after(*READY, acknowledged(actor=AGENT)))
    assert (record.status, record.decided_by, record.proposed_by) == ("proposed", "", "agent")
    confirmed = record_from_state(after(*READY, acknowledged(actor=AGENT), acknowledged()))
    assert (confirmed.status, confirmed.decided_by) == ("accepted", "Ada Lovelace")
    assert confirmed.proposed_by is None
    record = record_from_state(
        after(*READY, acknowledged(actor=AGENT), revised(change_category="Infra"))
    )
    assert (record.status, record.proposed_by, record.date) == ("open", None, "")
    assert record.missing == ("Which hosting approach?",)


def test_a_superseded_record_says_by_what() -> None:
    given = (declared("Add OAuth", supersedes=FORMER), *ACCEPTED[1:], superseded())
    record = record_from_state(after(*given))
    assert (record.status, record.supersedes, record.superseded_by) == ("superseded", FORMER, LATER)
    assert record.decided_by == "Ada Lovelace"


def test_fields_of_one_name_in_two_categories_are_told_apart() -> None:
    state = after(
        declared("Add an api"),
        answered(AGENT, api_style="REST", backend_framework="Django"),
        revised(change_category="Frontend"),
        answered(frontend_framework="React"),
        revised(change_category="Backend"),
        answered(AGENT, api_style="REST", backend_framework="Django"),
    )
    framework = record_from_state(state).fields[1]
    assert framework == RecordField("Framework", "Django", "typed", "agent")
