"""Which option of a decision a module, a package or an image is.

By the option's own name, and by the rows of `names.txt`, which say by what names a product is
imported and installed. The longest name that fits decides: `react-native` is not React.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from preflights_es.features.govern.domain.imports import Used, table
from preflights_es.kernel.statements import EVERYDAY, GENERIC
from preflights_es.kernel.text import late_pattern
from preflights_es.kernel.words import folded, names

_ASIDE: Final = late_pattern(r"\s*\([^()]*\)|[`\"']")
_SQUEEZED: Final = late_pattern(r"[\W_]+")
_PART: Final = late_pattern(r"[./:\\]+")
_VERSION: Final = late_pattern(r"(?<=[a-z])\d[\d.]*$|[-_.]?v\d+(?:beta\d)?$|\.git$")
_MAJOR: Final = late_pattern(r"/v\d+(?=/|$)|(?<=\w)\.v\d+(?=/|$)")
_MORE: Final = late_pattern(
    r"^(?:apache|plain|raw|self-hosted|managed|hosted|hashicorp)\s+"
    r"|\s+(?:v?\d[\d.x]*|clients?|library|db|database|driver|sdk|orm|framework|atlas|server|cluster|cache|queue|broker|streams|api)$",
    re.IGNORECASE,
)
"""Words around a name that say no other product."""
_VENDOR: Final = late_pattern(r"^(?:aws|amazon|google|azure|microsoft)\s+", re.IGNORECASE)
_SHAPED: Final = late_pattern(r"^\S*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d)\S*$")
"""A name that is written like no word: MobX, Log4j."""
WORD_MIN: Final = 5  # letters of a name that is written like a word, as a part of another
_GENERIC: Final = frozenset(word.replace(" ", "") for word in GENERIC)
_COMMON: Final = EVERYDAY | frozenset(
    """
    batch cookie cookies cursor error errors event events exceptions light logger message offset
    pages query queue result results retry route router search session sessions state static storage
    store string style styles system table token tokens upload
    """.split()  # noqa: SIM905  a table
)


def named(option: str, found: Iterable[Used], chosen: Iterable[str]) -> Used | None:
    """The first of what an edit uses that an option is, and no chosen value is as well."""
    values = [*chosen]
    for one in found:
        key = fits(option, one)
        if key and not any(_is_in(option, value) or key in fits(value, one) for value in values):
            return one
    return None


def _is_in(option: str, value: str) -> bool:
    """Whether an option is a word of a chosen value: Redux, where Redux Toolkit was chosen."""
    return re.search(rf"(?<!\w){re.escape(_bare(option))}(?!\w)", value, re.IGNORECASE) is not None


def brought_in(
    options: Iterable[str], found: Iterable[Used], chosen: Sequence[str]
) -> dict[str, list[Used]]:
    """By option, what of many names it is, and no chosen value is as well: as `named`."""
    values = dict[Used, list[str]]()
    for value, ones in _fitting(chosen, found).items():
        for one in ones:
            values.setdefault(one, []).append(value)
    brought = dict[str, list[Used]]()
    for option, ones in _fitting(options, found).items():
        near = [value for value in chosen if _is_in(option, value)]
        brought[option] = [
            one for one in ones if named(option, [one], [*near, *values.get(one, ())])
        ]
    return brought


def _fitting(options: Iterable[str], found: Iterable[Used]) -> dict[str, list[Used]]:
    """By option, what of many names it is; pairs that have no name in common are not compared."""
    called, sold = dict[str, list[str]](), dict[str, list[str]]()
    for option in dict.fromkeys(options):
        product = product_of(option)
        sold.setdefault(product, []).append(option)
        for key in {*_own(option), squeezed(product)}:
            called.setdefault(key, []).append(option)
    fitting = dict[str, list[Used]]()
    for one in found:
        form = _form(one)
        keys = {*form.keys, *form.words, *map("".join, pairwise(form.words))}
        near = [option for key in sorted(keys) for option in called.get(key, ())]
        near += [option for of in form.rows.values() for option in sold.get(of, ())]
        for option in dict.fromkeys(near):
            if fits(option, one):
                fitting.setdefault(option, []).append(one)
    return fitting


def fits(option: str, one: Used) -> str:
    """The longest part of a name that the option is, squeezed; empty where it is no part."""
    form, own = _form(one), _own(option)
    product = product_of(option) if form.rows or form.words else ""
    found = own & form.keys if one.kind != "style" else set[str]()
    found |= {key for key, of in form.rows.items() if product and of == product}
    if not found and form.words:
        found = _among(form.words, option, own, product)
        found = {key for key in found if not any(key in row for row in form.rows)}
    return max((key for key in found if len(key) > 1), key=len, default="")


def _among(words: tuple[str, ...], option: str, own: set[str], product: str) -> set[str]:
    """Words of a package's name that an option is: `connect-redis` is for Redis.

    An option that the table lacks, and that is written like a word, must be the first one.
    """
    pairs = (*words, *map("".join, pairwise(words)))
    if product in _with_packages():
        return {squeezed(product)} & {*pairs}
    if product or not _SHAPED.search(_bare(option)):
        is_word = product or own & _COMMON or max(map(len, own), default=0) < WORD_MIN
        ends = (*words[:1], *(words[-1:] if words[0] in _parts() else ()))
        return set() if is_word else own & {*ends}
    return own & {*pairs}


class _Form(NamedTuple):
    """A name that is used, in the spellings in which it is compared."""

    keys: frozenset[str]
    rows: dict[str, str]
    """Those of them that stand in the table, and their products."""
    words: tuple[str, ...]
    """Of a package's name."""


