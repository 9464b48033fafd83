"""The ways from a label to its value: behind it, in a sentence around it, or before it."""

from __future__ import annotations

import re
from typing import Final

from preflights_es.redaction.allowlist_words import is_adjective
from preflights_es.redaction.classifier import Manner, Place, PlacedValue, gives_away, is_phrase
from preflights_es.redaction.patterns import VALUE_MAX, compiled, words
from preflights_es.redaction.values import Extent, told_at, value_at, whole

_VERB: Final = r"(?:is|was|ist|war|lautete?|hei(?:ß|ss)t)"
# In French and Spanish an adjective often follows: the judgement knows it.
_ROMANCE_VERB: Final = (
    r"(?:\s{1,3}|\s?,\s{1,3})(?P<romance>est|était|sera(?:it)?|devient|reste|vaut|es|era|fue|será|sería|"
    r"va\sa\sser|sigue\ssiendo|c['\u2019](?:est|était)|ce\ssera)\s{1,3}"
    r"(?:(?:maintenant|toujours|désormais|simplement|encore|donc|juste|ahora|siempre|todavía|"
    r"simplemente|solo)\s)?"
)
# Whose or for what a password is, between its label and the colon.
_OWNER: Final = (
    r"(?:admin(?:istrat(?:or|eur|rice)|istradora?)?|root|user|utilisateur|usuario|benutzer|nutzer|"
    r"invit(?:é|ado)|guest|gast|wi-?fi|wlan|vpn|ssh|s?ftp|smtp|imap|ldap|rdp|sql|mysql|mariadb|"
    r"postgres(?:ql)?|redis|mongo(?:db)?|db|bdd|database|datenbank|base(?:\sde\s(?:donn(?:é|e)es|datos))?|"
    r"prod(?:uction|ucción|uktion)?|pr(?:é|e)-?prod|staging|recette|tests?|dev|pruebas|provisoire|"
    r"temporaire|temporal|initial|inicial|actuel|actual|par\sdéfaut|por\sdefecto|default|ma[iî]tre|nueva|antigua|vieja|"
    r"maestra|master|gmail|github|gitlab|windows|outlook|serv(?:er|eur|idor)|route(?:r|ur)|box|nas|"
    r"compte|cuenta|account|konto|api|jira|jenkins|grafana|kibana|keycloak)"
)
_FLAG: Final = r"(?P<flag>[ \t]{1,9})(?=[^\s-])"
_ROMANCE_SIGNS: Final = "es était ser era devient vaut fue sigue"
_DIGITS: Final = "0 1 2 3 4 5 6 7 8 9"
# The ways from a label to its value, tried in this order: signs and words of which the text must
# hold one (in lower case) to be searched at all, and the pattern. Its named group is the manner.
_WAYS: Final = (
    # password: str = "x", password string = "x"
    (
        r"= | \[?\]?[?!]?(?P<equals>(?::[ \t]{0,20}|[ \t])[a-z][\w.\[\]|, ]{0,40}(?<![=!<>])=)"
        r"(?=[ \t]{0,9}[frbu]{0,2}[\"'`])[ \t]{0,9}"
    ),
    # password = x, ${PASSWORD:-x}
    (
        r"= :- | \[?\]?[ \t]{0,20}(?P<equals>:-|:=|\?=|=>|={1,3}(?!=)|!={1,2}(?=[ \t]?[\"'`]))"
        r"[ \t]{0,20}"
    ),
    # password: x, "password": "x", **password:** x
    (
        r": | [?!]?[ \t\u00a0\u202f]{0,20}(?P<colon>:(?![:/=?]))[ \t\u00a0]{0,20}(?:\*\*|__)?"
        r"[ \t]{0,20}"
    ),
    # a line of its own below the label
    (
        r": | [ \t]{0,20}:[ \t]{0,9}(?:[|>][+-]?|\*\*|__)?[ \t]{0,9}\r?\n[ \t]{0,40}"
        r"(?=[^\s#-]\S{0,200}[^\s:,{\[][ \t]{0,20}(?:\n|$))"
    ),
    # <password>x</password>
    r"> | (?P<element>(?<![\"'`])(?:\s[^<>\n]{0,80})?>(?=[^<>\n]{1,200}</))",
    # name: PASSWORD, value: x
    r"value | [\s,]{1,40}[\"']?value[\"']?\s{0,5}(?P<equals>[:=])\s{0,5}",
    # password (staging): x
    r": = | \s\([^()\n]{1,30}\)\s{0,3}(?P<colon>[:=])\s{1,3}",
    # API key provided: x
    (
        r": = | \s(?:provided|given|used|supplied|received|value|phrase|again|below)\s?"
        r"(?P<colon>[:=])\s{1,3}"
    ),
    # password -> x
    (
        "- → \u2013 | "
        r"[ \t]{0,3}(?:->|→)[ \t]{0,3}|[ \t][-\u2013][ \t]"
    ),
    # setPassword("x")
    r"( | (?P<equals>\()(?=[\"'`])",
    # getenv("DB_PASSWORD", "x")
    r", | (?P<default>,[ \t]?)(?=[\"'])",
    # | password | x |
    r"| | [ \t]{0,9}\|[ \t]{0,9}",
    # the password is: x, das Passwort lautet x
    (
        ": = laut hei equals | "
        r"\s{1,3}(?P<colon>(?:is|was|are|ist|war|sind|est|es|sont|son)\s?[:=]\s{0,3}"
        r"|(?:lautete?n?|hei(?:ß|ss)t|equals)(?:\s?:\s{0,3}|\s{1,3}))"
    ),
    # the password is x
    (
        "is was war will remains stays | "
        r"(?:,[^,\n]{1,40},|,\s(?:which|das)|\s(?:there|here|then|dort|hier|dann))?\s{1,3}(?P<verb>is|was|ist|war|will\sbe|remains|stays)\s{1,3}"
        r"(?:(?:now|still|currently|simply|just|jetzt|noch|aktuell|nun|einfach|set to)\s)?"
    ),
    # the password for the staging database is x
    (
        ": = is was war laut hei | "
        r"\s{1,3}(?:for|of|to|on|in|at|from|fürs?|von|vom|zu|zum|zur|der|des|im|auf|am|bei|beim)"
        r"(?:\s{1,3}[^\s:=;,?!\"'()]{0,39}[^\s:=;,?!\"'().]){1,6}?"
        rf"(?:\s{{0,3}}(?P<colon>[:=])|\s{{1,3}}(?P<verb>{_VERB}))\s{{1,3}}"
    ),
    # mot de passe administrateur : x, password admin: x
    (
        rf": = {_ROMANCE_SIGNS} | \s{{1,3}}{_OWNER}(?:[ /-]{{1,3}}{_OWNER}){{0,3}}"
        rf"(?:\s{{0,3}}(?P<owner>[:=])\s{{0,3}}|{_ROMANCE_VERB})"
    ),
    # mot de passe provisoire x
    rf"{_DIGITS} | (?P<adjective>\s{{1,3}}{_OWNER}\s{{1,3}})(?=[\"'`“„«]?\S{{0,64}}[0-9])",
    # le mot de passe est x, le mdp c'est x, la contraseña de la base es x
    f"{_ROMANCE_SIGNS} | {_ROMANCE_VERB}",
    (
        f": = {_ROMANCE_SIGNS} | "
        r"\s{1,3}(?:(?:pour|de|du|des|sur|dans|para|del|en)\s{1,3}|d['\u2019])"
        r"[^\s:=;,?!\"()]{1,40}(?:\s{1,3}[^\s:=;,?!\"()]{0,39}[^\s:=;,?!\"().]){0,5}?"
        rf"(?:\s{{0,3}}(?P<colon>[:=])\s{{1,3}}|{_ROMANCE_VERB})"
    ),
    # the token we got back was x
    (
        r"is was war | \s{1,3}(?:we|you|i|they|that|which|wir|ich)(?:\s{1,3}[a-z']{1,20}){1,5}?"
        r"\s{1,3}(?:is|was|ist|war)\s{1,3}"
    ),
    # set the password to 'x'
    (
        "\" ' ` “ „ | "
        r"\s(?:to|auf)\s(?P<equals>)(?=[\"'`“„])"
    ),
    # --password x
    f"- | {_FLAG}",
    # password x, the password was changed to x
    (
        f"{_DIGITS} @ $ ! % * - | "
        r"(?:(?<=')s|\u2019s)?[ \t]{1,3}(?:(?:has|have|had|should|must|will|shall|can|soll|muss|"
        r"wird|wurde|are|sind|is|was|ist)\s)?(?:(?:been|be|now|jetzt|always|set|reset|changed|"
        r"updated|rotated|equal|used)\s){0,3}(?:(?:to|be|as|auf|zu|from|von|using|string|const|var|"
        r"à|a|de|par|por|"
        r"=)\s){0,2}\(?(?=[\"'`“„]?\S{0,64}[0-9@$!%*-])"
    ),
)


