"""What follows from each Input: given the Inputs before it, when one more comes, then this."""

from __future__ import annotations

from typing import Literal
from unicodedata import normalize

from msgspec.structs import replace

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.decide import accepting_by_mark, decide
from preflights_es.features.clarification.domain.events import (
    ClarificationAnswerAccepted,
    ClarificationAnswerRefused,
    ClarificationChangeRefused,
    ClarificationStopped,
    DecisionMarkedSuperseded,
    DecisionRecorded,
    PatchProposed,
    ScopeNoted,
)
from preflights_es.features.clarification.domain.rules import RecordKind
from preflights_es.features.clarification.domain.state import ClarificationState, is_terminal
from preflights_es.features.clarification.domain.values import (
    OTHER_OPTION,
    Category,
    DecisionPatch,
    Field,
    Resolved,
    Source,
)
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import CompletionReceived, CompletionRequested
from preflights_es.kernel.events import Actor, Decision, Input
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.kernel.text import SCOPE_MAX
from preflights_es.words.questions import GivenAnswer, RefusalReason
from tests.each import each
from tests.features.clarification.cases import (
    ADA,
    AGENT,
    FORMER,
    LATER,
    OAUTH,
    SCRIPT,
    acknowledged,
    after,
    answered,
    asked,
    check,
    config_of,
    declared,
    due,
    reference_renumbered,
    renumbered,
    revised,
    superseded,
)
from tests.filed_cases import filed_cases
from tests.fixed import NOON

FILED = filed_cases(__file__)

READY = (declared("Add OAuth"), answered(auth_strategy="OAuth"))
ACCEPTED = (*READY, acknowledged())
STOPPED = (declared("Write docs", heuristics=config_of(Category("Docs", ("docs",)))),)
DUE = due("0007-use-oauth-for-authentication.md")
AGAIN = due("0007-use-oauth-for-authentication.md", call="artifact-2")
PROPOSED = PatchProposed(patch=OAUTH, hint="adr")


def proposed(category: str, hint: RecordKind | Literal["unsure"], **fields: str) -> PatchProposed:
    return PatchProposed(patch=DecisionPatch(category, tuple(fields.items())), hint=hint)


def recorded(
    status: Literal["accepted", "proposed"], kind: RecordKind, number: int | None
) -> DecisionRecorded:
    return DecisionRecorded(status=status, kind=kind, number=number)


def no(key: str, reason: RefusalReason) -> ClarificationAnswerRefused:
    return ClarificationAnswerRefused(key=key, reason=reason)


def accepted(
    key: str, answer: str, field: str, value: str, source: Source, *, other: str | None = None
) -> ClarificationAnswerAccepted:
    return ClarificationAnswerAccepted(
        key=key, answer=answer, field=field, value=value, source=source, other=other
    )


