"""Packs of topics: the product's own heuristics as frozen data, named in every session."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Final

import msgspec

from preflights_es.core.views import Language
from preflights_es.workflows.clarification.events import TopicsFound
from preflights_es.workflows.clarification.values import (
    Category,
    Field,
    HeuristicsConfig,
    PackRef,
    Scope,
)

STANDARD: Final = PackRef(
    "standard", 2, "0a695c445870880c5bed37a7b3ba82e49d661242019b7ae12bd3225c8e10388b"
)
"""What new sessions begin with; the file is frozen."""
STANDARD_1: Final = PackRef(
    "standard", 1, "d1a5eca4a3ddc8bd62dfeca4c1e97d8805efda17caa45acd26ec0e69b2cbf11c"
)
SHIPPED: Final = (STANDARD_1, STANDARD)


class Both(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text in each language."""

    en: str
    de: str

    def said(self, language: Language) -> str:
        """In one of them."""
        return self.de if language == "de" else self.en


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Terms by their weight (`topics.WEIGHTS`); `against` ones speak for something else."""

    names: tuple[str, ...] = ()
    """What the topic is called: sure where the intention asks or begins something."""
    strong: tuple[str, ...] = ()
    likely: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field that is taken when given and never asked."""

    field: str
    key: str


class Topic(msgspec.Struct, frozen=True):
    """One decision that a team may have to take, and its question."""

    id: str
    category: str
    field: str
    key: str
    scope: Scope
    question: Both
    options: tuple[str, ...]
    titles: Both
    """Of a record, with `{value}` for what was chosen."""
    options_de: tuple[str, ...] = ()
    """Where options are descriptions and not names of products."""
    secondary: tuple[Told, ...] = ()

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
        """The row of the tables that asks for it; topics are found by `topics`, not by keywords."""
        question, options = self.question.said(language), self.offered(language)
        return Category(
            self.category,
            primary=Field(self.field, self.key, question, options),
            secondary=tuple(Field(told.field, told.key) for told in self.secondary),
            scope=self.scope,
        )


class WordedTopic(Topic, frozen=True, forbid_unknown_fields=True):
    """A topic with the words that name it."""

    values: dict[str, tuple[str, ...]] = {}
    """Spellings of options and of other answers, by the value as it is filed."""
    loose: dict[str, tuple[str, ...]] = {}
    """Spellings that are everyday words: values only where something else speaks for the topic."""
    shared: dict[str, tuple[str, ...]] = {}
    """Spellings of values of other topics: values of this one where a word of it stands beside."""
    words: Words = Words()