def possible_ways(low: str) -> tuple[str, ...]:
    """The ways that a text can take; the other patterns are not even compiled for it."""
    ways = (way.split(" | ", 1) for way in _WAYS)
    return tuple(way for signs, way in ways if any(sign in low for sign in signs.split(" ")))


def is_any(ways: tuple[str, ...], low: str, position: int) -> bool:
    """Whether one of the ways, other than a flag's, begins here."""
    return any(way != _FLAG and compiled(way).match(low, position) for way in ways)


def behind(
    text: str, low: str, label: re.Match[str], place: Place, ways: tuple[str, ...]
) -> Extent | None:
    vain: Extent | None = None
    for way in ways:
        found = compiled(way).match(low, label.end())
        if found is None or not _is_open(found, place):
            continue
        span = value_at(text, found.end())
        if span is None:
            continue
        manner: Manner = "loose" if place.many else _manner(found, place)
        told = told_at(text, low, label.start(), span, manner)
        if found.lastgroup == "romance":
            place = place._replace(romance=True)
        if found.lastgroup == "element":
            place = place._replace(literal=True)
        if gives_away(told, place):
            return whole(text, span)
        if phrase := _phrase(text, span, told, place):
            return phrase
        if not span.quote and span.end - span.start >= VALUE_MAX - 8:
            vain = span._replace(secret=False)
    return vain


