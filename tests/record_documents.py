"""Writes the records of real-looking sessions anew: `python -m tests.record_documents`.

They stand as whole files in `tests/records/documents`, for people to read.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from preflights_es.features.clarification.clarifications import Clarifications
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import FiledAsTask, RationaleGiven
from preflights_es.features.clarification.domain.lead import written_question_response
from preflights_es.features.clarification.domain.pack import NO_TABLES, STANDARD
from preflights_es.features.clarification.domain.values import Heuristics, LLMContext, Mark
from preflights_es.kernel.errors import LLMAPIError
from preflights_es.kernel.events import Actor
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.providers.base import GivenProvider
from preflights_es.runtime.finder import Finder
from preflights_es.runtime.inputs import Inputs
from preflights_es.runtime.runner import Handle
from preflights_es.testing import Reply, ScriptedProvider
from preflights_es.use.use_cases import NewSession
from preflights_es.words.decisions import EXCEPTION, RejectedAlternative
from preflights_es.words.questions import EvidenceLines, Option, Recommended, WrittenQuestion
from tests.record_goldens import Recorder, taking
from tests.scripted import asks

FOLDER: Final = Path(__file__).parent / "records" / "documents"
MODEL: Final = "claude-opus-4-1"
ADA, JOERG = Actor("user", "Ada Lovelace"), Actor("user", "Jörg Müller")
CLAUDE, NIGHTLY = Actor("agent", "claude-code 2.1"), Actor("script", "nightly")
SHOP: Final = LLMContext(
    file_summary="Python, TypeScript",
    technology_signals=(
        "PostgreSQL: psycopg in pyproject.toml",
        "Redis: redis in compose.yaml",
        "Celery: celery in pyproject.toml",
    ),
    architecture_summary="A shop for bicycle parts.",
)


class Team(Recorder):
    """A project with today's rules and topics, whose people and agents take decisions."""

    def begin(
        self,
        intention: str,
        *,
        by: Actor = ADA,
        scope: str = "",
        mark: Mark = "",
        context: LLMContext | None = None,
        supersedes: str | None = None,
        lead: Lead | None = None,
    ) -> Handle:
        setup = Setup("0.1.0", WORKFLOW.decider.version, lead.provider if lead else "", lead=lead)
        step = self.by(by).open(
            NewSession(intention, scope=scope, mark=mark, supersedes=supersedes),
            setup,
            Heuristics(NO_TABLES, STANDARD),
            context=context,
        )
        return self.settled(step.handle)

    def asked_by_model(
        self, intention: str, *replies: Reply, context: LLMContext | None = None
    ) -> Handle:
        """As far as the first question of a model that says this in turn."""
        self.asked = ScriptedProvider(*replies)
        return self.begin(intention, context=context, lead=Lead("anthropic", MODEL))

    def written(self, intention: str, question: WrittenQuestion, by: Actor) -> Handle:
        """As far as the question that an agent or a person wrote."""
        self.asked = GivenProvider("agent", written_question_response(question))
        lead = Lead("agent", by.name) if by.kind == "agent" else Lead("person", "")
        return self.begin(intention, by=by, lead=lead)

    def says(self, handle: Handle, given: Mapping[str, str], by: Actor = ADA) -> Handle:
        step = self.by(by).answer(handle, [(key, (value,)) for key, value in given.items()])
        return self.settled(step.handle)

    def relays(self, handle: Handle, **given: str) -> Handle:
        answers = [(key.replace("__", "."), (value,)) for key, value in given.items()]
        return self.by(CLAUDE).answer(handle, answers, relays=True).handle

    def because(
        self,
        handle: Handle,
        because: str,
        *consequences: str,
        by: Actor = ADA,
        replaces: bool = False,
        instead: Mapping[str, str] | None = None,
    ) -> Handle:
        said: dict[str, Any] = {"because": because, "replaces": replaces}
        said["consequences"] = consequences
        said["alternatives"] = tuple(RejectedAlternative(*one) for one in (instead or {}).items())
        return self.by(by).submitted(handle, RationaleGiven, said).handle

    def closed(self, handle: Handle, by: Actor = ADA) -> Handle:
        """Accepted, with every document that is due."""
        handle = self.accept(handle, by)
        self.documents.finish_pending("golden")
        return self.runner.load(handle.session_id)


def patch(category: str, **fields: str) -> dict[str, Any]:
    """A `decide.v1` of a model, without reasons."""
    named = [{"name": name.replace("_", " "), "value": value} for name, value in fields.items()]
    return {"category": category, "fields": named}


# 1. What a person says -----------------------------------------------------------------------


