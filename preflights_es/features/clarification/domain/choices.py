"""The choice that an intention asks for: its topic, what is named as an option, what is ruled out.

A closed list of forms in English and German (docs/specs/clarification.md, section 12.4). One clause
of the text has a form, whole; every other clause must be one that a choice may stand beside. In
doubt no choice is asked for, and a person decides in own words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from re import Pattern
from typing import Final, Literal, NamedTuple, TypeAlias

from preflights_es.kernel.statements import ends_in_verb, is_scope, without_article
from preflights_es.kernel.text import late_pattern
from preflights_es.kernel.words import folded, plain

WORDS_MAX: Final = 60  # of a text that asks for a choice

Ask: TypeAlias = Literal["which", "one"]
"""Whether a form asks which one it is to be, or asks for one: a thing that a team can have."""


class Lookup(NamedTuple):
    """What the words of a pack say of a text."""

    topic: Callable[[str, Ask], str]
    """The topic that a noun phrase names, whole; empty where none."""
    values: Callable[[str], list[str]]
    """The values that a text names, in its order."""
    value: Callable[[str], str]
    """The value that a whole text names; empty where none."""
    shared: Callable[[list[str]], str]
    """The topic that has all of these values; empty where none."""


class Choice(NamedTuple):
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


def _any(words: str, *, most: int = 1) -> str:
    """One of these phrases, with commas between; or up to so many, each with a blank behind it."""
    one = f"(?:{words.replace(',', '|')})"
    return one if most == 1 else f"(?:{one} ){{0,{most}}}"


class Form(NamedTuple):
    """A sentence that asks for a choice: `t` is the topic, `y` what it is for, `who` asks."""

    ask: Ask
    pattern: Pattern[str]
    has_article: bool = False
    """Whether `the TOPIC` is one to choose; else it is the one that the project has."""
    is_bare: bool = False
    """Whether it has no verb."""


def _form(ask: Ask, pattern: str, *, has_article: bool = False) -> Form:
    return Form(ask, late_pattern(pattern), has_article)


_T = r"(?P<t>.+?)"
_POLITE = _any(
    "ok,hey,so,now,then,also,please,pls,finally,first,next,todo,adr,let us,let's,lets,time to,"
    "it is time to,it's time to,help me,help me to,help us,help us to,we,i,you,the team,"
    "can,could,would,should,shall,must,should now,have to,has to,need to,needs to,want to,wants to,"
    "would like to,ought to,still have to,still need to,we'd like to,i'd like to,will have to",
    most=4,
)
_PICK = _any("choose,pick,select,decide on,decide about,agree on,settle on,standardise on,"
             "standardize on,commit to,pick out,make a choice of,make a decision on")  # fmt: skip
_FIND = _any("find,evaluate,compare,determine,identify,propose,suggest,recommend,shortlist,"
             "look for,search for,look at,research")  # fmt: skip
_GET = _any("add,introduce,adopt,get,get us,set up,bring in,integrate,implement,put,put in")
_NEED = _any(
    "need,needs,want,wants,require,requires,lack,lacks,would like,could use,in need of,"
    "looking for,searching for,evaluating,am looking for,are looking for,is looking for,"
    "are searching for,are missing,is missing,are evaluating,are comparing,are choosing,"
    "need to have,want to use,want to introduce"
)
_OFTEN = _any("now,also,still,urgently,really,finally,probably,soon,noch,endlich,dringend,jetzt,"
              "bald,auch,mal,uns", most=2)  # fmt: skip
_ASKER = r"(?P<who>we|i|we're|i'm|(?:our|the|my) [\w-]+(?: [\w-]+){0,2})"
_USE = _any("use,take,choose,pick,have,need,want,adopt,go for,go with,run,rely on,recommend,get,"
            "be using,switch to")  # fmt: skip
_GOES = (
    rf"(?: (?:should|shall|could|would|can|will|must)"
    rf"(?: (?:we|i|it|one|you)(?: best)?(?: {_USE})?| (?:the|our) (?:[\w-]+ ){{1,4}}?{_USE})"
    r"(?: (?P<for>.+))?"
    r"| do (?:we|i) (?:need|want|take|choose|pick|prefer|adopt|go for|go with)(?: (?P<which>.+))?"
    r"| (?:is|are|would be)(?: the)? (?:best|good|right|suitable|better|a good fit|sensible)"
    r"(?: choice| fit)?"
    r"| (?:fits|suits|handles|supports|works|scales|makes sense|can|could|would|should)(?: .+)?"
    r"| (?:to|we) (?:use|choose|take|pick|want|need|go for|go with|should use|want to use)"
    r"(?: (?P<more>.+))?)?"
)
_WE = r"(?:wir|ich|man|(?:der|die|das|unser|unsere) [\w-]+)"
_SHALL = _any("muessen,sollten,sollen,wollen,moechten,koennen,muss,soll,sollte,will,moechte")
_TAKE = _any("nehmen,verwenden,nutzen,einsetzen,waehlen,benutzen,haben,brauchen")
_WANT = _any("brauchen,brauche,braucht,benoetigen,benoetige,benoetigt,suchen,suche,sucht,wollen,"
             "moechten,moechte,haetten gern,haette gern,fehlt,fehlt uns,fehlt noch")  # fmt: skip
_ASKER_DE = r"(?P<who>wir|ich|es|uns|(?:der|die|das|unser|unsere) [\w-]+(?: [\w-]+)?)"
_GOES_DE = (
    rf"(?: (?:{_SHALL}|nehmen|brauchen|waehlen|brauche|nehme) {_WE}"
    rf"(?: {_TAKE})?(?: (?P<for>.+?))?(?: {_TAKE})?"
    rf"| wir(?: (?P<more>.+?))? (?:{_TAKE}|wollen|sollten|sollen)"
    r"| (?:passt|eignet sich|taugt|waere|ist am besten|kann|schafft)(?: .+)?)?"
)
_SELECT = _any(
    "auswaehlen,waehlen,aussuchen,suchen,finden,evaluieren,festlegen,bestimmen,vergleichen,"
    "entscheiden,einigen,bewerten,ausgewaehlt werden,ausgesucht werden,festlegen muessen"
)
_INSTALL = _any(
    "einfuehren,einbauen,hinzufuegen,anschaffen,einsetzen,aufsetzen,einrichten,integrieren,"
    "ergaenzen,gesucht,noetig,benoetigt,gebraucht,einfuehren muessen"
)
_DO = _any("do,handle,implement,manage,approach,organise,organize,solve")
_DO_DE = _any("machen,loesen,gestalten,handhaben,organisieren,umsetzen")

FORMS: Final[tuple[Form, ...]] = (
    _form("which", rf"{_POLITE}{_PICK} (?:us )?{_T}", has_article=True),
    _form("which", rf"{_POLITE}{_FIND} (?:us |me )?{_T}"),
    _form("which", rf"{_POLITE}(?:which|what) (?:kind of |type of |sort of )?{_T}{_GOES}"),
    _form("which", rf"(?:what|which) (?:is|would be|are) the (?:best|right) {_T}"),
    _form(
        "which", rf"how (?:should|shall|do|could|can|will) (?:we|i) {_DO} {_T}", has_article=True
    ),
    _form("which", rf"(?:choice|selection|evaluation|comparison) of {_T}", has_article=True),
    _form("which", r"(?P<t>.+?) (?:choice|selection|evaluation|decision)(?: for (?P<y>.+))?"),
    _form("one", rf"(?:{_ASKER} )?{_OFTEN}{_NEED} (?:to (?:choose|pick|find|select) )?{_T}"),
    _form("one", rf"{_POLITE}{_GET} {_T}"),
    _form("one", rf"{_T} (?:wanted|needed|required)"),
    _form("one", r"(?:keep|store|save|persist|put|hold) (?P<y>.+?) in (?P<t>(?:a|an|some) .+)"),
    _form("which", rf"welche[rsnm]? (?:art von )?{_T}{_GOES_DE}"),
    _form("which", rf"was fuer eine?n? {_T}{_GOES_DE}"),
    _form("which", rf"(?:bitte )?(?:waehle|waehlen wir) (?:uns )?{_T}(?: aus)?", has_article=True),
    _form("which", rf"(?:bitte )?(?:suche?|finde|bewerte|evaluiere|vergleiche) {_T}(?: aus)?"),
    _form(
        "which",
        rf"(?:{_WE} {_SHALL} {_OFTEN})?(?:(?:auf|fuer|ueber) )?{_T} {_SELECT}",
        has_article=True,
    ),
    _form("which", rf"(?:auswahl|wahl|entscheidung) (?:fuer|ueber|zu|von) {_T}", has_article=True),
    _form("which", rf"(?:auswahl|wahl) (?:der|des|einer|eines) {_T}"),
    _form("which", rf"wie (?:{_DO_DE}|{_SHALL}) {_WE} {_T}(?: {_DO_DE})?", has_article=True),
    _form("one", rf"(?:fuer (?P<y>.+?) )?{_WANT} {_ASKER_DE} {_OFTEN}{_T}(?: haben)?"),
    _form("one", rf"{_ASKER_DE} {_OFTEN}{_WANT} {_OFTEN}{_T}(?: haben| {_INSTALL}| {_TAKE})?"),
    _form("one", rf"(?:{_WE} {_SHALL} {_OFTEN})?(?:bitte )?{_T} {_INSTALL}"),
    _form("one", rf"(?:fuehre|fuehren wir|baue?) {_T} ein"),
    _form(
        "one",
        rf"(?:{_WE} {_SHALL} )?(?P<y>.+?) in (?P<t>eine[rnm]? .+?) "
        r"(?:speichern|ablegen|halten|aufbewahren|sichern|verwalten)",
    ),
    _form("one", r"(?:(?:fuer|for) (?P<y>.+?) )?(?P<t>(?:an?|eine?n?|new|neue[rsn]?) .+)"),
    Form("one", late_pattern(r"(?P<t>.+? (?:for|fuer) .+)"), is_bare=True),
)

_BETWEEN: Final = late_pattern(
    r"(?:(?:should|shall|do|could) (?:we|i) (?:use|take|choose|go for|go with|pick|prefer) "
    r"|(?:choose|decide|pick|select) (?:between |from )?|(?:we|i) (?:need|want) (?:either )?"
    r"|(?:nehmen|verwenden|sollen|wollen) wir |entscheidung (?:zwischen )?|which one "
    r"|is |are |ist |sind |either |entweder |between |zwischen )?"
    rf"(?P<of>.+?)(?: (?:better|besser))?(?: (?:as|als) .+)?(?: (?:{_TAKE}|entscheiden))?"
)
_OR: Final = late_pattern(r",? (?:or|oder|vs\.?|versus|and|und) (?:rather |lieber |doch )?|, |/")
_ALTERNATIVE: Final = late_pattern(r" (?:or|oder|vs\.?|versus) |between .+ and |zwischen .+ und ")

# 2. What a text rules out ----------------------------------------------------------------------

_NO = _any(
    "not,no,never,without,instead of,rather than,anything but,avoid,drop,do not,don't,"
    "kein,keine,keinen,keinem,keiner,nicht,nie,ohne,statt,anstatt,anstelle von,ausser"
)
_HEDGE = _any(
    "want,to,use,take,choose,another,more,yet,ever,mehr,wieder,noch,ein,eine,einen", most=3
)
_AFTER = _any("again,please,anymore,any more,bitte,mehr,nehmen,verwenden,wieder")
_BAD = _any(
    "out,too,not,no,zu,raus,nicht,deprecated,dead,unmaintained,abandoned,overkill,veraltet,tot,"
    "keine option,no option,end of life,eol,expensive,teuer"
)
_OUT: Final = late_pattern(
    rf"{_any('but,and,aber,und,just,only,please,bitte,also,then,we,wir,wollen', most=3)}"
    rf"(?:{_NO} {_HEDGE}(?P<a>.+?)(?: {_AFTER})*"
    rf"|(?P<b>.+?) (?:is|are|ist|sind|was|war|has|hat|got|feels?|seems?|wird)"
    rf"(?: (?:just|simply|far|way|einfach|uns|leider|for us|to us|fuer uns))* {_BAD}(?: .+)?)"
)
_INSTEAD: Final = late_pattern(r"(?:instead of|rather than|statt|anstatt|anstelle von) ")
_REPLACES: Final = (
    late_pattern(
        rf"{_POLITE}(?:replace|swap|substitute|exchange) (?P<a>.+?) (?:with|by|for) (?P<b>.+)"
    ),
    late_pattern(
        rf"(?:bitte )?(?:{_WE} {_SHALL} )?(?P<a>.+?) durch (?P<b>.+?) "
        r"(?:ersetzen|abloesen|austauschen|ersetzt werden)"
    ),
)
_VAGUE: Final = _any(
    "something,anything,a,an,some,another,one,etwas,was,ein,eine,einen,einem,einer"
)
_BEGINS_VAGUELY: Final = late_pattern(rf"{_VAGUE}(?: .+)?")


# 3. Clauses ------------------------------------------------------------------------------------

_SENTENCE: Final = late_pattern(r"(?<=[.?!])\s+")
_SPLIT: Final = late_pattern(
    r"(?P<mark>[.!?;:](?=\s|$)|,|\s[-\u2013\u2014]+\s|[()])\s*"
    r"|\s(?i:(?=(?:because|since|but|so|without|instead of|rather than|not|weil|damit|aber|"
    r"ohne|statt|anstatt|denn|sondern|that|which|who)\s))"
)
_WORD: Final = late_pattern(r"[^\W_]+")


class Clause(NamedTuple):
    """A part of a text."""

    words: list[str]
    """As they are written."""
    folded: str
    """The same, in one case and with umlauts as two letters."""
    is_question: bool

    @classmethod
    def of(cls, text: str, *, is_question: bool = False) -> Clause:
        """A part as it is written."""
        words = text.split()
        return cls(words, " ".join(folded(one).replace(" ", "") for one in words), is_question)

    @property
    def text(self) -> str:
        """As it is written."""
        return " ".join(self.words)

    def parts(self, pattern: Pattern[str]) -> dict[str, str] | None:
        """What the groups of a pattern hold, as it is written; None where it does not fit."""
        match = pattern.fullmatch(self.folded)
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
    found, last, begins = list[Clause](), 0, True
    for match in _SPLIT.finditer(line):
        mark = match["mark"] or ""
        is_question = mark == "?" and begins  # else the mark is that of the clause before
        found.append(Clause.of(line[last : match.start()], is_question=is_question))
        last, begins = match.end(), mark in (".", "!", "?", ";")
    found.append(Clause.of(line[last:]))
    return [one for one in found if one.words]


# 4. Reading ------------------------------------------------------------------------------------


def choice_in(text: str, look: Lookup) -> Choice:
    """The choice that a text asks for; without a topic where it asks for none."""
    line = " ".join(text.split())
    parts = clauses(line)
    if not parts or len(line.split()) > WORDS_MAX:
        return Choice()
    none = Choice(ruled_out=tuple(dict.fromkeys(_ruled_out(parts, look))))
    first, *others = _SENTENCE.split(line)
    asked, before, behind = _between(first, look), list[Clause](), clauses(" ".join(others))
    if asked is None:
        asked, before, behind = _first_asked(parts, look)
    rest = before + behind
    if asked is None or not all(_stands_beside(one, asked.topic, look) for one in rest):
        return none
    ruled_out = tuple(dict.fromkeys((*none.ruled_out, *_passed_over(parts, look))))
    named = list(asked.named)
    if not asked.is_between:
        named += (value for one in behind if _may_offer(one) for value in look.values(one.text))
    left = tuple(value for value in dict.fromkeys(named) if value not in ruled_out)
    return asked._replace(named=left, ruled_out=ruled_out)


def _first_asked(
    parts: list[Clause], look: Lookup
) -> tuple[Choice | None, list[Clause], list[Clause]]:
    """What the first clause with a form asks for, the clauses before it, and those behind."""
    for at, part in enumerate(parts):
        for form in FORMS:
            if found := _read(part, form, look):
                return found, parts[:at], parts[at + 1 :]
    return None, parts, []


def _read(part: Clause, form: Form, look: Lookup) -> Choice | None:
    """What a clause asks for, where a form covers it."""
    said = part.parts(form.pattern)
    if said is None or not plain("no_askers").isdisjoint(_words(said.get("who", ""))):
        return None
    noun, purpose = _noun(said["t"])
    more = said.get("for", "") or said.get("more", "") or said.get("which", "")
    if more and _noun(more)[0]:
        return None  # it goes on with more than `for Y` and the like
    if not form.has_article and not plain("definite").isdisjoint(_words(noun)[:1]):
        return None
    topic = look.topic(noun, form.ask)
    if not topic:
        return None
    scope = _scope(said.get("y", "") or purpose or _noun(more)[1], look)
    if form.is_bare and (not scope or ends_in_verb(scope)):
        return None  # a sentence about the one that is there
    return Choice(topic, tuple(look.values(part.text)), scope=scope)


def _words(text: str) -> list[str]:
    return _WORD.findall(folded(text))


def _noun(text: str) -> tuple[str, str]:
    """A noun phrase without what a preposition adds, and what it is for."""
    words = text.split()
    said = [folded(word) for word in words]
    cut = next((at for at, word in enumerate(said) if word in plain("prepositions")), len(said))
    purpose = next((at for at in range(cut, len(said)) if said[at] in ("for", "fuer")), len(said))
    return " ".join(words[:cut]), " ".join(words[purpose + 1 :])


def _scope(text: str, look: Lookup) -> str:
    text = text.rstrip(".!?")
    return without_article(text) if text and is_scope(text, lambda y: bool(look.values(y))) else ""


def _between(sentence: str, look: Lookup) -> Choice | None:
    """`X or Y?`, where both are values of one topic."""
    part = Clause.of(sentence.rstrip("?.! "))
    said = part.parts(_BETWEEN) if _ALTERNATIVE.search(f" {part.folded} ") else None
    if said is None:
        return None
    noun, purpose = _noun(said["of"])
    named = _listed(noun, look)
    topic = look.shared(named) if len(named) > 1 else ""
    if not topic:
        return None
    named_once = tuple(dict.fromkeys(named))
    return Choice(topic, named_once, scope=_scope(purpose, look), is_between=True)


def _listed(text: str, look: Lookup) -> list[str]:
    """The values of a list of nothing else; none where one is unknown."""
    found = [look.value(without_article(one.strip())) for one in _OR.split(text)]
    return found if all(found) else []


def _stands_beside(part: Clause, topic: str, look: Lookup) -> bool:
    """Whether a clause may stand beside the one that asks: it asks and decides nothing else."""
    if part.parts(_OUT):
        return True
    words, values = _words(part.folded), look.values(part.text)
    if part.is_question and words[:1] not in (["where"], ["how"], ["wo"], ["wohin"], ["wie"]):
        return bool(values) and look.shared(values) == topic
    if not words or words[0] in plain("other_work") or words[-1] in plain("other_work"):
        return False
    if words[0] in ("and", "und") and not plain("requires").intersection(words[1:2]):
        return False
    is_decided = bool(values) and not plain("deciding").isdisjoint(words)
    return plain("taken_back").isdisjoint(words) and not is_decided


def _may_offer(part: Clause) -> bool:
    """Whether the values that a clause names are options: it says nothing against them."""
    words = _words(part.folded)
    is_reason = not plain("reasons").isdisjoint(words[:1])
    return not is_reason and plain("against").isdisjoint(words)


def _ruled_out(parts: list[Clause], look: Lookup) -> Iterator[str]:
    """What a text does not want, or wants to replace by what is no name."""
    for part in parts:
        for form in _REPLACES:
            if (said := part.parts(form)) and _is_open(said["b"], look):
                noun = without_article(_noun(said["a"])[0])
                yield look.value(noun) or noun
        if (said := part.parts(_OUT)) and not _INSTEAD.match(part.folded):
            yield from _listed(_noun(said["a"])[0], look)


def _passed_over(parts: list[Clause], look: Lookup) -> Iterator[str]:
    """What is blamed, or stands behind `instead of`: unwanted only where a choice is asked for."""
    for part in parts:
        if said := part.parts(_OUT):
            yield from _listed(_noun(said["a"] or said["b"])[0], look)


def _is_open(text: str, look: Lookup) -> bool:
    """Whether what takes a place is no name: `something smaller`, or one of several values."""
    return len(_listed(text, look)) > 1 or _BEGINS_VAGUELY.fullmatch(folded(text)) is not None
