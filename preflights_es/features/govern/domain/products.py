"""Which option of a decision a module, a package or an image is.

A product for which `names.txt` lists packages is what these rows say, and nothing else; an image
or a tool is called as the product is. Another option is what bears its own name, with words such as
`client` around it at most. An option is never one word among others: `spark-md5` is not Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple, get_args

from preflights_es.features.govern.domain.imports import Kind, Used
from preflights_es.kernel.statements import GENERIC
from preflights_es.kernel.text import late_pattern
from preflights_es.kernel.words import Name, folded, names, product

_ASIDE: Final = late_pattern(r"\s*\([^()]*\)|[`\"']")
_OWNER: Final = late_pattern(r"\(([A-Za-z][\w.]*[a-z][\w.]*)\)")
_JS: Final = late_pattern(r"(?:\.js|(?<=[a-z])JS| JS)$")
_WORD: Final = late_pattern(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|\d+|[^\W_]+")
_PART: Final = late_pattern(r"[./:\\]+")
_VERSION: Final = late_pattern(r"(?<=[a-z])\d[\d.]*$|[-_.]?v\d+(?:beta\d)?$|\.git$")
_MAJOR: Final = late_pattern(r"/v\d+(?=/|$)|\.v\d+(?=/|$)")
_COMPANY: Final = late_pattern(
    r"^(?:aws|amazon|google|azure|microsoft|hashicorp)\s+", re.IGNORECASE
)
_MORE: Final = late_pattern(
    r"^(?:apache|plain|raw|self-hosted|managed|hosted)\s+"
    r"|\s+(?:v?\d[\d.x]*|clients?|library|db|database|driver|sdk|orm|framework|atlas|server|cluster"
    r"|cache|queue|broker|streams|api)$",
    re.IGNORECASE,
)
"""Words around the name of a product that say no other one."""
_ROLES: Final = frozenset(
    """
    adapter api android client common connector core dotnet driver framework go golang http ios java
    js jvm kotlin ktx lib net node nodejs orm php py python rb rs ruby rust sdk server swift ts web
    """.split()  # noqa: SIM905  a table
)
"""Words around the name of a package: what it does for the product, and for which language."""
_PLACES: Final = frozenset(
    """
    cloud current default existing hosted managed only recommended
    """.split()  # noqa: SIM905  a table
)
"""Asides that name no owner."""
_DOMAINS: Final = frozenset(
    """
    ai app ch co com de dev eu fr gg io me net nl org run sh tech uk
    """.split()  # noqa: SIM905  a table
)
_PLATFORMS: Final = frozenset(
    """
    alibaba amazon amazonaws apache boot cloud commons eclipse facebook fasterxml github google
    jakarta jboss jetbrains logging microsoft netflix qos software springframework squareup uber
    """.split()  # noqa: SIM905  a table
)
"""Owners of many products: the next part of a name says which."""
_STANDARD: Final = frozenset(
    ["System", "alloc", "core", "crate", "java", "javax", "kotlin", "scala", "self", "std", "super"]
)
_NONE: Final = frozenset(word.replace(" ", "") for word in GENERIC)
_REGISTERS: Final = ("module", "npm", "package")


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
    bare = _ASIDE.sub("", option).strip()
    return re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", value, re.IGNORECASE) is not None


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
        if product := _product(option):
            sold.setdefault(product.name, []).append(option)
        for key in {key for kind in get_args(Kind) for key in _own(option, kind, product)}:
            called.setdefault(key, []).append(option)
    fitting = dict[str, list[Used]]()
    for one in found:
        form = _form(one)
        near = [option for key in sorted(form.keys) for option in called.get(key, ())]
        near += [option for of in form.rows.values() for option in sold.get(of, ())]
        for option in dict.fromkeys(near):
            if fits(option, one):
                fitting.setdefault(option, []).append(one)
    return fitting


def fits(option: str, one: Used) -> str:
    """The longest part of a name that the option is, squeezed; empty where it is no part."""
    owner = _OWNER.search(option)
    if (
        owner
        and owner[1].casefold() not in _PLACES
        and _squeezed(owner[1]) not in _squeezed(one.name)
    ):
        return ""
    form, product = _form(one), _product(option)
    found = {key for key, of in form.rows.items() if product and product.name == of}
    if product is None or not product.packages or one.kind in ("image", "tool"):
        found |= form.keys & _own(option, one.kind, product)
    elif _squeezed(product.name) == _owner_of(one):  # what a vendor publishes in its own name
        found.add(_squeezed(product.name))
    return max(found, key=len, default="")


# 1. Options -----------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _product(option: str) -> Name | None:
    """The product of the table that an option names."""
    bare = _ASIDE.sub("", option).strip()
    spelled = [bare, _COMPANY.sub("", bare)]
    while bare and (shorter := _MORE.sub("", bare, count=1)) != bare:
        bare = shorter
        spelled.append(bare)
    return next((_by_name()[known] for one in spelled if (known := product(one))), None)


@lru_cache(maxsize=4096)
def _own(option: str, kind: str, product: Name | None) -> frozenset[str]:
    """How an option may be called itself, squeezed."""
    bare = re.sub(r" v?\d[\d.x]*$", "", _ASIDE.sub("", option).strip())
    found = {bare, *((product.name, *product.aliases) if product else ())}
    if kind == "npm":
        found.add(_JS.sub("", bare))
    if kind in _REGISTERS and "-" in bare and " " not in bare:  # python-jose
        found.add("".join(_inner(bare)))
    return frozenset(key for one in found if len(key := _squeezed(one)) > 1) - _NONE


def _owner_of(one: Used) -> str:
    """Who publishes it, squeezed: a scope of npm, a vendor of PHP; empty where none is named."""
    owner, slash, _ = one.name.removeprefix("@").partition("/")
    is_owned = slash and (one.name.startswith("@") if one.kind == "npm" else one.kind == "package")
    return _squeezed(owner) if is_owned else ""


def _squeezed(name: str) -> str:
    return re.sub(r"[\W_]+", "", folded(name))


def _inner(name: str) -> list[str]:
    """Words of a name without those around it that say what it is for."""
    words = _WORD.findall(name)
    while words and words[-1].casefold() in _ROLES:
        words.pop()
    while words and words[0].casefold() in _ROLES:
        words.pop(0)
    return words


@cache
def _by_name() -> dict[str, Name]:
    return {one.name: one for one in names()}


@cache
def _rows() -> dict[str, str]:
    """Products by each name of a package, squeezed.

    Of a scope it keeps the `/`, and of an artifact without its group the `:`.
    """
    found: dict[str, str] = {}
    for one in names():
        for name in one.packages:
            bare = name if name.endswith("/") else _squeezed(_MAJOR.sub("", name))
            found.setdefault(bare, one.name)
            if ":" in name and "::" not in name:
                found.setdefault(":" + _squeezed(name.partition(":")[2]), one.name)
    return found


# 2. What is used ------------------------------------------------------------------------------


class _Form(NamedTuple):
    """A name that is used, in the spellings in which it is compared."""

    keys: frozenset[str]
    rows: dict[str, str]
    """Spellings that stand in the table, and their products."""


@lru_cache(maxsize=1024)
def _form(one: Used) -> _Form:
    groups, own = _spelled(one)
    rows: dict[str, str] = {}
    for group in groups:  # the longest of each
        key = next((key for name in group for key in _keys(name) if key in _rows()), "")
        if key:
            rows[key] = _rows()[key]
    keys = {_squeezed(spelled) for name in own for spelled in (name, _VERSION.sub("", name))}
    keys |= {
        _squeezed("".join(_inner(_VERSION.sub("", folded(name) if name.isupper() else name))))
        for name in own
    }
    return _Form(frozenset(filter(None, keys)), rows)


def _keys(name: str) -> Iterator[str]:
    if name.endswith("/"):
        yield name
    else:
        mark = ":" if name.startswith(":") else ""
        yield mark + _squeezed(name)
        yield mark + _squeezed(_VERSION.sub("", folded(name)))


def _scoped(name: str) -> tuple[list[list[str]], list[str]]:
    """The same of a package of npm that has a scope."""
    if name.startswith("@types/"):
        return _spelled(Used(name.removeprefix("@types/"), "npm"))
    scope, bare, *_ = (*name[1:].split("/"), "")
    return [[f"{scope}/{bare}"], [f"@{scope}/"]], _pair(scope, bare, is_public=False)


def _of_jvm(name: str) -> tuple[list[list[str]], list[str]]:
    """The same of a package or an artifact of the JVM."""
    group, colon, artifact = name.partition(":")
    root = group.split(".")
    if root[0] in _STANDARD:
        return [], []
    parts = root[1:] if root[0] in _DOMAINS else root
    while parts[1:] and parts[0] in _PLATFORMS:
        parts = parts[1:]
    alone = [f":{artifact}"] if artifact and not group else []
    rows = [".".join(root[:end]) for end in range(len(root), 0, -1)]
    return [[name] if colon else [], alone, rows], [*parts[:1], artifact]


def _spelled(one: Used) -> tuple[list[list[str]], list[str]]:
    """Groups of names that the table may list, the longest of each first, and names of its own."""
    name = one.name
    match one.kind:
        case "image":
            owner, slash, bare = _image(name).rpartition("/")
            return [[f"{owner}{slash}{bare}"], [bare]], [bare, f"{owner.rpartition('/')[2]} {bare}"]
        case "tool":
            return [[name]], [name]
        case "npm" if name.startswith("@"):
            return _scoped(name)
        case "npm" | "package" if "/" in name:
            first, second, *_ = name.split("/")
            if one.kind == "npm":  # what lies deeper
                return [[f"{first}/{second}"], [first]], [first]
            own = _squeezed(second) in _squeezed(first)
            return [[name], [second] if own else []], _pair(first, second)
        case "address":
            host, *parts = _MAJOR.sub("", name).split("/")
            rows = ["/".join((host, *parts[:end])) for end in range(len(parts), -1, -1)]
            return [rows], _pair(*parts[:2]) if parts[1:] else parts
        case "jvm":
            return _of_jvm(name)
        case "module":
            parts = [*filter(None, _PART.split(name))]
            if not parts or parts[0] in _STANDARD:
                return [], []
            rows = [".".join(parts[:end]) for end in range(min(len(parts), 5), 0, -1)]
            return [rows], [parts[0], *rows]
    return [[name]], [name]


def _pair(first: str, second: str, *, is_public: bool = True) -> list[str]:
    """An owner and what it owns: both together, what it owns where all may publish, or the owner.

    The last where the rest says only what for: `@emotion/core`, `doctrine/orm`.
    """
    alone = [first] if not _inner(second) else []
    return [f"{first} {second}", *alone, *([second] if is_public else [])]


def _image(name: str) -> str:
    """An image without its registry, tag and digest."""
    first, slash, rest = name.partition("/")
    bare = rest if slash and ("." in first or ":" in first or first == "localhost") else name
    return bare.partition("@")[0].partition(":")[0]