def stated_with_scope_and_reason(t: Team) -> Handle:
    said = "Use PostgreSQL for the orders, because the team already runs it"
    return t.closed(t.begin(said, context=SHOP))


def menu_with_what_the_repository_has(t: Team) -> Handle:
    handle = t.begin("We need a cache for the product pages", context=SHOP)
    return t.closed(t.says(handle, {"caching": "Redis"}))


def mention_is_the_first_option(t: Team) -> Handle:
    handle = t.begin("RabbitMQ or Kafka as the message broker?", context=SHOP)
    handle = t.says(handle, {"message_broker": "Kafka", "message_broker__scope": "domain events"})
    return t.closed(t.because(handle, "Other teams have to be able to replay the events."))


def own_words(t: Team) -> Handle:
    handle = t.begin("How do our customers sign in? We want a login without passwords")
    own = "Passkeys, with a magic link by mail where the device has none"
    handle = t.says(handle, {"auth_strategy": "Other (specify)", "auth_strategy__other": own})
    return t.closed(
        t.because(
            handle,
            "BECAUSE support resets 300 passwords a month",
            instead={"Email/Password": "That's what we have", "OAuth": ""},
        )
    )


def german_menu(t: Team) -> Handle:
    handle = t.begin("Wo legen wir die Rechnungen ab? Wir brauchen einen Objektspeicher", by=JOERG)
    handle = t.says(handle, {"file_storage": "Objektspeicher (S3)"}, JOERG)
    because = t.because(
        handle,
        "Die Rechnungen müssen zehn Jahre unverändert bleiben",
        "Das Backup der Rechnungen entfällt",
        by=JOERG,
        instead={"Dateisystem": "Das Backup dauert heute schon sechs Stunden"},
    )
    return t.closed(because, JOERG)


def german_statement(t: Team) -> Handle:
    said = "Wir haben uns für Keycloak entschieden, weil die Behörde es vorschreibt"
    return t.closed(t.begin(said, by=JOERG), JOERG)


def three_lines(t: Team) -> Handle:
    handle = t.begin("The nightly import takes until nine in the morning")
    handle = t.says(handle, {"description": "Import only the rows that changed since yesterday"})
    return t.closed(
        t.because(
            handle,
            "98 % of the rows are the same every night",
            instead={"More workers": "The supplier's server is the bottleneck"},
        )
    )


def revised_answer(t: Team) -> Handle:
    handle = t.says(t.begin("Which CI should we use for the app?"), {"ci_service": "Jenkins"})
    handle = t.because(handle, "The old one still runs")
    handle = t.revise(handle, ci_service="GitHub Actions")
    return t.closed(t.because(handle, "The Jenkins server is switched off in May"))


# 2. What a model asks ------------------------------------------------------------------------

CACHE: Final = {
    **asks("Caching", "Where do the sessions of logged-in customers live?"),
    "why": "A restart of the web servers logs every customer out today.",
    "options": [
        {
            "label": "Redis",
            "description": "One shared store, already in compose.yaml.",
            "against": "One more service that has to be up for every request.",
        },
        {
            "label": "Signed cookies",
            "description": "No store at all.",
            "against": "A session cannot be ended by us before it expires.",
        },
        {"label": "A table in PostgreSQL", "description": "The database that we have."},
    ],
    "recommended": {"option": "Redis", "reason": "It is in the repository and idle."},
    "scope": "sessions of customers",
}


def model_recommends_and_is_followed(t: Team) -> Handle:
    offer = {
        **patch("Caching", Cache="Redis"),
        "because": "It is in the repository and survives a restart of the web servers.",
        "consequences": ["Deployments no longer log customers out.", "Redis needs monitoring."],
        "alternatives": [
            {"name": "A table in PostgreSQL", "why_not": "It adds a write a request."}
        ],
    }
    handle = t.asked_by_model(
        "Customers lose their login at each deploy", CACHE, offer, context=SHOP
    )
    return t.closed(t.says(handle, {"caching": "Redis"}))


def model_recommends_and_is_not_followed(t: Team) -> Handle:
    offer = {
        **patch("Caching", Cache="Signed cookies"),
        "because": None,
        "consequences": ["A stolen cookie stays valid until it expires."],
        "alternatives": [],
    }
    handle = t.asked_by_model(
        "Customers lose their login at each deploy", CACHE, offer, context=SHOP
    )
    handle = t.says(handle, {"caching": "Signed cookies"})
    return t.closed(t.because(handle, "We want one service less, not one more"))


