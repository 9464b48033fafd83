"""What a text states, and where it states or names what the team decided against.

A text *states* a value by a closed list of forms (docs/decisions/0037); a form covers the whole
text, and only `for Y` and `because Z` may follow. Whatever else a text says of a value *mentions*
it, and a person is asked. Intentions and the texts of plans are read by the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from re import Match, Pattern
from typing import Final, NamedTuple, Protocol

from preflights_es.kernel.decisions import Record, RecordField
from preflights_es.kernel.questions import Language, is_placeholder
from preflights_es.kernel.text import (
    ANSWER_MAX,
    SCOPE_MAX,
    caseless,
    composed,
    late_pattern,
)
from preflights_es.kernel.words import aliases, canonical, folded, plain, product

SCOPE_WORDS_MAX: Final = 8
NAME_WORDS_MAX: Final = 3  # of a name that is not known, or that stands within a scope


class Statement(NamedTuple):
    """What a text states."""

    value: str
    replaced: str = ""
    scope: str = ""
    because: str = ""


# 1. The forms --------------------------------------------------------------------------------

_NAME = r"[^\s,;:!?()\"]+(?: [^\s,;:!?()\"]+){0,3}?"
_SCOPE = r"[^,;:!?()\"]+?"
_X, _A, _B = rf"(?P<x>{_NAME})", rf"(?P<a>{_NAME})", rf"(?P<x>{_NAME})"
_Y = rf"(?P<y>{_SCOPE})"
_ENDS_EN = rf"(?: for {_Y})?(?:,? because (?P<z>.+?))?[.!]?"
_ENDS_DE = rf"(?: f\u00fcr {_Y})?(?:,? weil (?P<z>.+?))?[.!]?"
_FOR = rf"(?: f\u00fcr (?P<moved>{_SCOPE}))?"
_MOVED = r"(?: (?P<moved>[^,;:!?()\"]+?))?"

ENGLISH: Final[tuple[Pattern[str], ...]] = tuple(
    late_pattern(f"(?i:{form}{_ENDS_EN})")
    for form in (
        rf"(?:use|we (?:use|take|chose|decided on)) {_X}(?: instead of {_A})?",
        rf"replace {_A} with {_B}",
        rf"(?:move|migrate|switch){_MOVED} from {_A} to {_B}",
        rf"(?P<first>{_NAME})(?: instead of {_A})?",
    )
)
GERMAN: Final[tuple[Pattern[str], ...]] = tuple(
    late_pattern(f"(?i:{form}{_ENDS_DE})")
    for form in (
        rf"wir (?:nehmen|verwenden) {_X}(?: statt {_A})?",
        rf"wir haben uns f\u00fcr {_X} entschieden",
        rf"(?P<first>{_NAME})(?: statt {_A})?{_FOR} (?:verwenden|nehmen|einsetzen)",
        rf"{_A} durch {_B} ersetzen",
        rf"(?:(?P<moved>[^,;:!?()\"]+?) )?von {_A} auf {_B} (?:umziehen|umstellen)",
        rf"(?P<first>{_NAME})(?: statt {_A})?",
    )
)

NameOf = Callable[[str], str]
"""The value that a whole text names, as it is known; empty where none."""


def stated(text: str, name_of: NameOf, names_any: Callable[[str], bool]) -> Statement | None:
    """The value that a text states; None where no form covers it whole.

    Args:
        names_any: whether a known value stands in a text.
    """
    line = " ".join(composed(text).split())
    if "?" in line:
        return None
    for forms, is_german in ((ENGLISH, False), (GERMAN, True)):
        for form in forms:
            match = form.fullmatch(line)
            is_bare = form is forms[-1]  # no verb
            said = match and _said(match, name_of, names_any, is_german=is_german, is_bare=is_bare)
            if said:
                return said
    return None


def _said(
    match: Match[str],
    name_of: NameOf,
    names_any: Callable[[str], bool],
    *,
    is_german: bool,
    is_bare: bool,
) -> Statement | None:
    """What a form says, where its parts are what they must be."""
    part = {name: text or "" for name, text in match.groupdict().items()}
    begins = part.get("first", "")
    scope, because = part.get("y", ""), part["z"]
    if part.get("moved"):
        if scope:
            return None
        scope = part["moved"]
    naming = _Naming(name_of, is_german=is_german, is_plain=not _shouts(match))
    value = naming.named(begins or part["x"], begins=bool(begins))
    replaced = naming.named(part["a"], begins=match.start("a") == 0) if part.get("a") else ""
    if not value or (part.get("a") and not replaced):
        return None
    named = (begins or part["x"], part.get("a", ""))
    known = [one for one in named if name_of(one) or name_of(one.rpartition(" ")[0])]
    if is_bare and not replaced and (not scope or not known):
        return None  # `X for Y` says nothing of what is not known
    if replaced and (not known or _bare(value) == _bare(replaced)):
        return None
    if (scope and not _is_scope(scope, names_any)) or not _is_reason(because):
        return None
    return Statement(value, replaced, _without_article(scope), because)


def _shouts(match: Match[str]) -> bool:
    """Whether words of the form itself have capitals, so that capitals show no names."""
    spans = [match.span(name) for name in match.re.groupindex if match.start(name) >= 0]
    line = match.string
    own = [at for at in range(1, len(line)) if not any(a <= at < b for a, b in spans)]
    return any(line[at].isupper() for at in own)


# 2. Names ------------------------------------------------------------------------------------


class _Naming(NamedTuple):
    """How names are told from other words."""

    name_of: NameOf
    is_german: bool
    """Every noun has a capital."""
    is_plain: bool
    """Whether capitals say something here."""

    def named(self, text: str, *, begins: bool) -> str:
        """The value that is meant, known or by how it is written; empty where it is no name."""
        text = text.rstrip(".")
        if known := self.name_of(text):
            return known
        name, _, version = text.rpartition(" ")
        if _VERSION.fullmatch(version) and (known := self.name_of(name)):
            return f"{known} {version}"
        words = text.split()
        if not 0 < len(words) <= NAME_WORDS_MAX:
            return ""
        first, *rest = words
        more = (word.isdecimal() or self._is_name(word, begins=False) for word in rest)
        return text if self._is_name(first, begins=begins) and all(more) else ""

    def _is_name(self, word: str, *, begins: bool) -> bool:
        if folded(word) in plain("stop_words") | plain("no_names") or _FILE.search(word):
            return False
        if not (_WRITTEN.fullmatch(word) and any(map(str.isalpha, word))):
            return False
        if any(not c.isalpha() for c in word if c in ".0123456789"):
            return True
        if not self.is_plain:
            return False
        if begins or self.is_german:
            return any(map(str.isupper, word[1:]))
        return word[0].isupper()


_WRITTEN: Final = late_pattern(r"[^\W_](?:[\w.+#&-]*[\w+#])?")
_FILE: Final = late_pattern(
    r"\..*\.|\.(?:py|tsx?|jsx|json|xml|css|html|go|rs|java|kt|ya?ml|md|sh|toml|sql|cfg|ini|txt)$"
    r"|_",
)
_VERSION: Final = late_pattern(r"[\s-]*v?\d[\d.x]*$")


def _bare(name: str) -> str:
    """A name without its version."""
    return _VERSION.sub("", folded(name))


# 3. What follows a name ----------------------------------------------------------------------


_SCOPE_WRITTEN: Final = late_pattern(r"[\w'\u2019&/ .+#-]+")


def _is_scope(text: str, names_any: Callable[[str], bool]) -> bool:
    """Whether a text can say what a decision is for: a few words of one thing, naming no value."""
    words = folded(text).replace("'", " ").replace("\u2019", " ").split()
    if len(text) > SCOPE_MAX or not 0 < len(words) <= SCOPE_WORDS_MAX:
        return False
    if not _SCOPE_WRITTEN.fullmatch(text) or " - " in text or ". " in text or ".." in text:
        return False
    is_all = words[-1] in ("all", "alle", "alles")
    return not is_all and plain("not_in_scopes").isdisjoint(words) and not names_any(text)


def _is_reason(text: str) -> bool:
    """Whether a text is one reason that takes nothing back; an empty one is."""
    if len(text) > ANSWER_MAX or any(mark in text for mark in (". ", "! ", "; ", "...", ",")):
        return False
    words = _WORD.findall(folded(text))
    return plain("retractions").isdisjoint(words) and not (text and is_placeholder(text))


def _without_article(scope: str) -> str:
    first, _, rest = scope.strip().partition(" ")
    return rest if rest and folded(first) in plain("articles") else scope.strip()


# 4. Tasks and languages ----------------------------------------------------------------------

_UPGRADE: Final = late_pattern(r"\d\s+(?:to|auf|->|=>|\u2192)\s+(?:\w+\s+)?v?\d", 0)
_WORD: Final = late_pattern(r"[^\W_]+")


def tasks(text: str) -> bool:
    """Whether an intention is a fix, an upgrade or another small task: nothing is decided."""
    if "?" in text:
        return False
    words = _WORD.findall(folded(text))
    if not plain("tasks").isdisjoint(words[:1]) or _UPGRADE.search(text):
        return True
    return not plain("tasks_at_the_end").isdisjoint(words[-1:])


def language_of(text: str) -> Language:
    """German where more of its small words stand there than English ones, or an umlaut."""
    words = set(_WORD.findall(folded(text)))
    lean = len(words & plain("german")) - len(words & plain("english"))
    if lean:
        return "de" if lean > 0 else "en"
    return "de" if any(c in "\u00e4\u00f6\u00fc\u00df" for c in caseless(text)) else "en"


# 5. What the team decided against ------------------------------------------------------------


def _listed(words: str) -> frozenset[str]:
    return frozenset(" ".join(words.split()).split(", "))


GENERIC: Final = _listed("""
    all, always, any, application, automatic, both, client, cloud, custom, daily, database, default,
    depends, disabled, do nothing, enabled, false, file, file system, files, header, headers,
    hourly, in memory, later, local, manual, maybe, memory, monthly, neither, never, no,
    no preference, none, not applicable, not needed, not now, not sure, nothing, off, on, optional,
    other, others, own, polling, private, public, remote, required, server, skip, standard,
    streaming, to be decided, true, unclear, undecided, unknown, unsure, weekly, yes