def _is_open(way: re.Match[str], place: Place) -> bool:
    """Some ways only lead from a flag, some only from the name of an environment variable."""
    match way.lastgroup:
        case "flag":
            return place.flag
        case "adjective":
            return place.romance
        case "default":
            return place.literal
        case _:
            return True


def _manner(found: re.Match[str], place: Place) -> Manner:
    match found.lastgroup:
        case "owner":  # in English and German a word there is seldom a password
            return ":" if place.romance else "loose"
        case "equals" | "element" | "flag":
            return "="
        case "colon":
            return ":"
        case "verb" | "romance":
            return "is"
        case _:
            return "loose"


_WORDS: Final = r"[a-zäöüß]{3,12}(?: [a-zäöüß]{3,12})"
_PHRASE: Final = rf"(?:{_WORDS}{{3,9}}|{_WORDS}{{1,9}} \d{{1,4}})(?=[.!]?\s*(?:\n|$))"
# A place in a document, and what is counted: "siehe Seite 12", "step 3".
_NUMBERED: Final = r"""
    see siehe voir ver page seite section abschnitt kapitel chapter chapitre step schritt version
    ticket issue line zeile ligne table tabelle row zeile column spalte field feld room raum rule
    regel point punkt item option level stufe stage phase part teil figure appendix anhang about
    top bottom number nummer plus minus equals over under least most exactly genau etwa mindestens
    höchstens maximal minimal first last only nur between zwischen since seit year jahr day tag
"""


def _phrase(text: str, span: Extent, told: PlacedValue, place: Place) -> Extent | None:
    """A passphrase: four words and more, or a number behind two, none of them of a sentence."""
    if place.need != "word" or told.quote or told.manner == "loose":
        return None
    if place.romance and told.manner == "is":  # what is said of it, in more words than one
        return None
    found = compiled(_PHRASE).match(text, span.start)
    if not found or not is_phrase(found.group()):
        return None
    spoken = found.group().split()
    numbered = told.manner == "is" or any(word in words(_NUMBERED) for word in spoken)
    if spoken[-1].isdigit() and numbered:
        return None
    return None if any(is_adjective(word) for word in spoken) else Extent(*found.span())


def another(text: str, low: str, place: Place, done: int) -> Extent | None:
    """The next of several: "from hunter2 to hunter3"."""
    comma = r"|\s?,\s" if place.many else ""
    joined = compiled(rf"[\"'`]?(?:\s(?:and|or|to|und|oder|auf|zu|et|ou|à|y|o|a)\s{comma})").match(
        low, done
    )
    span = value_at(text, joined.end()) if joined else None
    if span is None or place.need in {"noise", "pin"} or text.startswith(("=", ":"), span.end):
        return None
    told = told_at(text, low, span.start, span, "loose")
    return whole(text, span) if "=" not in told.value and gives_away(told, place) else None


_REVERSED: Final = (
    r"(?<![^\s(\[{])[(\"'`]?(?P<value>[^\s\"'`<>()\ufdd0]{6,64})[\"'`]?,?"
    r"\s(?:as|is|als|ist|comme|est|como|es|[!=]?={1,2})\s"
    r"(?:(?:the|my|our|your|his|her|a|das|mein|unser|dein|der|den|le|la|mon|notre|el|mi|nuestra)\s)?"
    r"(?:[a-zäöü-]{1,15}\s)?[\w-]*$"
)
_REVERSED_END: Final = (
    r"\s*(?:[.,;!?){\n]|$|(?:for|of|in|on|to|at|and|für|von|auf|und|when|if|but|because|since|there|"
    r"here|now|everywhere|instead|pour|de|du|para|del|et|y)\b)"
)


def in_front(text: str, low: str, label: re.Match[str], place: Place, done: int) -> Extent | None:
    """The value before its label: "use hunter2 as the password"."""
    if place.need in {"noise", "pin"} or not compiled(_REVERSED_END).match(low, label.end()):
        return None
    window = max(done, label.start() - 120)
    if not (found := compiled(_REVERSED).search(text, window, label.start())):
        return None
    told = PlacedValue(found["value"], "", "loose", tight=False, ended=True, variable=False)
    place = place._replace(literal=False)
    return Extent(*found.span("value")) if gives_away(told, place) else None
