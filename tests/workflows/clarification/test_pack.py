"""The shipped pack is frozen, readable, and keeps the five categories of seed 0."""

from __future__ import annotations

from hashlib import sha256

from preflights_es.workflows.clarification.index import terms_of
from preflights_es.workflows.clarification.pack import (
    NO_TABLES,
    SHIPPED,
    STANDARD,
    loaded,
    tables,
    worded,
)
from preflights_es.workflows.clarification.terms import is_readable
from preflights_es.workflows.clarification.values import HeuristicsConfig, PackRef
from tests.workflows.clarification.freeze import FOLDER, indexes


def test_a_shipped_pack_is_frozen() -> None:
    """A change is a new version beside it: sessions hold the digest."""
    files = {f"{ref.name}.v{ref.version}.json": ref.sha256 for ref in SHIPPED}
    found = {path.name: sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.v?.json")}
    assert found == files


def test_the_index_of_a_shipped_pack_is_what_its_terms_give() -> None:
    """`make freeze` writes it."""
    found = {path.name: path.read_bytes() for path in FOLDER.glob("*.index.json")}
    assert found == indexes()


def test_every_term_can_be_found() -> None:
    assert [term for term in terms_of(worded(STANDARD)) if not is_readable(term)] == []


def test_the_seeds_categories_keep_their_questions() -> None:
    config = tables(STANDARD, "", "en", NO_TABLES)
    for category in HeuristicsConfig().categories:
        found = config.named(category.name)
        assert found is not None
        assert found.primary == category.primary
        assert (found.secondary, found.scope) == (category.secondary, category.scope)


def test_every_key_answers_one_question() -> None:
    for language in ("en", "de"):
        config = tables(STANDARD, "", language, NO_TABLES)
        keys = [field.id for category in config.categories for field in category.fields()]
        assert len(set(keys)) == len(keys) == 49
        assert len({category.name for category in config.categories}) == 44


def test_every_topic_is_whole_in_both_languages() -> None:
    for topic in loaded(STANDARD).topics:
        assert "{value}" in topic.titles.en, topic.id
        assert "{value}" in topic.titles.de, topic.id
        assert topic.question.en.endswith("?"), topic.id
        assert topic.question.de.endswith("?"), topic.id
        assert len(topic.options_de) in (0, len(topic.options)), topic.id
        assert 2 <= len(topic.options) <= 6, topic.id


def test_a_title_is_the_decision() -> None:
    topics = {topic.id: topic for topic in loaded(STANDARD).topics}
    assert topics["caching"].title("Redis", "en") == "Use Redis for caching"
    assert topics["caching"].title("Redis", "de") == "Redis f\u00fcr das Caching verwenden"


def test_a_pack_that_is_not_known_gives_way_to_todays() -> None:
    assert loaded(PackRef("standard", 9, "0" * 64)) is loaded(STANDARD)
    assert loaded(PackRef("ours", 1, "0" * 64), "{not json") is loaded(STANDARD)