@lru_cache(maxsize=1024)
def _form(one: Used) -> _Form:
    keys = frozenset(filter(None, _keys(one)))
    rows = {key: _rows()[key] for key in keys & _rows().keys()}
    return _Form(keys, rows, tuple(_words(one)))


def product_of(option: str) -> str:
    """The product that an option names, by its name in the table; empty where it names none."""
    bare = _ASIDE.sub("", option).strip()
    spelled = (bare, _bare(option), _VENDOR.sub("", bare))
    return next((known for one in spelled if (known := _called().get(folded(one)))), "")


@lru_cache(maxsize=4096)
def _bare(option: str) -> str:
    """An option without what stands in brackets, and without words around its name."""
    bare = _ASIDE.sub("", option).strip()
    while bare and (shorter := _MORE.sub("", bare, count=1)) != bare:
        bare = shorter
    return bare


@lru_cache(maxsize=4096)
def _own(option: str) -> set[str]:
    """An option's own name, in both ways."""
    return {squeezed(option), squeezed(_bare(option))} - _GENERIC


def squeezed(name: str) -> str:
    """A name without what is written in many ways: `Socket.IO`, `socketio`; `Vue.js`, `vue`."""
    bare = folded(_ASIDE.sub("", name)).strip()
    for end in (".js", ".py", ".rs"):
        bare = bare.removesuffix(end)
    return _SQUEEZED.sub("", bare)


@cache
def _called() -> dict[str, str]:
    return {folded(called): one.name for one in names() for called in (one.name, *one.aliases)}


@cache
def _with_packages() -> frozenset[str]:
    return frozenset(one.name for one in names() if one.packages)


@cache
def _parts() -> frozenset[str]:
    return frozenset(map(squeezed, _with_packages()))


@cache
def _rows() -> dict[str, str]:
    """Products by each squeezed name of the table: of a product, a package, a group of packages."""
    found: dict[str, str] = {}
    for one in names():
        for name in (one.name, *one.packages, *one.aliases):
            found.setdefault(squeezed(_MAJOR.sub("", name)), one.name)
            if ":" in name:
                found.setdefault(squeezed(name.partition(":")[0]), one.name)
    return found