@each(("option", "typed"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_an_answer_is_an_option_however_its_accents_are_typed(
    option: Literal["NFC", "NFD"], typed: Literal["NFC", "NFD"]
) -> None:
    offered, said = normalize(option, "Zürich"), normalize(typed, "zürich")
    field = Field("Site", "site", "Which site?", (offered,))
    config = config_of(Category("Site", ("sites",), field))
    taken = accepted("site", said, "Site", offered, "chosen")
    proposed = PatchProposed(patch=DecisionPatch("Site", (("Site", offered),)), hint="task")
    check(
        declared("Our sites", heuristics=config), when=answered(site=said), then=(taken, proposed)
    )


def test_what_is_said_with_the_intention_is_told_to_the_model() -> None:
    lead = Setup("0.1.0", WORKFLOW.decider.version, lead=Lead("script", "model-1"))
    said = (GivenAnswer("change_category", ("Infra",)),)
    first = replace(declared("Add OAuth"), setup=lead, answers=said)
    *_, taken, request = decide(ClarificationState(), first)
    assert taken == accepted("change_category", "Infra", "Category", "Infra", "chosen")
    assert isinstance(request, CompletionRequested)
    assert "Topic: Infra (chosen by" in request.messages[1].content


def test_a_scope_at_its_limit_may_have_accents() -> None:
    scope = normalize("NFD", "ü" * SCOPE_MAX)
    noted = ScopeNoted(scope=normalize("NFC", scope))
    (given, *_) = decide(after(*READY), answered(auth_strategy__scope=scope))
    assert given == noted


def refused(change: str, reason: str) -> tuple[Decision, ...]:
    made = ClarificationChangeRefused(change=change, reason=reason)  # type: ignore[arg-type]  # words of a table
    return (made,)


def category(
    label: str, value: str | None = None, source: Source = "chosen"
) -> ClarificationAnswerAccepted:
    return accepted("change_category", label, "Category", value or label, source)


def folded(*given: Input) -> ClarificationState:
    """What the Inputs fold to, but for who came last and with what."""
    state = after(*given)
    return replace(state, turns=replace(state.turns, input=None))


STRATEGY = accepted("auth_strategy", "OAuth", "Strategy", "OAuth", "chosen")


# 1. Opening ----------------------------------------------------------------------------------


@each("given", [(declared(),), READY, ACCEPTED, STOPPED, (*READY, acknowledged(actor=SCRIPT))])
def test_a_second_intention_changes_nothing(given: tuple[Input, ...]) -> None:
    second = declared("Add a database for the api")
    check(*given, when=second, then=refused("input", "not_expected"))
    check(*given, when=given[0], then=refused("input", "not_expected"))
    assert folded(*given, second) == folded(*given)


# 2. Answering --------------------------------------------------------------------------------


def test_an_answer_is_followed_by_the_next_question_or_the_patch() -> None:
    check(
        declared(),
        when=answered(change_category="database"),
        then=(category("database", "Database"), asked("Database", 2)),
    )
    check(
        declared("Add OAuth"),
        when=answered(auth_strategy=" oauth "),
        then=(accepted("auth_strategy", "oauth", "Strategy", "OAuth", "chosen"), PROPOSED),
    )
    check(
        declared(),
        answered(change_category="Frontend"),
        when=answered(frontend_framework="Elm"),
        then=(
            accepted("frontend_framework", "Elm", "Framework", "Elm", "custom"),
            proposed("Frontend", "task", Framework="Elm"),
        ),
    )
    check(
        declared("Add OAuth"),
        when=answered(change_category="Infra"),
        then=(category("Infra"), asked("Infra", 1)),
    )
    library = accepted("auth_library", "Authlib", "Library", "Authlib", "typed")
    check(declared("Add OAuth"), when=answered(auth_library="Authlib"), then=(library,))
    state = after(declared("Add OAuth"), answered(auth_library="Authlib"))
    assert (state.turns.question, state.turns.turn) == (asked("Authentication", 1).question, 1)


def test_several_answers_at_once_are_judged_category_first_and_use_the_open_question_only() -> None:
    check(
        declared(),
        when=answered(
            auth_strategy="OAuth", auth_library="Authlib", change_category="Authentication"
        ),
        then=(
            category("Authentication"),
            STRATEGY,
            accepted("auth_library", "Authlib", "Library", "Authlib", "typed"),
            proposed("Authentication", "adr", Strategy="OAuth", Library="Authlib"),
        ),
    )
    state = after(declared(), answered(change_category="Authentication", auth_strategy="OAuth"))
    assert state.turns.turn == 2


# 2.1 Other -----------------------------------------------------------------------------------


# 2.2 Refusals --------------------------------------------------------------------------------


@each(
    ("answers", "key", "reason"),
    [
        *FILED["what_is_no_answer_is_refused_and_uses_no_turn"],
        ({"auth_strategy": OTHER_OPTION}, "auth_strategy", "other_needs_text"),
        ({"change_category": OTHER_OPTION}, "change_category", "other_needs_text"),
    ],
)
def test_what_is_no_answer_is_refused_and_uses_no_turn(
    answers: dict[str, str | tuple[str, ...]], key: str, reason: RefusalReason
) -> None:
    given = declared("Add OAuth")
    check(given, when=answered(**answers), then=(no(key, reason),))
    assert folded(given, answered(**answers)) == folded(given)


@each(
    ("text", "counts"),
    [
        *(("1", False), ("x", False), ("[x]", False), ("&&", False), ("\x1b[A", False)),
        *(("R", True), ("C#", True), ("茶", True)),
    ],
)
def test_a_slip_of_a_key_is_no_decision(text: str, *, counts: bool) -> None:
    given = (declared("Make it calmer"), answered(change_category="Other"))
    assert (folded(*given, answered(description=text)) == folded(*given)) is not counts


def test_an_unknown_key_is_refused_with_those_that_are_known() -> None:
    keys = ("change_category", "auth_strategy", "auth_library")
    check(
        declared("Add OAuth"),
        when=answered(db_type="MySQL", auth_strategy="OAuth", nonsense__other="x"),
        then=(
            ClarificationAnswerRefused(key="db_type", reason="unknown_question", expected=keys),
            STRATEGY,
            ClarificationAnswerRefused(key="nonsense", reason="unknown_question", expected=keys),
            PROPOSED,
        ),
    )
    check(
        declared(),
        when=answered(auth_strategy="OAuth"),
        then=(
            ClarificationAnswerRefused(
                key="auth_strategy", reason="unknown_question", expected=("change_category",)
            ),
        ),
    )


def test_a_key_twice_an_answered_one_and_none_are_refused() -> None:
    once, again = answered(auth_strategy="OAuth"), answered(auth_strategy="SAML")
    check(
        declared("Add OAuth"),
        when=replace(once, answers=(*once.answers, *again.answers)),
        then=(no("auth_strategy", "several_values"),),
    )
    check(
        *READY,
        when=answered(auth_strategy="Magic Link", change_category="Infra"),
        then=(no("change_category", "already_answered"), no("auth_strategy", "already_answered")),
    )
    empty = (no("", "blank"),)
    for given in ((declared(),), READY, STOPPED):
        check(*given, when=answered(), then=empty)
        check(*given, when=revised(), then=empty)


def test_after_the_acceptance_no_answer_is_taken() -> None:
    check(
        *ACCEPTED,
        when=answered(auth_library="Authlib", auth_strategy__other="x"),
        then=(no("auth_library", "closed"), no("auth_strategy__other", "closed")),
    )
    for empty in (answered(), revised()):
        check(*ACCEPTED, when=empty, then=(no("", "closed"),))
    check(*ACCEPTED, when=revised(auth_strategy="SAML"), then=(no("auth_strategy", "closed"),))


# 2.3 Revision --------------------------------------------------------------------------------


def test_a_revision_replaces_an_answer_and_proposes_what_is_new() -> None:
    check(
        *READY,
        when=revised(auth_strategy="magic link"),
        then=(
            accepted("auth_strategy", "magic link", "Strategy", "Magic Link", "chosen"),
            proposed("Authentication", "adr", Strategy="Magic Link"),
        ),
    )
    same = accepted("auth_strategy", "OAUTH", "Strategy", "OAuth", "chosen")
    check(*READY, when=revised(auth_strategy="OAUTH"), then=(same,))
    check(declared("Add OAuth"), when=revised(auth_strategy="OAuth"), then=(STRATEGY, PROPOSED))
    check(*READY, when=revised(auth_strategy="TBD"), then=(no("auth_strategy", "placeholder"),))
    assert after(*READY, revised(auth_strategy="TBD")).offer.patch == OAUTH
    given = (declared("Add OAuth"), answered(auth_strategy__other="Passkeys"))
    assert after(*given).turns.answers == {"auth_strategy": Resolved("Passkeys", "custom")}
    then = after(*given, revised(auth_strategy="OAuth"))
    assert then.turns.answers == {"auth_strategy": Resolved("OAuth", "chosen")}


def test_a_new_category_drops_the_answers_of_the_former_one() -> None:
    check(
        *READY,
        when=revised(change_category="Database"),
        then=(category("Database"), asked("Database", 2)),
    )
    state = after(*READY, revised(change_category="Database"))
    assert (state.offer.patch, state.turns.question) == (None, asked("Database", 2).question)
    check(
        *READY,
        revised(change_category="Database"),
        when=answered(db_type="MySQL"),
        then=(
            accepted("db_type", "MySQL", "Type", "MySQL", "chosen"),
            proposed("Database", "adr", Type="MySQL"),
        ),
    )


TURNS_USED = (
    declared(),
    answered(change_category="Infra"),
    answered(hosting="Cloud"),
    revised(change_category="Database"),
    answered(db_type="MySQL"),
)


def test_after_three_turns_nothing_is_asked_and_answers_are_still_taken() -> None:
    assert after(*TURNS_USED).turns.turn == 4
    check(
        *TURNS_USED,
        when=revised(change_category="Frontend"),
        then=(category("Frontend"), ClarificationStopped(reason="turns_used")),
    )
    stopped = (*TURNS_USED, revised(change_category="Frontend"))
    check(*stopped, when=revised(change_category="Backend"), then=(category("Backend"),))
    check(
        *TURNS_USED,
        revised(change_category="Frontend"),
        when=answered(frontend_framework="React"),
        then=(
            accepted("frontend_framework", "React", "Framework", "React", "chosen"),
            proposed("Frontend", "task", Framework="React"),
        ),
    )
    check(
        *TURNS_USED,
        when=revised(change_category="Frontend", styling="Tailwind"),
        then=(
            category("Frontend"),
            accepted("styling", "Tailwind", "Styling", "Tailwind", "typed"),
            proposed("Frontend", "task", Styling="Tailwind"),
        ),
    )


def test_what_stopped_for_want_of_a_question_asks_the_next_category() -> None:
    docs = Category("Docs", ("docs",))
    tools = Category("Tools", primary=Field("Tool", "tool", "Which tool?"))
    opened = declared("Write docs", heuristics=config_of(docs, tools))
    state = after(opened, revised(change_category="Tools"))
    assert (state.offer.stopped, state.turns.turn) == ("", 1)
    assert state.turns.question == tools.fields()[0].asked()


# 3. Acknowledging ----------------------------------------------------------------------------


def test_a_person_accepts_the_patch_as_a_record_once_and_with_a_number() -> None:
    check(*READY, when=acknowledged(number=7), then=(recorded("accepted", "adr", 7), DUE))
    check(
        *READY,
        acknowledged(actor=SCRIPT),
        when=acknowledged(),
        then=(recorded("accepted", "adr", 7), AGAIN),
    )
    for actor in (ADA, SCRIPT):
        check(
            *ACCEPTED,
            when=acknowledged(actor=actor),
            then=refused("acknowledgement", "already_accepted"),
        )
    check(*READY, when=acknowledged(number=None), then=refused("acknowledgement", "number_missing"))


@each("actor", [SCRIPT, AGENT])
def test_a_script_or_an_agent_only_proposes_and_once(actor: Actor) -> None:
    check(*READY, when=acknowledged(actor=actor), then=(recorded("proposed", "adr", 7), DUE))
    assert not is_terminal(after(*READY, acknowledged(actor=actor)))
    check(
        *READY,
        acknowledged(actor=SCRIPT),
        when=acknowledged(actor=actor),
        then=refused("acknowledgement", "already_proposed"),
    )


def test_nothing_is_accepted_while_a_question_is_open_or_for_a_stop() -> None:
    for patch in (None, OAUTH):
        check(
            declared("Add OAuth"),
            when=acknowledged(patch),
            then=refused("acknowledgement", "question_open"),
        )
    check(*STOPPED, when=acknowledged(OAUTH), then=refused("acknowledgement", "patch_changed"))


@each(
    "shown",
    [
        None,
        DecisionPatch("Authentication", (("Strategy", "SAML"),)),
        DecisionPatch("Authentication", (*OAUTH.fields, ("Library", "Authlib"))),
        DecisionPatch("Authentication"),
    ],
)
def test_what_was_shown_must_be_what_is_proposed(shown: DecisionPatch | None) -> None:
    check(*READY, when=acknowledged(shown), then=refused("acknowledgement", "patch_changed"))


def test_the_mark_of_the_acknowledgement_wins_and_nothing_decided_is_a_task() -> None:
    rest = DecisionPatch("Backend", (("API_Style", "REST"),))
    given = (declared("Add an api", mark="task"), answered(api_style="REST"))
    check(
        *given,
        when=acknowledged(rest, number=None),
        then=(
            recorded("accepted", "task", None),
            due("0123456789ab-use-rest-for-the-api.md", "task"),
        ),
    )
    check(
        *given,
        when=acknowledged(rest, number=3, mark="adr"),
        then=(recorded("accepted", "adr", 3), due("0003-use-rest-for-the-api.md")),
    )
    assert accepting_by_mark(after(*given), {}).kind == "task"
    assert accepting_by_mark(after(*given), {"mark": "adr"}).kind == "adr"
    check(
        *STOPPED,
        when=acknowledged(None, number=None, mark="adr"),
        then=(recorded("accepted", "task", None), due("0123456789ab-write-docs.md", "task")),
    )


def test_a_revision_or_a_stop_voids_what_a_script_accepted() -> None:
    proposed = (*READY, acknowledged(actor=SCRIPT))
    saml = DecisionPatch("Authentication", (("Strategy", "SAML"),))
    assert after(*proposed, revised(auth_strategy="SAML")).standing.acknowledgement is None
    assert after(*proposed, revised(change_category="Infra")).standing.acknowledgement is None
    check(
        *proposed,
        revised(auth_strategy="SAML"),
        when=acknowledged(saml, actor=AGENT, number=7),
        then=(
            recorded("proposed", "adr", 7),
            due("0007-use-saml-for-authentication.md", call="artifact-2"),
        ),
    )
    mysql = DecisionPatch("Database", (("Type", "MySQL"),))
    given = (*TURNS_USED, acknowledged(mysql, actor=SCRIPT), revised(change_category="Frontend"))
    assert after(*given).standing.acknowledgement is None


# 4. The document and later changes -----------------------------------------------------------


def test_a_superseded_decision_is_written_again_once() -> None:
    check(*ACCEPTED, when=superseded(), then=(DecisionMarkedSuperseded(), AGAIN))
    state = after(*ACCEPTED, superseded())
    assert state.standing.superseded_by == LATER
    assert is_terminal(state)
    check(
        *ACCEPTED,
        superseded(),
        when=superseded(FORMER),
        then=refused("supersession", "already_superseded"),
    )
    assert after(*ACCEPTED, superseded(), superseded(FORMER)).standing.superseded_by == LATER


@each("given", [(declared("Add OAuth"),), READY, (*READY, acknowledged(actor=SCRIPT)), STOPPED])
def test_only_an_accepted_decision_is_superseded(given: tuple[Input, ...]) -> None:
    check(*given, when=superseded(), then=refused("supersession", "not_accepted"))
    assert after(*given, superseded()).standing.superseded_by is None


def test_a_new_number_renames_the_record_that_has_one() -> None:
    check(
        *ACCEPTED,
        when=renumbered(8),
        then=(due("0008-use-oauth-for-authentication.md", call="artifact-2"),),
    )
    assert after(*ACCEPTED, renumbered(8)).filed.number == 8
    proposed = (*READY, acknowledged(actor=SCRIPT))
    check(
        *proposed,
        when=renumbered(8),
        then=(due("0008-use-oauth-for-authentication.md", call="artifact-2"),),
    )
    react = DecisionPatch("Frontend", (("Framework", "React"),))
    accepted_as = acknowledged(react, mark="task")
    task = (declared("A ui"), answered(frontend_framework="React"), accepted_as)
    for given in ((declared(),), READY, task):
        check(*given, when=renumbered(8), then=refused("renumbering", "not_accepted"))
        assert after(*given, renumbered(8)).filed.number is None


def test_a_related_record_s_new_number_is_written_and_an_unrelated_one_refused() -> None:
    related = (
        declared("Add OAuth", supersedes=FORMER),
        answered(auth_strategy="OAuth"),
        acknowledged(),
    )
    again = (AGAIN,)
    check(*related, when=reference_renumbered(FORMER.uid, 4), then=again)
    assert after(*related, reference_renumbered(FORMER.uid, 4)).standing.supersedes == replace(
        FORMER, number=4
    )
    state = after(*related, superseded(), reference_renumbered(LATER.uid, 5))
    assert (state.standing.supersedes, state.standing.superseded_by) == (
        FORMER,
        replace(LATER, number=5),
    )
    assert state.filed.number == 7, "its own number stays"
    for given in (READY, ACCEPTED, (declared("Add OAuth", supersedes=FORMER),)):
        uid = FORMER.uid if given is not ACCEPTED else "unknown"
        check(*given, when=reference_renumbered(uid, 4), then=refused("renumbering", "not_related"))


# 5. What no branch names ---------------------------------------------------------------------


def test_an_input_of_another_workflow_is_refused() -> None:
    strange = CompletionReceived(at=NOON, actor=SCRIPT, call="c-1", text="{}")
    assert decide(ClarificationState(), strange) == refused("input", "not_expected")


@each(
    "new",
    [answered(), answered(change_category="Infra"), acknowledged(), superseded(), renumbered(1)],
)
def test_a_session_that_begins_with_anything_is_decided(new: Input) -> None:
    assert kernel.decide(WORKFLOW.decider, kernel.begin(WORKFLOW.decider), new)
