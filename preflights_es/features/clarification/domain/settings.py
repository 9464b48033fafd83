"""The team's own questions and categories, from the table of a settings file to a configuration."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

import msgspec

from preflights_es.features.clarification.domain.pack import NO_TABLES, STANDARD, Pack, tables
from preflights_es.features.clarification.domain.values import (
    COMPANION,
    OTHER,
    OTHER_OPTION,
    Category,
    Field,
    Filing,
    Heuristics,
    HeuristicsConfig,
    PackRef,
)
from preflights_es.kernel.ports import SettingsSource, SettingsTable
from preflights_es.kernel.questions import is_placeholder
from preflights_es.kernel.text import line_trouble

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
            return Heuristics(_tables(source, table, HeuristicsConfig()))
        case None | STANDARD.name:
            ref, inlined = STANDARD, ""
        case path:
            ref, inlined = _own_pack(source, path)
    whole = tables(inlined, "en", NO_TABLES)
    made = _tables(source, table, whole)
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


def _tables(
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
        merged[known.name if known else name] = _category(source, name, known, given)
    order = list(merged)
    if table.only is not None:
        for name in table.only:
            if name not in merged:
                raise source.wrong(
                    ("clarification", "only"),
                    f"{name!r} is no category: expected some of {', '.join(merged)}",
                )
        order = list(dict.fromkeys(table.only))
    menu = table.menu or (*(n for n in base.menu if n in order), *order)
    if table.menu is not None and sorted(table.menu) != sorted(order):
        raise source.wrong(("clarification", "menu"), f"expected each of {', '.join(order)}, once")
    made = HeuristicsConfig(
        categories=tuple(merged[name] for name in order),
        menu=tuple(dict.fromkeys(menu)),
        category=_asked(source, "question", base.category, table.question),
        description=_asked(source, "description", base.description, table.description),
    )
    _check_keys(source, made)
    return made


def _asked(source: SettingsSource, key: str, field: Field, text: str | None) -> Field:
    if text is None:
        return field
    _check_text(source, ("clarification", key), text)
    return msgspec.structs.replace(field, question=text)


def _category(
    source: SettingsSource, name: str, known: Category | None, given: CategoryTable
) -> Category:
    at = ("clarification", "categories", name)
    _check_text(source, at, name)
    if name.casefold() in (OTHER.casefold(), OTHER_OPTION.casefold()):
        raise source.wrong(
            at, "the name stands for everything that has no category: choose another"
        )
    base = known or Category(name)
    keywords = base.keywords if given.keywords is None else given.keywords
    _check_list(source, (*at, "keywords"), keywords)
    for word in keywords:
        if not re.fullmatch(r"[^\W_]+(-[^\W_]+)?", word):
            raise source.wrong(
                (*at, "keywords"),
                f"{word!r} is not one word: expected letters and digits, or two joined by a hyphen",
            )
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
                raise source.wrong(
                    (*at, key),
                    f"found {field.id!r}, expected lower-case letters, digits and underscores",
                )
            if field.id in seen:
                raise source.wrong((*at, key), f"{field.id!r} is the key of {seen[field.id]} too")
            seen[field.id] = f"{category.name}.{field.name}"


SETTINGS: Final = SettingsTable(ClarificationTable, heuristics_of, Heuristics(NO_TABLES, STANDARD))