def _keys(one: Used) -> Iterator[str]:
    """What a name is called, squeezed: itself, and what of it says whose it is."""
    for name in _whole(one):
        bare = squeezed(name)
        yield bare
        if len(name) > 3 and (without := squeezed(_VERSION.sub("", folded(name)))) != bare:
            yield without


def _whole(one: Used) -> Iterator[str]:
    name = one.name
    match one.kind:
        case "tool" | "style":
            yield from (name, name.partition("/")[0])
        case "image":
            bare = _image(name)
            yield from (bare, *bare.split("/"))
        case "package" if name.startswith("@"):
            scope, _, rest = name[1:].partition("/")
            bare = rest.partition("/")[0]
            yield from (f"{scope}/{bare}", *((bare,) if scope in table("scopes") else ()))
            if scope != "types":
                yield scope
        case "package" if ":" in name or "." in name:  # Maven, NuGet
            yield name
            group, _, artifact = name.partition(":")
            yield from (*_dotted(group), artifact)
        case "package":
            yield from (name, *(part.removeprefix("setup-") for part in name.split("/")[:2]))
        case "address":
            yield from _dotted(_MAJOR.sub("", name), between="/")
            host, *parts = _MAJOR.sub("", name).split("/")
            yield from (*host.split(".")[-2:-1], *parts[:2])
        case "jvm" if name.partition(".")[0] not in ("java", "javax", "kotlin", "scala"):
            yield from _dotted(name)
        case "module" if (parts := [*filter(None, _PART.split(name))])[0] not in table("standard"):
            yield from ("".join(parts[:end]) for end in range(1, min(len(parts), 4) + 1))


def _dotted(name: str, between: str = ".") -> Iterator[str]:
    """The beginnings of a name, and the part that says its owner, or the owner's product."""
    parts = name.split(between)
    yield from (
        between.join(parts[:end]) for end in range(1 if between == "." else 2, len(parts) + 1)
    )
    if between == ".":
        rest = parts[1:] if parts[0] in table("top") and len(parts) > 1 else parts
        while rest:
            yield rest[0]
            if rest[0].casefold() not in table("platforms"):
                break
            rest = rest[1:]


def _image(name: str) -> str:
    """An image without its registry, tag and digest."""
    first, slash, rest = name.partition("/")
    bare = rest if slash and ("." in first or ":" in first or first == "localhost") else name
    return bare.partition("@")[0].partition(":")[0]


def _words(one: Used) -> Iterator[str]:
    """The words of a package's name; none of a name that may be the project's own.

    That is one in a scope, a group or a registry that publishes nothing for products of others.
    """
    name = {"package": one.name, "image": one.name, "address": _MAJOR.sub("", one.name)}.get(
        one.kind, ""
    )
    first, slash, rest = name.partition("/")
    if one.kind == "image":
        bare = _image(name)
        owner, _, name = bare.rpartition("/")
        name = name if not owner or owner in table("publishers") else ""
    elif one.kind == "address":
        words = re.split(r"[-_.]+", folded("".join(name.split("/")[2:3])))
        left = [word for word in words if word and word not in table("of_go")]
        name = left[0] if len(left) == 1 else ""
    elif name.startswith("@"):
        name = rest.partition("/")[0] if first[1:] in table("scopes") else ""
    elif ":" in name:
        group, _, name = name.partition(":")
        is_known = table("platforms") & {*group.split(".")} if group else _is_of_product(name)
        name = name if is_known else "" if group else name.partition("-")[0]
    elif slash:
        name = rest
    for word in filter(None, re.split(r"[-_./]+", folded(name))):
        yield word.rstrip("0123456789") or word


def _is_of_product(artifact: str) -> bool:
    """Whether a name without its group begins with a product's, as `spring-boot-starter-x`."""
    first, _, rest = folded(artifact).partition("-")
    return not {first, first + rest.partition("-")[0]}.isdisjoint(_parts())
