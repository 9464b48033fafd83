"""Which option of a decision a module, a package or an image is.

A product for which `names.txt` lists packages is what these rows say, and nothing else; an image
or a tool is called as the product is. Another option is what bears its own name, with words such as
`client` around it at most. An option is never one word among others: `spark-md5` is not Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple, get_args

from preflights_es.features.govern.domain.imports import Kind, UsedName, read_import_words
from preflights_es.kernel.text import late_pattern
from preflights_es.words.language import (
    GENERIC,
    Name,
    canonical,
    fold_letters,
    has_small_word,
    product,
    read_product_names,
)

_ASIDE: Final = late_pattern(r"\s*\([^()]*\)|[`\"']")
_OWNER: Final = late_pattern(r"\(([A-Za-z][\w.]*[a-z][\w.]*)\)")
_WORD: Final = late_pattern(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|\d+|[^\W_]+")
_SIGNS: Final = late_pattern(r"[\W_]+")
_PART: Final = late_pattern(r"[./:\\]+")
_TAG: Final = late_pattern(r"(?:@.*|:[^/]*)$")
_VERSION: Final = late_pattern(r"(?<=[a-z])\d[\d.]*$|[-_.]?v\d+(?:beta\d)?$|\.git$")
_MAJOR: Final = late_pattern(r"/v\d+(?=/|$)|\.v\d+(?=/|$)")
_MORE: Final = late_pattern(
    r"^(?:apache|plain|raw|self-hosted|managed|hosted|aws|amazon|google|azure|microsoft|hashicorp)\s+"
    r"|\s+(?:v?\d[\d.x]*|clients?|library|db|database|driver|sdk|orm|framework|atlas|server|cluster"
    r"|cache|queue|broker|streams|api)$",
    re.IGNORECASE,
)
"""Words around the name of a product that say no other one."""
_NONE: Final = frozenset(word.replace(" ", "") for word in GENERIC)


def find_option_use(
    option: str, found: Iterable[UsedName], chosen: Iterable[str]
) -> UsedName | None:
    """The first of what an edit uses that an option is, and no chosen value is as well."""
    return next(iter(group_uses_by_option([option], found, [*chosen]).get(option, ())), None)


def group_uses_by_option(
    options: Iterable[str], found: Iterable[UsedName], chosen: Iterable[str]
) -> dict[str, list[UsedName]]:
    """By option, what of many names it is, and no chosen value is as well."""
    values, is_of = [*chosen], dict[UsedName, list[str]]()
    used = [*found]
    for value, ones in _fitting(values, used).items():
        for one in ones:
            is_of.setdefault(one, []).append(value)

    def is_alone(option: str, one: UsedName) -> bool:
        parts = (longest_fitting_part(value, one) for value in is_of.get(one, ()))
        return not any(longest_fitting_part(option, one) in part for part in parts)

    fitting = _fitting(options, used)
    left = [one for one in fitting if not any(_is_in(one, value) for value in values)]
    return {option: [one for one in fitting[option] if is_alone(option, one)] for option in left}


def is_product(option: str) -> bool:
    """Whether packages can be told to be the option: a known product, or a single word."""
    bare = _ASIDE.sub("", option).strip()
    return _product(option) is not None or (" " not in bare and _squeezed(bare) not in _NONE)


def package_names(option: str) -> frozenset[str]:
    """How packages of an option are called, folded: by the table, else as the option is."""
    known = _product(option)
    if not is_product(option) or (known and not known.packages):  # a language is no package
        return frozenset()
    named = (known.name, *known.packages) if known else (_ASIDE.sub("", option).strip(),)
    artifacts = (name.partition(":")[2] for name in named if "::" not in name)
    return frozenset(map(fold_letters, (*named, *filter(None, artifacts))))


def parts_of_package(one: UsedName) -> frozenset[str]:
    """The words of what a package is called, folded: `django-celery-beat` may bring Celery.

    Of a module none: a word of it is mostly one of its own parts.
    """
    is_jvm = one.kind == "jvm" and ":" in one.name
    is_package = is_jvm or one.kind in ("npm", "package", "address")
    return frozenset(_SIGNS.split(fold_letters(one.name)) if is_package else ())


def is_chosen(option: str, values: Iterable[str]) -> bool:
    """Whether one of these values is, or names, the option."""
    return any(canonical(option) == canonical(value) or _is_in(option, value) for value in values)


def _is_in(option: str, value: str) -> bool:
    """Whether an option is a word of a chosen value: Redux, where Redux Toolkit was chosen.

    A sentence that takes something back does not say which word it keeps.
    """
    words = fold_letters(value).split()
    if has_small_word(words, "retractions") or has_small_word(words, "denials"):
        return False
    bare = _ASIDE.sub("", option).strip()
    return re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", value, re.IGNORECASE) is not None


def _fitting(options: Iterable[str], found: Iterable[UsedName]) -> dict[str, list[UsedName]]:
    """By option, what of many names it is; pairs that have no name in common are not compared."""
    called = dict[str, list[str]]()
    for option in dict.fromkeys(options):
        of = _product(option)
        keys = {key for kind in get_args(Kind) for key in _spellings_of_option(option, kind, of)}
        for key in {*keys, of.name} if of else keys:
            called.setdefault(key, []).append(option)
    fitting = dict[str, list[UsedName]]()
    for one in found:
        form = _spell_used_name(one)
        near = (called.get(key, ()) for key in (*sorted(form.keys), *chain(*form.rows.values())))
        for option in dict.fromkeys(option for options in near for option in options):
            if longest_fitting_part(option, one):
                fitting.setdefault(option, []).append(one)
    return fitting


def longest_fitting_part(option: str, one: UsedName) -> str:
    """The longest part of a name that the option is, squeezed; empty where it is no part."""
    owner = _OWNER.search(option)
    is_owned = owner and owner[1].casefold() not in read_import_words("asides")
    if owner and is_owned and _squeezed(owner[1]) not in _squeezed(one.name):
        return ""
    form, product = _spell_used_name(one), _product(option)
    found = {key for key, of in form.rows.items() if product and product.name in of}
    if product is None or not product.packages or one.kind in ("image", "tool"):
        found |= form.keys & _spellings_of_option(option, one.kind, product)
    elif _squeezed(product.name) == _owner_of(one):  # what a vendor publishes in its own name
        found.add(_squeezed(product.name))
    return max(found, key=len, default="")


# 1. Options -----------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _product(option: str) -> Name | None:
    """The product of the table that an option names."""
    bare = _ASIDE.sub("", option).strip()
    spelled = [bare]
    while bare and (shorter := _MORE.sub("", bare, count=1)) != bare:
        bare = shorter
        spelled.append(bare)
    return next((_by_name()[known] for one in spelled if (known := product(one))), None)


@lru_cache(maxsize=4096)
def _spellings_of_option(option: str, kind: Kind, product: Name | None) -> frozenset[str]:
    """How an option may be called itself, squeezed."""
    bare = re.sub(r" v?\d[\d.x]*$", "", _ASIDE.sub("", option).strip())
    found = {bare, *((product.name, *product.aliases) if product else ())}
    if kind == "npm":
        found.add(re.sub(r"(?:\.js|(?<=[a-z])JS| JS)$", "", bare))
    if kind in ("module", "npm", "package") and "-" in bare and " " not in bare:  # python-jose
        found.add(_inner(bare))
    return frozenset(key for one in found if len(key := _squeezed(one)) > 1) - _NONE


def _owner_of(one: UsedName) -> str:
    """Who publishes it, squeezed: a scope of npm, a vendor of PHP; empty where none is named."""
    owner, slash, _ = one.name.removeprefix("@").partition("/")
    is_owned = slash and (one.name.startswith("@") if one.kind == "npm" else one.kind == "package")
    return _squeezed(owner) if is_owned else ""


def _squeezed(name: str) -> str:
    return _SIGNS.sub("", fold_letters(name))


def _inner(name: str) -> str:
    """A name without the words around it that say what it does, and for which language."""
    inner = _WORD.findall(name)
    while inner and inner[-1].casefold() in read_import_words("roles"):
        inner.pop()
    while inner and inner[0].casefold() in read_import_words("roles"):
        inner.pop(0)
    return "".join(inner)


@cache
def _by_name() -> dict[str, Name]:
    return {one.name: one for one in read_product_names()}


@cache
def _products_by_package() -> dict[str, tuple[str, ...]]:
    """Products by each name of a package; of an artifact also without its group."""
    found: dict[str, tuple[str, ...]] = {}
    for one in read_product_names():
        for name in one.packages:
            keys = [_squeeze_package_name(_MAJOR.sub("", name))]
            if ":" in name and "::" not in name:
                keys.append(_squeeze_package_name(name[name.index(":") :]))
            for key in keys:
                found[key] = (*found.get(key, ()), one.name)
    return found


def _squeeze_package_name(name: str) -> str:
    """A name squeezed, with the `/` of a scope, and the `:` of an artifact without its group."""
    return name if name.endswith("/") else name[: name.startswith(":")] + _squeezed(name)


# 2. What is used ------------------------------------------------------------------------------


class _SpelledName(NamedTuple):
    """A name that is used, in the spellings in which it is compared."""

    keys: frozenset[str]
    rows: dict[str, tuple[str, ...]]
    """Spellings that stand in the table, and their products."""


@lru_cache(maxsize=1024)
def _spell_used_name(one: UsedName) -> _SpelledName:
    groups, own = _spelled(one)
    rows: dict[str, tuple[str, ...]] = {}
    for group in groups:  # the longest of each
        spelled = (
            _squeeze_package_name(said)
            for name in group
            for said in (name, _VERSION.sub("", fold_letters(name)))
        )
        if key := next((key for key in spelled if key in _products_by_package()), ""):
            rows[key] = _products_by_package()[key]
    return _SpelledName(frozenset(filter(None, map(_squeezed, (*own, *map(_inner, own))))), rows)


def _spelled(one: UsedName) -> tuple[list[list[str]], list[str]]:
    """Groups of names that the table may list, the longest of each first, and names of its own."""
    name = one.name.removeprefix("@types/") if one.kind == "npm" else one.name
    match one.kind:
        case "image":
            *_, owner, bare = ("", *_TAG.sub("", name).split("/"))
            return [[f"{owner}/{bare}", bare]], [bare, f"{owner} {bare}"]
        case "module" | "jvm":
            group, _, artifact = name.partition(":") if one.kind == "jvm" else (name, "", "")
            parts = [*filter(None, _PART.split(group))]
            if parts and parts[0] in read_import_words("standard"):
                return [], []
            own = parts if one.kind == "module" else parts[1:]
            while own[1:] and own[0] in read_import_words("platforms"):
                own = own[1:]
            rows = [*_beginnings(parts)]
            return [[name], rows], [*own[:1], artifact, *rows]
        case "address":
            host, *parts = name.split("/")
            pair = [*parts[:2], f"{parts[0]} {parts[1]}"] if parts[1:] else parts
            return [[*_beginnings([host, *parts])]], pair
        case "npm" | "package" if "/" in name:
            owned, bare, *_ = name.split("/")
            if owned.startswith("@"):  # not all may publish there
                return [[f"{owned}/{bare}"], [f"{owned}/"]], [f"{owned} {bare}", owned]
            if one.kind == "npm":  # what lies deeper
                return [[f"{owned}/{bare}"], [owned]], [owned]
            return [[name]], _pair(owned, bare)
    return [[name]], [name]


def _beginnings(parts: list[str]) -> Iterator[str]:
    yield from (".".join(parts[:end]) for end in range(len(parts), 0, -1))


def _pair(first: str, second: str) -> list[str]:
    """An owner with what it owns, the owner alone, and what it owns.

    The owner where the rest says only what for: `@emotion/core`, `doctrine/orm`.
    """
    return [f"{first} {second}", *([] if _inner(second) else [first]), second]
