"""The shipped pack is frozen, readable, and keeps the five categories of seed 0."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final

from preflights_es.features.clarification import domain as clarification
from preflights_es.features.clarification.domain import stated, topics
from preflights_es.features.clarification.domain.pack import NO_TABLES, STANDARD, loaded, tables
from preflights_es.features.clarification.domain.values import HeuristicsConfig
from preflights_es.kernel import statements

PACKS: Final = Path(clarification.__file__).parents[1] / "data" / "packs"
LINES_MAX: Final = 500
BYTES_MAX: Final = 100_000


def test_the_shipped_pack_is_frozen() -> None:
    """A change is a new version: sessions hold the digest."""
    (path,) = PACKS.glob("*")
    assert path.name == f"{STANDARD.name}.v{STANDARD.version}.json"
    assert sha256(path.read_bytes()).hexdigest() == STANDARD.sha256


def test_what_finds_meaning_stays_small() -> None:
    """A rule that needs more words is one that guesses (docs/decisions/0037)."""
    code = [Path(str(one.__file__)).read_text("utf-8") for one in (statements, stated, topics)]
    forms, contradictions, _ = code[0].partition("# 5. What the team decided against")
    assert contradictions
    assert sum(text.count("\n") for text in (forms, *code[1:])) <= LINES_MAX
    core = Path(str(statements.__file__))
    data = (*PACKS.glob("*"), core.with_name("names.txt"), core.with_name("small_words.json"))
    assert sum(path.stat().st_size for path in data) <= BYTES_MAX


def test_the_seeds_categories_keep_their_questions() -> None:
    config = tables("", "en", NO_TABLES)
    for category in HeuristicsConfig().categories:
        found = config.named(category.name)
        assert found is not None
        assert found.primary == category.primary
        assert (found.secondary, found.filing) == (category.secondary, category.filing)


def test_every_key_answers_one_question() -> None:
    for language in ("en", "de"):
        config = tables("", language, NO_TABLES)
        keys = [field.id for category in config.categories for field in category.fields()]
        assert len(set(keys)) == len(keys) == 49
        assert len({category.name for category in config.categories}) == 44


def test_every_topic_is_whole_in_both_languages() -> None:
    for topic in loaded().topics:
        assert "{value}" in topic.titles.en, topic.id
        assert "{value}" in topic.titles.de, topic.id
        assert topic.question.en.endswith("?"), topic.id
        assert topic.question.de.endswith("?"), topic.id
        assert len(topic.options_de) in (0, len(topic.options)), topic.id
        assert 2 <= len(topic.options) <= 6, topic.id
        assert topic.words, topic.id
        assert set(topic.spellings) <= set(topic.options), topic.id


def test_a_word_is_of_one_topic() -> None:
    words = [word for topic in loaded().topics for word in topic.words]
    assert len(set(words)) == len(words)


def test_a_title_is_the_decision() -> None:
    topics = {topic.id: topic for topic in loaded().topics}
    assert topics["caching"].title("Redis", "en") == "Use Redis for caching"
    assert topics["caching"].title("Redis", "de") == "Redis f\u00fcr das Caching verwenden"


def test_a_pack_that_cannot_be_read_gives_way_to_todays() -> None:
    assert loaded("{not json") is loaded()
