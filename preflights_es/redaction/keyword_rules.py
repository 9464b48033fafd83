"""Labels: what stands behind "password", "token", "API key" and their like.

How the text leads from a label to its value is told in `ways`; what the value is, in `judgement`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from preflights_es.redaction.classifier import Need, Place
from preflights_es.redaction.label_patterns import another, behind, in_front, is_any, possible_ways
from preflights_es.redaction.patterns import SecretKind, Span, compiled, lower

_LABEL: Final = (
    r"(?=[ac-gj-ps-uwz])"  # what labels begin with: it spares most characters the alternatives
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
    *("--", " as ", " is ", " als ", " ist "),
    *(" comme ", " est ", " como ", " es ", "= "),
)
"""What stands between a value and the label behind it."""


def labels(text: str) -> Iterator[Span]:
    low = lower(text)
    ways = possible_ways(low)
    if not (ways or any(word in low for word in _LEADING)):
        return  # no way leads to a value: the labels need not be compiled
    position = 0
    while label := compiled(_LABEL).search(low, position):
        done, position = position, label.end()
        if not _is_told(low, label, ways) or not (place := _place(text, low, label)):
            continue
        span = in_front(text, low, label, place, done) or behind(text, low, label, place, ways)
        if span and not span.secret:
            position = span.end
            continue
        while span:
            yield span.start, span.end, place.kind
            position = max(position, span.end)
            span = another(text, low, place, span.end)


def _is_told(low: str, label: re.Match[str], ways: tuple[str, ...]) -> bool:
    """Whether any way leads from the label to a value: seldom so in prose, and soon seen."""
    if is_any(ways, low, label.end()):
        return True
    before = low[max(0, label.start() - 40) : label.start()]
    return any(word in before for word in _LEADING)


_ROMANCE: Final = r"mot|phrase|mdp|contras|cl|code[ _-]"
_NAME: Final = "abcdefghijklmnopqrstuvwxyz0123456789_.-"


def _place(text: str, low: str, label: re.Match[str]) -> Place | None:
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
    romance = compiled(_ROMANCE).match(label.group()) is not None
    return Place(kind, need, literal, flag, many, caps, romance)


def _need(text: str, left: str, name: str, label: re.Match[str]) -> Need | None:
    start = label.start()
    hump = text[start].isupper() and not text[start - 1 : start].isupper()
    apart = hump or not left[-1:].isalpha()
    match label.lastgroup:
        case "password":
            return "code" if left.endswith("/") else "word"
        case "short" if apart and not label.group().startswith("passes"):
            clear = label["short"] != "pass" or name or compiled(_USER_BEFORE).search(left)
            return "word" if clear else "code"
        case "pin" if apart:
            return "pin"
        case "secret":
            if left.endswith(":"):  # the name of a secret in an ARN
                return None
            return "word" if compiled(_OWN_BEFORE).search(left) else "code"
        case "token":
            return None if compiled(_DESIGN_BEFORE).search(left) else "code"
        case "named_key" if apart:
            return "code"
        case "key" if apart or not label["key"].startswith("cl"):
            return _need_of_key(left, label)
        case "session" if apart or label["session"].startswith("sess"):
            return "noise"
        case _:
            return None


def _need_of_key(left: str, label: re.Match[str]) -> Need | None:
    if label["key"] == "clave" and compiled(_USER_BEFORE).search(left):  # usuario: x, clave: y
        return "word"
    key = compiled(_KEY_BEFORE).search(left)
    return "noise" if key is None else "code" if key["secret"] else None
