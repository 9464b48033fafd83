"""What an intention is about: the value that it states, the topics and values that it names.

A pure function of a text and a pack (docs/specs/clarification.md, sections 11 and 12). A topic is
found by its own words alone; in doubt nothing is found, and a person is asked. What the repository
has comes in as texts (seed 0, section 9): one is `PostgreSQL: psycopg in pyproject.toml`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.features.clarification.domain.choices import Ask, Lookup, choice_in, noun_phrase
from preflights_es.features.clarification.domain.events import (
    IntentionDeclared,
    KnownLine,
    Present,
    TopicsFound,
)
from preflights_es.features.clarification.domain.pack import Pack, Topic, asked_topic, load_pack
from preflights_es.features.clarification.domain.values import LLMContext, TopicValue
from preflights_es.kernel.text import composed, late_pattern
from preflights_es.words.language import (
    EVERYDAY,
    GENERIC,
    StatedDecision,
    canonical,
    fold_letters,
    has_small_word,
    language_of,
    parse_stated_decision,
    read_product_names,
    read_small_words,
    split_folded_words,
    without_article,
)
from preflights_es.words.questions import Language

Names = Mapping[str, str] | None
WORDS_MAX: Final = 5  # of a name
SHORT: Final = 14  # words of a text in which one word names a topic
BROAD: Final = ("database", "backend_api", "frontend", "mobile", "hosting")
"""Topics that most texts name beside what they are about."""


class Word(msgspec.Struct, frozen=True):
    """A word of a text, folded, and how it was written."""

    folded: str
    is_capital: bool
    """Whether it has a capital that the start of a sentence does not explain."""


def find(
    intention: str, language: Language | None = None, inlined: str = "", own: Names = None
) -> TopicsFound:
    """What an intention is about, by the shipped pack or the text of the team's own.

    Args:
        own: names that the project has, folded, each as it is written there.
    """
    intention = composed(intention)
    tongue = language or language_of(intention)
    known = lexicon(inlined)
    said = parse_stated_decision(intention, lambda text: known.meant(text, own), known.names_any)
    words = words_of(intention)
    if said is not None:
        return _topics_by_statement(said, tongue, known, words)
    asked = choice_in(intention, known.lookup())
    out = {canonical(value) for value in asked.ruled_out}
    named = asked.named if asked.topic else known.mentions(words)
    return TopicsFound(
        kind="choice" if asked.topic else "open",
        language=tongue,
        topics=(asked.topic,) if asked.topic else (),
        replaced=tuple(known.named(value, asked.topic) for value in asked.ruled_out),
        mentioned=tuple(
            one
            for value in named
            if canonical(value) not in out
            and (one := known.named(value, asked.topic, asked.is_between)).topic
        ),
        scope=asked.scope,
        is_between=asked.is_between,
    )


def topic_named(title: str) -> tuple[str, str]:
    """The topic that a title names, whole, and what it is for: `Payment provider for the shop`."""
    noun, purpose = noun_phrase(title)
    return lexicon("").lookup().topic(noun, "which"), without_article(purpose)


def stated_by(answer: str, inlined: str = "", own: Names = None) -> StatedDecision | None:
    """What an answer in a person's own words states, by the forms of an intention.

    Of `Replace A with B` any two words are names: the answer is a decision, whatever it names.
    """
    known = lexicon(inlined)
    if said := parse_stated_decision(answer, lambda text: known.meant(text, own), known.names_any):
        return said
    loose = parse_stated_decision(
        answer, lambda text: text if _NAME.fullmatch(text) else "", lambda _: False
    )
    return loose if loose and loose.replaced else None


_NAME: Final = late_pattern(r"[\w@][\w.+#/@-]*")


def _topics_by_statement(
    said: StatedDecision, tongue: Language, known: Lexicon, words: list[Word]
) -> TopicsFound:
    topics, of = known.topics(words), known.topic_of
    topic = of(said.value, topics) or of(said.replaced, topics) or next(iter(topics), None)
    own = topic is not None and known.is_called(topic, said.scope)
    id_ = topic.id if topic else ""
    return TopicsFound(
        kind="stated",
        language=tongue,
        stated=(TopicValue(id_, said.value),),
        replaced=(TopicValue(id_, said.replaced),) if said.replaced else (),
        scope="" if own else said.scope,
        because=said.because,
    )


def words_of(text: str) -> list[Word]:
    """The words of a text in its order, in full: letters and digits in a run."""
    text, found, ends, last = composed(text), list[Word](), True, 0
    for match in _WORD.finditer(text):
        ends |= any(mark in text[last : match.start()] for mark in ".!?:\n")
        written, last = match[0], match.end()
        is_name = (written[0].isupper() and not ends) or (len(written) > 1 and written.isupper())
        found.append(Word(fold_letters(written), is_name))
        ends = False
    return found


_WORD: Final = late_pattern(r"[^\W_]+")

T = TypeVar("T")
Phrase = tuple[str, ...]


class Lexicon:
    """The words of a pack and the names of products, ready for many intentions."""

    def __init__(self, pack: Pack) -> None:
        folded = cache(_folded_phrase)  # a pack says most of its words several times
        self._topics = pack.topics
        self._words: dict[Phrase, list[int]] = {}
        self._of: dict[str, list[int]] = {}
        products = {
            folded(n): one for one in read_product_names() for n in (one.name, *one.aliases)
        }
        self._values = {phrase: one.name for phrase, one in products.items()}
        described = {option for topic in pack.topics for option in topic.options}
        self._options = {option for option in described if folded(option) not in products}
        """Those that are no products."""
        self._things: dict[Phrase, str] = {}
        self._matters: dict[Phrase, str] = {}
        self._uses: dict[Phrase, str] = {}
        """What things are for, bare and as `charts library`."""
        for at, topic in enumerate(pack.topics):
            for word in (*topic.words, *topic.matters):
                self._words.setdefault(folded(word), []).append(at)
            things = [_normalize_kind_word(folded(word)) for word in topic.words]
            self._things |= dict.fromkeys(things, topic.id)
            self._matters |= {folded(word): topic.id for word in topic.matters}
            is_library = any(thing[-1] == "library" for thing in things)
            for noun in (topic.nouns.en, topic.nouns.de) if topic.nouns else ():
                if not has_small_word(used := folded(without_article(noun)), "loose"):
                    for kind in ((), ("service",), ("library",))[: 2 + is_library]:
                        self._uses.setdefault((*used, *kind), topic.id)
            for value in (*topic.options, *topic.values):
                self._of.setdefault(value, []).append(at)
                for called in (value, value.partition(" (")[0], *topic.spellings.get(value, ())):
                    product = products.get(folded(called))
                    for name in (called, *((product.name, *product.aliases) if product else ())):
                        self._values[folded(name)] = value
            self._values |= {
                folded(said): value
                for value, said in zip(topic.options, topic.options_de, strict=False)
            }
        loose = {folded(value) for topic in pack.topics for value in topic.values} - {*products}
        self._sure = self._values.keys() - loose

    def name_of(self, text: str) -> str:
        """The value that a whole text names, in the pack's spelling; empty where none."""
        return self._values.get(_folded_phrase(text), "")

    def meant(self, text: str, own: Names = None) -> str:
        """The same, or a name of the project's; no everyday word that is written as one."""
        is_word = text == text.lower()
        phrase = _folded_phrase(text)
        is_known = not self._is_topic(phrase) and (self._is_sure(phrase) or not is_word)
        known = self.name_of(text) if is_known else ""
        return known or (
            "" if is_word and text.isalpha() else (own or {}).get(fold_letters(text), "")
        )

    def names_any(self, text: str) -> bool:
        """Whether a product stands anywhere in a text."""
        return any(value not in self._options for value in self.mentions(words_of(text)))

    def mentions(self, words: list[Word]) -> list[str]:
        """The values that are named, each once, in the order of the text."""
        hits = _hits(words, self._values)
        meant = (
            value
            for first, phrase, value in hits
            if not self._is_topic(phrase) and (first.is_capital or self._is_sure(phrase))
        )
        return list(dict.fromkeys(meant))

    def _is_topic(self, phrase: Phrase) -> bool:
        """Whether a phrase is what another topic is called: `database`, an option for files."""
        called = self._things.get(_normalize_kind_word(phrase)) or self._matters.get(phrase)
        having = self._of.get(self._values.get(phrase, ""), ())
        return called is not None and called not in [self._topics[at].id for at in having]

    def _is_sure(self, phrase: Phrase) -> bool:
        """Whether a phrase is a value however it is written, and no word of other texts."""
        text = " ".join(phrase)
        is_word = text in EVERYDAY or text in GENERIC or text in read_small_words("everyday")
        return phrase in self._sure and not is_word

    def topics(self, words: list[Word]) -> list[Topic]:
        """The topics whose own words stand there: those with the most, then the first named.

        In a long text one word says little.
        """
        counts: Counter[int] = Counter()
        for _, phrase, topics in _hits(words, self._words):
            counts.update(dict.fromkeys(topics, len(phrase)))
        least = 1 if len(words) <= SHORT else 2
        found = [one for one in counts if counts[one] >= least]
        found.sort(key=lambda one: (self._topics[one].id in BROAD, -counts[one]))
        return [self._topics[one] for one in found]

    def topic_of(self, value: str, named: list[Topic]) -> Topic | None:
        """The topic of a value: one that is named, else the first that has it."""
        name = value if value in self._of else value.rpartition(" ")[0]  # with a version
        having = [self._topics[at] for at in self._of.get(name, ())]
        return next((topic for topic in having if topic in named), next(iter(having), None))

    def named(self, value: str, topic: str, is_own: bool = False) -> TopicValue:
        """A value with its topic: this one where it has it, else the first that does.

        Args:
            is_own: whether it is of this topic, known or not.
        """
        if is_own:
            return TopicValue(topic, value)
        found = self.topic_of(value, [one for one in self._topics if one.id == topic])
        return TopicValue(found.id if found else "", value)

    def lookup(self) -> Lookup:
        """What a choice is read with."""
        return Lookup(
            topic=self._asked_topic,
            values=lambda text: self.mentions(words_of(text)),
            value=lambda text: "" if self._is_topic(_folded_phrase(text)) else self.name_of(text),
            shared=self._shared,
        )

    def _asked_topic(self, noun: str, ask: Ask) -> str:
        """The topic of a noun phrase: an article and plain adjectives may stand before its word."""
        phrase = _folded_phrase(noun)
        while has_small_word(phrase[-1:], "adverbs"):
            phrase = phrase[:-1]
        while phrase:
            found = self._things.get(_normalize_kind_word(phrase), "")
            if not found and ask in ("which", "use"):
                found = self._matters.get(phrase, "")
            if not found and ask == "use":
                found = self._uses.get(_normalize_kind_word(phrase), "")
            *bare, kind = _normalize_kind_word(phrase)
            if not found and (kind == "service" or has_small_word(phrase[-1:], "broad")):
                found = self._things.get((*bare,), "") or self._matters.get((*bare,), "")
            first = (phrase[0], _ENDING.sub("", phrase[0]))
            small = ("modifiers", "articles", "definite")
            if found or not any(has_small_word(first, of) for of in small):
                return found
            phrase = phrase[1:]
        return ""

    def _shared(self, values: list[str], first: str = "") -> str:
        """The first topic that has all of these values, or this one; empty where none."""
        having = [{*self._of.get(value, ())} for value in values]
        shared = set[int].intersection(*having) if having else set[int]()
        offered = {at: len({*values}.intersection(self._topics[at].options)) for at in shared}
        order = ((self._topics[at].id != first, -offered[at], at) for at in offered)
        best = min(order, default=None)
        return self._topics[best[-1]].id if best else ""

    def is_called(self, topic: Topic, text: str) -> bool:
        """Whether a text says no more than what the topic is called or for: `state`, `dates`."""
        said = _folded_phrase(without_article(text))
        words = [_folded_phrase(word) for word in (*topic.words, *topic.matters)]
        nouns = (topic.nouns.en, topic.nouns.de) if topic.nouns else ()
        uses = {_folded_phrase(without_article(noun)) for noun in (topic.category, *nouns)}
        things = map(_normalize_kind_word, words)
        uses |= {thing[:-1] for thing in things if thing[-1] in ("library", "service")}
        singular = (*said[:-1], *(word.removesuffix("s") for word in said[-1:]))
        is_use = not (has_small_word(said, "places") or uses.isdisjoint((said, singular)))
        return said in words or is_use


