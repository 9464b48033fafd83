"""Labels: what stands behind "password", "token", "API key" and their like.

A value is found by a way from its label: behind it, in a sentence around it, or before it. What the
value is, the `classifier` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple, cast

from preflights_es.redaction.classifier import (
    LabelExpectation,
    Manner,
    Need,
    PlacedValue,
    gives_away,
    is_adjective,
    is_phrase,
)
from preflights_es.redaction.patterns import (
    VALUE_MAX,
    SecretKind,
    Span,
    compile_pattern,
    find_starts,
    lower,
    read_word_table,
    split_words,
)

# 1. Where values begin and end -----------------------------------------------------------------


class ValueExtent(NamedTuple):
    """Where a value stands in the text."""

    start: int
    end: int
    quote: str = ""
    secret: bool = True  # False: read in vain to the limit, and nothing to find in it


# What closes a quotation; single ones as escapes, since they are easily taken for others.
_QUOTES: Final = {
    "“": "”“",
    "„": '“”"',
    "«": "»",
    "»": "«",
    "\u2018": "\u2019",
    "\u201a": "\u2018\u2019",
}
_OPENING: Final = r"(?:[frbuFRBU@$]{1,2}(?=[\"']))?\\*(?P<quote>\"\"\"|'''|[\"'`“„«»\u2018\u201a])"
_UNQUOTED: Final = (
    r"(?:[^\s\"'`<>&,;|\\\ufdd0]++|\|(?!\w{1,40}=)|&(?![\w.\[\]-]{1,40}=)|'(?=\w)|\\(?![\"'nr])"
    r"|[,;](?!\s|$|[\w\"' -]{1,40}[=:]))+"
)


def value_at(text: str, start: int) -> ValueExtent | None:
    """What stands here: to the closing quote, or to the blank or the sign that ends it."""
    if opening := compile_pattern(_OPENING).match(text, start):
        quote, start = opening["quote"], opening.end()
        closing = _QUOTES.get(quote, quote[0])
        body = compile_pattern(rf"[^\n\ufdd0{closing}]*").match(text, start, start + VALUE_MAX)
        end = body.end() if body else start
        if end > start and text[end : end + 1] and text[end] in closing:
            if quote == "«":  # French sets blanks inside
                bare = text[start:end].strip()
                start = text.find(bare, start)
                end = start + len(bare)
            return ValueExtent(start, end - (text[end - 1] == "\\"), quote)
    run = compile_pattern(_UNQUOTED).match(text, start, start + VALUE_MAX)
    value = trimmed(run.group()) if run else ""
    return ValueExtent(start, start + len(value)) if value else None


_AROUND: Final = r"(?:[.,;:?|…]|\*\*|__)+$"


def trimmed(value: str) -> str:
    """Without the punctuation of the sentence around it."""
    while value:
        opening = {")": "(", "]": "[", "}": "{"}.get(value[-1])
        if opening and opening not in value:
            value = value[:-1]
        elif (around := compile_pattern(_AROUND).search(value, max(0, len(value) - 8))) is not None:
            value = value[: around.start()]
        else:
            break
    return value


def extend_to_value_end(text: str, span: ValueExtent) -> ValueExtent:
    """A value cut at the limit of what is judged goes to its end."""
    if span.quote or span.end - span.start < VALUE_MAX - 8:
        return span
    rest = compile_pattern(r"[^\s\"'`<>\ufdd0]*").match(text, span.end)
    return span._replace(end=rest.end()) if rest else span


# A sentence, a line, an item or a list of fields ends here: the value stood alone.
_ENDED: Final = (
    r"[\"'`*_]{0,3}[.!…]{0,3}(?:\s*$|[ \t]*\r?\n|\s*[;,)}\]|]|[\"'`&]|</"
    r"|\s+(?:and|und|but|aber|et|mais|y|pero)\s|\s+(?:--?\w|#|//)|\s+[\w-]{1,20}\s?[:=])"
)
_IN_A_CALL: Final = r"\w\([^()\n]*$|(?:^|\n)\s*(?:\w+\s?,\s?)+$"  # or unpacked: a, b = c
_IN_AN_OBJECT: Final = r"\{[^{}\n]*$"


def told_at(text: str, low: str, label: int, span: ValueExtent, manner: Manner) -> PlacedValue:
    left = low[max(0, label - 200) : label]
    inside = _IN_A_CALL if manner == "=" else _IN_AN_OBJECT
    return PlacedValue(
        value=text[span.start : span.end],
        quote=span.quote,
        manner=manner,
        tight=text[span.start - 1] in "=:->",
        ended=bool(span.quote) or compile_pattern(_ENDED).match(text, span.end) is not None,
        variable=not span.quote and compile_pattern(inside).search(left) is not None,
    )


# 2. The ways from a label to its value ---------------------------------------------------------

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


@cache
def _split_ways() -> dict[str, list[str]]:
    """The patterns of the ways, each with its signs."""
    ways = (way.split(" | ", 1) for way in _WAYS)
    return {pattern: signs.split(" ") for signs, pattern in ways}


def may_lead(low: str) -> bool:
    """Whether a text holds a sign of a way; without one the patterns are not even compiled."""
    return any(sign in low for signs in _split_ways().values() for sign in signs)


def ways_from(low: str, label: re.Match[str]) -> list[str]:
    """The ways that lead from a label to a value."""
    found = compile_pattern(_all_ways()).match(low, label.end())
    assert found, "it matches any text"
    if found.lastindex is None:
        return []
    both = zip(_split_ways(), found.groups(), strict=True)
    return [way for way, reached in both if reached is not None]


@cache
def _all_ways() -> str:
    """All ways in one pattern, which stays where it is: each is a group, and none has a name."""
    ways = (re.sub(r"\(\?P<\w+>", "(?:", way) for way in _split_ways())
    return "".join(f"(?:(?=({way}))|)" for way in ways)


def find_value_behind(
    text: str, low: str, label: re.Match[str], place: LabelExpectation, ways: Sequence[str]
) -> ValueExtent | None:
    vain: ValueExtent | None = None
    for way in ways:
        found = compile_pattern(way).match(low, label.end())
        assert found, "the way leads from the label"
        if not _is_way_open(found, place):
            continue
        span = value_at(text, found.end())
        if span is None:
            continue
        manner: Manner = "loose" if place.many else _manner(found, place)
        told = told_at(text, low, label.start(), span, manner=manner)
        if found.lastgroup == "romance":
            place = place._replace(romance=True)
        if found.lastgroup == "element":
            place = place._replace(literal=True)
        if gives_away(told, place):
            return extend_to_value_end(text, span)
        if phrase := _find_passphrase(text, span, told, place):
            return phrase
        if not span.quote and span.end - span.start >= VALUE_MAX - 8:
            vain = span._replace(secret=False)
    return vain


def _is_way_open(way: re.Match[str], place: LabelExpectation) -> bool:
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


def _manner(found: re.Match[str], place: LabelExpectation) -> Manner:
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


def _find_passphrase(
    text: str, span: ValueExtent, told: PlacedValue, place: LabelExpectation
) -> ValueExtent | None:
    """A passphrase: four words and more, or a number behind two, none of them of a sentence."""
    if place.need != "word" or told.quote or told.manner == "loose":
        return None
    if place.romance and told.manner == "is":  # what is said of it, in more words than one
        return None
    found = compile_pattern(_PHRASE).match(text, span.start)
    if not found or not is_phrase(found.group()):
        return None
    spoken = found.group().split()
    numbered = told.manner == "is" or any(word in read_word_table("numbered") for word in spoken)
    if spoken[-1].isdigit() and numbered:
        return None
    return None if any(is_adjective(word) for word in spoken) else ValueExtent(*found.span())


def another(text: str, low: str, place: LabelExpectation, done: int) -> ValueExtent | None:
    """The next of several: "from hunter2 to hunter3"."""
    comma = r"|\s?,\s" if place.many else ""
    joined = compile_pattern(
        rf"[\"'`]?(?:\s(?:and|or|to|und|oder|auf|zu|et|ou|à|y|o|a)\s{comma})"
    ).match(low, done)
    span = value_at(text, joined.end()) if joined else None
    if span is None or place.need in {"noise", "pin"} or text.startswith(("=", ":"), span.end):
        return None
    told = told_at(text, low, span.start, span, manner="loose")
    is_given = "=" not in told.value and gives_away(told, place)
    return extend_to_value_end(text, span) if is_given else None


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


def in_front(
    text: str, low: str, label: re.Match[str], place: LabelExpectation, done: int
) -> ValueExtent | None:
    """The value before its label: "use hunter2 as the password"."""
    if place.need in {"noise", "pin"} or not compile_pattern(_REVERSED_END).match(low, label.end()):
        return None
    window = max(done, label.start() - 120)
    if not (found := compile_pattern(_REVERSED).search(text, window, label.start())):
        return None
    told = PlacedValue(found["value"], "", "loose", tight=False, ended=True, variable=False)
    place = place._replace(literal=False)
    return ValueExtent(*found.span("value")) if gives_away(told, place) else None


# 3. Labels -------------------------------------------------------------------------------------

_LABEL: Final = (
    r"(?:(?P<password>pass(?:[ -]?word|wort|wd|[ -]?phrase|code)|kennwort|losungswort|codewort|pwd|"
    r"psk|mots?[ _-]de[ _-]passe|phrase[ _-](?:de[ _-]passe|secr(?:è|e)te)|mdp|contrase(?:ñ|n)a|"
    r"clave[ _-]de[ _-]acceso|(?:cl(?:é|e|ave)s?|code)[ _-](?:d(?:u|el)[ _-])?(?:wi-?fi|wpa2?)"
    r"|(?:wlan|wi-?fi|wpa2?)[ _-]?(?:schl(?:ü|ue)ssel|key|code))"
    r"|(?P<short>pass|pw|p/w)|(?P<pin>pin(?:[ _-]?code|[ _-]number)?|otp|nip|digicode|"
    r"geheim(?:zahl|code|nummer)|(?:zugangs|t(?:ü|ue)r|tor|tresor|entsperr|alarm)code|"
    r"(?:secret|access|security|unlock|entry|door)[ _-]?code|"
    r"codes?[ _-](?:secret|pin|confidentiel|d['\u2019](?:acc(?:è|e)s|entr(?:é|e)e))|"
    r"c(?:ó|o)digos?[ _-](?:secreto|pin|de[ _-](?:acceso|entrada|desbloqueo|seguridad)))"
    r"|(?P<secret>secreto?|geheimnis)"
    r"|(?P<token>token|jwt|jeton)"
    r"|(?P<named_key>(?:cl(?:é|ef?)|clave|llave)s?[ _-](?:(?:d['\u2019]|de[ _-](?:la[ _-])?)?api"
    r"|secr(?:è|e)te|secreta|priv(?:é|e)e|privada|d['\u2019]acc(?:è|e)s))"
    r"|(?P<key>key|schl(?:ü|ue)ssel|clave|clé|llave)"
    r"|(?P<session>session(?:[ _-]?id)?|sessid|sid|credentials?|creds|auth))(?:e?s)?"
    r"(?:[ _-](?:d['\u2019]|de[ _-])(?:acc(?:è|e)s|acceso|api|session|sesi(?:ó|o)n|auth\w{0,12}))?"
    r"(?:_?[0-9]{1,2}|[_-]?(?:base|value|plain|text|confirm(?:ation)?|repeat)"
    r"|[_-](?:prod\w*|stag\w*|dev\w*|test\w*|live|local|qa|ci|old|new|admin|root|user|db|database|"
    r"api|github|gitlab|openai|anthropic|stripe|aws|slack))?"
    r"(?![^\W_]|[_-][^\W_])[\"'`*_\])}\\]{0,4}"
)
LABEL_WORDS: Final = (
    "pass kennwort losungswort codewort pwd psk mot phrase mdp contrase clave clé cle code "
    "wlan wi-fi wifi wpa pw p/w pin otp nip digicode geheim zugangscode türcode tuercode "
    "torcode tresorcode entsperrcode alarmcode secret access security unlock entry door "
    "codigo código token jwt jeton llave key schlü schlue sess sid cred auth"
)
_KIND_OF_LABEL: Final[dict[str, SecretKind]] = {
    "secret": "key",
    "key": "key",
    "named_key": "key",
    "token": "token",
    "session": "token",
}
_USER_BEFORE: Final = (
    r"\b(?:user|login|username|benutzer|benutzername|nutzer|name|usuario|utilisateur|identifiant)[\"']?(?:\s?[:=]\s?\S{1,40}[,;]?\s"
    r"|\s(?:(?:is|ist|est|es)\s)?\S{1,40}(?:,|\s(?:and|und|with|mit|et|avec|y|con))\s)(?:the\s|das\s|le\s|la\s)?[\"']?$"
)
_DESIGN_BEFORE: Final = (
    r"(?:design|colou?r|css|theme|spacing|syntax|pad|eos|bos|stop|publickey)[ _-]*$"
)
_KEY_BEFORE: Final = (
    r"(?P<secret>api|secret|private[rn]?|access|auth|sign(?:ing)?|encrypt(?:ion)?|crypto|master|"
    r"account|deploy|licen[sc]e|product|storage|subscription|service|role|server|consumer|webhook|"
    r"app|application|client|hmac|jwt|admin|root|shared|anon|zugangs|zugriffs|lizenz|geheime[rn]?)"
    r"[ _-]*$|(?:public|publishable|primary|foreign|partition|cache|idempotency|sort|object|row|"
    r"unique|composite|natural|surrogate|lookup|translation|shortcut|hot|s3|map|dict|json|group|"
    r"join|routing|message|dedup\w*|range|site|registry|hash|index|redis|query|data|config|answer|"
    r"arrow|öffentliche[rn]?|fremd|primär|such|sortier)[ _-]*$"
)
_OWN_BEFORE: Final = (
    r"(?:client|app|api|shared|webhook|jwt|signing|consumer|cookie|session|oauth|auth|hmac|user|"
    r"account|master|token|django|flask|rails)[ _-]*$"
)
_LEADING: Final = (
    "--",
    " as ",
    " is ",
    " als ",
    " ist ",
    " comme ",
    " est ",
    " como ",
    " es ",
    "= ",
)
"""What stands between a value and the label behind it."""


def find_labelled_secrets(text: str) -> Iterator[Span]:
    starts, low = find_starts(split_words(LABEL_WORDS), text), lower(text)
    if not starts or not (may_lead(low) or any(map(low.__contains__, _LEADING))):
        return  # no way leads to a value: the labels need not be compiled
    position = 0
    for start in starts:
        if start < position or (low[start - 1 : start].isalpha() and low.startswith("cle", start)):
            continue  # articles, bicycles: the French word stands alone
        if not (label := compile_pattern(_LABEL).match(low, start)):
            continue
        done, position = position, label.end()
        ways = ways_from(low, label)
        if ways in ([], [_FLAG]) and not _is_led_to(low, label):
            continue  # seldom so in prose, and soon seen
        if not (place := _expect_behind_label(text, low, label)):
            continue
        span = in_front(text, low, label, place, done=done)
        span = span or find_value_behind(text, low, label, place, ways=ways)
        if span and not span.secret:
            position = span.end
            continue
        while span:
            yield span.start, span.end, place.kind
            position = max(position, span.end)
            span = another(text, low, place, span.end)


def _is_led_to(low: str, label: re.Match[str]) -> bool:
    """Whether a way may lead from what stands before the label."""
    before = low[max(0, label.start() - 40) : label.start()]
    return any(map(before.__contains__, _LEADING))


_ROMANCE: Final = r"mot|phrase|mdp|contras|cl|code[ _-]"
_NAME: Final = "abcdefghijklmnopqrstuvwxyz0123456789_.-"


def _expect_behind_label(text: str, low: str, label: re.Match[str]) -> LabelExpectation | None:
    group, start = cast("str", label.lastgroup), label.start()
    left = low[max(0, start - 40) : start]
    outside = left.rstrip(_NAME)
    name = left[len(outside) :]
    need = _need(text, left, name, label)
    if need is None:
        return None
    flag = name.startswith("-") and (not outside or outside[-1] in " \t\n\"'`=")
    asked = outside.endswith(("?", "&", "/p:", "#"))
    caps = text[start - len(name) : label.end(group)].isupper()
    literal = flag or asked or (caps and ("_" in name or text.startswith("=", label.end())))
    if literal and need == "noise" and group == "key":
        need = "mixed"
    if literal and not flag and need == "code" and group in {"secret", "short"}:
        need = "word"
    kind = _KIND_OF_LABEL.get(group, "password")
    many = low.startswith("s", label.end(group))
    romance = compile_pattern(_ROMANCE).match(label.group()) is not None
    return LabelExpectation(kind, need, literal, flag=flag, many=many, caps=caps, romance=romance)


def _need(text: str, left: str, name: str, label: re.Match[str]) -> Need | None:
    start = label.start()
    hump = text[start].isupper() and not text[start - 1 : start].isupper()
    apart = hump or not left[-1:].isalpha()
    match label.lastgroup:
        case "password":
            return "code" if left.endswith("/") else "word"
        case "short" if apart and not label.group().startswith("passes"):
            clear = label["short"] != "pass" or name or compile_pattern(_USER_BEFORE).search(left)
            return "word" if clear else "code"
        case "pin" if apart:
            return "pin"
        case "secret":
            if left.endswith(":"):  # the name of a secret in an ARN
                return None
            return "word" if compile_pattern(_OWN_BEFORE).search(left) else "code"
        case "token":
            return None if compile_pattern(_DESIGN_BEFORE).search(left) else "code"
        case "named_key" if apart:
            return "code"
        case "key" if apart or not label["key"].startswith("cl"):
            return _need_of_key(left, label)
        case "session" if apart or label["session"].startswith("sess"):
            return "noise"
        case _:
            return None


def _need_of_key(left: str, label: re.Match[str]) -> Need | None:
    # usuario: x, clave: y
    if label["key"] == "clave" and compile_pattern(_USER_BEFORE).search(left):
        return "word"
    key = compile_pattern(_KEY_BEFORE).search(left)
    return "noise" if key is None else "code" if key["secret"] else None