class Roles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words around a value that say whether it is wanted."""

    before: tuple[str, ...]
    """Take away the value behind them."""
    after: tuple[str, ...]
    """Take away the value before them."""
    links: tuple[str, ...]
    """Between two values of a topic: the second takes the place of the first."""
    present: tuple[str, ...]
    """The sentence says what is there today, not what shall be."""
    request: tuple[str, ...]
    """A question that begins so asks for work."""
    skipped: tuple[str, ...]
    """May stand between a value and the word that takes it away."""
    source: tuple[str, ...] = ()
    """As `before`, where something is said to move or another value takes the place."""
    moving: tuple[str, ...] = ()
    """Something moves: what it comes from is left."""
    beats: tuple[str, ...] = ()
    """Between two values of a topic: the second gives way to the first."""
    using: tuple[str, ...] = ()
    """An everyday word behind it is a wanted value."""
    serving: tuple[str, ...] = ()
    """As `using`, behind an everyday word and before what names its topic."""
    wished: tuple[str, ...] = ()
    """The sentence says what shall be: an everyday word in it is a wanted value."""
    beside: tuple[str, ...] = ()
    """The value behind them is there today, and stays."""
    things: tuple[str, ...] = ()
    """Behind a value of a task, where nothing is asked or begun: the value is there today."""
    known: tuple[str, ...] = ()
    """Before a value that another noun follows: the two are a thing that is there today."""
    taking: tuple[str, ...] = ()
    """Before a value: it is chosen, whatever small task stands beside it."""
    means: tuple[str, ...] = ()
    """What something is done with: `table`, `script`, `by hand` needs no list of products."""
    enough: tuple[str, ...] = ()
    """The sentence says how something is done, whatever with."""
    trouble: tuple[str, ...] = ()
    """The text says what is wrong: how it is done today is not how it shall be done."""
    through: tuple[str, ...] = ()
    """Before `means`: `in a table`, `with a script`."""
    joined: tuple[str, ...] = ()
    """Between two values of a topic: both are wanted. Without such words, two make a question."""


class Pack(msgspec.Struct, frozen=True):
    """What a session asks by one version of a pack, without its words: they take longer to read."""

    name: str
    version: int
    category: Both
    description: Both
    topics: tuple[Topic, ...]


class WordedPack(Pack, frozen=True, forbid_unknown_fields=True):
    """One version of a pack, as its file holds it."""

    topics: tuple[WordedTopic, ...]
    task: Words
    decision: Words
    vague: Words
    begin: Words
    roles: Roles
    nothing: tuple[str, ...]
    """Spellings of values that mean something else here."""
    languages: dict[Language, tuple[str, ...]]


def loaded(ref: PackRef, inlined: str = "") -> Pack:
    """The pack of a session, read once.

    A pack that is not known here gives way to today's: deciding never fails for it, and a replay
    shows the difference.
    """
    if inlined:
        with suppress(msgspec.MsgspecError):
            return _inlined(inlined)
    return _shipped(ref if ref in SHIPPED else STANDARD)


@lru_cache(maxsize=4)
def _shipped(ref: PackRef) -> Pack:
    return msgspec.json.decode(_file(f"{ref.name}.v{ref.version}.json"), type=Pack)


def worded(ref: PackRef, inlined: str = "") -> WordedPack:
    """The pack of a session with its words."""
    pack = loaded(ref, inlined)
    if isinstance(pack, WordedPack):
        return pack
    return msgspec.json.decode(_file(f"{pack.name}.v{pack.version}.json"), type=WordedPack)


def index_file(ref: PackRef) -> bytes:
    """The index of today's pack, also where a pack is not known here; an older one has no file."""
    if ref in SHIPPED and ref != STANDARD:
        return b""
    return _file(f"{STANDARD.name}.v{STANDARD.version}.index.json")


def _file(name: str) -> bytes:
    # The file is part of the program; importlib.resources would cost as much as the whole step.
    folder = __file__.rpartition("pack.")[0]
    assert __spec__ is not None, "a module of a package"
    return __spec__.loader.get_data(f"{folder}packs/{name}")  # type: ignore[union-attr,no-any-return]


@lru_cache(maxsize=4)
def _inlined(text: str) -> WordedPack:
    return msgspec.json.decode(text, type=WordedPack)


@lru_cache(maxsize=16)
def tables(
    ref: PackRef, inlined: str, language: Language, own: HeuristicsConfig
) -> HeuristicsConfig:
    """The tables of a session: those of its pack in a language, and what the team says otherwise.

    Args:
        own: the team's; its menu, where it has one, says which categories are left.
    """
    pack = loaded(ref, inlined)
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


OPTIONS_LEAST: Final = 2  # of a question: with fewer the pack's own are asked


def narrowed(config: HeuristicsConfig, topic: Topic, event: TopicsFound) -> HeuristicsConfig:
    """The tables, with the options that the intention leaves to the first topic's question."""
    category = config.named(topic.category)
    if category is None or category.primary is None:
        return config
    gone = [named.value for named in event.replaced if named.topic == topic.id]
    said = [topic.said(value, event.language) for value in event.between]
    options = tuple(said or [o for o in category.primary.options if o not in gone])
    if len(options) < OPTIONS_LEAST or options == category.primary.options:
        return config
    other = msgspec.structs.replace(
        category, primary=msgspec.structs.replace(category.primary, options=options)
    )
    return msgspec.structs.replace(
        config, categories=tuple(other if c is category else c for c in config.categories)
    )
