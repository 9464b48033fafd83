"""Packs of topics: the product's own heuristics as frozen data, named in every session."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Final

import msgspec

from preflights_es.features.clarification.domain.events import TopicsFound
from preflights_es.features.clarification.domain.values import (
    Category,
    Field,
    Filing,
    HeuristicsConfig,
    PackRef,
)
from preflights_es.kernel.questions import Language

STANDARD: Final = PackRef(
    "standard", 1, "a2af3824c43fa3eade4553bf4720f8f1bfe376327224e27ea65c3ee2b4d4f0bf"
)
"""What new sessions begin with; the file is frozen."""


class Both(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text in each language."""

    en: str
    de: str

    def said(self, language: Language) -> str:
        """In one of them."""
        return self.de if language == "de" else self.en


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field that is taken when given and never asked."""

    field: str
    key: str


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One decision that a team may have to take, its question, and the words that name it."""

    id: str
    category: str
    field: str
    key: str
    filing: Filing
    question: Both
    options: tuple[str, ...]
    titles: Both
    """Of a record, with `{value}` for what was chosen."""
    words: tuple[str, ...]
    """What it is called, in plain words of both languages; nothing else finds it."""
    options_de: tuple[str, ...] = ()
    """Where options are descriptions and not names of products."""
    secondary: tuple[Told, ...] = ()
    values: tuple[str, ...] = ()
    """Answers that are no options; other names of products stand in `kernel/names.txt`."""
    spellings: dict[str, tuple[str, ...]] = {}
    """Other spellings of options that are no products."""

    def offered(self, language: Language) -> tuple[str, ...]:
        """The options in a language."""
        return self.options_de if language == "de" and self.options_de else self.options

    def said(self, value: str, language: Language) -> str:
        """A value in a language: an option that is a description has one spelling in each."""
        if value in self.options:
            return self.offered(language)[self.options.index(value)]
        return value

    def title(self, value: str, language: Language) -> str:
        """The title of the record of a decision."""
        return self.titles.said(language).replace("{value}", value)

    def as_category(self, language: Language) -> Category:
        """The row of the tables that asks for it; `topics` finds it, not keywords."""
        question, options = self.question.said(language), self.offered(language)
        return Category(
            self.category,
            primary=Field(self.field, self.key, question, options),
            secondary=tuple(Field(told.field, told.key) for told in self.secondary),
            filing=self.filing,
        )


class Pack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One version of a pack, as its file holds it."""

    name: str
    version: int
    category: Both
    description: Both
    topics: tuple[Topic, ...]


def loaded(inlined: str = "") -> Pack:
    """The pack of a session, read once.

    A pack that is not known here gives way to today's: deciding never fails for it, and a replay
    shows the difference.
    """
    if inlined:
        with suppress(msgspec.MsgspecError):
            return _inlined(inlined)
    return _shipped()


@lru_cache(maxsize=1)
def _shipped() -> Pack:
    # The file is part of the program; importlib.resources would cost as much as the whole step.
    assert __spec__ is not None, "a module of a package"
    name = f"data/packs/{STANDARD.name}.v{STANDARD.version}.json"
    data = __spec__.loader.get_data(__file__.rpartition("domain")[0] + name)  # type: ignore[union-attr]
    return msgspec.json.decode(data, type=Pack)


@lru_cache(maxsize=4)
def _inlined(text: str) -> Pack:
    return msgspec.json.decode(text, type=Pack)


@lru_cache(maxsize=16)
def tables(inlined: str, language: Language, own: HeuristicsConfig) -> HeuristicsConfig:
    """The tables of a session: those of its pack in a language, and what the team says otherwise.

    Args:
        own: the team's; its menu, where it has one, says which categories are left.
    """
    pack = loaded(inlined)
    merged = {topic.category: topic.as_category(language) for topic in pack.topics}
    merged |= {category.name: category for category in own.categories}
    names = own.menu or tuple(merged)
    return HeuristicsConfig(
        categories=tuple(category for name, category in merged.items() if name in names),
        menu=tuple(name for name in names if name in merged),
        category=_said(own.category, _REFERENCE.category, pack.category.said(language)),
        description=_said(own.description, _REFERENCE.description, pack.description.said(language)),
    )


_REFERENCE: Final = HeuristicsConfig()
NO_TABLES: Final = HeuristicsConfig(categories=(), menu=())
"""Of a team that says nothing otherwise."""


def _said(own: Field, default: Field, question: str) -> Field:
    return msgspec.structs.replace(own, question=question) if own == default else own


def asked_topic(pack: Pack, event: TopicsFound) -> Topic | None:
    """What a session is about: the first topic that is open, else the first that is stated."""
    first = event.topics if event.kind == "choice" else [named.topic for named in event.stated]
    return next((topic for topic in pack.topics if first and topic.id == first[0]), None)


OPTIONS_MAX: Final = 6  # of a question that the rules ask


def narrowed(config: HeuristicsConfig, topic: Topic, event: TopicsFound) -> HeuristicsConfig:
    """The tables, with what the intention names and the repository has before other options."""
    category = config.named(topic.category)
    if category is None or category.primary is None:
        return config
    said = [topic.said(o.value, event.language) for o in event.mentioned if o.topic == topic.id]
    said += [topic.said(o.value, event.language) for o in event.present or ()]
    options = tuple(dict.fromkeys((*said, *category.primary.options)))[:OPTIONS_MAX]
    if options == category.primary.options:
        return config
    other = msgspec.structs.replace(
        category, primary=msgspec.structs.replace(category.primary, options=options)
    )
    return msgspec.structs.replace(
        config, categories=tuple(other if c is category else c for c in config.categories)
    )
