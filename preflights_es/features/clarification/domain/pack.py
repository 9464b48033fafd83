"""Packs of topics, named in every session, and what a team's settings say otherwise."""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

import msgspec

from preflights_es.features.clarification.domain.events import TopicsFound
from preflights_es.features.clarification.domain.values import (
    COMPANION,
    OTHER_OPTION,
    Category,
    Field,
    Filing,
    Heuristics,
    HeuristicsConfig,
    PackRef,
)
from preflights_es.kernel.ports import SettingsSource, SettingsTable
from preflights_es.kernel.text import late_pattern, line_trouble, own_file
from preflights_es.words.decisions import OTHER
from preflights_es.words.questions import Language, is_placeholder

STANDARD: Final = PackRef(
    "standard", 1, "d1c32b7152a0cb4fef533e10b75535fa3a38cfa75c7549f104578ff028575f4e"
)
"""What new sessions begin with; the file is frozen."""


class Both(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text in each language."""

    en: str
    de: str

    def said(self, language: Language) -> str:
        """In one of them."""
        return self.de if language == "de" else self.en


_GERMAN_NOUN: Final = late_pattern(
    r"\{value\} (?:f\u00fcr|als|zum) (?:d(?:ie|as|en|er|em) )?(.+?)(?: verwenden)?"
)
_GERMAN_ASKED: Final = late_pattern(r"Welche[rs]? (.+)\?")
_GERMAN_VALUE: Final = late_pattern(r"(?:\b(?:mit|in|auf|durch) )?\{value\}")
"""Of German titles: what the value is used for, and where it stands."""


class UnaskedField(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field that is taken when given and never asked."""

    field: str
    key: str


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One decision that a team may have to take, its question, and the words that name it."""

    id: str
    category: str
    field: str
    key: str
    question: Both
    options: tuple[str, ...]
    words: tuple[str, ...]
    """What a thing of it is called, in both languages: `message broker`; nothing else finds it."""
    matters: tuple[str, ...] = ()
    """What is no thing to have, and can be decided about: `error handling`."""
    filing: Filing = "structural"
    nouns: Both | None = None
    """What a value is for, as the title of a record says it: `Use X for dates`."""
    own_titles: Both | None = msgspec.field(default=None, name="titles")
    """Where it says it in other words, with `{value}` for what was chosen."""
    options_de: tuple[str, ...] = ()
    """Where options are descriptions and not names of products."""
    secondary: tuple[UnaskedField, ...] = ()
    values: tuple[str, ...] = ()
    """Answers that are no options; other names of products stand in `words/names.txt`."""
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

    @property
    def titles(self) -> Both:
        """Of a record, with `{value}` for what was chosen."""
        if self.own_titles is not None:
            return self.own_titles
        en, de = (self.nouns.en, self.nouns.de) if self.nouns else (self.category, self.category)
        return Both(f"Use {{value}} for {en}", f"{{value}} f\u00fcr {de} verwenden")

    def title(self, value: str, language: Language) -> str:
        """The title of the record of a decision."""
        return self.titles.said(language).replace("{value}", value)

    def names(self, value: str) -> bool:
        """Whether it is a value that is a name: of two spellings an option is a description."""
        options = zip(self.options, self.offered("de"), strict=True)
        return value in self.values or (value, value) in options

    def noun(self, language: Language) -> str:
        """What is decided, as it stands before a value that is no name."""
        title = self.titles.said(language)
        if title.endswith(": {value}"):
            return title.removesuffix(": {value}")
        if language == "en":
            return self.category
        if found := _GERMAN_NOUN.fullmatch(title):
            return found[1]
        return " ".join(_GERMAN_VALUE.sub("", title).split())

    @property
    def german_name(self) -> str:
        """What its question asks for; else what is decided."""
        asked = _GERMAN_ASKED.fullmatch(self.question.de)
        return asked[1] if asked else self.noun("de")

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


def load_pack(inlined: str = "") -> Pack:
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
    name = f"../data/packs/{STANDARD.name}.v{STANDARD.version}.json"
    return msgspec.json.decode(own_file(__spec__, name), type=Pack)


@lru_cache(maxsize=4)
def _inlined(text: str) -> Pack:
    return msgspec.json.decode(text, type=Pack)


@lru_cache(maxsize=4)
def topics_by_id(inlined: str) -> Mapping[str, Topic]:
    """Those of the pack of a session, by id."""
    return {topic.id: topic for topic in load_pack(inlined).topics}


@lru_cache(maxsize=16)
def merge_session_tables(
    inlined: str, language: Language, own: HeuristicsConfig
) -> HeuristicsConfig:
    """The tables of a session: those of its pack in a language, and what the team says otherwise.

    Args:
        own: the team's; its menu, where it has one, says which categories are left.
    """
    pack = load_pack(inlined)
    merged = {topic.category: topic.as_category(language) for topic in pack.topics}
    merged |= {category.name: category for category in own.categories}
    names = own.menu or tuple(merged)
    for name in merged.keys() - {*names}:
        del merged[name]
    return HeuristicsConfig(
        categories=tuple(merged.values()),
        menu=tuple(filter(merged.__contains__, names)),
        category=_with_pack_question(
            own.category, _REFERENCE.category, pack.category.said(language)
        ),
        description=_with_pack_question(
            own.description, _REFERENCE.description, pack.description.said(language)
        ),
    )


_REFERENCE: Final = HeuristicsConfig()
NO_TABLES: Final = HeuristicsConfig(categories=(), menu=())
"""Of a team that says nothing otherwise."""


def _with_pack_question(own: Field, default: Field, question: str) -> Field:
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
    if not event.is_between:
        said += [topic.said(o.value, event.language) for o in event.present or ()]
        said += category.primary.options
    out = {topic.said(o.value, event.language) for o in event.replaced}
    options = tuple(dict.fromkeys(one for one in said if one not in out))[:OPTIONS_MAX]
    if options == category.primary.options:
        return config
    other = msgspec.structs.replace(
        category, primary=msgspec.structs.replace(category.primary, options=options)
    )
    return msgspec.structs.replace(
        config, categories=tuple(other if c is category else c for c in config.categories)
    )


# What a settings file says -------------------------------------------------------------------

TEXT_MAX: Final = 300  # characters of a name, a question or an option
LIST_MAX: Final = 50  # categories, keywords or options in one table
PACK_MAX: Final = 60_000  # bytes of a pack of the team's own: every session holds it


class SecondaryTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field that is filled in without a question."""

    field: str
    id: str


class CategoryTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A category, or the changes to one of the specification."""

    keywords: tuple[str, ...] | None = None
    field: str | None = None
    id: str | None = None
    question: str | None = None
    options: tuple[str, ...] | None = None
    filing: Filing | None = None
    secondary: tuple[SecondaryTable, ...] | None = None


class ClarificationTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[clarification]` (docs/configuration.md)."""

    question: str | None = None
    description: str | None = None
    heuristics: str | None = None
    """`standard`, `reference`, or a file with a pack of the team's own."""
    only: tuple[str, ...] | None = None
    menu: tuple[str, ...] | None = None
    categories: dict[str, CategoryTable] = {}


def heuristics_of(source: SettingsSource, table: ClarificationTable) -> Heuristics:
    """The pack that the file names, with what the file replaces or adds.

    Raises:
        SettingsError: a category lacks what it needs, or two answer to one key.
    """
    match table.heuristics:
        case "reference":
            return Heuristics(_changed_tables(source, table, HeuristicsConfig()))
        case None | STANDARD.name:
            ref, inlined = STANDARD, ""
        case path:
            ref, inlined = _own_pack(source, path)
    whole = merge_session_tables(inlined, "en", NO_TABLES)
    made = _changed_tables(source, table, whole)
    return Heuristics(_said_otherwise(table, whole, made), ref, inlined)


def _own_pack(source: SettingsSource, path: str) -> tuple[PackRef, str]:
    """The pack in a file of the team, and its text."""
    at = ("clarification", "heuristics")
    text = source.file(at, path, PACK_MAX)
    try:
        pack = msgspec.json.decode(text, type=Pack)
    except msgspec.MsgspecError as error:
        raise source.wrong(at, f"{path!r} is no pack: {error}") from error
    return PackRef(pack.name, pack.version, sha256(text.encode()).hexdigest()), text


def _said_otherwise(
    table: ClarificationTable, whole: HeuristicsConfig, made: HeuristicsConfig
) -> HeuristicsConfig:
    """Only what differs from the pack: a session holds no more of it."""
    changed = tuple(c for c in made.categories if c not in whole.categories)
    is_chosen = table.only is not None or table.menu is not None
    default = HeuristicsConfig()
    return HeuristicsConfig(
        categories=changed,
        menu=made.menu if is_chosen else (),
        category=made.category if table.question else default.category,
        description=made.description if table.description else default.description,
    )


def _changed_tables(
    source: SettingsSource, table: ClarificationTable, base: HeuristicsConfig
) -> HeuristicsConfig:
    """Tables with what the file replaces or adds."""
    if len(table.categories) > LIST_MAX:
        raise source.wrong(("clarification", "categories"), f"at most {LIST_MAX} are taken")
    merged = {category.name: category for category in base.categories}
    given_names: set[str] = set()
    for name, given in table.categories.items():
        known = base.named(name)
        if name.casefold() in given_names:
            raise source.wrong(("clarification", "categories", name), "has a table twice")
        given_names.add(name.casefold())
        merged[known.name if known else name] = _read_category_table(source, name, known, given)
    order = list(merged)
    if table.only is not None:
        for name in table.only:
            if name not in merged:
                found = f"{name!r} is no category: expected some of {', '.join(merged)}"
                raise source.wrong(("clarification", "only"), found)
        order = list(dict.fromkeys(table.only))
    menu = table.menu or (*(n for n in base.menu if n in order), *order)
    if table.menu is not None and sorted(table.menu) != sorted(order):
        raise source.wrong(("clarification", "menu"), f"expected each of {', '.join(order)}, once")
    made = HeuristicsConfig(
        categories=tuple(merged[name] for name in order),
        menu=tuple(dict.fromkeys(menu)),
        category=_with_own_question(source, "question", base.category, table.question),
        description=_with_own_question(source, "description", base.description, table.description),
    )
    _check_keys(source, made)
    return made


def _with_own_question(source: SettingsSource, key: str, field: Field, text: str | None) -> Field:
    if text is None:
        return field
    _check_text(source, ("clarification", key), text)
    return msgspec.structs.replace(field, question=text)


def _read_category_table(
    source: SettingsSource, name: str, known: Category | None, given: CategoryTable
) -> Category:
    at = ("clarification", "categories", name)
    _check_text(source, at, name)
    if name.casefold() in (OTHER.casefold(), OTHER_OPTION.casefold()):
        found = "the name stands for everything that has no category: choose another"
        raise source.wrong(at, found)
    base = known or Category(name)
    keywords = base.keywords if given.keywords is None else given.keywords
    _check_list(source, (*at, "keywords"), keywords)
    for word in keywords:
        if not re.fullmatch(r"[^\W_]+(-[^\W_]+)?", word):
            found = "is not one word: expected letters and digits, or two joined by a hyphen"
            raise source.wrong((*at, "keywords"), f"{word!r} {found}")
    made = Category(
        name=base.name,
        keywords=tuple(word.casefold() for word in keywords),
        primary=_primary(source, at, base.primary, given),
        secondary=(
            base.secondary
            if given.secondary is None
            else tuple(Field(s.field, s.id) for s in given.secondary)
        ),
        filing=given.filing or base.filing,
    )
    _check_fields(source, at, made, "field" if given.secondary is None else "secondary")
    return made


def _check_fields(source: SettingsSource, at: tuple[str, ...], made: Category, key: str) -> None:
    """Every field of a patch has a name of its own, and none that of the category."""
    _check_list(source, (*at, "secondary"), tuple(field.name for field in made.secondary))
    names = [field.name.casefold() for field in made.fields()]
    if "category" in names:
        where = "field" if names[0] == "category" and made.primary else "secondary"
        raise source.wrong((*at, where), "'Category' stands for the category itself")
    if len(set(names)) != len(names):
        raise source.wrong((*at, key), "two fields of the category have one name")


def _primary(
    source: SettingsSource, at: tuple[str, ...], base: Field | None, given: CategoryTable
) -> Field | None:
    values = {
        "name": given.field,
        "id": given.id,
        "question": given.question,
        "options": given.options,
    }
    changes: dict[str, Any] = {k: v for k, v in values.items() if v is not None}
    if base is None:
        if not changes:
            return None
        for key, toml in (("name", "field"), ("id", "id"), ("question", "question")):
            if key not in changes:
                raise source.wrong(at, f"the key {toml!r} is missing: a question needs it")
        base = Field("", "")
    made = msgspec.structs.replace(base, **changes)
    for key in ("name", "question"):
        _check_text(source, (*at, "field" if key == "name" else key), getattr(made, key))
    _check_list(source, (*at, "options"), made.options)
    for option in made.options:
        if is_placeholder(option):
            raise source.wrong((*at, "options"), f"{option!r} is a placeholder: it decides nothing")
    if any(option.casefold().startswith("other") for option in made.options):
        raise source.wrong((*at, "options"), "every question gets `Other (specify)`: leave it out")
    return made


def _check_text(source: SettingsSource, at: tuple[str, ...], text: str) -> None:
    if found := line_trouble(text, TEXT_MAX):
        raise source.wrong(at, found)


def _check_list(source: SettingsSource, at: tuple[str, ...], values: tuple[str, ...]) -> None:
    if len(values) > LIST_MAX:
        raise source.wrong(at, f"has {len(values)} entries, at most {LIST_MAX} are taken")
    for value in values:
        _check_text(source, at, value)
    if len({value.casefold() for value in values}) != len(values):
        raise source.wrong(at, "names something twice")


def _check_keys(source: SettingsSource, config: HeuristicsConfig) -> None:
    """Every key answers one question, so that no answer is filed under another field."""
    seen = {config.category.id: "Category", config.description.id: "Description"}
    for category in config.categories:
        for field in category.fields():
            at = ("clarification", "categories", category.name)
            key = "id" if field is category.primary else "secondary"
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", field.id) or field.id.endswith(COMPANION):
                found = f"found {field.id!r}, expected lower-case letters, digits and underscores"
                raise source.wrong((*at, key), found)
            if field.id in seen:
                raise source.wrong((*at, key), f"{field.id!r} is the key of {seen[field.id]} too")
            seen[field.id] = f"{category.name}.{field.name}"


SETTINGS: Final = SettingsTable(ClarificationTable, heuristics_of, Heuristics(NO_TABLES, STANDARD))
