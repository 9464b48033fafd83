"""What is in force is said before a question; kept, or excepted, or recorded once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preflights_es.features.clarification import use
from preflights_es.features.clarification.known_decisions import KNOWN_MAX, LINE_MAX
from preflights_es.kernel.errors import Refused
from preflights_es.use.upkeep import plan_erasure
from preflights_es.use.use_cases import NewSession
from preflights_es.words.decisions import Choices, RejectedAlternative, StatedReasons
from preflights_es.words.workflow import View
from tests.each import each


@pytest.fixture
def begun(log: Any) -> Any:
    """Begins a clarification of the log."""

    def begin(text: str, **said: Any) -> View:
        return use.start_clarification(log.request(), NewSession(text, **said))

    return begin


@pytest.fixture
def kafka(log: Any, begun: Any) -> Any:
    """A decision in force, for something."""
    text = "Use Kafka for the domain events, because replay matters"
    done = begun(text, accepts=True, by="Ada")
    assert (done.status, done.scope) == ("accepted", "domain events")
    return done


def test_the_same_place_comes_first_with_its_reason(begun: Any, kafka: View) -> None:
    begun("Use PostgreSQL for the events archive", accepts=True, by="Ada")
    found = begun("Which queue?", scope="domain event")
    first, *others = found.known
    assert (first.session_id, first.same_place) == (kafka.session_id, True)
    assert first.line.startswith("ADR-0001 Use Kafka for the domain events (")
    assert first.line.endswith("): replay matters")
    assert not any(one.same_place for one in others)
    assert found.status == "needs_answers"


def test_lines_are_few_short_and_of_decisions_in_force(begun: Any) -> None:
    for thing in ("orders", "carts", "invoices", "returns"):
        reason = f"they all balance{' and agree' * 30}"
        text = f"Use PostgreSQL for the ledger of {thing} because {reason}"
        begun(text, accepts=True, by="Ada")
    found = begun("Which database for orders, carts, invoices and returns?")
    assert len(found.known) == KNOWN_MAX
    assert all(len(one.line) <= LINE_MAX for one in found.known)
    assert begun("Fix the ledger").known == ()


def test_another_tools_record_at_the_place_comes_before_memory(begun: Any, log: Any) -> None:
    for thing in ("carts", "invoices", "returns", "refunds"):
        begun(f"Use PostgreSQL for the orders ledger of {thing}", accepts=True, by="Ada")
    process = log.request().process
    records = process.record_places.new
    folder = process.settings.root / records
    text = "# 90. Use MySQL for the orders\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n"
    (folder / "0090-use-mysql-for-the-orders.md").write_text(text)
    found = begun(
        "Which database for the ledger of orders, carts, invoices, returns?", scope="orders"
    )
    assert found.known[0].line.startswith(f"{records}/0090-use-mysql-for-the-orders.md")
    assert len(found.known) == KNOWN_MAX
    other = begun("Which database for the labels ledger?", scope="labels")
    assert not any("0090" in one.line for one in other.known[:1])


def test_a_decision_for_the_whole_project_is_said_of_every_scope(begun: Any) -> None:
    whole = begun("Use PostgreSQL because reports join", accepts=True, by="Ada")
    begun("Use MongoDB for carts", accepts=True, by="Ada", choices=Choices(exceptions=(whole.uid,)))
    one, other = begun("Use Cassandra for telemetry").known
    assert (one.session_id, one.same_place, one.differs) == (whole.session_id, False, False)
    assert other.said().startswith("related: ADR-0002 Use MongoDB for carts")


def test_a_word_of_the_product_says_nothing_beside_a_better_match(begun: Any) -> None:
    begun("Use Kafka for scans of parcels", accepts=True, by="Ada")
    begun("Use MinIO for labels because customers print parcels", accepts=True, by="Ada")
    for name in ("Vue", "Vitest", "Redis", "Postmark", "Stripe", "Flyway"):
        begun(f"Use {name}", accepts=True, by="Ada")
    (one,) = begun("What reads the scans of parcels?").known
    assert "Kafka" in one.line


@each("typed", ["1", "ADR-0001", "adr-1"])
def test_keeping_ends_the_session(log: Any, begun: Any, kafka: View, typed: str) -> None:
    kept = begun("Which queue for the domain events?", keep_known=typed)
    assert (kept.status, kept.can_accept, kept.to_do) == ("stopped", False, "")
    assert kept.keeps.session_id == kafka.session_id
    with pytest.raises(Refused):
        log.accept(kept.session_id, by="Ada")
    with pytest.raises(Refused):
        log.answer(kept.session_id, {"message_broker": "NATS"})
    assert log.replay(kept.session_id).status == "identical"


def test_the_same_decision_is_recorded_once_as_said(log: Any, begun: Any, kafka: View) -> None:
    with pytest.raises(Refused, match="was not said to be in force here: ADR-0001"):
        begun("Which queue for the domain events?", keep_known="ADR-0007")
    text = "Use apache kafka for the domain event"
    same = begun(text, accepts=True, by="Ada")
    assert (same.status, same.keeps.session_id) == ("stopped", kafka.session_id)
    again = begun(text, accepts=True, by="Ada", choices=Choices(again=True))
    assert (kafka.number, again.status, again.number) == (1, "accepted", 2)
    assert len(log.decisions().decisions) == 2


def test_an_exception_is_recorded_and_supersedes_nothing(log: Any, begun: Any) -> None:
    whole = begun("Use PostgreSQL", accepts=True, by="Ada")
    carts = begun("Use MongoDB for the carts", accepts=True, by="Ada")
    assert carts.status == "ready"
    assert [one.evolution for one in carts.related] == ["exception"]
    done = log.accept(carts.session_id, by="Ada", exceptions=[whole.uid])
    assert (done.status, done.title) == ("accepted", "Use MongoDB for the carts")
    assert [one.related.uid for one in done.kept] == [whole.uid]
    other = begun("Use Cassandra for the cart")
    with pytest.raises(Refused, match="does not hold for the whole project"):
        log.accept(other.session_id, by="Ada", exceptions=[done.uid, whole.uid])


def test_another_scope_is_another_decision(log: Any, begun: Any) -> None:
    begun("Use PostgreSQL for orders", accepts=True, by="Ada")
    carts = begun("Use MongoDB for carts", accepts=True, by="Ada")
    assert (carts.status, carts.related) == ("accepted", ())
    changed = begun("Use Redis for carts")
    scoped = log.answer(changed.session_id, {"caching__scope": "prices"})
    assert (scoped.scope, scoped.title) == ("prices", "Use Redis for prices")
    assert log.accept(scoped.session_id, by="Ada").status == "accepted"


def test_a_record_of_another_tool_is_said_and_may_contradict(begun: Any, tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True, exist_ok=True)
    text = "# 7. Use PostgreSQL for the orders\n\n## Status\n\nAccepted\n\nIt joins.\n"
    (folder / "0007-use-postgresql.md").write_text(text, "utf-8")
    (known,) = begun("Orders: where do they live?").known
    assert (known.path, known.session_id) == ("docs/decisions/0007-use-postgresql.md", "")
    kept = begun("Orders: where do they live?", keep_known="0007-use-postgresql.md")
    assert (kept.status, kept.keeps.number) == ("stopped", 7)
    done = begun("Use MySQL for the orders", accepts=True, by="Ada")
    assert done.status == "accepted"
    (told,) = [one.text for one in done.notices if one.code == "contradicts"]
    assert told == f"both hold now: ADR-0008, and {known.path} Use PostgreSQL for the orders"
    same = begun("Use pg for the orders", accepts=False)
    assert same.known


RECORD = "# {0}. {1}\n\n## Status\n\n{2}\n\nIt joins.\n"


@each(
    ("title", "text", "differs"),
    [
        ("Use PostgreSQL for orders", "Use MySQL for the orders", True),
        ("Use PostgreSQL for orders", "Use pg for the orders", False),
        ("Use Dates2 for dates", "Use Luxon2 for dates", True),
        ("Keep sessions in Redis", "Use Memcached for the sessions", True),
        ("Keep sessions in Redis", "Use Memcached for the carts", None),
        ("Use Dates2 for dates", "Use Luxon2 for maps", None),
        ("Use PostgreSQL for region 1", "Use MySQL for region 2", None),
    ],
)
def test_a_contradiction_is_said_before_a_stated_value_is_recorded(
    title: str, text: str, differs: bool | None, begun: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.md"):
        file.unlink()
    (folder / "0007-it.md").write_text(RECORD.format(7, title, "Accepted"), "utf-8")
    found = begun(text)
    here = [one.differs for one in found.known if one.same_place]
    assert (found.status, here) == ("ready", [] if differs is None else [differs])
    settled = begun(text, supersedes="docs/decisions/0007-it.md")
    assert not any(one.path for one in settled.known)


def test_a_record_of_an_unknown_value_is_of_its_own_topic(begun: Any, tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True, exist_ok=True)
    text = RECORD.format(7, "Use session cookies for login", "Accepted")
    (folder / "0007-it.md").write_text(f"{text}\n## Decision\n\nDjango sessions.\n", "utf-8")
    for asked in ("Add login with Google for customers", "Use OAuth for login"):
        assert [one.path for one in begun(asked).known] == ["docs/decisions/0007-it.md"], asked
    assert begun("Use PostgreSQL for carts").known == ()


@pytest.mark.slow("sizes")
def test_an_erasure_finds_every_session_that_was_told(log: Any, begun: Any, kafka: View) -> None:
    told = {begun(f"Which queue for domain events of shop {n}?").session_id for n in range(50)}
    quotes = plan_erasure(log.request(), [kafka.session_id]).quotes
    assert told <= {one.session_id for one in quotes.found}


@pytest.fixture
def rabbit(begun: Any) -> View:
    """A decision about mails that turned Kafka down."""
    told = StatedReasons(
        alternatives=(RejectedAlternative("Apache Kafka", "our team cannot run it"),)
    )
    done: View = begun("Use RabbitMQ for the mails", reasons=told, accepts=True, by="Ada")
    assert done.status == "accepted"
    return done


def test_who_turned_a_stated_value_down_is_said_first_of_all(begun: Any, rabbit: View) -> None:
    begun("Use NATS for the events", accepts=True, by="Ada")
    first, second = begun("We use Kafka for events").known[:2]
    assert (first.session_id, first.turned_down) == (rabbit.session_id, "Kafka")
    assert first.said().startswith("turned Kafka down: ADR-0001 Use RabbitMQ for ")
    assert first.line.endswith("): our team cannot run it")
    assert second.differs, "what is at the same place comes next"
    between = begun("Kafka or Redpanda for the events?").known[0]
    assert (between.turned_down, between.said()[:17]) == ("Kafka", "turned Kafka down")


def test_the_decision_whose_value_is_to_be_replaced_is_said(begun: Any, tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True)
    for number, title in enumerate(("Take deposits through Stripe", "Write workers in Go"), 1):
        text = f"# {title}\n\n## Status\n\nAccepted\n\n## Decision\n\nAs the title says.\n"
        (folder / f"{number:04}-record.md").write_text(text)
    for text in ("Replace Stripe for the berth deposits", "Stripe charges us too much"):
        assert [one.number for one in begun(text).known] == [1]
    assert begun("Replace the berth deposits").known == ()


@each(
    ("text", "count"),
    [("Let the importer use Frobnix", 1), ("Let frobnix importers wait", 0), ("Run at night", 0)],
)
def test_a_decision_whose_value_is_named_is_said(begun: Any, text: str, *, count: int) -> None:
    begun("Use Frobnix", accepts=True, by="Ada")
    assert len(begun(text).known) == count


def test_it_is_said_of_nothing_named_revised_in_force(begun: Any, log: Any, rabbit: View) -> None:
    assert not any(one.turned_down for one in begun("We regret Kafka in the events").known)
    found = begun("We use Kafka for events")
    key = found.provenance[-1].key
    revised: Any = log.answer(found.session_id, {key: "NATS"}, revise=True)
    assert revised.known[0].relation == "related"
    begun("Use Kafka for the payments", accepts=True, by="Ada")
    assert not any(one.turned_down for one in begun("We use Kafka for events").known)


def test_it_waits_for_a_choice_at_the_same_scope_alone(begun: Any) -> None:
    told = StatedReasons(alternatives=(RejectedAlternative("Kafka", "our team cannot run it"),))
    text = "Deliver every message through a table that the workers poll each second"
    given = {"description": text}
    assert begun("Make it calmer", answers=given, reasons=told, accepts=True, by="Ada").number
    whole = begun("Use Kafka", accepts=True, by="Ada")
    assert whole.can_accept
    assert [one.evolution for one in whole.related] == ["contradict"]
    other = begun("Use Kafka for the events", accepts=True, by="Ada")
    assert (other.status, other.known[0].turned_down) == ("accepted", "Kafka")


def test_what_is_to_be_replaced_waits_for_a_choice_at_the_same_scope(begun: Any) -> None:
    whole = begun("Use Moment.js", accepts=True, by="Ada")
    text, given = "Replace moment with something smaller", {"description": "date-fns"}
    (asked,) = begun(text).known
    assert (asked.session_id, asked.same_place) == (whole.session_id, True)
    waits = begun(text, answers=given, accepts=True, by="Ada")
    assert (waits.known[0].relation, waits.can_accept) == ("contradicts", True)
    assert [one.evolution for one in waits.related] == ["update"]
    some = begun(text, scope="the invoices", answers=given, accepts=True, by="Ada")
    assert [one.evolution for one in some.related] == ["exception"]
    kept = begun(text, answers={"description": "moment.js"}, accepts=True, by="Ada")
    assert not any(one.differs for one in kept.known)


def test_what_is_to_be_replaced_without_a_scope_waits_wherever_it_holds(begun: Any) -> None:
    dates = begun("Use Moment.js for the archive", accepts=True, by="Ada")
    other = begun("Replace Moment with date-fns for the invoices", accepts=True, by="Ada")
    assert other.status == "accepted"
    waits = begun("Replace Moment with Luxon", accepts=True, by="Ada")
    assert (waits.known[0].session_id, waits.known[0].relation) == (dates.session_id, "contradicts")
    assert (waits.can_accept, [one.evolution for one in waits.related]) == (True, ["update"])


def test_a_record_whose_value_is_to_be_replaced_contradicts(begun: Any, tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True)
    text = "# Use Moment.js\n\n## Status\n\nAccepted\n\n## Decision\n\nAs the title says.\n"
    (folder / "0001-dates.md").write_text(text)
    given = {"description": "date-fns"}
    done = begun("Replace moment.js with something smaller", answers=given, accepts=True, by="Ada")
    assert (done.status, done.known[0].relation) == ("accepted", "contradicts")
    assert [one.code for one in done.notices if one.code == "contradicts"]
    (folder / "0001-dates.md").write_text(text.replace("Moment.js", "Moment.js for dates"))
    again = {one.number: one.relation for one in begun("Replace Moment.js with Luxon").known}
    assert again[1] == "contradicts"
