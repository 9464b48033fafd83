"""Questions and the query that each must come to, by the rules and by a real model."""

from __future__ import annotations

from typing import Final

import pytest

from preflights_es.features.metrics import catalogue
from preflights_es.features.metrics.adapter import LLMClient, parse_response
from preflights_es.features.metrics.catalogue import BUILT_IN, check_for, metrics_of
from preflights_es.features.metrics.domain.decide import render_catalogue, render_metrics_situation
from preflights_es.features.metrics.domain.events import PACKAGE, PROMPTS, Catalogue
from preflights_es.features.metrics.domain.sql_check import findings
from preflights_es.features.metrics.domain.state import MetricsState
from preflights_es.kernel.completions import prompt
from tests.each import each
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

QUESTIONS: Final = tuple(FILED["QUESTIONS"])
TABLES: Final = catalogue.queryable_log_tables()
HELD: Final = Catalogue(
    dialect="sqlite", metrics=metrics_of(BUILT_IN, check_for("sqlite", TABLES)), tables=TABLES
)


def replied(client: LLMClient, question: str) -> str:
    asked = MetricsState(asked_at="2026-11-23T09:30+00:00", time_zone="UTC")
    text = prompt(PACKAGE, PROMPTS["ask"]).text
    system = f"{text}\n{render_catalogue(HELD)}\n{render_metrics_situation(asked)}"
    said = ({"role": "system", "content": system}, {"role": "user", "content": question})
    return client.chat(said)


def check(client: LLMClient, question: str, kind: str, held: tuple[str, ...]) -> None:
    found, data = parse_response(replied(client, question))
    assert found == kind, data
    if kind == "sql":
        assert findings(data["sql"], "sqlite", TABLES) == ()
        assert all(part in data["sql"] for part in held), data


@each(("question", "kind", "held"), QUESTIONS)
def test_the_rules_come_to_the_query(question: str, kind: str, held: tuple[str, ...]) -> None:
    check(LLMClient(provider="mock"), question, kind, held)


@pytest.mark.live
@pytest.mark.parametrize(("question", "kind", "held"), QUESTIONS)
def test_a_model_comes_to_the_query(question: str, kind: str, held: tuple[str, ...]) -> None:
    client = LLMClient(provider="anthropic")
    if kind == "sql":
        check(client, question, kind, held)
    else:  # a model may ask in either way, or take both metrics into one query
        found, data = parse_response(replied(client, question))
        assert found in ("ambiguous", "text") or not findings(data["sql"], "sqlite", TABLES)