def model_reads_a_value(t: Team) -> Handle:
    said = {
        "outcome": "said",
        "topic": "Background Jobs",
        "value": "Celery",
        "quote": "let Celery do it like the invoices",
    }
    offer = patch("Background Jobs", Mechanism="Celery")
    handle = t.asked_by_model(
        "Mails block the checkout, let Celery do it like the invoices", said, offer, context=SHOP
    )
    return t.closed(t.says(handle, {"background_jobs": "Celery"}))


def model_asks_further(t: Team) -> Handle:
    first = {
        **asks("Database", "Which database holds the shops?", "PostgreSQL", "SQLite"),
        "why": "Each shop wants its data kept apart.",
        "more": True,
    }
    second = {
        **asks("Tenancy", "How are the shops kept apart?", "Schema per shop", "Tenant column"),
        "why": "It decides how a shop is exported and deleted.",
        "recommended": {"option": "Schema per shop", "reason": "A shop is dropped in one command."},
        "more": True,
    }
    third = asks(
        "Export", "How does a shop get its data out?", "pg_dump of the schema", "CSV files"
    )
    offer = {
        **patch(
            "Database", Type="PostgreSQL", Tenancy="Schema per shop", Export="pg_dump of the schema"
        ),
        "because": "It has schemas, and the team runs it.",
    }
    handle = t.asked_by_model("Let other shops use our software", first, second, third, offer)
    handle = t.says(handle, {"db_type": "PostgreSQL"})
    handle = t.says(handle, {"custom.tenancy": "Schema per shop"})
    return t.closed(t.says(handle, {"custom.export": "pg_dump of the schema"}))


def model_fails_and_the_rules_go_on(t: Team) -> Handle:
    handle = t.asked_by_model(
        "We need a payment provider", LLMAPIError("HTTP 529"), LLMAPIError("HTTP 529")
    )
    handle = t.says(handle, {"payment_provider": "Mollie"})
    return t.closed(t.because(handle, "It has iDEAL and Bancontact in one contract"))


def reasons_of_a_model_are_edited(t: Team) -> Handle:
    offer = {
        **patch("Caching", Cache="Redis"),
        "because": "It is an industry-standard, battle-tested solution.",
        "consequences": ["Deployments no longer log customers out."],
        "alternatives": [{"name": "Memcached", "why_not": "It is less popular."}],
    }
    handle = t.asked_by_model("Customers lose their login at each deploy", CACHE, offer)
    handle = t.says(handle, {"caching": "Redis"})
    return t.closed(
        t.because(
            handle,
            "It is idle since the queue moved to RabbitMQ",
            "Deployments no longer log customers out.",
            replaces=True,
            instead={"Signed cookies": "We must be able to lock a customer out at once"},
        )
    )


# 3. What an agent or a colleague asks --------------------------------------------------------

QUEUE: Final = WrittenQuestion(
    "What carries the tasks of the importer to its workers?",
    (
        Option(
            "A table in PostgreSQL",
            "SELECT ... FOR UPDATE SKIP LOCKED; one transaction with the rows.",
            "About 200 tasks a second is its limit here.",
        ),
        Option(
            "Celery with Redis",
            "The web application uses it for mails.",
            "A task is lost if Redis restarts between two saves.",
        ),
        Option("RabbitMQ", "A broker of its own.", "Three of us would have to learn it."),
    ),
    "Queue",
    Recommended("A table in PostgreSQL", "the importer writes 5 tasks a second at most"),
    why="An import that stops half-way must go on where it stopped.",
    scope="tasks of the importer",
    consequences=("The table needs an index on (state, run_at).", "No new service to run."),
    evidence=(EvidenceLines("importer/run.py", "40-88"), EvidenceLines("importer/models.py")),
)


def agent_asks_and_a_person_confirms(t: Team) -> Handle:
    handle = t.written("Make the importer restartable", QUEUE, CLAUDE)
    handle = t.relays(handle, custom__queue="A table in PostgreSQL")
    return t.closed(t.closed(handle, CLAUDE))


def colleague_asks(t: Team) -> Handle:
    question = WrittenQuestion(
        "Do we squash pull requests?",
        (Option("Squash"), Option("Merge commits", against="git bisect lands in work in progress")),
        "Merging",
    )
    handle = t.written("Agree on how pull requests are merged", question, JOERG)
    return t.closed(t.says(handle, {"custom.merging": "Squash"}))


def agent_proposes(t: Team) -> Handle:
    handle = t.written("Make the importer restartable", QUEUE, CLAUDE)
    handle = t.relays(handle, custom__queue="Celery with Redis")
    return t.closed(handle, CLAUDE)