""")
"""Options that every plan may name: they say nothing, or are nouns of any program."""

EVERYDAY: Final = _listed("""
    bun, canary, chef, crystal, dart, echo, edge, express, fiber, flask, flow, gin, go, lit, make,
    native, next, node, parcel, phoenix, play, puppet, react, rest, ring, rocket, rolling, rust,
    salt, spring, swift, task, turbo, wire
""")
"""Options that are also words of prose: in a sentence they count as the option writes them."""

NAMED_MIN: Final = 4  # letters of another name of a product that is looked for

_SENTENCES: Final = late_pattern(r"(?<=[.!?])\s+|\s*\n\s*")
_MARK: Final = late_pattern(r"\A\s*(?:[-*\u2022]|\d{1,3}[.)])\s+")
"""Of an item of a list."""
_ASIDE: Final = late_pattern(r"\s*\([^()]*\)")
_PARTS: Final = late_pattern(r"\s*[,;]\s*|\s+(?:and|with|[+&/])\s+")
_VERSION_BEHIND: Final = late_pattern(r"[\s-]+v?\d[\d.x]*$")
_GAP: Final = late_pattern(r"[\s_-]+")
_BEFORE: Final = r"(?<![^\W_])"
_BEHIND: Final = r"(?![^\W_]|[+#])"
_BEGINS: Final = late_pattern(r"(?:\A|[.!?:]\s)[\s\"'(]*\Z")
"""What stands before the first word of a sentence."""

Placed = tuple[str, str]
"""Where a text stands, such as a JSON Pointer, and the text."""


class Chosen(Protocol):
    """One value of a decision, and what was not chosen."""

    @property
    def value(self) -> str: ...
    @property
    def others(self) -> tuple[str, ...]: ...


def turned_down(record: Record, one: RecordField) -> tuple[str, ...]:
    """What was not chosen: the other options of the question, and what an actor named."""
    said = record.considered if one is record.fields[0] else ()
    others = dict.fromkeys((*one.options, *one.unasked, *said))
    return tuple(other for other in others if other != one.value)


def stated_against(text: str, field: Chosen) -> Statement | None:
    """What a text states in place of the decided value; None where it states nothing of it.

    A form covers the whole text, or a whole sentence of it.
    """
    known = _Known.of(field)
    for sentence in _SENTENCES.split(text):
        line = _MARK.sub("", sentence)
        said = stated(line, known.name_of, known.names_any)
        if said is not None and known.is_against(said):
            return said
    return None


def names_another(text: str, field: Chosen) -> bool:
    """Whether a text, as a whole, is another option of the decided question."""
    return _Known.of(field).is_other(text)


class _Known(NamedTuple):
    """What a decided question knows of names, in one spelling each."""

    chosen: frozenset[str]
    others: frozenset[str]
    spelled: dict[str, str]

    @classmethod
    def of(cls, field: Chosen) -> _Known:
        forms = _forms(field.value)
        chosen = frozenset(map(canonical, forms))
        others = frozenset(map(canonical, _others(field).values()))
        spelled = {_folded(form): form for form in (*_others(field).values(), *forms)}
        return cls(chosen, others - chosen, spelled)

    def name_of(self, text: str) -> str:
        """The option or product that a whole text names; empty where none."""
        return self.spelled.get(_folded(text)) or product(text)

    def names_any(self, text: str) -> bool:
        """Whether one stands anywhere in a text; words of prose do not count."""
        words = _folded(text).split()
        spans = (
            " ".join(words[at : at + size])
            for size in range(1, NAME_WORDS_MAX + 1)
            for at in range(len(words))
        )
        return any(self.name_of(one) and one not in EVERYDAY | GENERIC for one in spans)

    def is_other(self, value: str) -> bool:
        """Whether a value is one that was turned down."""
        return canonical(value) in self.others

    def is_against(self, said: Statement) -> bool:
        """Whether a statement has another value, or replaces the decided one."""
        replaces = bool(said.replaced) and canonical(said.replaced) in self.chosen
        return canonical(said.value) not in self.chosen and (replaces or self.is_other(said.value))


def _folded(text: str) -> str:
    return " ".join(folded(text).split())


def against(texts: tuple[Placed, ...], whole: str, field: Chosen) -> list[Placed]:
    """Pairs of another option and the first place that names it; none with the decided value.

    Args:
        whole: all texts, `caseless`: most plans name no option, which is quickly seen.
    """
    others = _others(field)
    if not any(word.partition(" ")[0] in whole for word in others):
        return []
    called = {name for option in field.others for name in _called(option)}
    decided = (*_forms(field.value), *aliases(field.value))
    named = _pattern((*decided, *others.values()))
    chosen = {_plain(form) for form in decided}
    places: dict[str, str] = {}
    for pointer, text in texts:
        written, folded = composed(text), caseless(text)
        written = written if len(written) == len(folded) else folded
        for match in named.finditer(folded):
            word = _plain(match.group())
            if word in chosen:
                return []
            is_plain = word not in EVERYDAY and others[word] not in called
            if is_plain or _is_name(written, match.start(), others[word]):
                places.setdefault(word, pointer)
    return [(others[word], pointer) for word, pointer in places.items()]


def _others(field: Chosen) -> dict[str, str]:
    """The options that count, by their words: each as it stands, and without what is in brackets.

    What is a part of the decided value is no other option.
    """
    value = _plain(field.value)
    found: dict[str, str] = {}
    for option in field.others:
        for form in (option.strip(), _ASIDE.sub("", option).strip(), *_called(option)):
            word = _plain(form)
            if _is_word(word) and not _is_generic(word):
                found.setdefault(word, form)
    return {word: form for word, form in found.items() if not _pattern((word,)).search(value)}


def _called(option: str) -> Iterator[str]:
    """Other names of a product, written as names are: in lower case many are words of prose."""
    for name in aliases(option):
        if name.isalpha() and len(name) >= NAMED_MIN:
            yield name.capitalize()


def _is_word(text: str) -> bool:
    """Numbers and single letters stand in too many texts."""
    return len(text) > 1 and any(map(str.isalpha, text))


def _is_generic(word: str) -> bool:
    bare = _plain(_ASIDE.sub("", word))
    return bare in GENERIC or word in GENERIC or bare.startswith(("other ", "none ", "custom "))


def _forms(value: str) -> tuple[str, ...]:
    """Ways to name a decided value: as it stands, its parts, and each without its version."""
    bare = _ASIDE.sub("", value)
    inside = (aside.strip(" ()") for aside in _ASIDE.findall(value))
    parts = (value, bare, *_PARTS.split(bare), *(p for one in inside for p in _PARTS.split(one)))
    forms = {form: None for part in parts for form in (part, _VERSION_BEHIND.sub("", part))}
    return tuple(form for form in forms if form == value or _is_word(form))


def _plain(text: str) -> str:
    """In one case, and with one blank where blanks, hyphens or underscores stand."""
    return _GAP.sub(" ", caseless(text)).strip()


@lru_cache(maxsize=256)
def _pattern(options: tuple[str, ...]) -> re.Pattern[str]:
    """Any of these as whole words, the longest first, in a text that is case folded."""
    longest = sorted({_plain(option) for option in options}, key=len, reverse=True)
    words = "|".join(r"[\s_-]+".join(map(re.escape, one.split(" "))) for one in longest if one)
    return re.compile(f"{_BEFORE}(?:{words}){_BEHIND}")


def _is_name(text: str, start: int, option: str) -> bool:
    """Whether a word of prose is meant as the option: in a path, or written as the option is.

    A capital that only begins a sentence says nothing.
    """
    written = text[start : start + len(option)]
    if " " not in text.strip() or (written.isupper() and len(written) > 2):
        return True
    return written == option and not option.islower() and not _BEGINS.search(text[:start])
