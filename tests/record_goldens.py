"""Records the golden sessions anew: `python -m tests.record_goldens [NAME...]`.

A golden is recorded again only in a commit that says why; without names only those that do not
exist yet are written. Time, ids and salts are counted, so that a recording is reproducible.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import isfunction
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from preflights_es.features.clarification.clarifications import Clarifications
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    ClarificationAnswersGiven,
    DecisionAcknowledged,
    DecisionForModel,
    DecisionKept,
    DecisionKeptBeside,
    DecisionSuperseded,
    FiledAsTask,
    IntentionDeclared,
    KnownLine,
    RationaleGiven,
    ReplacementChosen,
    TopicDismissed,
)
from preflights_es.features.clarification.domain.lead import written_question_response
from preflights_es.features.clarification.domain.pack import NO_TABLES, STANDARD
from preflights_es.features.clarification.domain.simulation import BANK
from preflights_es.features.clarification.domain.state import ClarificationState, title_of
from preflights_es.features.clarification.domain.values import (
    Category,
    DecisionPatch,
    Field,
    Heuristics,
    HeuristicsConfig,
    LLMContext,
    Mark,
)
from preflights_es.kernel import ids
from preflights_es.kernel.errors import SessionFaulted
from preflights_es.kernel.events import (
    Actor,
    ArtifactDue,
    ArtifactWritten,
    Decision,
    Evidence,
    Input,
    InputQuarantined,
    Signature,
    SourceSession,
)
from preflights_es.kernel.lead import Lead, Setup, StepRetried
from preflights_es.kernel.ports import Provider
from preflights_es.providers.base import GivenProvider
from preflights_es.providers.faults import FaultConfig
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.records.documents import Documents
from preflights_es.redaction.patterns import KINDS
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.inputs import Inputs
from preflights_es.runtime.performer import PROGRAM
from preflights_es.runtime.runner import Handle, ProposedInput, Runner, Step
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.store import jsonl
from preflights_es.store.memory import MemoryStore
from preflights_es.testing import Reply, ScriptedProvider
from preflights_es.use.leads import simulated
from preflights_es.use.use_cases import NewSession
from preflights_es.words.decisions import (
    Choice,
    Evolution,
    OlderDecision,
    RecordForm,
    RejectedAlternative,
    Related,
    Resolution,
)
from preflights_es.words.items import ItemRef
from preflights_es.words.questions import (
    EvidenceLines,
    GivenAnswer,
    Observed,
    Option,
    Recommended,
    WrittenQuestion,
    written_question,
)
from preflights_es.words.simulation import GENERATION
from preflights_es.words.workflow import Workflow
from tests.scripted import asks
from tests.signing.house import REPOSITORY
from tests.toy import altered

FOLDER = Path(__file__).parent.parent / "replays"
ADA = Actor("user", "Ada Lovelace")
CLAUDE = Actor("agent", "claude")
BEGAN = 1_790_000_000_000_000  # microseconds: 2026-09-21


class Recorder:
    """A project of its own, with a clock and ids that count."""

    def __init__(self, root: Path) -> None:
        ticks = count(BEGAN, 1_000_000)
        numbers = count(1)
        salts = count(1)
        self.store = MemoryStore(lambda: next(ticks), lambda: next(salts).to_bytes(16, "big"))
        self.root = root
        self.workflows = dict(WORKFLOWS)
        self.runner = Runner(
            self.store,
            self.workflows,
            lambda: next(ticks),
            lambda: ids.uuid7(BEGAN // 1000, (next(numbers) * 7_919).to_bytes(10, "big")),
            sanitizer=Sanitizer(KINDS),
        )
        self.documents = Documents(
            self.runner,
            root,
            ("docs/decisions", "docs/tasks"),
            is_tracked=lambda path: "sso" not in path,
        )
        self.form = RecordForm()
        self.order: list[str] = []
        self.asked: Provider = SimLLMProvider(0, bank=BANK)

    def by(self, actor: Actor = ADA, project: str = "golden") -> Clarifications:
        """The project as one actor meets it."""
        folders = {"adr": "docs/decisions", "task": "docs/tasks"}
        inputs = Inputs(self.runner, project, lambda: actor)
        return Clarifications(inputs, self.documents, folders, form=lambda _: self.form)

    def start(
        self,
        intention: str,
        heuristics: Heuristics | HeuristicsConfig | None = None,
        *,
        actor: Actor = ADA,
        mark: Mark = "",
        supersedes: str | None = None,
        context: LLMContext | None = None,
    ) -> Handle:
        step = self.by(actor).open(
            NewSession(intention, mark=mark, supersedes=supersedes),
            Setup(preflights="0.1.0", decider=WORKFLOW.decider.version),
            heuristics
            if isinstance(heuristics, Heuristics)
            else Heuristics(heuristics or HeuristicsConfig()),
            context=context,
        )
        self.order.append(step.handle.session_id)
        return step.handle

    def led(
        self,
        intention: str,
        seed: int,
        faults: str = "none",
        *,
        strict: bool = False,
        actor: Actor = ADA,
    ) -> Handle:
        """A session that the simulator leads, as far as its first question."""
        lead = Lead("sim", "simllm/1", (("seed", str(seed)), ("faults", faults)), strict)
        self.asked = SimLLMProvider(seed, FaultConfig.parsed(faults), BANK)
        setup = Setup("0.1.0", WORKFLOW.decider.version, "sim", lead=lead)
        step = self.by(actor).open(NewSession(intention), setup, Heuristics(HeuristicsConfig()))
        self.order.append(step.handle.session_id)
        return self.settled(step.handle)

    def scripted(self, intention: str, *replies: Reply) -> Handle:
        """A session that a model leads which says this in turn, as far as its first question."""
        self.asked = ScriptedProvider(*replies)
        setup = Setup("0.1.0", WORKFLOW.decider.version, "script", lead=Lead("script", "model-1"))
        step = self.by().open(NewSession(intention), setup, Heuristics(HeuristicsConfig()))
        self.order.append(step.handle.session_id)
        return self.settled(step.handle)

    def opened(self, first: Input, workflow: Workflow[Any] = WORKFLOW) -> Handle:
        """A session that begins with an Input, as far as its first question."""
        session_id, input_id = self.runner.new_session_id("golden"), self.runner.new_id()
        step = self.runner.open(workflow, "golden", first, session_id, input_id)
        self.order.append(session_id)
        return self.settled(step.handle)

    def submitted(self, handle: Handle, new: Input) -> Handle:
        """After an Input as it is, which no use case would make so."""
        return self.runner.submit(handle, new, self.runner.new_id()).handle

    def settled(self, handle: Handle) -> Handle:
        """After every completion that the session asks for."""
        return asyncio.run(self.runner.settle(handle, self.asked)).handle

    def answer(self, handle: Handle, **answers: str | list[str]) -> Handle:
        return self.answer_all(handle, answers)

    def revise(self, handle: Handle, **answers: str | list[str]) -> Handle:
        return self.answer_all(handle, answers, revise=True)

    def answer_all(
        self, handle: Handle, answers: Mapping[str, str | list[str]], *, revise: bool = False
    ) -> Handle:
        given = [(k, (v,) if isinstance(v, str) else tuple(v)) for k, v in answers.items()]
        return self.by().answer(handle, given, revise=revise).handle

    def why(
        self, handle: Handle, because: str, *more: str, replaces: bool = False, **others: str
    ) -> Handle:
        named = tuple(RejectedAlternative(name, why_not) for name, why_not in others.items())
        said = {"because": because, "consequences": more, "alternatives": named}
        given = {**said, "replaces": replaces}
        step = self.by().submitted(handle, RationaleGiven, given)
        return self.documents.finish(step.handle)

    def accept(
        self, handle: Handle, actor: Actor = ADA, *, mark: Mark = "", expect: int | None = None
    ) -> Handle:
        step = self.by(actor).accept(handle.session_id, mark=mark, expect=expect)
        return self.documents.finish(step.handle)

    def related(self, handle: Handle) -> Related:
        """A decision, as others name it."""
        state = handle.session.state
        return Related(state.opened.uid, title_of(state), state.filed.number, handle.session_id)

    def accept_beside(self, handle: Handle, *chosen: tuple[Handle, Evolution, str]) -> Handle:
        """Accept with what becomes of older decisions; one with a reason is kept."""

        def complete(first: ProposedInput) -> ProposedInput:
            resolved = tuple(_resolution(*one) for one in chosen)
            return replace(first, input=replace(first.input, resolved=resolved))

        said = {"mark": ""}
        step = self.by().acknowledged(
            *(handle.session_id, DecisionAcknowledged, said),
            by=None,
            expect=None,
            complete=complete,
        )
        handle = self.documents.finish(step.handle)
        self.documents.finish_pending("golden")
        return handle

    def lines(self) -> bytes:
        return jsonl.encode_event_file(
            e for session_id in self.order for e in self.store.read(session_id)
        )


def _resolution(old: Handle, evolution: Evolution, reason: str) -> Resolution:
    state: ClarificationState = old.session.state
    assert state.offer.patch is not None
    assert state.standing.acknowledgement is not None, "it is accepted"
    finding = OlderDecision(
        related=Related(state.opened.uid, title_of(state), state.filed.number, old.session_id),
        category=state.offer.patch.category,
        fields=state.offer.patch.fields,
        accepted_at=state.standing.acknowledgement.at,
        evolution=evolution,
        source=SourceSession(old.session_id, old.version, old.hash.hex()),
    )
    choice: Choice = "keeps" if reason else "supersedes"
    return Resolution(finding=finding, choice=choice, reason=reason)


def keyword_skips_the_generic_question(r: Recorder) -> None:
    handle = r.answer(r.start("Add OAuth login"), auth_strategy="oauth")
    r.accept(handle)


def two_phases_without_a_keyword(r: Recorder) -> None:
    handle = r.answer(r.start("Keep what customers order"), change_category="Database")
    r.accept(r.answer(handle, db_type="mysql"))


def other_is_a_first_class_path(r: Recorder) -> None:
    handle = r.start("Sign users in without a password, with authn")
    r.accept(r.answer(handle, auth_strategy="Other (specify)", auth_strategy__other="  Passkeys "))


def other_without_text_leaves_the_question_open(r: Recorder) -> None:
    handle = r.answer(r.start("Deploy the shop"), hosting="Other (specify)")
    handle = r.answer(handle, hosting__other="Bare metal in the cellar")
    r.accept(handle)


def other_category_asks_for_a_description(r: Recorder) -> None:
    handle = r.answer(r.start("Make invoices legal in Italy"), change_category="Other")
    r.accept(r.answer(handle, description="Send every invoice through the SdI"))


def an_unknown_label_is_filed_under_other(r: Recorder) -> None:
    handle = r.answer(r.start("Make the numbers add up"), change_category="Accounting")
    r.accept(r.answer(handle, description="Round half to even, everywhere"), mark="adr")


def specified_category_leads_to_the_description(r: Recorder) -> None:
    handle = r.start("Tidy up the release notes")
    handle = r.answer(
        handle, change_category="Other (specify)", change_category__other="Documentation"
    )
    r.answer(handle, description="One file a release")


def refused_answers_use_no_turn(r: Recorder) -> None:
    handle = r.start("Choose a database")
    for value in ("", "   ", "TBD", "n/a", "???", "to be decided"):
        handle = r.answer(handle, db_type=value)
    handle = r.answer(handle, db_type=["PostgreSQL", "MySQL"])
    handle = r.answer(handle, no_such_question="yes")
    r.answer(handle, db_type=["PostgreSQL"])


def a_second_answer_needs_a_revision(r: Recorder) -> None:
    handle = r.answer(r.start("Choose a database"), db_type="PostgreSQL")
    handle = r.answer(handle, db_type="MySQL")
    handle = r.revise(handle, db_type="MongoDB")
    r.accept(handle)


def secondary_fields_are_taken_when_given(r: Recorder) -> None:
    handle = r.start("A new UI for the shop")
    r.accept(r.answer(handle, styling="Tailwind", frontend_framework="svelte"))


def everything_in_one_input(r: Recorder) -> None:
    handle = r.start("Rebuild the thing")
    r.answer(handle, ci_cd="Actions", hosting="Cloud", change_category="infra")


def the_category_is_revised(r: Recorder) -> None:
    handle = r.answer(r.start("An API for partners"), api_style="REST")
    handle = r.revise(handle, change_category="Database")
    handle = r.answer(handle, db_type="SQLite")
    r.accept(handle)


def an_explicit_category_wins_over_the_keyword(r: Recorder) -> None:
    handle = r.answer(r.start("A login component"), change_category="Frontend")
    r.answer(handle, frontend_framework="Vue")


def the_turns_are_used_up(r: Recorder) -> None:
    handle = r.answer(r.start("Something with an API"), api_style="gRPC")
    handle = r.revise(handle, change_category="Infra")
    handle = r.answer(handle, hosting="Serverless")
    handle = r.revise(handle, change_category="Database")
    handle = r.revise(handle, change_category="Frontend")
    r.accept(handle)
    handle = r.start("Something else")
    for category, key in (("Database", "db_type"), ("Infra", "hosting"), ("Backend", "api_style")):
        handle = r.revise(handle, change_category=category)
        handle = r.answer(handle, **{key: "Our own"})
    r.revise(handle, change_category="Frontend")


def a_local_backend_change_is_a_task(r: Recorder) -> None:
    handle = r.answer(r.start("Split the backend service", mark="task"), api_style="REST")
    r.accept(handle)


def a_script_proposes_and_a_person_confirms(r: Recorder) -> None:
    bot = Actor("script", "nightly")
    handle = r.answer(r.start("Move to postgres", actor=bot), db_type="PostgreSQL")
    handle = r.accept(handle, bot)
    handle = r.accept(handle, bot)
    r.accept(handle)


def a_proposal_is_revised_before_a_person_accepts(r: Recorder) -> None:
    handle = r.answer(r.start("Move to postgres"), db_type="PostgreSQL")
    handle = r.accept(handle, Actor("agent", "coder"))
    handle = r.revise(handle, db_type="MySQL")
    r.accept(handle)


def one_decision_supersedes_another(r: Recorder) -> None:
    first = r.accept(r.answer(r.start("Choose a database"), db_type="MySQL"))
    second = r.start("Choose a database that scales", supersedes=first.session.state.opened.uid)
    step = r.by().accept(r.answer(second, db_type="PostgreSQL").session_id)
    r.documents.finish(step.handle)
    r.documents.finish_pending("golden")
    # Two sessions that race to replace the same decision: the later one is refused in the log.
    by = Related("0123456789ab", "Choose again", 3, "")
    late = DecisionSuperseded(at=r.runner.now(), actor=ADA, by=by)
    r.runner.submit(r.runner.load(first.session_id), late, r.runner.new_id())


def a_contradiction_is_kept(r: Recorder) -> None:
    first = r.accept(r.answer(r.start("Keep orders in a database"), db_type="PostgreSQL"))
    second = r.answer(r.start("Store carts in a database"), db_type="MySQL")
    reason = "The carts team runs MySQL already"
    kept = r.accept_beside(second, (first, "contradict", reason))
    r.documents.finish(r.by().renumber(kept, 12).handle)
    uid = kept.session.state.opened.uid
    told = r.by().renumber_reference(r.runner.load(first.session_id), uid, 12)
    r.documents.finish(told.handle)
    third = r.answer(r.start("Keep logs in a database"), db_type="SQLite")
    r.accept_beside(third, (r.runner.load(first.session_id), "exception", "Logs are apart"))


def a_decision_in_force_is_kept(r: Recorder) -> None:
    first = r.accept(r.start("Use Kafka for the domain events, because replay matters", BY_PACK))
    again = r.start("Keep the events in a queue", BY_PACK)
    again = r.answer(again, message_broker__scope="domain event", message_broker="kafka")
    done = first.session.state.standing.acknowledgement
    said = {"kept": r.related(first), "since": done.at, "source": first.source}
    kept = r.by().submitted(again, DecisionKept, said).handle
    r.submitted(kept, RationaleGiven(at=r.runner.now(), actor=ADA, because="Late"))
    other = r.start("Use NATS for telemetry", BY_PACK)
    r.accept(r.answer(other, message_broker__scope="telemetry of trucks"))
    newer = r.start("Use NATS for the domain events", BY_PACK)
    said = {"replaces": r.related(first), "source": first.source}
    r.accept(r.by().submitted(newer, ReplacementChosen, said).handle)


def what_no_topic_covers_is_a_record_or_a_task(r: Recorder) -> None:
    first = r.answer(r.start("Make it faster", BY_PACK), description="Cache pages in Redis")
    instead = (RejectedAlternative("Varnish", "one more service"),)
    said = {"because": "The database is slow", "alternatives": instead}
    r.accept(r.by().submitted(first, RationaleGiven, said).handle)
    task = r.start("Make it rounder", BY_PACK)
    filed = r.accept(r.by().submitted(task, FiledAsTask, {}).handle)
    r.submitted(filed, FiledAsTask(at=r.runner.now(), actor=ADA))  # it is accepted already
    again = r.by().submitted(r.start("Make it calmer", BY_PACK), FiledAsTask, {})
    r.answer(again.handle, description="Fewer colours")  # it is a task all the same
    menu = r.start("Which queue do we need?", BY_PACK)
    dismissed = r.by().submitted(menu, TopicDismissed, {}).handle
    late = TopicDismissed(at=r.runner.now(), actor=ADA)  # no menu is open any more
    own = r.runner.submit(dismissed, late, r.runner.new_id()).handle
    done = r.accept(r.answer(own, description="Import by hand"))
    r.runner.submit(done, FiledAsTask(at=r.runner.now(), actor=ADA), r.runner.new_id())


def an_update_supersedes_two(r: Recorder) -> None:
    first = r.accept(r.answer(r.start("Keep orders in a database"), db_type="PostgreSQL"))
    second = r.answer(r.start("Store carts in a database"), db_type="MySQL")
    second = r.accept_beside(second, (first, "contradict", "Carts are another service"))
    first = r.runner.load(first.session_id)
    third = r.answer(r.start("Replace PostgreSQL and MySQL by one database"), db_type="SQLite")
    r.accept_beside(third, (first, "update", ""), (second, "update", ""))
    # A decision that was superseded meanwhile is kept beside nothing.
    by = Related("0123456789ab", "Use MongoDB for the database", 4, "")
    late = DecisionKeptBeside(at=r.runner.now(), actor=ADA, by=by, reason="Only for logs")
    r.runner.submit(r.runner.load(first.session_id), late, r.runner.new_id())


def a_record_is_renumbered(r: Recorder) -> None:
    first = r.accept(r.answer(r.start("Choose a database"), db_type="MySQL"))
    second = r.start("Choose a database that scales", supersedes=first.session.state.opened.uid)
    step = r.by().accept(r.answer(second, db_type="PostgreSQL").session_id)
    r.documents.finish(step.handle)
    r.documents.finish_pending("golden")
    handle = r.runner.load(second.session_id)
    r.documents.finish(r.by().renumber(handle, 12).handle)
    related = r.runner.load(first.session_id)
    told = r.by().renumber_reference(related, handle.session.state.opened.uid, 12)
    r.documents.finish(told.handle)
    r.by().renumber_reference(r.runner.load(first.session_id), "ffffffffffff", 13)


def records_have_the_form_of_their_folder(r: Recorder) -> None:
    r.form = RecordForm("ADR-YYYY-", 3, "_", ".markdown", "", "nygard.v1")
    first = r.accept(r.answer(r.start("Choose a database"), db_type="MySQL"))
    second = r.start("Choose a database that scales", supersedes=first.session.state.opened.uid)
    second = r.accept(r.answer(second, db_type="PostgreSQL"))
    r.documents.finish_pending("golden")
    moved = r.documents.finish(r.by().renumber(second, 12).handle)
    assert moved.view.written is not None
    said = (moved.session.state.opened.uid, 12, moved.view.written.path)
    told = r.by().renumber_reference(r.runner.load(first.session_id), *said)
    r.documents.finish(told.handle)


def a_task_of_a_note_is_decided(r: Recorder) -> None:
    note = SourceSession("01a0c0de-0000-7000-8000-000000000001", 2, "5a" * 32)
    step = r.by().open(
        NewSession("Add login to the shop"),
        Setup(preflights="0.1.0", decider=WORKFLOW.decider.version),
        Heuristics(HeuristicsConfig()),
        item=ItemRef(1, note),
    )
    r.order.append(step.handle.session_id)
    r.accept(r.answer(step.handle, auth_strategy="OAuth"))


def a_proposal_is_rejected(r: Recorder) -> None:
    for auth in ("OAuth", "SSO", "JWT"):
        handle = r.accept(r.answer(r.start("Add login"), auth_strategy=auth), actor=CLAUDE)
        if auth == "JWT":
            handle = r.revise(handle, auth_strategy="Passkeys")
        closed = r.by().abandon(handle, "" if auth == "JWT" else "not worth it").handle
        assert bool(r.documents.finish(closed).view.written) == (auth != "SSO")


def an_abandoned_session(r: Recorder) -> None:
    handle = r.start("Try something with docker")
    closed = r.by().abandon(handle, "not worth it").handle
    late = ArtifactWritten(at=r.runner.now(), actor=PROGRAM, call="artifact-1", path="x", sha256="")
    closed = r.submitted(closed, late)
    for new in (
        StepRetried(at=r.runner.now(), actor=ADA),
        InputQuarantined(at=r.runner.now(), actor=ADA, version=1),
    ):
        closed = r.submitted(closed, new)
    r.submitted(
        r.start("Try something else with docker"),
        InputQuarantined(at=r.runner.now(), actor=ADA, version=1),
    )


def an_input_that_could_not_be_decided(r: Recorder) -> None:
    def broken(state: ClarificationState, new: Input) -> tuple[Decision, ...]:
        if type(new).__name__ == "ClarificationAnswersGiven":
            message = "a bug of the past"
            raise ValueError(message)
        return WORKFLOW.decider.decide(state, new)

    r.workflows[WORKFLOW.name] = altered(WORKFLOW, decide=broken)
    handle = r.start("Add a jwt")
    handle = replace(handle, workflow=r.workflows[WORKFLOW.name])
    try:
        r.answer(handle, auth_strategy="OAuth")
    except SessionFaulted:
        faulted = r.runner.load(handle.session_id)
        r.by().abandon(faulted, force=True)


def a_person_edited_the_document(r: Recorder) -> None:
    handle = r.answer(r.start("Move to postgres"), db_type="PostgreSQL")
    handle = r.accept(handle, Actor("script"))
    (path,) = (r.root / "docs" / "decisions").iterdir()
    path.write_text("my own words\n")
    r.accept(handle)


def a_document_is_written_twice(r: Recorder) -> None:
    handle = r.answer(r.start("Add SSO"), auth_strategy="Magic Link")
    step = r.by().accept(handle.session_id)
    due = step.decisions[-1]
    assert isinstance(due, ArtifactDue), "a document is due"
    r.documents.finish(step.handle)
    late = ArtifactWritten(
        at=r.runner.now(), actor=PROGRAM, call=due.call, path=due.path, sha256="00"
    )
    r.runner.submit(r.runner.load(handle.session_id), late, r.runner.new_id())


def accepting_too_early_and_too_often(r: Recorder) -> None:
    handle = r.start("Choose a database")
    handle = r.by().accept(handle.session_id).handle
    handle = r.answer(handle, db_type="PostgreSQL")
    other = DecisionPatch("Database", (("Type", "MySQL"),))
    now = r.runner.now()
    stale = DecisionAcknowledged(at=now, actor=ADA, patch=other, folder="docs/decisions", number=1)
    handle = r.runner.submit(handle, stale, r.runner.new_id()).handle
    handle = r.accept(handle)
    again = replace(stale, patch=handle.session.state.offer.patch)
    r.runner.submit(handle, again, r.runner.new_id())


BY_PACK = Heuristics(NO_TABLES, STANDARD)


def what_the_intention_states_is_not_asked(r: Recorder) -> None:
    r.accept(r.start("Migrate from MySQL to PostgreSQL", BY_PACK))
    handle = r.start("We build it in Vue; how do people sign in?", BY_PACK)
    r.accept(r.answer(handle, auth_strategy="magic link"))


def named_values_are_the_first_options(r: Recorder) -> None:
    handle = r.start("Pick a cache for the product details, maybe redis", BY_PACK)
    r.accept(r.answer(handle, caching="Redis"))


def a_german_intention_is_asked_in_german(r: Recorder) -> None:
    handle = r.start("Suchmaschine f\u00fcr die Artikel ausw\u00e4hlen", BY_PACK)
    r.accept(r.answer(handle, search_engine="meilisearch"))
    oven = Category("Oven", ("ofen",), Field("Kind", "oven", "Welcher Ofen?", ("Gas", "Strom")))
    own = Heuristics(HeuristicsConfig(categories=(oven,), menu=()), STANDARD)
    r.answer(r.start("Einen Ofen kaufen", own), oven="Gas")


def a_team_has_its_own_tables(r: Recorder) -> None:
    payments = Category(
        "Payments",
        ("stripe", "invoice", "invoices"),
        Field("Provider", "payment_provider", "Which payment provider?", ("Stripe", "Adyen")),
        (Field("Currency", "currency"),),
        "structural",
    )
    silent = Category("Chores", ("chore",))
    config = HeuristicsConfig(categories=(payments, silent), menu=("Payments", "Chores"))
    handle = r.start("Send invoices", config, context=LLMContext("3 files", ("stripe",), "a shop"))
    r.accept(r.answer(handle, payment_provider="adyen", currency="EUR"))
    r.accept(r.start("A chore", config))
    shop = Field("Shops", "shops", "Which shops?", ("Bern", "Z\u00fcrich"), "multi_choice")
    config = HeuristicsConfig(categories=(Category("Shops", ("shops",), shop),), menu=())
    r.answer(r.start("Open the shops", config), shops=["Bern", "zu\u0308rich"])


def secrets_never_reach_the_log(r: Recorder) -> None:
    handle = r.start("Use the password=hunter2horse! for postgres, ask ada@example.com")
    r.answer(handle, db_type="PostgreSQL at postgres://ada:s3cr3tpw@db.example/shop")


def text_from_everywhere(r: Recorder) -> None:
    handle = r.start("إضافة تسجيل الدخول\nwith a login\t\u200fand # no --- heading\n## Forged: <b>")
    r.answer(handle, auth_strategy="Other (specify)", auth_strategy__other="数字证书 | `x` *y* 🚀")


def a_model_leads(r: Recorder) -> None:
    handle = r.led("Keep orders safe", 8)
    question = handle.session.state.turns.question
    r.accept(r.settled(r.answer_all(handle, {question.id: question.options[0]})))


def a_model_words_the_question_and_reads_a_second_field(r: Recorder) -> None:
    handle = r.led("Keep orders in postgres with Prisma", 28)
    question = handle.session.state.turns.question
    r.settled(r.answer_all(handle, {question.id: "My own way"}))


def a_model_asks_again_reads_a_value_or_asks_nothing(r: Recorder) -> None:
    """Three questions of which two follow an answer; what is said; and nothing to decide."""
    more = {**asks("Database", "Which database?", "PostgreSQL", "SQLite"), "more": True}
    tenants = {**asks("Tenancy", "One schema for each shop?", "Yes", "No"), "more": True}
    ended = {"outcome": "nothing", "reason": "The answer settles it."}
    fields = (("Type", "PostgreSQL"), ("Tenancy", "Yes"))
    patch = {"category": "Database", "fields": [{"name": n, "value": v} for n, v in fields]}
    handle = r.scripted("Keep the orders of our shops", more, tenants, ended, patch)
    handle = r.settled(r.answer_all(handle, {"db_type": "PostgreSQL"}))
    r.accept(r.settled(r.answer_all(handle, {"custom.tenancy": "yes"})))
    quote = "on Redis then"
    said = {"outcome": "said", "topic": "Caching", "value": "Redis", "quote": quote}
    patch = {"category": "Other", "fields": [{"name": "Caching", "value": "Redis"}]}
    handle = r.scripted("Pages are cached, on Redis then, since it is there", said, patch)
    r.accept(r.settled(r.answer_all(handle, {"custom.caching": "Redis"})))
    r.scripted("Rename the button", {"outcome": "nothing", "reason": "It is a small task."})


def a_model_is_asked_once_more(r: Recorder) -> None:
    for seed in range(4):
        r.led("Add login", seed, "malformed=0.5,timeout=0.2")


def a_model_fails_and_the_rules_go_on(r: Recorder) -> None:
    r.accept(r.answer(r.led("Add login", 1, "error=1"), auth_strategy="OAuth"))


def a_strict_session_is_retried(r: Recorder) -> None:
    handle = r.led("Add login", 1, "rate_limit=1", strict=True)
    r.settled(r.by().resume(handle).handle)


def an_agent_chose_the_category(r: Recorder) -> None:
    handle = r.led("Make it nicer", 0, actor=CLAUDE)
    r.settled(r.by(CLAUDE).answer(handle, [("change_category", ("Infra",))]).handle)


def an_agent_writes_the_question(r: Recorder) -> None:
    """With all that a good question has; a person chooses another option, and it is relayed."""
    written = WrittenQuestion(
        "Which cache keeps the search fast?",
        (
            Option("Memcached", "A cache and nothing else.", "A second server to run."),
            Option("Redis", "The sessions use it.", "It holds data that must not be evicted."),
        ),
        "Caching",
        Recommended("Redis", "sessions use it"),
        why="Every page waits for the search.",
        scope="search",
        consequences=("The search depends on the sessions' server.",),
        evidence=(EvidenceLines("app/search.py", "12-40"),),
    )
    r.asked = GivenProvider("agent", written_question_response(written))
    lead = Lead("agent", "claude-code 2.1", (("sha256", "00"),))
    setup = Setup("0.1.0", WORKFLOW.decider.version, "agent", lead=lead)
    step = r.by(CLAUDE).open(
        NewSession("Speed up the search"), setup, Heuristics(HeuristicsConfig())
    )
    r.order.append(step.handle.session_id)
    handle = r.settled(step.handle)
    given = [("custom.caching", ("Memcached",))]
    handle = r.by(CLAUDE).answer(handle, given, relays=True).handle
    r.accept(r.accept(handle, CLAUDE))


def an_agent_asked_elsewhere(r: Recorder) -> None:
    """A question that a person answered in the agent, and one that timed out there."""
    written = written_question("Which broker?", ("RabbitMQ", "Kafka"), "Broker")
    r.asked = GivenProvider("agent", written_question_response(written))
    setup = Setup(
        "0.1.0", WORKFLOW.decider.version, "agent", lead=Lead("agent", "claude-code 2.1.300")
    )
    seen = Observed(
        channel="hook",
        agent="claude-code",
        agent_version="2.1.300",
        conversation="c-1",
        call="toolu_1",
        outcome="answered",
    )
    elsewhere = (
        *(("hook", "empty"), ("hook", "denied"), ("tool", "typed")),
        *(("hook", "by_hook"), ("hook", "unattended"), ("hook", "several")),
    )
    for observed in (
        seen,
        replace(seen, call="toolu_1/2", outcome="timed_out"),
        *(
            replace(seen, call=f"toolu_{n}", channel=channel, outcome=outcome)
            for n, (channel, outcome) in enumerate(elsewhere, 2)
        ),
    ):
        own = r.by(CLAUDE)
        step = own.open(
            NewSession(written.question), setup, Heuristics(HeuristicsConfig()), observed=observed
        )
        r.order.append(step.handle.session_id)
        handle = r.settled(step.handle)
        if observed.outcome == "answered":
            handle = own.answer(handle, [("custom.broker", ("Kafka",))], relays=True).handle
            r.accept(r.accept(handle, CLAUDE))


def somebody_else_takes_over(r: Recorder) -> None:
    """Another seed; and in a second session the rules."""
    handle = r.led("Keep orders safe", 8)
    lead = Lead("sim", "simllm/1", (("seed", "8"), ("faults", "none")))
    handle = r.by().led_by(handle, lead, WORKFLOW.led.prompts).handle
    r.asked = SimLLMProvider(8, bank=BANK)
    handle = r.settled(r.revise(handle, change_category="Frontend"))
    question = handle.session.state.turns.question
    r.accept(r.settled(r.answer_all(handle, {question.id: "Svelte"})))
    waits = r.led("Add login", 1, "rate_limit=1", strict=True)
    r.accept(r.answer(r.by().led_by(waits, None).handle, auth_strategy="OAuth"))


def a_decision_says_why(r: Recorder) -> None:
    """A reason that holds no more, one that is refused, and one of a proposal."""
    handle = r.answer(r.start("Keep what customers order in a database"), db_type="mysql")
    handle = r.why(handle, "The team runs it", MariaDB="it brings no gain")
    handle = r.revise(handle, db_type="PostgreSQL")
    handle = r.accept(handle, Actor("script"))
    handle = r.why(handle, "TBD")
    handle = r.why(handle, "It runs here already", "Backups come with it", SQLite="one writer")
    r.accept(handle)


def a_decision_holds_at_paths(r: Recorder) -> None:
    """Said by a script, refused, said anew and accepted; and one that only asks."""
    handle = r.answer(r.start("Keep what customers order in a database"), db_type="mysql")
    said = {"paths": ("src/db/**", "*.sql"), "hold": "deny"}
    handle = r.by(Actor("script")).submitted(handle, RationaleGiven, said).handle
    handle = r.accept(handle, Actor("script"))
    for paths in (("!src",), tuple(f"src/{n}" for n in range(21)), ("db/**", "db/**")):
        handle = r.by().submitted(handle, RationaleGiven, {"paths": paths}).handle
    r.accept(r.documents.finish(handle))
    other = r.answer(r.start("Log in with OAuth"))
    r.accept(r.by().submitted(other, RationaleGiven, {"hold": "ask"}).handle)


def a_model_says_why_and_a_person_edits_it(r: Recorder) -> None:
    for seed in (7, 4):
        handle = r.led("Keep orders safe", seed)
        question = handle.session.state.turns.question
        handle = r.settled(r.answer_all(handle, {question.id: question.options[0]}))
    r.accept(r.why(handle, "We know it", replaces=True))


def an_intention_comes_with_what_is_known(r: Recorder) -> None:
    """To a model: answers, a scope, decisions in force. By rules: facts, records, a signature."""
    first = r.accept(r.answer(r.start("Keep orders in a database"), db_type="PostgreSQL"))
    done = first.session.state.standing.acknowledgement
    line = KnownLine(
        line="ADR-0001 Use PostgreSQL for the database",
        kept=replace(r.related(first), path="docs/decisions/0001.md"),
        since=done.at,
        is_here=True,
        source=first.source,
        path="docs/decisions/0001.md",
        values=("PostgreSQL",),
        turned_down="MySQL",
    )
    patch = first.session.state.offer.patch
    known = DecisionForModel(
        "Use PostgreSQL", patch, first.source, scope="orders", because="It is here"
    )
    led = IntentionDeclared(
        at=r.runner.now(),
        actor=ADA,
        intention="Keep what customers like",
        project="golden",
        uid="0123456789ab",
        setup=Setup(
            *("0.1.0", WORKFLOW.decider.version, "script"),
            lead=Lead("script", "model-1", structured=True),
            candidates=(("clarify", "Ask about the database."),),
        ),
        heuristics=HeuristicsConfig(),
        known=(known,),
        mark="adr",
        scope="carts",
        told=(line,),
        answers=(GivenAnswer("change_category", ("Database",)),),
    )
    chosen = {"category": "Database", "fields": [{"name": "Type", "value": "SQLite"}]}
    replies = asks("Database", "Which one?", "SQLite", "MySQL"), {**chosen, "paths": ["db/**"]}
    r.asked = ScriptedProvider(*replies)
    r.settled(r.answer(r.opened(led), db_type="SQLite"))
    context = LLMContext("", ("PostgreSQL: psycopg in pyproject.toml",), "")
    handle = r.start("Keep orders in a database", BY_PACK, context=context)
    handle = r.answer(handle, db_type="SQLite")
    handle = r.by().submitted(handle, RationaleGiven, {"paths": ("db/**",), "hold": "tell"}).handle
    state: ClarificationState = handle.session.state
    r.submitted(
        handle,
        DecisionAcknowledged(
            at=r.runner.now(),
            actor=ADA,
            patch=state.offer.patch,
            folder="docs/decisions",
            number=2,
            evidence=Evidence(way="browser"),
            reach=state.offer.reach,
            signature=Signature("{}", "A" * 16, "A" * 16, REPOSITORY),
        ),
    )


def what_does_not_fit_a_decision_changes_nothing(r: Recorder) -> None:
    handle = r.start("Choose a database")
    handle = r.answer(handle, db_type="not sure", db_type__scope="every order " * 12)
    for new in (
        DecisionSuperseded(at=r.runner.now(), actor=ADA, by=Related("0123456789ab", "No", 4, "")),
        StepRetried(at=r.runner.now(), actor=ADA),
    ):
        handle = r.submitted(handle, new)
    handle = r.answer(handle, db_type="MySQL")
    handle = r.by().submitted(handle, RationaleGiven, {}).handle
    names = tuple(RejectedAlternative(f"Database {n}", "") for n in range(50))
    for one in (names[:25], names[25:]):
        handle = r.by().submitted(handle, RationaleGiven, {"alternatives": one}).handle
    unnumbered = DecisionAcknowledged(
        at=r.runner.now(),
        actor=ADA,
        patch=handle.session.state.offer.patch,
        folder="docs/decisions",
    )
    done = r.accept(r.submitted(handle, unnumbered))
    late = (GivenAnswer("db_type", ("SQLite",)),)
    r.submitted(done, ClarificationAnswersGiven(at=r.runner.now(), actor=ADA, answers=late))


def recorded(golden: Callable[[Recorder], None]) -> bytes:
    """The lines of one golden, from an empty project."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        golden(recorder)
        return recorder.lines()