def _hits(words: list[Word], table: Mapping[Phrase, T]) -> Iterator[tuple[Word, Phrase, T]]:
    """What a table has of a text, the longest at each place, with the first word there."""
    at = 0
    while at < len(words):
        for end in range(min(at + WORDS_MAX, len(words)), at, -1):
            phrase = tuple(word.folded for word in words[at:end])
            if phrase in table:
                yield words[at], phrase, table[phrase]
                at = end - 1
                break
        at += 1


def _folded_phrase(text: str) -> Phrase:
    return tuple(split_folded_words(text))


_ENDING: Final = late_pattern(r"(?:e|en|er|es|em)$")  # of a German adjective
_COMPOUND: Final = late_pattern(
    r"(\w{2,}?)(bibliothek(?:en)?|framework|werkzeuge?|dienste?|anbieter|systeme?)"
)


def _normalize_kind_word(phrase: Phrase) -> Phrase:
    """A phrase with one word for all that name a library, and one for a service or tool."""
    if phrase and (parts := _COMPOUND.fullmatch(phrase[-1])):
        phrase = (*phrase[:-1], *parts.groups())
    for kind in ("library", "service"):
        if len(phrase) > 1 and {phrase[-1], phrase[-1].removesuffix("s")} & read_small_words(kind):
            return (*phrase[:-1], kind)
    return phrase


