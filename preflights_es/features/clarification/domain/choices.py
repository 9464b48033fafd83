"""The choice that an intention asks for: its topic, what is named as an option, what is ruled out.

A closed list of forms in English and German (docs/specs/clarification.md, section 12.4). One clause
of the text has a form, whole; every other clause must be one that a choice may stand beside. In
doubt no choice is asked for, and a person decides in own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from re import Match, Pattern
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.text import late_pattern
from preflights_es.words.language import (
    ALTERNATIVE,
    ends_in_verb,
    fold_letters,
    has_small_word,
    is_scope,
    read_small_words,
    split_folded_words,
    without_article,
)

WORDS_MAX: Final = 60  # of a text that asks for a choice
NAME_WORDS_MAX: Final = 3  # of an alternative that no pack knows

Ask: TypeAlias = Literal["which", "find", "one", "use"]
"""Whether a form asks which it is to be, to find or for one to have, or what to use for it."""


class Lookup(msgspec.Struct, frozen=True):
    """What the words of a pack say of a text."""

    topic: Callable[[str, Ask], str]
    """The topic that a noun phrase names, whole; empty where none."""
    values: Callable[[str], list[str]]
    """The values that a text names, in its order."""
    value: Callable[[str], str]
    """The value that a whole text names; empty where none."""
    shared: Callable[..., str]
    """The topic that has all of these values, this one where it does; empty where none."""


class RequestedChoice(msgspec.Struct, frozen=True):
    """What a text asks to choose."""

    topic: str = ""
    """Empty where it asks for no choice that a topic covers."""
    named: tuple[str, ...] = ()
    """Values that it names as options."""
    ruled_out: tuple[str, ...] = ()
    """What it does not want, or wants to replace."""
    scope: str = ""
    is_between: bool = False
    """Whether the named values are all that it asks about."""


# 1. The forms: of folded words, umlauts as two letters -----------------------------------------

_NAMED: Final = {
    "T": r"(?P<t>.+?)",
    "who": r"(?P<who>we|i|we're|i'm|(?:our|the|my) [\w-]+(?: [\w-]+){0,2})",
    "wer": r"(?P<who>wir|ich|es|uns|(?:der|die|das|unser|unsere) [\w-]+(?: [\w-]+)?)",
    "wir": r"(?:wir|ich|man|(?:der|die|das|unser|unsere) [\w-]+)",
    "please": r"(?:{polite} ){0,4}",
    "often": r"(?:{time} ){0,2}",
    "soll": r"(?:dass )?(?:(?:wir|ich|man|{wir}(?= {shall} )) )?(?:(?:{shall}|ist|wird) )?{often}"
    r"(?:(?:auf|fuer|ueber) )?",
    "place": r"(?: (?:in|on|at|to|into|for|im|fuer|bei|am|auf) .+)?",
    "goes": r"(?: (?:{modal}|are)(?: (?:we|i|it|one|you)(?: best| going to)?(?: {use})?"
    r"| (?:the|our) (?:[\w-]+ ){1,4}?{use})(?: instead)?(?: (?P<for>.+))?"
    r"| (?:the|our) (?:[\w-]+ ){1,4}?{modal} {use}| do (?:we|i) {prefer}(?: (?P<which>.+))?"
    r"| (?:is|are|would be)(?: the)? {good}(?: choice)?| {suits}(?: .+)?"
    r"| (?:to|we)(?: should| want to)? (?:use|{prefer})(?: (?P<more>.+))?)?",
    "geht": r"(?: (?:{shall}|nehmen|brauchen|waehlen|brauche|nehme) {wir}"
    r"(?: {take})?(?: (?P<for>.+?))?(?: {take})?"
    r"| (?:wir|{wir}(?=.* {shall}$))(?: (?P<more>.+?))?? (?:{take} {shall}|{take}|{shall})"
    r"| (?:passt|eignet sich|taugt|waere|ist am besten|kann|schafft)(?: .+)?)?",
}
"""Parts of forms; other names in braces are lists of `small_words.json`."""
_NAME: Final = late_pattern(r"\{([a-z_]+|T)\}")


@cache
def _pattern(form: str) -> Pattern[str]:
    """A form with the parts and lists that it names."""

    def part(match: Match[str]) -> str:
        if named := _NAMED.get(match[1]):
            return _NAME.sub(part, named)
        return f"(?:{'|'.join(sorted(read_small_words(match[1]), reverse=True)).replace('_', ' ')})"

    return re.compile(_NAME.sub(part, form))


@cache
def _needed_words(form: str) -> tuple[frozenset[str], ...]:
    """Lists of which a text that fits a form has a word: a form is long to compile, few fit.

    They are the lists, words and alternatives that stand outside of what may be left out.
    """
    depth, begun, found = 0, 0, list[frozenset[str]]()
    for piece in _PIECE.finditer(form):
        sign, is_optional = piece[0], form[piece.end() : piece.end() + 1] in ("?", "{", "*")
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "|" and not depth:
            return ()  # either side may fit
        if sign == "(" and depth == 1:
            begun = piece.end()
        elif depth or is_optional:
            continue
        elif sign == ")" and (body := form[begun : piece.start()]).startswith(("?:", "?P<")):
            words = [_BEGINS.match(one) for one in _GROUP.sub("", body, 1).split("|")]
            found.append(frozenset(one[0] if one else "" for one in words))
        elif name := _NAME.match(sign):
            of = () if name[1] in _NAMED else read_small_words(name[1])
            found.append(frozenset(word.replace("_", " ") for word in of) or _ANY)
        elif sign.isalpha():
            found.append(frozenset((sign,)))
    return tuple(found)


_PIECE: Final = late_pattern(r"\\.|\[[^]]*\]|\{\w+\}|[()|]|[a-z]{2,}(?![?*{])")
_GROUP: Final = late_pattern(r"\?:|\?P<\w+>")
_BEGINS: Final = late_pattern(r"[a-z]+(?![?*{a-z])")
_ANY: Final = frozenset(("",))


class ChoiceForm(msgspec.Struct, frozen=True):
    """A sentence that asks for a choice: `t` is the topic, `y` what it is for, `who` asks."""

    ask: Ask
    pattern: str
    has_article: bool = False
    """Whether `the TOPIC` is one to choose; else it is the one that the project has."""
    is_bare: bool = False
    """Whether it has no verb."""
    is_led: bool = False
    """Whether it must be a question, or stand behind a clause that speaks of a choice."""


FORMS: Final = (
    ChoiceForm("which", r"{please}{pick} (?:us |uns )?{T}(?: aus)?", has_article=True),
    ChoiceForm("find", r"{please}{find} (?:us |me )?{T}(?: aus)?"),
    ChoiceForm("which", r"{please}(?:which|what) (?:(?:kind|type|sort) of |of the )?{T}{goes}"),
    ChoiceForm("which", r"(?:what|which)(?:'s| is| would be| are) the (?:best|right) {T}"),
    ChoiceForm(
        "which", r"how (?:do |{modal} )?(?:we|i|to)(?: {modal})? {do} {T}", True, is_led=True
    ),
    ChoiceForm(
        "use",
        r"(?:what (?:{modal}|are|do) (?:we|i) {use}|was {shall} wir) {of} {T}(?: {take})?",
        True,
    ),
    ChoiceForm(
        "use", r"(?:where|wo) (?:{modal}|{shall}) (?:we|wir) (?:store |keep )?{T}(?: {put})?"
    ),
    ChoiceForm(
        "use", r"how should (?!.*{event} )[\w' -]+? (?P<t>log in|sign in|authenticate){place}"
    ),
    ChoiceForm(
        "use", r"wie (?:{shall} )?sich (?!.*{event} ).+ (?P<t>{enter})(?: {shall})?", is_led=True
    ),
    ChoiceForm("use", r"where (?:should|shall) we (?P<t>host) .*{hosted}(?: .+)?"),
    ChoiceForm(
        "use", r"(?:wo|(?:auf|bei) welche[rmn] [\w-]+) (?:{shall} )?wir .+ (?P<t>{operate})"
    ),
    ChoiceForm("use", r"womit (?P<t>loggen) wir(?: .+)?"),
    ChoiceForm("use", r"womit (?:[a-z]+ )?wir {T}(?: [a-z]+)?", is_led=True),
    ChoiceForm("which", r"(?P<t>.+?) (?:choice|selection|evaluation|decision)(?: for (?P<y>.+))?"),
    ChoiceForm("which", r"{T} (?:must|should|shall|{is_to}) be {picked}(?: (?P<for>.+))?"),
    ChoiceForm("one", r"(?:{who} )?{often}{need} (?:to (?:choose|pick|find|select) )?{T}"),
    ChoiceForm("one", r"{please}{get} {T}(?: ein)?"),
    ChoiceForm(
        "one", r"(?:keep|store|save|persist|put|hold) (?P<y>.+?) in (?P<t>(?:a|an|some) .+)"
    ),
    ChoiceForm("which", r"(?:welche[rsnm]?|was fuer eine?n?) (?:art von )?{T}{geht}"),
    ChoiceForm("which", r"{soll}{T}(?: {shall}| ist)? {select}(?: {shall})?", has_article=True),
    ChoiceForm("find", r"{soll}{T}(?: {shall}| ist)? {seek}(?: {shall})?"),
    ChoiceForm("find", r"{choice} {of} {T}", has_article=True),
    ChoiceForm("which", r"wie (?:{do_de}|{shall}) {wir} {T}(?: {do_de})?", has_article=True),
    ChoiceForm("one", r"{wanting} {wer} {often}{T}(?: haben)?"),
    ChoiceForm("one", r"{wer} {often}{wanting} {often}{T}(?: haben| {install}| {take})?"),
    ChoiceForm("one", r"{soll}{T} {install}"),
    ChoiceForm("one", r"(?:{wir} {shall} )?(?P<y>.+?) in (?P<t>eine[rnm]? .+?) {put}"),
    ChoiceForm("one", r"(?P<t>(?:an?|eine?n?|new|neue[rsn]?) .+)"),
    ChoiceForm("one", r"(?P<t>.+? (?:for|fuers?) .+)", is_bare=True),
)
_AROUND: Final = (
    r"(?:(?:for|fuers?) (?P<y>.+?) (?=(?:an?|eine?[nrms]?|{fronted}) ))?(?P<form>.+?)"
    r"(?: (?:and|&|und) (?:then )?(?:{use} (?:one|the best.*)|{best} \w+)(?: for (?P<z>.+))?)?"
)
"""What may stand around a form: `For the archive we need a database`, `compare Ts and pick one`."""
_REPLACEMENT: Final = (
    r"(?:(?:an?|eine?n?|some|good|better|new) )*{successor} {of} (?P<v>.+?){place}"
    r"|(?:(?:an?|einen?) )?(?P<w>.+?)[ -]{successor}{place}"
)
_LIBRARY_FOR: Final = r"{of} (?:(?:the )?{drawing} (?:of |von )?)?(?P<of>.+?){place}"
_BETWEEN: Final = (
    r"(?:(?:{modal}|do) (?:we|i) {use} |{between} |entscheidung (?:zwischen )?)?"
    r"(?P<of>.+?)(?: (?:better|besser))?(?: (?:as|als) .+)?(?: (?:{take}|entscheiden))?"
)
_OR: Final = late_pattern(r",? (?:or|oder|vs\.?|versus|and|und) (?:rather |lieber |doch )?|, |/")
_ELSE: Final = late_pattern(
    r",? (?:or|oder) "
    r"(?:something|anything|etwas|was|is|are|does|just|only|reicht|tut es|einfach) .+$"
)
_TITLE: Final = late_pattern(r"(?P<title>.+?)(?:: | [-\u2013\u2014] )(?P<asked>.+)")

# 2. What a text rules out ----------------------------------------------------------------------

_OUT: Final = (
    r"(?:{opening} ){0,3}(?:{refused} (?:{hedge} ){0,3}(?P<a>.+?)(?: {after})*"
    r"|(?P<b>.+?) (?:is|are|ist|sind|was|war|has|hat|got|feels?|seems?|wird)"
    r"(?: (?:just|simply|far|way|einfach|uns|leider|for us|to us|fuer uns))* {bad}(?: .+)?"
    r"|(?P<c>.+?) nicht mehr {take})"
)
_INSTEAD: Final = ("instead of ", "rather than ", "statt ", "anstatt ", "anstelle von ")
_REPLACES: Final = (
    r"{please}(?:replace|swap|substitute|exchange) (?P<a>.+?) (?:with|by|for) (?P<b>.+)",
    r"{soll}(?P<a>.+?) durch (?P<b>.+?) (?:ersetzen|abloesen|austauschen|ersetzt werden)",
)


# 3. Clauses ------------------------------------------------------------------------------------

_SENTENCE: Final = late_pattern(r"(?<=[.?!])\s+")
_SPLIT: Final = late_pattern(
    r"(?P<mark>[.!?;:](?=\s|$)|,|\s[-\u2013\u2014]+\s|[()])\s*"
    r"|\s(?i:(?=(?:because|since|but|so|without|instead of|rather than|not|weil|damit|aber|"
    r"ohne|statt|anstatt|denn|sondern|that|which|who|how|what)\s))"
)


class Clause(msgspec.Struct, frozen=True):
    """A part of a text."""

    words: list[str]
    """As they are written."""
    folded: str
    """The same, in one case and with umlauts as two letters."""
    mark: str = ""
    """What stands behind it."""
    begins: bool = False
    """Whether it is the first of a sentence."""
    is_led: bool = False
    """Whether it ends in a question mark, or stands behind what speaks of a choice."""

    @classmethod
    def of(cls, text: str) -> Clause:
        """A part as it is written."""
        words = text.split()
        return cls(words, " ".join(fold_letters(one).replace(" ", "") for one in words))

    @property
    def text(self) -> str:
        """As it is written."""
        return " ".join(self.words)

    def parts(self, form: str) -> dict[str, str] | None:
        """What the groups of a form hold, as it is written; None where it does not fit."""
        if not all(any(word in self.folded for word in words) for words in _needed_words(form)):
            return None
        match = _pattern(form).fullmatch(self.folded)
        if match is None:
            return None
        return {
            name: self._between(*match.span(name)) if match[name] else ""
            for name in match.re.groupindex
        }

    def _between(self, start: int, end: int) -> str:
        first = self.folded.count(" ", 0, start)
        return " ".join(self.words[first : first + self.folded.count(" ", start, end) + 1])


def clauses(line: str) -> list[Clause]:
    """The parts of a text of one line, in its order."""
    found, last, begins, leads = list[Clause](), 0, True, False
    marks = [(one.start(), one.end(), one["mark"] or "") for one in _SPLIT.finditer(line)]
    for start, end, mark in (*marks, (len(line), len(line), "")):
        part = Clause.of(line[last:start])
        if part.words:
            found.append(replace(part, mark=mark, begins=begins, is_led=leads or mark == "?"))
            words = split_folded_words(part.folded)
            leads = has_small_word(words, "leading") and not has_small_word(words, "against")
        last, begins = end, mark in (".", "!", "?", ";")
    return found


# 4. Reading ------------------------------------------------------------------------------------


def choice_in(text: str, look: Lookup) -> RequestedChoice:
    """The choice that a text asks for; without a topic where it asks for none."""
    line = " ".join(text.split())
    parts = clauses(line)
    if not parts or len(line.split()) > WORDS_MAX:
        return RequestedChoice()
    none = RequestedChoice(ruled_out=tuple(dict.fromkeys(_ruled_out(parts, look))))
    asked, is_sure, before, behind = _first_between(line, look) or _first_asked(parts, look)
    rest = before + behind
    if asked is None or not all(_stands_beside(one, asked.topic, look, is_sure) for one in rest):
        return none
    passed = _passed_over(parts, look)
    ruled_out = tuple(dict.fromkeys((*none.ruled_out, *asked.ruled_out, *passed)))
    named = list(asked.named)
    if not asked.is_between:
        named += (value for one in behind if _may_offer(one) for value in look.values(one.text))
    left = tuple(value for value in dict.fromkeys(named) if value not in ruled_out)
    return replace(asked, named=left, ruled_out=ruled_out)


def _first_between(
    line: str, look: Lookup
) -> tuple[RequestedChoice, Literal[True], list[Clause], list[Clause]] | None:
    """What the first sentence of alternatives asks, and the clauses before and behind it."""
    sentences = _SENTENCE.split(line)
    for at, sentence in enumerate(sentences):
        if asked := _match_choice_between(sentence, look):
            before, behind = " ".join(sentences[:at]), " ".join(sentences[at + 1 :])
            return asked, True, clauses(before), clauses(behind)
    return None


def _first_asked(
    parts: list[Clause], look: Lookup
) -> tuple[RequestedChoice | None, bool, list[Clause], list[Clause]]:
    """What the first clause asks that is sure, else the first other; and clauses before, behind."""
    for is_sure in (True, False):
        for at, part in enumerate(parts):
            for form in FORMS:
                if is_sure == (form.ask != "one") and (
                    found := _match_choice_form(part, form, look)
                ):
                    return found, is_sure, parts[:at], parts[at + 1 :]
    return None, False, parts, []


def _match_choice_form(part: Clause, form: ChoiceForm, look: Lookup) -> RequestedChoice | None:
    """What a clause asks for, where a form covers it."""
    around = part.parts(_AROUND)
    said = around and Clause.of(around["form"]).parts(form.pattern)
    if not around or not said:
        return None
    if has_small_word(split_folded_words(said.get("who", "")), "no_askers"):
        return None
    is_relative = not part.begins and part.folded.startswith(("which ", "welche", "what "))
    if (form.is_led or is_relative) and not part.is_led:
        return None
    noun, purpose = noun_phrase(said["t"])
    more = said.get("for", "") or said.get("more", "") or said.get("which", "")
    if more and noun_phrase(more)[0]:
        return None  # it goes on with more than `for Y` and the like
    if not form.has_article and has_small_word(split_folded_words(noun)[:1], "definite"):
        return None
    scope = _scope(
        around["y"] or around["z"] or said.get("y", "") or purpose or noun_phrase(more)[1], look
    )
    if form.is_bare and (not scope or ends_in_verb(scope) or part.mark == ":"):
        return None  # a sentence about the one that is there, or what a task is about
    if form.ask == "one" and has_small_word(split_folded_words(part.text), "each"):
        return None  # a rule of how many there are
    if topic := look.topic(said["t"], form.ask) or look.topic(noun, form.ask):
        return RequestedChoice(topic, tuple(look.values(part.text)), scope=scope)
    return None if form.is_bare else _by_what_it_is_for(f"{said['t']} {more}".strip(), look)


def _by_what_it_is_for(text: str, look: Lookup) -> RequestedChoice | None:
    """`a replacement for X`, or `a library for charts`."""
    part = Clause.of(text)
    if said := part.parts(_REPLACEMENT):
        value = look.value(said["v"] or said["w"])
        topic = look.shared([value]) if value else ""
        return RequestedChoice(topic, ruled_out=(value,)) if topic else None
    noun, _ = noun_phrase(text)
    said = Clause.of(text[len(noun) :]).parts(_LIBRARY_FOR)
    if not said or not noun or has_small_word(split_folded_words(said["of"])[:1], "definite"):
        return None
    kind = noun.split()[-1]
    short = said["of"].split("-")[0].split()[0]
    if topic := look.topic(f"{said['of']} {kind}", "use"):
        return RequestedChoice(topic)
    topic = look.topic(f"{short} {kind}", "use") if short.isupper() else ""
    return RequestedChoice(topic, scope=_scope(said["of"], look)) if topic else None


def noun_phrase(text: str) -> tuple[str, str]:
    """A noun phrase without what a preposition adds, and what it is for."""
    words = text.split()
    said = [fold_letters(word) for word in words]
    cut = next(
        (at for at, word in enumerate(said) if word in read_small_words("prepositions")), len(said)
    )
    purpose = next(
        (at for at in range(cut, len(said)) if said[at] in ("for", "fuer", "fuers")), len(said)
    )
    return " ".join(words[:cut]), " ".join(words[purpose + 1 :])


def _scope(text: str, look: Lookup) -> str:
    text = text.rstrip(".!?")
    return without_article(text) if text and is_scope(text, lambda y: bool(look.values(y))) else ""


def _match_choice_between(sentence: str, look: Lookup) -> RequestedChoice | None:
    """`X or Y?`, where both are values of one topic; `a T for Y:` may stand before it."""
    titled, is_question = _TITLE.fullmatch(sentence.rstrip("?.! ")), sentence.endswith("?")
    title, asked = titled.groups() if titled else ("", sentence.rstrip("?.! "))
    part, is_open = Clause.of(_ELSE.sub("", asked)), _ELSE.search(asked) is not None
    is_asked = is_question or ALTERNATIVE.search(f" {fold_letters(asked)} ")
    said = part.parts(_BETWEEN) if is_asked else None
    if said is None:
        return None
    noun, purpose = noun_phrase(said["of"])
    called, titled_for = noun_phrase(title)
    named = _alternatives(noun, look)
    own = look.topic(called, "use") if called else ""
    topic = look.shared([*filter(look.value, named)], own) if len(named) > 1 - is_open else ""
    is_called = topic == own or has_small_word(split_folded_words(title), "leading")
    if not topic or not (is_called or is_question or not titled):
        return None
    scope = _scope(purpose or titled_for, look)
    return RequestedChoice(topic, tuple(dict.fromkeys(named)), scope=scope, is_between=not is_open)


def _known_list_values(text: str, look: Lookup) -> list[str]:
    """The values of a list of nothing else; none where one is unknown."""
    found = [look.value(without_article(one.strip())) for one in _OR.split(text)]
    return found if all(found) else []


def _alternatives(text: str, look: Lookup) -> list[str]:
    """The values of a list of nothing else; of names that are unknown at most half."""
    written = [without_article(one.strip()) for one in _OR.split(text)]
    known = [look.value(one) for one in written]
    is_known = 2 * sum(map(bool, known)) >= len(known)
    found = [value or one for value, one in zip(known, written, strict=True)]
    return (
        found
        if is_known and all(one in known or _may_be_product_name(one) for one in found)
        else []
    )


def _may_be_product_name(text: str) -> bool:
    """Whether a text may be what a product is called: few words, each with a capital or digit."""
    words = text.split()
    is_named = all(one[0].isupper() or one[0].isdigit() for one in words)
    return is_named and 0 < len(words) <= NAME_WORDS_MAX


def _stands_beside(part: Clause, topic: str, look: Lookup, is_sure: bool) -> bool:
    """Whether a clause decides nothing and asks nothing else; beside what is sure it may tell."""
    words, values = split_folded_words(part.folded), look.values(part.text)
    if has_small_word(words[:2], "taken_back"):
        return False
    if part.parts(_OUT):
        return True
    is_shared = bool(values) and look.shared(values) == topic
    is_reason = has_small_word(words[:1], "reasons")
    is_decided = bool(values) and not is_reason and has_small_word(words, "deciding")
    is_question = part.mark == "?" and part.begins  # else the mark is that of the clause before
    if is_sure:
        others = (_match_choice_form(part, form, look) for form in FORMS if form.ask != "one")
        if any(one and one.topic != topic for one in others):
            return False
        if is_question and has_small_word(words[:1], "doubting") and not is_shared:
            return False
        return not is_decided or has_small_word(words, "present")
    if is_question and words[:1] not in (["where"], ["how"], ["wo"], ["wohin"], ["wie"]):
        is_offer = is_shared or _may_be_product_name(part.text)
        return is_offer or words[:2] in (["which", "one"], ["what", "one"])
    if not words or has_small_word((words[0], words[-1]), "other_work"):
        return False
    if words[0] in ("and", "und") and not has_small_word(words[1:2], "requires"):
        return False
    return not has_small_word(words, "taken_back") and not is_decided


def _may_offer(part: Clause) -> bool:
    """Whether the values that a clause names are options: it says nothing against them."""
    words = split_folded_words(part.folded)
    return not has_small_word(words[:1], "reasons") and not has_small_word(words, "against")


def _ruled_out(parts: list[Clause], look: Lookup) -> Iterator[str]:
    """What a text does not want, or wants to replace by what is no name."""
    for part in parts:
        for form in _REPLACES:
            if (said := part.parts(form)) and _is_open_replacement(said["b"], look):
                noun = without_article(noun_phrase(said["a"])[0])
                yield look.value(noun) or noun
        if (said := part.parts(_OUT)) and not part.folded.startswith(_INSTEAD):
            yield from _known_list_values(noun_phrase(said["a"] or said["c"])[0], look)


def _passed_over(parts: list[Clause], look: Lookup) -> Iterator[str]:
    """What is blamed, or stands behind `instead of`: unwanted only where a choice is asked for."""
    for part in parts:
        if said := part.parts(_OUT):
            yield from _known_list_values(noun_phrase(said["a"] or said["b"])[0], look)


def _is_open_replacement(text: str, look: Lookup) -> bool:
    """Whether what takes a place is no name: `something smaller`, or one of several values."""
    is_vague = has_small_word(split_folded_words(text)[:1], "vague")
    return is_vague or len(_known_list_values(text, look)) > 1
