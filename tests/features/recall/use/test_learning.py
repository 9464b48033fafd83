"""Words that a model names for a decision, on both engines; erased, replaced and imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import preflights_es
from preflights_es.features.clarification.use.sessions import start
from preflights_es.features.recall.use.sessions import learn
from preflights_es.kernel.errors import Refused
from preflights_es.use.leads import Leads


def decided(log: Any) -> str:
    """A decision in force."""
    session = log.start("Add login", answers={"auth_strategy": "OAuth"})
    return str(log.accept(session.session_id, by="Ada").session_id)


def learned(log: Any, decision: str, seed: int, faults: str = "") -> Any:
    """What the simulator names for a decision."""
    request = log.request()
    settings = replace(request.process.settings, provider="sim", seed=seed, faults=faults)
    request.leads = Leads(settings)
    return learn(request, decision)


def uids(log: Any, question: str, *, everything: bool = False) -> list[str]:
    result = log.recall(question, everything=everything)
    return [one.session_id for one in result.results]


def erased(log: Any, session: str) -> None:
    log.request().erasure.erase(session, "a test")


def with_a_word(log: Any, decision: str) -> tuple[Any, str]:
    """A learning of which a word finds the decision."""
    for seed in range(20):
        made = learned(log, decision, seed)
        for word in made.learned:
            if uids(log, word) == [decision]:
                return made, word
    raise AssertionError("no seed names a word")


def test_a_learned_word_finds_its_decision_until_one_of_both_is_erased(log: Any) -> None:
    decision = decided(log)
    made, word = with_a_word(log, decision)
    assert (made.asks, made.source, made.calls) == ("learning", "model", 2)
    result = log.recall(f"{word} login")
    (one,) = result.results
    assert one.learned == (word,)
    assert set(one.words) > {word}
    alone = log.recall(word)
    assert alone.results[0].score < one.score
    assert log.replay(made.session_id).status == "identical"
    erased(log, made.session_id)
    assert uids(log, word) == []
    _, word = with_a_word(log, decision)
    erased(log, decision)
    assert uids(log, word) == []


def test_the_newest_learning_counts_alone(log: Any) -> None:
    decision = decided(log)
    made, word = with_a_word(log, decision)
    others = (learned(log, decision, seed) for seed in range(20, 60))
    assert any(one.learned and not set(one.learned) & set(made.learned) for one in others)
    assert uids(log, word) == []


def test_a_learning_by_the_rules_takes_no_word_away(log: Any) -> None:
    decision = decided(log)
    _, word = with_a_word(log, decision)
    assert log.learn(decision).status == "done"
    assert uids(log, word) == [decision]


def test_a_learning_that_failed_takes_no_word_away(log: Any) -> None:
    decision = decided(log)
    _, word = with_a_word(log, decision)
    failed = learned(log, decision, 0, "timeout=1")
    assert (failed.learned, failed.source) == ((), "rules")
    assert uids(log, word) == [decision]


def test_a_learned_word_finds_a_superseded_decision_too(log: Any) -> None:
    decision = decided(log)
    _, word = with_a_word(log, decision)
    new = start(
        log.request(), "Replace login", {"auth_strategy": "SAML"}, supersedes=decision
    ).session_id
    log.accept(new, by="Ada")
    (found,) = log.recall(word).results
    assert (found.session_id, found.status) == (decision, "superseded")
    result = log.recall("login")
    links = {(one.uid, one.evolution, one.other) for one in result.evolution}
    old = decision[-12:]
    assert links == {(old, "superseded_by", new[-12:]), (new[-12:], "supersedes", old)}


def test_only_accepted_decisions_are_learned(log: Any) -> None:
    session = log.start("Add login", answers={"auth_strategy": "OAuth"})
    with pytest.raises(Refused, match="no accepted decision"):
        log.learn(session.session_id)


def test_words_that_were_learned_elsewhere_are_imported(log: Any, tmp_path: Path) -> None:
    decision = decided(log)
    made, word = with_a_word(log, decision)
    exported = log.export(decision) + log.export(made.session_id)
    lines = exported.splitlines(keepends=True)
    with preflights_es.open(tmp_path, database=str(tmp_path / "other.db")) as other:
        assert len(list(other.process.transfer.imported(lambda: iter(lines), "a file"))) == 2
        assert uids(other, word) == [decision]