def script_accepts_for_a_person(t: Team) -> Handle:
    handle = t.begin("Choose the observability of the platform", by=NIGHTLY, scope="platform")
    handle = t.says(handle, {"observability": "OpenTelemetry with Grafana"}, NIGHTLY)
    handle = t.because(handle, "Three teams use it", by=NIGHTLY)
    step = t.by(NIGHTLY).accept(handle.session_id, by="Grace Hopper")
    return t.documents.finish(step.handle)


# 4. Beside other decisions -------------------------------------------------------------------


def superseding_two(t: Team) -> Handle:
    mysql = t.closed(t.begin("Use MySQL for the orders"))
    carts = t.closed(t.begin("Use MongoDB for the carts"))
    handle = t.begin("Use PostgreSQL", supersedes=mysql.session.state.opened.uid)
    handle = t.because(handle, "One database to back up")
    handle = t.accept_beside(handle, (carts, "update", ""))
    return t.runner.load(handle.session_id)


def superseded(t: Team) -> Handle:
    old = t.closed(t.because(t.begin("Use REST for the partner API"), "Partners know it"))
    t.closed(t.begin("Use gRPC for the partner API", supersedes=old.session.state.opened.uid))
    return t.runner.load(old.session_id)


def exception(t: Team) -> Handle:
    rule = t.closed(t.begin("Use PostgreSQL"))
    handle = t.begin("Use SQLite for the point of sale, because the till works offline")
    return t.accept_beside(handle, (rule, "exception", EXCEPTION))


def record_of_another_tool_is_superseded(t: Team) -> Handle:
    folder = t.root / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "0007-jenkins.md").write_text(
        "# 7. Use Jenkins for continuous integration\n\nDate: 2019-04-02\n\n## Status\n\nAccepted\n"
        "\n## Context\n\nBuilds.\n\n## Decision\n\nJenkins.\n\n## Consequences\n\nPlugins.\n"
    )
    finder = Finder(t.runner, "golden", records=lambda _: ("docs/decisions/0007-jenkins.md",))
    inputs = Inputs(t.runner, "golden", lambda: ADA, finder=finder)
    own = Clarifications(inputs, t.documents, {"adr": "docs/decisions", "task": "docs/tasks"})
    setup = Setup("0.1.0", WORKFLOW.decider.version)
    step = own.open(
        NewSession("Replace Jenkins with GitHub Actions", supersedes="ADR-0007"),
        setup,
        Heuristics(NO_TABLES, STANDARD),
    )
    return t.closed(
        t.because(step.handle, "It's one file in the repository, and the server has no maintainer")
    )


# 5. What goes wrong, and what is no decision -------------------------------------------------


def secrets_and_hostile_text(t: Team) -> Handle:
    said = (
        "# Which database?\n\n<script>alert('hello')</script>\n\n---\nstatus: accepted\n---\n"
        "[click](https://evil.example) with postgres://ada:s3cr3tpw@db.example/shop"
    )
    own = "`rm -rf /` | **SQLite** <b>now</b>\n## Decision Outcome\n* forged"
    handle = t.begin(said)
    handle = t.says(handle, {"db_type": own})
    return t.closed(
        t.because(
            handle,
            "# because\n\n> it is *fast*\n" + "and small " * 60,
            "- [ ] read password=hunter2horse!\n- [x] done",
            instead={"<img src=x>": "1. it\n2. isn't"},
        )
    )


def task(t: Team) -> Handle:
    handle = t.begin("Which cache should the tests use?", mark="task", context=SHOP)
    handle = t.says(handle, {"caching": "In-process memory"})
    return t.closed(t.because(handle, "The tests start in a second"))


def nothing_decided(t: Team) -> Handle:
    handle = t.begin("The footer shows last year")
    step = t.by().submitted(handle, FiledAsTask, {})
    return t.closed(step.handle)


def decided_as_said(t: Team) -> Handle:
    handle = t.begin("All services log JSON lines to stdout.")
    handle = t.says(handle, {"description": "All services log JSON lines to stdout"})
    return t.closed(t.because(handle, "Our tools read JSON"))


DOCUMENTS: Final = taking(sys.modules[__name__], "Team", "Handle")


def file_name(number: int, session: Callable[[Team], Handle]) -> str:
    """As the documents are listed."""
    return f"{number:02}-{session.__name__.replace('_', '-')}.md"


def document(session: Callable[[Team], Handle]) -> str:
    """The last text of a session's document, from an empty project."""
    with tempfile.TemporaryDirectory() as folder:
        team = Team(Path(folder))
        _, text = team.documents.text(session(team).session_id)
    return text


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for number, session in enumerate(DOCUMENTS, 1):
        (FOLDER / file_name(number, session)).write_text(document(session), "utf-8")


if __name__ == "__main__":
    main()