def sim(seed: int = 0, faults: str = "none", *, strict: bool = False) -> Lead:
    """The simulator."""
    return Lead("sim", GENERATION, (("seed", str(seed)), ("faults", faults)), strict)


def inputs(r: Recorder) -> Inputs:
    """Ada's, each step settled by the lead of its session."""

    def settled(step: Step) -> Step:
        lead = step.handle.workflow.led.lead(step.handle.session.state)
        if lead is None:
            return step
        after = asyncio.run(r.runner.settle(step.handle, simulated(lead)))
        return Step(after.handle, step.decisions)

    return Inputs(r.runner, "golden", lambda: ADA, settle=settled)


def taking(module: ModuleType, *types: str) -> list[Callable[[Any], Any]]:
    """The functions of a module that take and give these types alone, in their order."""
    found = [one for one in vars(module).values() if isfunction(one)]
    own = [one for one in found if one.__module__ == module.__name__]
    return [one for one in own if [*one.__annotations__.values()] == [*types]]


def every() -> dict[Path, Callable[[Recorder], None]]:
    """By the file that each is recorded in: the functions of `record_*.py` that take a recorder."""
    paths = sorted(Path(__file__).parent.glob("record_*.py"))
    modules = [import_module(f"tests.{path.stem}") for path in paths]
    return {
        FOLDER / module.WORKFLOW.name / f"{golden.__name__}.jsonl": golden
        for module in modules
        for golden in getattr(module, "GOLDENS", taking(module, "Recorder", "None"))
    }


def main(names: list[str]) -> None:
    """Write what is missing, and what is named."""
    for path, golden in every().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or golden.__name__ in names or "--all" in names:
            path.write_bytes(recorded(golden))
            print(path.name, path.read_bytes().count(b"\n") - 1, "events")


if __name__ == "__main__":
    main(sys.argv[1:])
