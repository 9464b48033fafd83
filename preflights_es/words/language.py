"""What a text says: its words as memory looks for them, names, and the values that it states.

What is kept and what is asked is cut by the same functions. `names.txt` has one product a line,
`Name | other names | packages`; searching, comparing and the facts of a repository read this one
file. A text *states* a value by a closed list of forms (docs/decisions/0037); a form covers the
whole text, and only `for Y` and `because Z` may follow. Whatever else a text says of a value
*mentions* it, and a person is asked. What is refused or shown of a text is in `kernel.text`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from re import Match, Pattern
from typing import Final

import msgspec

from preflights_es.kernel.text import (
    ANSWER_MAX,
    SCOPE_MAX,
    caseless,
    composed,
    late_pattern,
    own_file,
)
from preflights_es.words.questions import Language, is_placeholder

BEGIN: Final = 3  # letters that the forms of a word share
TERM_MAX: Final = 40  # characters of a word that count

CI_SERVICES: Final = {
    ".github/workflows": "GitHub Actions",
    ".gitlab-ci.yml": "GitLab CI",
    ".circleci": "CircleCI",
    ".buildkite": "Buildkite",
    ".travis.yml": "Travis CI",
    ".drone.yml": "Drone",
    ".woodpecker.yml": "Woodpecker",
    "Jenkinsfile": "Jenkins",
    "azure-pipelines.yml": "Azure Pipelines",
    "bitbucket-pipelines.yml": "Bitbucket Pipelines",
}
"""The service that runs a file or folder at the root of a repository."""

ALTERNATIVE: Final = late_pattern(r" (?:or|oder|vs\.?|versus) |between .+ and |zwischen .+ und ")
"""What stands between two things that one may choose from."""

_WORD: Final = late_pattern(r"[^\W_]+")


def fold_letters(text: str) -> str:
    """In one case, with umlauts as two letters, so that both ways to type them agree."""
    if text.isascii():
        return text.casefold()
    found = unicodedata.normalize("NFKC", text).casefold()
    return found.replace("\u00e4", "ae").replace("\u00f6", "oe").replace("\u00fc", "ue")


@lru_cache(maxsize=1024)
def collect_search_words(text: str) -> tuple[str, ...]:
    """The words of a text, each once, in its order; no stop word and no single letter.

    Decisions repeat the names of categories and fields, and many values.
    """
    return tuple(count_search_words(text))


def count_search_words(text: str) -> Counter[str]:
    """How often each of them stands there, in the order of the text."""
    found, stop_words = (
        (word[:TERM_MAX] for word in split_folded_words(text)),
        read_small_words("stop_words"),
    )
    return Counter(word for word in found if len(word) > 1 and word not in stop_words)


def split_folded_words(text: str) -> list[str]:
    """The words of a text, folded, in its order: letters and digits in a run."""
    if text.isalnum() and text.isascii():
        return [text.casefold()]  # most names of products
    return _WORD.findall(fold_letters(text))


_SUFFIX: Final = late_pattern(r"(?<=\w)['\u2019]\w+")  # "customer's"


def find_distinguishing_words(text: str) -> frozenset[str]:
    """The small words of a text that tell two places apart: "region b", "warehouse 2", "under 16".

    They are digits and letters that stand alone, and words such as `under`. An `a` before a word is
    an article.
    """
    found = _WORD.findall(_SUFFIX.sub("", fold_letters(text)))
    apart, stop_words = read_small_words("apart"), read_small_words("stop_words")
    return frozenset(
        word
        for word, then in zip(found, [*found[1:], "a"], strict=False)
        if word in apart
        or (len(word) == 1 and (word != "a" or len(then) == 1 or then in stop_words))
    )


_FIRST: Final = late_pattern(r"[^\W\d_]+")


def continued(text: str) -> str:
    """English text within a sentence: a small first word loses its capital."""
    found = _FIRST.match(text)
    first = found.group() if found else ""
    is_small = (
        first.casefold() in read_small_words("no_first_names") and first == first.capitalize()
    )
    return text[:1].lower() + text[1:] if is_small else text


@cache
def read_small_words(kind: str) -> frozenset[str]:
    """Small words, folded: those of one kind in `small_words.json`.

    `stop_words` are those of the Snowball project in both languages, and what every decision says;
    `apart` are those of them that tell places apart;
    `no_first_names` English words that no product is called (`Go` is one).
    """
    data = own_file(__spec__, "small_words.json")
    return frozenset(msgspec.json.decode(data, type=dict[str, str])[kind].split())


def has_small_word(words: Iterable[str], kind: str) -> bool:
    """Whether one of some words, folded, is a small one of a kind."""
    return not read_small_words(kind).isdisjoint(words)


@lru_cache(maxsize=4_096)
def cut_word_beginnings(text: str) -> frozenset[str]:
    """How the words of a text begin; two that say the same, by their stems, begin alike."""
    return frozenset(
        word[:BEGIN].replace("y", "i") + "".join(filter(str.isdigit, word[BEGIN:]))
        for word in collect_search_words(text)
    )


# Products --------------------------------------------------------------------------------------

_VERSION: Final = late_pattern(r" v?\d[\d.x]*$")


class Name(msgspec.Struct, frozen=True):
    """A product."""

    name: str
    aliases: tuple[str, ...]
    packages: tuple[str, ...]


@cache
def read_product_names() -> tuple[Name, ...]:
    """All of them, in the order of the file."""
    lines = own_file(__spec__, "names.txt").decode().splitlines()
    return tuple(
        Name(name.strip(), _split_at_commas(called), _split_at_commas(packages))
        for name, called, packages in (line.split("|") for line in lines)
    )


def _split_at_commas(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def canonical(value: str) -> str:
    """One spelling for all names and versions of a product, folded; of another value itself."""
    bare = " ".join(fold_letters(value).split())
    return _canonical().get(bare) or _canonical().get(_VERSION.sub("", bare), bare)


@cache
def _canonical() -> dict[str, str]:
    return {called: fold_letters(name) for called, name in _products().items()}


def product(value: str) -> str:
    """The product that a whole text names, as it is written; empty where it names none."""
    return _products().get(" ".join(fold_letters(value).split()), "")


@cache
def _products() -> dict[str, str]:
    return {
        fold_letters(called): one.name
        for one in read_product_names()
        for called in (one.name, *one.aliases)
    }


@cache
def _folded_lines() -> list[str]:
    return fold_letters(own_file(__spec__, "names.txt").decode()).splitlines()


def also_called(word: str) -> tuple[str, ...]:
    """Other names of a product, where a folded word is one; those of one word."""
    for line in _folded_lines():
        if word in line:  # few words are names: a table of all takes longer than to look
            name, called, _ = line.split("|")
            single = [*filter(str.isalnum, map(str.strip, f"{name},{called}".split(",")))]
            if word in single:
                return tuple(other for other in single if other != word)
    return ()


# Months ----------------------------------------------------------------------------------------

MONTHS: Final = (
    ("january", "januar", "jänner", "jan"),
    ("february", "februar", "feb"),
    ("march", "märz", "maerz", "mär", "mar"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "juni", "jun"),
    ("july", "juli", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oktober", "oct", "okt"),
    ("november", "nov"),
    ("december", "dezember", "dec", "dez"),
)
"""By month: its names in small letters, short ones too."""
NUMBER_OF: Final = {name: number for number, names in enumerate(MONTHS, 1) for name in names}


SCOPE_WORDS_MAX: Final = 8
NAME_WORDS_MAX: Final = 3  # of a name that is not known, or that stands within a scope


class StatedDecision(msgspec.Struct, frozen=True):
    """What a text states."""

    value: str
    replaced: str = ""
    scope: str = ""
    because: str = ""


# The forms -------------------------------------------------------------------------------------

_NAME = r"[^\s,;:!?()\"]+(?: [^\s,;:!?()\"]+){0,3}?"
_SCOPE = r"[^,;:!?()\"]+?"
_X, _A, _B = rf"(?P<x>{_NAME})", rf"(?P<a>{_NAME})", rf"(?P<x>{_NAME})"
_Y = rf"(?P<y>{_SCOPE})"
_ENDS_EN = rf"(?: for {_Y}(?: instead of (?P<late>{_NAME}))?)?(?:,? because (?P<z>.+?))?[.!]?"
_ENDS_DE = rf"(?: f\u00fcr {_Y}(?: statt (?P<late>{_NAME}))?)?(?:,? weil (?P<z>.+?))?[.!]?"
_FOR = rf"(?: f\u00fcr (?P<moved>{_SCOPE})(?: statt (?P<last>{_NAME}))?)?"
_MOVED = r"(?: (?P<moved>[^,;:!?()\"]+?))?"

StatedForms = tuple[tuple[str, Pattern[str]], ...]
"""Forms, and a word that each needs: where it is missing, the form is not even compiled."""


def _write_forms(ends: str, *forms: tuple[str, str]) -> StatedForms:
    return tuple((word, late_pattern(f"(?i:{form}{ends})")) for word, form in forms)


ENGLISH: Final = _write_forms(
    _ENDS_EN,
    ("", rf"(?:use|we (?:use|take|chose|decided on)) {_X}(?: instead of {_A})?"),
    ("replace", rf"replace {_A} with {_B}"),
    ("from", rf"(?:move|migrate|switch){_MOVED} from {_A} to {_B}"),
    ("", rf"(?P<first>{_NAME})(?: instead of {_A})?"),
)
GERMAN: Final = _write_forms(
    _ENDS_DE,
    ("wir", rf"wir (?:nehmen|verwenden) {_X}(?: statt {_A})?"),
    ("wir", rf"wir haben uns f\u00fcr {_X} entschieden"),
    ("en", rf"(?P<first>{_NAME})(?: statt {_A})?{_FOR} (?:verwenden|nehmen|einsetzen)"),
    ("durch", rf"{_A} durch {_B} ersetzen"),
    ("von", rf"(?:(?P<moved>[^,;:!?()\"]+?) )?von {_A} auf {_B} (?:umziehen|umstellen)"),
    ("", rf"(?P<first>{_NAME})(?: statt {_A})?"),
)

NameOf = Callable[[str], str]
"""The value that a whole text names, as it is known; empty where none."""


def parse_stated_decision(
    text: str, name_of: NameOf, names_any: Callable[[str], bool]
) -> StatedDecision | None:
    """The value that a text states; None where no form covers it whole.

    Args:
        names_any: whether a known value stands in a text.
    """
    line = " ".join(composed(text).split())
    if "?" in line:
        return None
    low = line.casefold()
    for forms, is_german in ((ENGLISH, False), (GERMAN, True)):
        for word, form in forms:
            match = form.fullmatch(line) if word in low else None
            is_bare = form is forms[-1][1]  # no verb
            said = match and _read_matched_form(
                match, name_of, names_any, is_german=is_german, is_bare=is_bare
            )
            if said:
                return said
    return None


def _read_matched_form(
    match: Match[str],
    name_of: NameOf,
    names_any: Callable[[str], bool],
    *,
    is_german: bool,
    is_bare: bool,
) -> StatedDecision | None:
    """What a form says, where its parts are what they must be."""
    part = {name: text or "" for name, text in match.groupdict().items()}
    begins = part.get("first", "")
    scope, because = part.get("y", ""), part["z"]
    if part.get("moved"):
        if scope:
            return None
        scope = part["moved"]
    naming = _NameRecognition(name_of, is_german=is_german, is_plain=not _shouts(match))
    value = naming.named(begins or part["x"], begins=bool(begins))
    others = [name for name in ("a", "late", "last") if part.get(name)]
    if len(others) > 1:
        return None
    former = part[others[0]] if others else ""
    replaced = naming.named(former, begins=match.start(others[0]) == 0) if others else ""
    if not value or (former and not replaced):
        return None
    named = (begins or part["x"], former)
    known = [one for one in named if name_of(one) or name_of(one.rpartition(" ")[0])]
    if is_bare and not replaced and (not scope or not known or ends_in_verb(scope)):
        return None  # `X for Y` says nothing of what is not known, nor where Y is something to do
    if replaced and (not known or _drop_name_version(value) == _drop_name_version(replaced)):
        return None
    if (scope and not is_scope(scope, names_any)) or not _is_reason(because):
        return None
    return StatedDecision(value, replaced, without_article(scope), because)


def _shouts(match: Match[str]) -> bool:
    """Whether words of the form itself have capitals, so that capitals show no names."""
    spans = [match.span(name) for name in match.re.groupindex if match.start(name) >= 0]
    line = match.string
    own = [at for at in range(1, len(line)) if not any(a <= at < b for a, b in spans)]
    return any(line[at].isupper() for at in own)


# Names -----------------------------------------------------------------------------------------


class _NameRecognition(msgspec.Struct, frozen=True):
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
        if _NAME_VERSION.fullmatch(version) and (known := self.name_of(name)):
            return f"{known} {version}"
        words = text.split()
        if not 0 < len(words) <= NAME_WORDS_MAX:
            return ""
        first, *rest = words
        more = (word.isdecimal() or self._is_name(word, begins=False) for word in rest)
        return text if self._is_name(first, begins=begins) and all(more) else ""

    def _is_name(self, word: str, *, begins: bool) -> bool:
        folded = (fold_letters(word),)
        is_small = has_small_word(folded, "stop_words") or has_small_word(folded, "no_names")
        if is_small or _FILE.search(word):
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


def written_as_name(text: str, language: Language) -> bool:
    """Whether a whole text is a name: a product, or by how it is written."""
    naming = _NameRecognition(product, is_german=language == "de", is_plain=True)
    parts = [part.split() for part in _JOINED.split(composed(text).strip())]
    # A capital of the first word may only begin the text, unless the others have one too.
    return all(
        part
        and naming.named(
            " ".join(part), begins=not (part[1:] and all(word[0].isupper() for word in part))
        )
        for part in parts
    )


_JOINED: Final = late_pattern(r"\s+(?:with|and|mit|und|\+)\s+")
"""Between names that are used together."""


_WRITTEN: Final = late_pattern(r"[^\W_](?:[\w.+#&-]*[\w+#])?")
_FILE: Final = late_pattern(
    r"\..*\.|\.(?:py|tsx?|jsx|json|xml|css|html|go|rs|java|kt|ya?ml|md|sh|toml|sql|cfg|ini|txt)$"
    r"|_"
)
_NAME_VERSION: Final = late_pattern(r"[\s-]*v?\d[\d.x]*$")


def _drop_name_version(name: str) -> str:
    """A name without its version."""
    return _NAME_VERSION.sub("", fold_letters(name))


# What follows a name ---------------------------------------------------------------------------


_SCOPE_WRITTEN: Final = late_pattern(r"[\w'\u2019&/ .+#-]+")


def is_scope(text: str, names_any: Callable[[str], bool]) -> bool:
    """Whether a text can say what a decision is for: a few words of one thing, naming no value."""
    words = fold_letters(text).replace("'", " ").replace("\u2019", " ").split()
    if len(text) > SCOPE_MAX or not 0 < len(words) <= SCOPE_WORDS_MAX:
        return False
    if not _SCOPE_WRITTEN.fullmatch(text) or " - " in text or ". " in text or ".." in text:
        return False
    is_all = words[-1] in ("all", "alle", "alles")
    if is_all or has_small_word(words, "amounts"):
        return False
    # Behind an English article stands a noun, whatever the word is elsewhere: `for the till`.
    others = words[2:] if words[0] in ("the", "a", "an", "our") else words
    return not has_small_word(others, "not_in_scopes") and not names_any(text)


def ends_in_verb(text: str) -> bool:
    """Whether German text ends in an infinitive: in lower case, which no noun has."""
    return _INFINITIVE.search(text) is not None


_INFINITIVE: Final = late_pattern(r"(?:^| )[a-z\u00e4\u00f6\u00fc\u00df]+(?:en|ern|eln)$")


def _is_reason(text: str) -> bool:
    """Whether a text is one reason that takes nothing back, but may deny; an empty one is."""
    if len(text) > ANSWER_MAX or any(mark in text for mark in (". ", "! ", "; ", "...", ",")):
        return False
    is_taken_back = has_small_word(split_folded_words(text), "retractions")
    return not is_taken_back and not (text and is_placeholder(text))


def without_article(scope: str) -> str:
    """A noun phrase without the article before it."""
    first, _, rest = scope.strip().partition(" ")
    return rest if rest and fold_letters(first) in read_small_words("articles") else scope.strip()


# Languages -------------------------------------------------------------------------------------


def language_of(text: str) -> Language:
    """German where more of its small words stand there than English ones, or an umlaut."""
    words = {*split_folded_words(text)}
    lean = len(words & read_small_words("german")) - len(words & read_small_words("english"))
    if lean:
        return "de" if lean > 0 else "en"
    return "de" if any(c in "\u00e4\u00f6\u00fc\u00df" for c in caseless(text)) else "en"


# Values that name nothing ----------------------------------------------------------------------


def _split_word_list(words: str) -> frozenset[str]:
    return frozenset(" ".join(words.split()).split(", "))


GENERIC: Final = _split_word_list("""
    all, always, any, application, automatic, both, client, cloud, custom, daily, database, default,
    depends, disabled, do nothing, enabled, false, file, file system, files, header, headers,
    hourly, in memory, later, local, manual, maybe, memory, monthly, neither, never, no,
    no preference, none, not applicable, not needed, not now, not sure, nothing, off, on, optional,
    other, others, own, polling, private, public, remote, required, server, skip, standard,
    streaming, to be decided, true, unclear, undecided, unknown, unsure, weekly, yes
""")
"""Values that say nothing, or are nouns of any program."""

EVERYDAY: Final = _split_word_list("""
    bun, canary, chef, crystal, dart, echo, edge, express, fiber, flask, flow, gin, go, lit, make,
    native, next, node, parcel, phoenix, play, puppet, react, rest, ring, rocket, rolling, rust,
    salt, spring, swift, task, turbo, wire
""")
"""Options that are also words of prose: in a sentence they count as the option writes them."""