@lru_cache(maxsize=4)
def lexicon(inlined: str) -> Lexicon:
    """The lexicon of the shipped pack, or of the text of the team's own; made once a process."""
    return Lexicon(load_pack(inlined))


# What the repository has ---------------------------------------------------------------------

PRESENT_MAX: Final = 3  # options that stand first because the repository has them

_SIGNAL: Final = late_pattern(r"(?:(?P<product>[^:]+): )?(?P<package>\S+) in (?P<path>.+)")


class Signal(msgspec.Struct, frozen=True):
    """What a file of the repository lists."""

    product: str
    """By its name in `words/names.txt`; empty where the package is in no product's list."""
    package: str
    """Or image."""
    path: str

    def written(self) -> str:
        """As a text of the context."""
        product = f"{self.product}: " if self.product else ""
        return f"{product}{self.package} in {self.path}"


def signals(context: LLMContext | None) -> tuple[Signal, ...]:
    """The signals of a context; none of a text in another form."""
    said = context.technology_signals if context else ()
    found = map(_SIGNAL.fullmatch, said)
    return tuple(Signal(one["product"] or "", one["package"], one["path"]) for one in found if one)


def own_names(context: LLMContext | None, told: Iterable[KnownLine]) -> dict[str, str]:
    """Values that are names in this project: of its packages and images, and those in force."""
    said = [one.package for one in signals(context)]
    said += [value for one in told for value in one.values or ()]
    return {fold_letters(name): name for name in said}


def with_present(new: IntentionDeclared, found: TopicsFound) -> TopicsFound:
    """What was found, with the values of the first topic that the repository has already."""
    topic = asked_topic(load_pack(new.inlined), found) if found.kind == "choice" else None
    present = _present(signals(new.context), topic) if topic else ()
    if not present:
        return found
    return replace(found, present=present)


def _present(said: tuple[Signal, ...], topic: Topic) -> tuple[Present, ...]:
    values = {canonical(value): value for value in (*topic.values, *topic.options)}
    found: dict[str, Present] = {}
    for one in said:
        value = values.get(canonical(one.product)) if one.product else None
        if value and value not in found:
            found[value] = Present(value, f"{one.package} is in {one.path}")
    return tuple(found.values())[:PRESENT_MAX]
