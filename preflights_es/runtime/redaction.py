"""Replaces what looks like a secret before anything is recorded.

Two things betray a secret: its shape (a vendor's prefix, a private key, a password in a URL), and
its place ("the password is ..."), unless what stands there is what a specification says in such a
place: `required`, `bcrypt`, `min. 12 characters`, `${DB_PASSWORD}`. Section 5 is that judgement; a
miss or a false alarm is mended there or in a table, and its text joins the corpus of the tests.

Pure, and linear in the length of the text: a rule that may fail reads a bounded stretch, a rule
without a bound consumes what it has read. Storage and the words for the person stay outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, Literal, NamedTuple, cast

Kind = Literal["key", "token", "password", "email"]
Span = tuple[int, int, Kind]

ROUNDS_MAX: Final = 8  # searches of one text; a further one sees what replacements laid open
SHAPE_MIN: Final = 12  # characters of the shortest credential known by its shape
VALUE_MAX: Final = 256  # characters of a value that are judged; more would not change the verdict


class Redacted(NamedTuple):
    """A text that may be recorded."""

    text: str
    kinds: tuple[str, ...]
    """What was replaced, in order of appearance, one entry a replacement."""


# 1. The text and its markers


def redact(text: str) -> Redacted:
    """The text with `[redacted:kind]` in place of each secret.

    Redacting it again changes nothing and reports no kinds.
    """
    if not _worth_a_look(text):
        return Redacted(text, ())
    masked = _masked(text)
    for _ in range(ROUNDS_MAX):
        count = len(masked.marks)
        for spans in _RULES:
            masked = _replaced(masked, tuple(spans(masked.text)))
        if len(masked.marks) == count:
            break
    return _unmasked(masked)


# What any rule needs at the least; a short text without it costs a few microseconds.
_TRIGGERS: Final = (
    "@|%40|(at)|[at]|(ät)|[ät]|://|pass|kennwort|codewort|losung|pwd|pw:|pw=|pw |p/w|pin:|pin=|"
    'pin |otp|psk|secret|geheim|token|jwt|key|schl|sess|sid=|sid:|sid"|authorization|bearer|basic|'
    "login|log in|sign in|connect as|cred|zugang|anmelde|account|konto|sig=|identified by| -p|"
    " -a | -u| -w|--user|hooks.|/webhook|tcp(|echo|net user|sqlplus|masterauth|securestring"
)


def _worth_a_look(text: str) -> bool:
    low = text.lower()
    return any(trigger in low for trigger in _TRIGGERS.split("|")) or any(
        len(word) >= SHAPE_MIN and not _is_prose(word) for word in text.split()
    )


def _is_prose(word: str) -> bool:
    bare = word.strip(".,;:!?()\"'")
    return bare.isalpha() and not bare.isupper()


class _Mark(NamedTuple):
    shown: str
    kind: Kind | None  # None: it stood in the text already


class _Masked(NamedTuple):
    """A text in which each marker is one opaque character, so that no rule reads a marker."""

    text: str
    marks: tuple[_Mark, ...]


_OPAQUE: Final = "\ufdd0"  # a noncharacter of Unicode: no keyboard types it, no rule matches it
_MARKER: Final = rf"\[redacted:(?:key|token|password|email)\]|{_OPAQUE}"


@cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compiled at first use, so that importing this module costs next to nothing."""
    return re.compile(pattern, flags)


def _masked(text: str) -> _Masked:
    marks = tuple(_Mark(shown, None) for shown in _compiled(_MARKER).findall(text))
    return _Masked(_compiled(_MARKER).sub(_OPAQUE, text) if marks else text, marks)


def _replaced(masked: _Masked, spans: tuple[Span, ...]) -> _Masked:
    if not spans:
        return masked
    pieces: list[str] = []
    marks: list[_Mark] = []
    position = seen = 0
    for start, end, kind in spans:
        kept = masked.text[position:start]
        before = seen + kept.count(_OPAQUE)
        pieces += (kept, _OPAQUE)
        marks += (*masked.marks[seen:before], _Mark(f"[redacted:{kind}]", kind))
        position, seen = end, before
    pieces.append(masked.text[position:])
    return _Masked("".join(pieces), (*marks, *masked.marks[seen:]))


def _unmasked(masked: _Masked) -> Redacted:
    first, *rest = masked.text.split(_OPAQUE)
    shown = (mark.shown + piece for mark, piece in zip(masked.marks, rest, strict=True))
    kinds = tuple(mark.kind for mark in masked.marks if mark.kind is not None)
    return Redacted("".join((first, *shown)), kinds)


# 2. Shapes: recognised wherever they stand

# One a line, as the vendors document them and secret scanners collect them. What ends a shape is
# greedy and unbounded: a long credential goes as a whole, and no search starts again inside it.
_SHORT: Final = {
    # 8 letters and digits, or 16 of one sort; the same with - and _, 8 or 20
    "«N»": "(?:(?=[A-Za-z]{0,40}[0-9])«W»{8,}|«W»{16,})",
    "«L»": "(?:(?=[A-Za-z_-]{0,60}[0-9])«D»{8,}|«D»{20,})",
    "«D»": "[A-Za-z0-9_-]",
    "«W»": "[A-Za-z0-9]",
    # for section 3: other arguments, a password as argument and in quotes, the user of a URL
    "«C»": r"\s[^\n|;]{0,160}?(?<=\s)",
    "«P»": r"[\"']?(?P<password>«A»{3,})",
    "«Q»": r"[\"'](?P<password>[^\"'\n\ufdd0]{1,200})",
    "«U»": r"://[^\s/?#@:\"'<>`\ufdd0]{0,256}:(?!\d{1,5}(?:[/?#]|\s|$))",
    "«A»": r"[^\s\"'`<>|;\ufdd0]",
}
_KEYS: Final = r"""
AKIA(?:(?=[A-Z]{0,15}[0-9])[A-Z0-9]{10,}|[A-Z0-9]{16,})
A(?:SIA|BIA|CCA)(?=[A-Z]{0,15}[0-9])[A-Z0-9]{12,}
ABSK«W»{40,}[+/=A-Za-z0-9]*
sk-(?:ant|or|proj|svcacct|admin|None|lf)-«L»
sk-(?:test|live|prod|dev)-(?=[A-Za-z_-]{0,60}[0-9])«D»{8,}
sk-(?:(?=[A-Za-z]{0,40}[0-9])«W»{10,}|«W»{24,})«D»*
[sr]k_(?:live|test|prod)_«N»
sk_(?:[a-z0-9]{2,8}_)?(?=[a-z]{0,30}[0-9])[0-9a-z]{24,}
whsec_(?:(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9+/=]{8,}|[A-Za-z0-9+/=]{20,})
AIza«D»{20,}
GOCSPX-«D»{10,}
SK[0-9a-f]{32,}
SG\.«D»{10,}\.«D»{10,}
key-[0-9a-f]{32,}
[0-9a-f]{32}-us[0-9]{1,2}(?!«W»)
AGE-SECRET-KEY-(?:PQ-)?1«W»{20,}
A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){2,6}[A-Z0-9]{5,}
NR(?:AK|JS|II|RA)-«W»{16,}
PMAK-«L»
LTAI(?=[A-Za-z]{0,20}[0-9])«W»{12,}
API-(?=[A-Z]{0,25}[0-9])[A-Z0-9]{24,}
(?:gsk|xai|pplx|nvapi|tvly|jina|fw|pcsk|rnd|phx|hc[a-z]ik|esecret)[_-]«N»«D»*
(?:xkeysib|xsmtpsib)-«L»
re_«W»{6,10}_«W»{12,}
sb_secret_«L»
lin_api_«N»
tskey-[a-z]{2,10}-«L»
(?:live|test)_(?=[a-z]{0,20}[0-9])[0-9a-f]{32,}
sq0(?:csp|atp|idp)-«L»
FLWSECK(?:_TEST)?-«L»
EZ[AT]K«W»{40,}
AKCp«W»{40,}
p8e-«W»{24,}
[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}
"""
_TOKENS: Final = r"""
gh[pousr]_«N»
github_pat_«L»
gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|imt|ffct|oas)-«L»(?:\.«D»+)*
xox[abcdeprs](?:\.xox[a-z])?-«L»
xapp-[0-9]-«L»
ya29\.«L»(?:\.«D»+)*
1//0«D»{20,}
npm_«N»
pypi-(?:AgE«D»{8,}|(?=[A-Za-z]{0,40}[0-9])«W»{16,}«D»*)
(?:hf|api_org)_(?:(?=[A-Za-z]{0,33}[0-9])«W»{8,}|«W»{30,40}(?!«W»))
do[opr]_v1_«N»
[0-9]{6,12}:(?:AA«D»{24,}|(?=[A-Za-z]{0,20}[0-9])«D»{35}(?!«D»))
[MNO]«D»{22,28}\.«D»{6,7}\.«D»{27,}
sntry[sua]_«L»[+/=A-Za-z0-9_.-]*
dapi[0-9a-f]{32,}(?:-[0-9])?
hv[sbr]\.«L»
shp(?:at|ca|pa|ss|tka)_«N»
dckr_(?:pat|oat)_«L»
s-s4t2(?:ud|af)-[0-9a-f]{32,}
sgp_local_«N»
(?:figd|nfp|sbp|r8|sgp|ntn|bkua|tfp|rdme|pnu|pat|vcp|rubygems|sm_aat)_«N»«D»*
(?:pat|sl)[._](?=[a-zA-Z]{0,40}[0-9])«W»{14,}(?:\.[0-9a-f]{32,}|«D»{20,})
secret_(?=[a-zA-Z]{0,40}[0-9])«W»{30,}
CCIPAT_«L»
AT(?:ATT3|BB|CTT3)«D»{20,}[=A-Za-z0-9_-]*
lsv2_(?:pt|sk)_«L»
pul-«N»
gl(?:c|sa)_«L»[+/=A-Za-z0-9_-]*
dp\.(?:pt|st|ct|sa|scim|audit)\.«L»(?:\.«D»+)*
dt0[a-z][0-9]{2}\.«W»{20,}[.A-Z0-9]*
(?:fm[12]|fo1)[ra]?_[A-Za-z0-9+/=_-]{24,}
HRKU-«L»
shippo_(?:live|test)_«N»
EAA«W»{50,}
pscale_(?:tkn|oauth|pw)_«L»
access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{20,}
sha256~«D»{40,}
CFPAT-«L»
SWMTKN-1-«L»
ops_eyJ«D»{40,}
apify_api_«N»
atlasv1\.«L»
"""
_JWT: Final = r"(?<!«D»)(?P<token>eyJ«D»{6,}\.«D»{4,}(?:\.«D»+)*)"


@cache
def _rules(table: str) -> tuple[str, ...]:
    """The lines of a table, their abbreviations written out."""
    for short, long in _SHORT.items():
        table = table.replace(short, long)
    return tuple(line for line in table.splitlines() if line)


def _named(pattern: str, text: str) -> Iterator[Span]:
    """Each match's named group: its name is the kind, and it alone goes."""
    for found in _compiled(pattern).finditer(text):
        kind = cast("Kind", found.lastgroup)
        start, end = found.span(kind)
        yield start, end, kind


def _shapes(text: str) -> Iterator[Span]:
    """A run of a dozen characters comes first: it spares most words the long list."""
    keys, tokens = "|".join(_rules(_KEYS)), "|".join(_rules(_TOKENS))
    start = r"(?<![A-Za-z0-9])(?=[A-Za-z0-9~][A-Za-z0-9_.~/:+-]{11})"
    yield from _named(f"{start}(?:(?P<key>{keys})|(?P<token>{tokens}))", text)


def _web_tokens(text: str) -> Iterator[Span]:
    if "eyJ" in text:
        yield from _named(_rules(_JWT)[0], text)


_PEM_BEGIN: Final = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END: Final = _PEM_BEGIN.replace("BEGIN", "END")
_PEM_BODY: Final = r"(?:[^-\ufdd0]|-(?!----))*+"
_PEM_GAP: Final = r"(?:\s|\\+[nr]|[A-Z][A-Za-z-]{2,20}: [^\n]{0,80}\n)"
_PEM_CUT: Final = (
    rf"(?:{_PEM_GAP}*+(?:[A-Za-z0-9+/]{{20,}}+|(?:MI|b3Blb)[A-Za-z0-9+/]++)={{0,2}})++"
    r"(?:(?:\n|\\n)[A-Za-z0-9+/]{1,19}={0,2}(?=\s|[.…]|$))?"
)
_PEM_TAIL: Final = (
    r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{20,}+(?:\s|\\n)++(?:[A-Za-z0-9+/=]++(?:\s|\\n)++)*$"
)
_PEM_MATERIAL: Final = (
    r"MI[A-Za-z]|b3Blb|(?=[A-Za-z+/]{0,20}\d)[A-Za-z0-9+/]{6}|(?=[a-z+/]{0,20}[A-Z])[A-Za-z+/]{16}"
)
_PEM_MAX: Final = 4096  # characters of base64; a key of 4096 bits has 3,300


def _private_keys(text: str) -> Iterator[Span]:
    """PEM blocks, also without their end or their beginning; a header named in prose stays."""
    if "PRIVATE KEY" not in text:
        return
    done = 0
    for found in _compiled(f"(?P<begin>{_PEM_BEGIN})|{_PEM_END}").finditer(text):
        if found.start() < done:
            continue
        span = _block(text, found) if found["begin"] else _block_tail(text, found, done)
        if span:
            yield (*span, "key")
            done = span[1]


def _block(text: str, begin: re.Match[str]) -> tuple[int, int] | None:
    body = _compiled(_PEM_BODY).match(text, begin.end())
    body_end = body.end() if body else begin.end()
    if end := _compiled(_PEM_END).match(text, body_end):
        material = _compiled(_PEM_MATERIAL).search(text, begin.end(), body_end)
        return (begin.start(), end.end()) if material else None
    cut = _compiled(_PEM_CUT).match(text, begin.end())
    return (begin.start(), cut.end()) if cut else None


def _block_tail(text: str, end: re.Match[str], done: int) -> tuple[int, int] | None:
    near = max(done, end.start() - 16)
    if not _compiled(r"[A-Za-z0-9+/]{3}={0,2}(?:\s|\\n){1,9}$").search(text, near, end.start()):
        return None
    window = max(done, end.start() - _PEM_MAX)
    tail = _compiled(_PEM_TAIL).search(text, window, end.start())
    return (tail.start(), end.end()) if tail else None


# 3. Places of a fixed form: the named group is the secret, what is around it stays

# What the text must hold (in lower case) to be searched at all, and the pattern. The password of a
# URL ends at the last @ before the path; one with a slash, at the first @.
_PLACES: Final = r"""
:// | «U»(?P<password>[^\s/"'<>`\ufdd0]+)@
:// | «U»(?P<password>[^\s@"'<>\ufdd0]{1,200})@
:// | ://(?P<token>(?=[A-Za-z_-]{0,60}[0-9])«D»{20,256})@
tcp( | (?:^|[\s"'`=])[\w.-]{1,64}:(?P<password>[^\s"'`@\ufdd0]{1,200})@(?:tcp|unix)\(
hooks.slack | /(?:services|workflows|triggers)/(?P<token>«W»[A-Za-z0-9/_-]{9,})
/webhooks/ | /webhooks/(?P<token>[0-9]{5,}/«D»{10,})
/webhook | (?i:office\.com/webhook(?:b2)?/)(?P<token>[^\s"'<>`\ufdd0]{20,})
hooks.zapier | /hooks/catch/(?P<token>[0-9]+/[a-z0-9/]{4,})
/bot | /bot(?P<token>[0-9]{6,12}:«D»{16,})
sig= | [?&;]sig=(?P<token>[A-Za-z0-9%+/=_-]{16,})
x-amz- | (?i:x-amz-(?:signature|security-token)=)(?P<token>[A-Za-z0-9%+/=_-]{16,})
curl | \bcurl\b(?:[^\n]|(?<=\\)\n){0,250}?\s-(?:u|U|-(?:proxy-)?user)[ =]?["']?[^\s"':]{0,64}:«P»
-p | \b(?:mysql|mariadb)[a-z]*«C»-p(?!["']?\$|ort\b|rotocol)«P»
-p | \bmysql[a-z]*«C»-u[^\n|;]{1,80}?\s-p\s(?=\S{0,80}[A-Za-z])(?=\S{0,80}\d)«P»
-p | \b(?:sshpass|login|mongo[a-z]*|twine)«C»-p[ =]?(?!-)«P»
-p | \b7z«C»-p«P»
-p | \b(?:sqlcmd|zip|unzip)«C»-P\s?«P»
-w | \bldap[a-z]+«C»-w\s?«P»
-a | \bredis-cli«C»-a\s«P»
-u | \bsmbclient«C»-U\s?["']?[\w.\\-]{1,64}%«P»
pass | (?:requirepass|masterauth)\s+«P»
pass: | -pass(?:in|out)?\s+["']?pass:«P»
chpasswd | ["'\s][\w.-]{1,32}:(?P<password>«A»{3,64})["']?\s{0,9}\|\s{0,9}(?:sudo\s+)?chpasswd
echo | \becho\s+["']?(?P<password>«A»{3,128})["']?\s{0,9}\|(?:\s{0,9}sudo\s-S|[^\n|]{0,99}-stdin)
net user | \bnet\s+user\s+[^\s/]{1,64}\s+(?![/*])«P»
htpasswd | \bhtpasswd\s+-\w*b\w*\s+\S{1,99}\s+\S{1,99}\s+«P»
sqlplus | \bsqlplus\s+[\w$#]{1,64}/(?P<password>[^\s@"']{1,99})@
machine | \bmachine\s+\S{1,99}\s+login\s+\S{1,99}\s+password\s+«P»
by | (?i:\b(?:user|role|to)\s+\S{1,80}\s+identified\s+(?:with\s+\S{1,40}\s+)?by\s+)«Q»
password | (?i:\b(?:with|encrypted|set)\s+password\s*=?\s*)(?=')«Q»
securestring | (?i:ConvertTo-SecureString\s+(?:-String\s+)?)«Q»
"""


def _places(text: str) -> Iterator[Span]:
    low = _lower(text)
    found = [
        span
        for guard, pattern in (rule.split(" | ", 1) for rule in _rules(_PLACES))
        if guard in low
        for span in _named(pattern, text)
        if not _refers(text[span[0] : span[1]], quoted=False)
    ]
    found.sort(key=lambda span: (span[0], -span[1]))
    done = 0
    for start, end, kind in found:
        if start >= done:
            yield start, end, kind
            done = end


_HEADER: Final = (
    r"(?i)(?:(?P<header>authorization[\"'`\]\\]{0,4}\s{0,3}[:=,]\s{0,3}[\"'`\\]{0,3})"
    r"(?:(?P<named>bearer|basic|token|apikey|api-key|key)\s{1,3})?"
    r"|(?<![\w-])(?P<alone>bearer|basic)\s{1,3})"
    r"[\"'`]?(?P<value>[A-Za-z0-9._~+/=-]{4,})(?![\w(\[{])"
)


def _headers(text: str) -> Iterator[Span]:
    """What follows `Bearer` or `Basic`, where it is a credential and not a word of prose."""
    low = _lower(text)
    if not ("bearer" in low or "basic" in low or "authorization" in low):
        return
    for found in _compiled(_HEADER).finditer(text):
        value, scheme = found["value"].rstrip("."), (found["named"] or found["alone"] or "").lower()
        if _refers(value, quoted=False) or _specifies(value):
            continue
        shaped = (_is_base64 if scheme == "basic" else _is_code)(value)
        if shaped or (found["named"] and len(value) >= 6):
            start = found.start("value")
            yield start, start + len(value), "password" if scheme == "basic" else "token"


_PAIR: Final = (
    r"(?i)(?:(?<![\w-])(?=[a-z])(?:credentials?|creds|log-?ins?(?:[ -]?data)?|basic[ -]?auth|"
    r"account|konto|logindaten|zugangsdaten|zugang|anmeldedaten|user(?:name)? ?/ ?pass(?:word)?|"
    r"benutzer(?:name)? ?/ ?passwort|(?:log(?:ged)?|sign(?:ed)?) in as|connect(?:ed)? as)"
    r"[\"'`*]{0,3}\s{0,3}(?::|=|\b(?:are|is|sind|lauten?|ist|with|mit|as|als|via)\b)?\s{0,3}"
    r"[\"'`*]{0,3}[\w.@+-]{1,64}(?:/|:| / | : |\|)"
    r"|(?<=\w)@(?:[\w-]{1,63}\.){1,9}[a-z]{2,24}(?: [/:|] |:(?![^\s./]{0,64}[./])))"
    r"(?P<password>[^\s\"'`<>/\ufdd0]{6,127})"
)


def _pairs(text: str) -> Iterator[Span]:
    """The second half of `credentials: admin / hunter2`."""
    for found in _compiled(_PAIR).finditer(text):
        start, value = found.start("password"), _trimmed(found["password"])
        known = _specifies(value) or _refers(value, quoted=False) or _compiled(_EMAIL).match(value)
        if len(value) >= 6 and _is_safe_mix(value) and not known:
            yield start, start + len(value), "password"


# 4. Labels: what stands behind "password", "token", "API key" and their like

Need = Literal["word", "code", "mixed", "noise", "pin"]
Manner = Literal["=", ":", "is", "loose"]

_LABEL: Final = (
    r"(?:(?P<password>pass(?:[ -]?word|wort|wd|[ -]?phrase|code)|kennwort|losungswort|codewort|pwd|"
    r"psk)|(?P<short>pass|pw|p/w)|(?P<pin>pin|otp)|(?P<secret>secret|geheimnis)"
    r"|(?P<token>token|jwt)|(?P<key>key|schl(?:ü|ue)ssel)"
    r"|(?P<session>session(?:[ _-]?id)?|sessid|sid|credentials?|creds|auth))(?:e?s)?"
    r"(?:_?[0-9]{1,2}|[_-]?(?:base|value|plain|text|confirm(?:ation)?|repeat)"
    r"|[_-](?:prod\w*|stag\w*|dev\w*|test\w*|live|local|qa|ci|old|new|admin|root|user|db|database|"
    r"api|github|gitlab|openai|anthropic|stripe|aws|slack))?"
    r"(?![^\W_]|[_-][^\W_])[\"'`*_\])}\\]{0,4}"
)
_KIND_OF_LABEL: Final[dict[str, Kind]] = {
    "secret": "key",
    "key": "key",
    "token": "token",
    "session": "token",
}
_USER_BEFORE: Final = (
    r"\b(?:user|login|username|benutzer|benutzername|name)[\"']?(?:\s?[:=]\s?\S{1,40}[,;]?\s"
    r"|\s\S{1,40}(?:,|\s(?:and|und|with|mit))\s)(?:the\s|das\s)?[\"']?$"
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


class _Place(NamedTuple):
    """What a label makes us expect behind it."""

    kind: Kind
    need: Need  # any word; a code; letters and digits; long and random; four digits and more
    literal: bool  # an environment file, a query, a flag: no variable can stand here
    flag: bool  # --password
    many: bool  # passwords
    caps: bool  # PASSWORD


def _labels(text: str) -> Iterator[Span]:
    low = _lower(text)
    position = 0
    while label := _compiled(_LABEL).search(low, position):
        done, position = position, label.end()
        if not _is_told(low, label) or not (place := _place(text, low, label)):
            continue
        span = _reversed(text, low, label, place, done) or _behind(text, low, label, place)
        if span and not span.secret:
            position = span.end
            continue
        while span:
            yield span.start, span.end, place.kind
            position = max(position, span.end)
            span = _another(text, low, place, span.end)


def _is_told(low: str, label: re.Match[str]) -> bool:
    """Whether any way leads from the label to a value: seldom so in prose, and soon seen."""
    if _any_way().match(low, label.end()):
        return True
    before = low[max(0, label.start() - 40) : label.start()]
    return "--" in before or any(
        word in before for word in (" as ", " is ", " als ", " ist ", "= ")
    )


def _lower(text: str) -> str:
    """In lower case and of the same length, so that a position holds for both."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


_NAME: Final = "abcdefghijklmnopqrstuvwxyz0123456789_.-"


def _place(text: str, low: str, label: re.Match[str]) -> _Place | None:
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
    return _Place(kind, need, literal, flag, many, caps)


def _need(text: str, left: str, name: str, label: re.Match[str]) -> Need | None:
    start = label.start()
    hump = text[start].isupper() and not text[start - 1 : start].isupper()
    apart = hump or not left[-1:].isalpha()
    match label.lastgroup:
        case "password":
            return "code" if left.endswith("/") else "word"
        case "short" if apart and not label.group().startswith("passes"):
            clear = label["short"] != "pass" or name or _compiled(_USER_BEFORE).search(left)
            return "word" if clear else "code"
        case "pin" if apart:
            return "pin"
        case "secret":
            if left.endswith(":"):  # the name of a secret in an ARN
                return None
            return "word" if _compiled(_OWN_BEFORE).search(left) else "code"
        case "token":
            return None if _compiled(_DESIGN_BEFORE).search(left) else "code"
        case "key":
            key = _compiled(_KEY_BEFORE).search(left)
            return "noise" if key is None else "code" if key["secret"] else None
        case "session" if apart or label["session"].startswith("sess"):
            return "noise"
        case _:
            return None


_VERB: Final = r"(?:is|was|ist|war|lautete?|hei(?:ß|ss)t)"
# The ways from a label to its value, tried in this order; the named group is the manner.
_WAYS: Final = (
    # password: str = "x", password string = "x"
    (
        r"\[?\]?[?!]?(?P<equals>(?::[ \t]{0,20}|[ \t])[a-z][\w.\[\]|, ]{0,40}(?<![=!<>])=)"
        r"(?=[ \t]{0,9}[frbu]{0,2}[\"'`])[ \t]{0,9}"
    ),
    # password = x, ${PASSWORD:-x}
    r"\[?\]?[ \t]{0,20}(?P<equals>:-|:=|\?=|=>|={1,3}(?!=)|!={1,2}(?=[ \t]?[\"'`]))[ \t]{0,20}",
    # password: x, "password": "x", **password:** x
    r"[?!]?[ \t]{0,20}(?P<colon>:(?![:/=?]))[ \t]{0,20}(?:\*\*|__)?[ \t]{0,20}",
    # a line of its own below the label
    (
        r"[ \t]{0,20}:[ \t]{0,9}(?:[|>][+-]?|\*\*|__)?[ \t]{0,9}\r?\n[ \t]{0,40}"
        r"(?=[^\s#-]\S{0,200}[^\s:,{\[][ \t]{0,20}(?:\n|$))"
    ),
    # <password>x</password>
    r"(?P<element>(?<![\"'`])(?:\s[^<>\n]{0,80})?>(?=[^<>\n]{1,200}</))",
    # name: PASSWORD, value: x
    r"[\s,]{1,40}[\"']?value[\"']?\s{0,5}(?P<equals>[:=])\s{0,5}",
    # password (staging): x
    r"\s\([^()\n]{1,30}\)\s{0,3}(?P<colon>[:=])\s{1,3}",
    # API key provided: x
    (
        r"\s(?:provided|given|used|supplied|received|value|phrase|again|below)\s?(?P<colon>[:=])"
        r"\s{1,3}"
    ),
    # password -> x
    r"[ \t]{0,3}(?:->|→)[ \t]{0,3}|[ \t][-\u2013][ \t]",
    # setPassword("x")
    r"(?P<equals>\()(?=[\"'`])",
    # getenv("DB_PASSWORD", "x")
    r"(?P<default>,[ \t]?)(?=[\"'])",
    # | password | x |
    r"[ \t]{0,9}\|[ \t]{0,9}",
    # the password is: x, das Passwort lautet x
    (
        r"\s{1,3}(?P<colon>(?:is|was|are|ist|war|sind)\s?[:=]\s{0,3}"
        r"|(?:lautete?n?|hei(?:ß|ss)t|equals)(?:\s?:\s{0,3}|\s{1,3}))"
    ),
    # the password is x
    (
        r"(?:,[^,\n]{1,40},|,\s(?:which|das))?\s{1,3}(?P<verb>is|was|ist|war)\s{1,3}"
        r"(?:(?:now|still|currently|simply|just|jetzt|noch|aktuell|nun|einfach|set to)\s)?"
    ),
    # the password for the staging database is x
    (
        r"\s{1,3}(?:for|of|to|on|in|at|from|für|von|vom|zu|zum|zur|der|des|im|auf|am|bei|beim)"
        r"(?:\s{1,3}[^\s:=;,?!\"'()]{0,39}[^\s:=;,?!\"'().]){1,6}?"
        rf"(?:\s{{0,3}}(?P<colon>[:=])|\s{{1,3}}(?P<verb>{_VERB}))\s{{1,3}}"
    ),
    # the token we got back was x
    (
        r"\s{1,3}(?:we|you|i|they|that|which|wir|ich)(?:\s{1,3}[a-z']{1,20}){1,5}?"
        r"\s{1,3}(?:is|was|ist|war)\s{1,3}"
    ),
    # set the password to 'x'
    r"\s(?:to|auf)\s(?P<equals>)(?=[\"'`“„])",
    # --password x
    r"(?P<flag>[ \t]{1,9})(?=[^\s-])",
    # password x, the password was changed to x
    (
        r"(?:(?<=')s|\u2019s)?[ \t]{1,3}(?:(?:has|have|had|should|must|will|shall|can|soll|muss|"
        r"wird|wurde|are|sind|is|was|ist)\s)?(?:(?:been|be|now|jetzt|always|set|reset|changed|"
        r"updated|rotated|equal|used)\s){0,3}(?:(?:to|be|as|auf|zu|from|von|using|string|const|var|"
        r"=)\s){0,2}\(?(?=[\"'`“„]?\S{0,64}[0-9@$!%*-])"
    ),
)


@cache
def _any_way() -> re.Pattern[str]:
    *ways, _, loose = _WAYS
    return re.compile("|".join(re.sub(r"\(\?P<\w+>", "(?:", way) for way in (*ways, loose)))


class _Span(NamedTuple):
    start: int
    end: int
    quote: str = ""
    secret: bool = True  # False: read in vain to the limit, and nothing to find in it


class _Told(NamedTuple):
    """A value at its place."""

    value: str
    quote: str
    manner: Manner
    tight: bool  # `password=x`, without a blank
    ended: bool  # nothing follows that would make prose of it
    variable: bool  # it stands in a call or an object of a programming language


def _behind(text: str, low: str, label: re.Match[str], place: _Place) -> _Span | None:
    vain: _Span | None = None
    for way in _WAYS:
        found = _compiled(way).match(low, label.end())
        if found is None or not _is_open(found, place):
            continue
        span = _value(text, found.end())
        if span is None:
            continue
        told = _told(text, low, label.start(), span, "loose" if place.many else _manner(found))
        if found.lastgroup == "element":
            place = place._replace(literal=True)
        if _gives_away(told, place):
            return _whole(text, span)
        if phrase := _phrase(text, span, told, place):
            return phrase
        if not span.quote and span.end - span.start >= VALUE_MAX - 8:
            vain = span._replace(secret=False)
    return vain


def _is_open(way: re.Match[str], place: _Place) -> bool:
    """Some ways only lead from a flag, some only from the name of an environment variable."""
    match way.lastgroup:
        case "flag":
            return place.flag
        case "default":
            return place.literal
        case _:
            return True


def _manner(found: re.Match[str]) -> Manner:
    match found.lastgroup:
        case "equals" | "element" | "flag":
            return "="
        case "colon":
            return ":"
        case "verb":
            return "is"
        case _:
            return "loose"


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


def _value(text: str, start: int) -> _Span | None:
    """What stands here: to the closing quote, or to the blank or the sign that ends it."""
    if opening := _compiled(_OPENING).match(text, start):
        quote, start = opening["quote"], opening.end()
        closing = _QUOTES.get(quote, quote[0])
        body = _compiled(rf"[^\n\ufdd0{closing}]*").match(text, start, start + VALUE_MAX)
        end = body.end() if body else start
        if end > start and text[end : end + 1] and text[end] in closing:
            return _Span(start, end - (text[end - 1] == "\\"), quote)
    run = _compiled(_UNQUOTED).match(text, start, start + VALUE_MAX)
    value = _trimmed(run.group()) if run else ""
    return _Span(start, start + len(value)) if value else None


_AROUND: Final = r"(?:[.,;:?|…]|\*\*|__)+$"


def _trimmed(value: str) -> str:
    """Without the punctuation of the sentence around it."""
    while value:
        opening = {")": "(", "]": "[", "}": "{"}.get(value[-1])
        if opening and opening not in value:
            value = value[:-1]
        elif (around := _compiled(_AROUND).search(value, max(0, len(value) - 8))) is not None:
            value = value[: around.start()]
        else:
            break
    return value


def _whole(text: str, span: _Span) -> _Span:
    """A value cut at the limit of what is judged goes to its end."""
    if span.quote or span.end - span.start < VALUE_MAX - 8:
        return span
    rest = _compiled(r"[^\s\"'`<>\ufdd0]*").match(text, span.end)
    return span._replace(end=rest.end()) if rest else span


# A sentence, a line, an item or a list of fields ends here: the value stood alone.
_ENDED: Final = (
    r"[\"'`*_]{0,3}[.!…]{0,3}(?:\s*$|[ \t]*\r?\n|\s*[;,)}\]|]|[\"'`&]|</|\s+(?:and|und|but|aber)\s"
    r"|\s+(?:--?\w|#|//)|\s+[\w-]{1,20}\s?[:=])"
)
_IN_A_CALL: Final = r"\w\([^()\n]*$|(?:^|\n)\s*(?:\w+\s?,\s?)+$"  # or unpacked: a, b = c
_IN_AN_OBJECT: Final = r"\{[^{}\n]*$"


def _told(text: str, low: str, label: int, span: _Span, manner: Manner) -> _Told:
    left = low[max(0, label - 200) : label]
    inside = _IN_A_CALL if manner == "=" else _IN_AN_OBJECT
    return _Told(
        value=text[span.start : span.end],
        quote=span.quote,
        manner=manner,
        tight=text[span.start - 1] in "=:->",
        ended=bool(span.quote) or _compiled(_ENDED).match(text, span.end) is not None,
        variable=not span.quote and _compiled(inside).search(left) is not None,
    )


def _another(text: str, low: str, place: _Place, done: int) -> _Span | None:
    """The next of several: "from hunter2 to hunter3"."""
    comma = r"|\s?,\s" if place.many else ""
    joined = _compiled(rf"[\"'`]?(?:\s(?:and|or|to|und|oder|auf|zu)\s{comma})").match(low, done)
    span = _value(text, joined.end()) if joined else None
    if span is None or place.need in {"noise", "pin"} or text.startswith(("=", ":"), span.end):
        return None
    told = _told(text, low, span.start, span, "loose")
    return _whole(text, span) if "=" not in told.value and _gives_away(told, place) else None


_REVERSED: Final = (
    r"(?<![^\s(\[{])[(\"'`]?(?P<value>[^\s\"'`<>()\ufdd0]{6,64})[\"'`]?,?"
    r"\s(?:as|is|als|ist|[!=]?={1,2})\s"
    r"(?:(?:the|my|our|your|his|her|a|das|mein|unser|dein|der|den)\s)?(?:[a-zäöü-]{1,15}\s)?[\w-]*$"
)
_REVERSED_END: Final = (
    r"\s*(?:[.,;!?){\n]|$|(?:for|of|in|on|to|at|and|für|von|auf|und|when|if|but|because|since|there|"
    r"here|now|everywhere|instead)\b)"
)


def _reversed(text: str, low: str, label: re.Match[str], place: _Place, done: int) -> _Span | None:
    """The value before its label: "use hunter2 as the password"."""
    if place.need in {"noise", "pin"} or not _compiled(_REVERSED_END).match(low, label.end()):
        return None
    window = max(done, label.start() - 120)
    if not (found := _compiled(_REVERSED).search(text, window, label.start())):
        return None
    told = _Told(found["value"], "", "loose", tight=False, ended=True, variable=False)
    place = place._replace(literal=False)
    return _Span(*found.span("value")) if _gives_away(told, place) else None


# 5. The judgement: is a value a secret, or what a specification says in its place?


def _gives_away(told: _Told, place: _Place) -> bool:
    value, literal = told.value, place.literal
    if place.need == "pin":
        return (
            told.ended
            and (told.manner != "loose" or place.caps)
            and _compiled(r"\d{4,8}").fullmatch(value) is not None
        )
    if len(value) < 4 or _refers(value, quoted=told.quote not in {"", "`"}):
        return False
    if told.manner == "loose" and _is_loosely_prose(told, place):
        return False
    if literal and told.manner == "=" and place.need == "word":
        if _is_technical(value.lower()) or value.lower() in _words(_NOTHING):
            return False
    elif _specifies(value):
        return False
    match place.need:
        case "noise":
            return _is_noise_told(told, place)
        case "code" | "mixed":
            return _is_code_told(told, place, literal=literal)
        case _:
            return _is_password_told(told, literal=literal)


def _is_loosely_prose(told: _Told, place: _Place) -> bool:
    """Next to a label, and neither `=` nor "is" between: a link, an index, a verb's object."""
    if "://" in told.value or "](" in told.value:
        return True
    if place.kind == "password" and place.need == "code":  # "pass utf8mb4 to the driver"
        return True
    return not told.quote and _compiled(r"[()\[\]{}]").search(told.value) is not None


def _is_password_told(told: _Told, *, literal: bool) -> bool:
    value = told.value
    if told.quote and " " in value:
        return _is_phrase(value)
    if _is_mixed(value):
        if (told.variable or told.manner == "loose") and _is_numbered_name(value):
            return False
        return told.manner != "loose" or _is_safe_mix(value)
    if value.isdigit():
        return (told.manner != "loose" or len(value) >= 6) and (
            told.ended or (told.tight and told.manner == "=")
        )
    return _is_word_told(told, literal=literal)


def _is_mixed(value: str) -> bool:
    """Letters with digits or signs: what people take for a safe password."""
    bare = value.rstrip("!")
    if not _compiled(r"[^\W\d_]").search(bare):
        return False
    return _compiled(r"\d|\w[@$!%^*#~&]|[@$!%^*#~&]\w").search(bare) is not None


def _is_safe_mix(value: str) -> bool:
    """Mixed enough to stand out of prose."""
    mixed = r"[^\W\d_].*\d|\d.*[^\W\d_]|\w[@$!%^*]+\w"
    return len(value) >= 6 and _compiled(mixed).search(value) is not None


def _is_numbered_name(value: str) -> bool:
    return value.rstrip("0123456789").lower() in _words(_LABEL_WORDS)


def _is_word_told(told: _Told, *, literal: bool) -> bool:
    """A password without digit or sign: only its place tells it from prose."""
    word = told.value.rstrip("!")
    low = word.lower()
    if not _compiled(r"[^\W\d_]+(?:[-_.'][^\W\d_]+)*").fullmatch(word):
        return False
    if literal:
        return told.tight or (told.ended and not word.isupper())
    if told.variable or _is_identifier(word):
        return False
    if told.quote:
        return told.manner != "loose"
    match told.manner:
        case "=":
            named = low in _words(_VARIABLES) or ("_" in word and not told.tight)
            return (told.tight or told.ended) and not named
        case ":":
            return told.ended and not _is_said(low.replace("secret", "").replace("geheim", ""))
        case "is":
            return told.ended and not _is_said(low) and not low.endswith("ing")
        case _:
            return low.count("-") >= 3


def _is_identifier(word: str) -> bool:
    """A variable of a program that holds a secret: `db_password`, `userPassword`."""
    pieces = _compiled(r"[A-Z]?[a-zäöüß]+|[A-Z]+").findall(word)
    several = len(pieces) > 1 and not word[:1].isupper()
    return several and any(piece.lower() in _words(_LABEL_WORDS) for piece in pieces)


def _is_phrase(value: str) -> bool:
    """Several words in quotes: a passphrase has none that a message or a rule would have."""
    words = [word.strip(".,;:!?()").lower() for word in value.split()]
    ordinary = _words(_IN_SENTENCES) | _words(_VOCABULARY)
    return len(words) <= 12 and not any(word in ordinary or _is_technical(word) for word in words)


_PHRASE: Final = r"[a-zäöüß]{3,12}(?: [a-zäöüß]{3,12}){3,9}(?=[.!]?\s*(?:\n|$))"


def _phrase(text: str, span: _Span, told: _Told, place: _Place) -> _Span | None:
    """Four words and more to the end of the line, none of them of a sentence: a passphrase."""
    if place.need != "word" or told.quote or told.manner == "loose":
        return None
    found = _compiled(_PHRASE).match(text, span.start)
    if not found or not _is_phrase(found.group()):
        return None
    return (
        None if any(_is_adjective(word) for word in found.group().split()) else _Span(*found.span())
    )


def _is_code_told(told: _Told, place: _Place, *, literal: bool) -> bool:
    value, loose = told.value, told.manner == "loose"
    own = place.kind == "token" or place.need == "mixed"
    if " " in value or (own and not _compiled(r"[A-Za-z0-9+_=~][\w.+/=~:%@-]*").fullmatch(value)):
        return False
    if _is_code(value):
        name = _compiled(r"[a-z]+\d?(?:[-_.](?:[a-z]+\d?|v?\d{1,4}))+").fullmatch(value)
        clear = bool(literal or told.quote or "secret" in value) and not loose
        return (clear or not name) and len(value) >= (8 if loose else 6)
    if loose or told.variable or place.need == "mixed":
        return False
    if value.isdigit():
        return len(value) >= 8 and told.ended and not value.startswith(("19", "20"))
    if not value.isalpha() or len(value) < 6:
        return False
    plain = value.islower() or value.isupper()
    quoted = bool(told.quote) and (literal or (len(value) >= 12 and plain))
    return quoted or (literal and told.tight)


def _is_code(value: str) -> bool:
    """Letters and digits, or letters in a disorder that no name has."""
    if _compiled(r"[A-Za-z]").search(value) and _compiled(r"\d").search(value):
        return len(value) >= 6
    switches = len(_compiled(r"[a-z](?=[A-Z+/])|[A-Z]{2}(?=[a-z])").findall(value))
    return len(value) >= 16 and switches * 5 >= len(value)


def _is_base64(value: str) -> bool:
    """What follows `Basic`: base64 of a name and a password, and not a word."""
    switches = len(_compiled(r"[a-z](?=[A-Z])").findall(value))
    marked = value.endswith("=") or switches >= (1 if _is_code(value) else 2)
    fits = _compiled(r"[A-Za-z0-9+/_-]{8,}={0,2}").fullmatch(value)
    return marked and fits is not None


_UUID: Final = r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def _is_noise_told(told: _Told, place: _Place) -> bool:
    if place.kind == "key" and told.manner == "is":
        return _is_noise(told.value) or (told.value.isalnum() and _is_noise(told.value, 10))
    return _is_noise(told.value) and (told.manner != "loose" or place.kind == "key")


def _is_noise(value: str, length_min: int = 16) -> bool:
    """Long and random; a name with a number and a UUID are not."""
    if len(value) < length_min or not _compiled(r"[\w+/=.~%:!-]+", re.ASCII).fullmatch(value):
        return False
    name = r"[a-z]*\d*(?:[-_./:](?:[a-z]+\d{0,2}|v?\d+))+"
    if _compiled(_UUID).match(value) or _compiled(name).fullmatch(value):
        return False
    digits, letters = _compiled(r"\d").findall(value), _compiled(r"[A-Za-z]").findall(value)
    turns = _compiled(r"\d(?=[A-Za-z])|[A-Za-z](?=\d)|[a-z](?=[A-Z])").findall(value)
    return min(len(digits), len(letters)) >= 3 and len(turns) >= (2 if len(digits) > 8 else 4)


# Where a secret is, not what it is.
_REFERENCE: Final = (
    # ***, xxxx, <password>, ${PASSWORD}, {{ password }}, {password}, [password], %s, $PASSWORD, :pw
    r"[\W_]+$|[xX*•._#?-]+[0-9]?$|<[^<>]*>$|\$\{|\$\(|\{\{|%\(|%\{|#\{|@\{|\{[A-Za-z_]"
    r"|\[[\w .-]*\]$|%[sdrv]$|%\w+%$|__\w+__$"
    r"|\$[A-Z_][A-Z0-9_]*$|\$[a-z_]+$|(?i:\$env:)|\$\w+(?:\[|->|\()"
    r"|[:@][a-z_]+$|![A-Za-z]+$"
    # a regular expression, a sealed value, the address of a secret
    r"|\^[\[(\\.]|\(\?|\[\^?[A-Za-z0-9]-|\\[dwsS]|ENC\["
    r"|(?i:https?|file|env|vault|op|ssm|arn|aws|gcp|gs|s3|sm|secrets?|secretsmanager|keyring|"
    r"keychain|azurekv|kms|akv|bws|ref\+\w+|projects)[:/]|[a-z][a-z0-9+.-]*://"
    # your-password, REPLACE_ME, my-api-key, password-here, DB_PASSWORD
    r"|(?i:your|dein|ihr|replace|insert|enter|todo|tbd|fixme|placeholder|redacted|put)(?:$|[-_ .])"
    r"|(?i:(?:your|dein)[a-z_-]+$|.*[-_](?:here|hier|placeholder)$"
    r"|my[-_](?:\w+[-_])?(?:password|token|key|secret)$)"
    r"|(?:[A-Z0-9]+_)*(?:PASS(?:WORD|WD|PHRASE)?|PWD|SECRET|TOKEN|KEY|ENV|VAR|CRED\w*)"
    r"(?:_[A-Z0-9]+)*$"
)
# Only without quotes: a call, a member, a path, a file.
_EXPRESSION: Final = (
    r"[A-Za-z_$][\w$-]*(?:(?:\??\.|->|::)[A-Za-z_]\w*)*[(\[]"
    r"|[A-Za-z_$]+(?:(?:\??\.|->|::)[A-Za-z_$]+)+;?$"
    r"|(?:self|this|cls|os|sys|process|env|config|cfg|settings|secrets?|credentials?|req|request|"
    r"args|data|form|body|params|user|db|app|opts|options|ctx|context)\.[\w.]+;?$"
    r"|(?:~|\.{1,2})?/[\w.@-]+|[A-Za-z]:\\|[\w./-]+\.(?:ya?ml|json|py|tsx?|jsx?|html?|md|env|txt|"
    r"pem|crt|kdbx|go|rs|java|sql|csv|toml|ini|conf|cfg|sh|xml|log|php|rb)$"
)
_TYPE: Final = (
    r"(?:\w+\.)*(?!Super|My|Top|Very|Secret)[A-Z][A-Za-z0-9]+"
    r"(?:Keys?|Tokens?|Pass|Secret|Password|Types?)$"
)


def _refers(value: str, *, quoted: bool) -> bool:
    if _compiled(_REFERENCE).match(value):
        return True
    if quoted:
        return False
    if _compiled(_TYPE).match(value):
        return True
    return _compiled(_EXPRESSION).match(value) is not None and not _is_noise(value)


_NUMBERS: Final = r"[<>=~≥≤]*\d+(?:[.,:/x\u2013-]\d+)+\D?|[<>=~≥≤]+\d+|\d+[+%]|[A-Z]{2,10}-\d{1,6}"


def _specifies(value: str) -> bool:
    """Words and terms of a specification: `required`, `sha256-hashed`, `>=12`, `30min`."""
    if len(value) > 60:
        return False
    bare = value.strip("\"'`.,;:!?()[]")
    low = bare.strip("<>=≥≤~*").lower()
    if _compiled(_NUMBERS).fullmatch(bare) or low in _words(_VOCABULARY) or _is_technical(low):
        return True
    pieces = [piece for piece in _compiled(r"[-_/+.,:;()|\s]+").split(low) if piece]
    others = [piece for piece in pieces if not (_is_term(piece) or _is_technical(piece))]
    return len(others) < len(pieces) and all(p.isalpha() or len(p) < 3 for p in others)


def _is_term(word: str) -> bool:
    return word in _words(_VOCABULARY) and word not in _words(_LABEL_WORDS)


def _is_technical(word: str) -> bool:
    return _compiled(_TECHNICAL).fullmatch(word) is not None


def _is_said(word: str) -> bool:
    return _is_adjective(word) or word in _words(_SAID_OF_IT)


def _is_adjective(word: str) -> bool:
    return _compiled(_ADJECTIVE).search(word) is not None


@cache
def _words(vocabulary: str) -> frozenset[str]:
    return frozenset(vocabulary.split())


# Terms with digits or of cryptography; numbers with a unit, versions, ordinals, limits.
_TECHNICAL: Final = (
    r"argon2?(?:id|i|d)?|[by]crypt\d*|scrypt\d*|pbkdf2\w*|sha-?\d{1,3}(?:-\d{3})?\w{0,4}|md[45]|"
    r"blake[23]\w?|hmac\w*|(?:rs|hs|es|ps|p)(?:256|384|512|521)|aes-?\d*(?:-?[a-z]{3})?|rsa-?\d*|"
    r"ed25519|x25519|curve25519|secp\d+\w\d|x\.?509(?:v3)?|pkcs#?\d*|p12|utf-?\d+|u2f|fido2?|"
    r"base-?(?:16|32|36|58|62|64)\w*|aws4|[23]fa|[tmh]?otp|mfa|oauth-?[12]?(?:\.\d)?\w*|auth0|saml2?|"
    r"oidc|web[23]|k8s|s3|ec2|r2|d1|h2|http[23s]?|tls(?:v?1(?:\.\d)?)?|ssl\w*|ipv[46]|i18n|l10n|"
    r"a11y|b2[bc]|v\d+(?:\.\d+)*\w{0,6}|uuid(?:v?\d)?|ulid|cuid2?|nanoid|py(?:thon)?[23]|php\d|"
    r"vue[23]|es\d+|win\d+|1password\w*|keepass\w*|lastpass|bitwarden|zxcvbn\d*|h?ibp|pwned\w*|"
    r"postgres(?:ql)?\d+|mysql\d|neo4j|log4j|gpt-?\d\w*|llama-?\d*|iso\d+|rfc-?\d+|nist\d*|owasp\d*|"
    r"cve\d*|q[1-4]|\d+(?:\.\d+)?-?(?:st|nd|rd|th|x|px|r?em|k|[kmg]i?b|ms|s|secs?|seconds?|m|mins?|"
    r"minutes?|h|hrs?|hours?|d|days?|w|weeks?|mo|months?|y|years?|bits?|bytes?|b|chars?|characters?|"
    r"zeichen|stellig\w*|digits?|letters?|symbols?|words?|tagen?|stunden?|minuten?|sekunden?|"
    r"wochen?|monaten?|jahren?|factor|faktor|step|tier|way|times?)|\d{1,4}-[a-z]+|"
    r"(?:min|max|len|length|size|ttl|exp|rounds?|cost|iterations?|bits?|level|stufe|step|phase|"
    r"version|issue|ticket|pr|adr|minlength|maxlength)[-_:=<>≥≤#. (]*\d[\d.,)]*"
)
# Words that a specification, a message or a program puts where a secret could stand.
_VOCABULARY: Final = """
    required mandatory optional needed necessary none null nil true false undefined nothing empty
    blank missing unset yes no not never always only must should shall can may will would could tbd
    string str text varchar char bytes byte bool boolean int integer number object array any todo
    unknown secretstr buffer datetime date timestamp email mail e-mail username user users name
    password passwort pass passwd pwd passphrase kennwort passcode pin token tokens key keys jwt
    bearer cookie cookies session sessions header headers credential credentials creds login logout
    signin signup masked hidden redacted encrypted decrypted hash hashed hashes hashing salt salted
    pepper peppered plain plaintext cleartext unencrypted vault env environment keychain keyring
    config configuration settings bcrypt scrypt argon oauth oidc saml sso mfa totp otp webauthn
    passkey passkeys secretbytes ldap kerberos basic digest opaque csrf xsrf refresh access auth
    authentication authorization authenticated scheme realm form field fields input inputs output
    label placeholder value values default defaults random randomly generated auto automatic
    automatically manual manually prompt prompted reset resets change changes changed rotate
    rotation policy policies rule rules strength check checks validation validate length size format
    type minimum maximum min max least most more less than longer shorter exactly between about over
    under up at the a an see use uses using used set sets stored store stores storage sent send kept
    keep in via from by for per with without and or but if when while until unless because is are
    was be been being has have had do does to of on off this that these those it its they their
    there here same new old current previous some all each every both other another our your
    admin-only readonly read write read-only disabled enabled deprecated supported unsupported
    unchanged unaffected different flag flags option options argument arguments param parameter
    parameters reuse management manager handling support logic flow feature service server client
    backend frontend database table column recovery forgot forgotten hints hint strong weak secure
    insecure valid invalid wrong incorrect characters character chars digits letters symbols
    uppercase lowercase mixed-case case-sensitive alphanumeric numeric ascii unicode bits protected
    based pflicht pflichtfeld erforderlich benötigt notwendig zwingend nötig leer kein keine keins
    nichts ja nein nie niemals nicht immer nur wird werden muss müssen soll sollen darf dürfen kann
    können mindestens maximal höchstens mehr weniger als zeichen ziffern buchstaben zeichenkette
    feld siehe wie mit ohne und oder aber wenn bei für von vom zum zur im am auf aus der die das den
    dem ein eine einen einem verschlüsselt gehasht gespeichert unverschlüsselt klartext zufällig
    zufälliger generiert automatisch manuell wert werte standard voreinstellung benutzer nutzer
    benutzername anmeldung eingabe eingeben ändern zurücksetzen vergessen richtlinie regeln länge
    ungültig gültig falsch richtig abgelaufen unverändert entfällt how what why which who where
    later soon maybe either neither ditto pending unclear legacy classic traditional fallback custom
    builtin built-in primary secondary backup per-user dito offen unklar später folgt egal intern
    extern lokal klassisch keycloak cognito firebase okta supabase clerk authelia authentik zitadel
    kratos devise passport django laravel google github gitlab microsoft entra apple facebook
    biometric biometrics yubikey magic sms link production prod staging
"""
# The same where no program can name a variable: an environment file, a query, an element.
_NOTHING: Final = """
    required mandatory optional none null nil true false undefined empty blank unset yes no string
    str text boolean integer number hidden masked redacted encrypted env environment vault prompt
    stdin keychain keyring default auto random generated flag flags option options argument value
    and or is in for from to via with must if parameter reset
"""
# What is said of a password: "the password is short".
_SAID_OF_IT: Final = """
    secret secrets geheim geheimnis short long safe unsafe strong weak good bad better best worse
    worst fine ok okay right correct public private personal shared unique common simple complex
    complicated easy hard important sensitive confidential temporary permanent static dynamic
    visible invisible mutable immutable stale fresh gone lost known identical similar equal ready
    enough also just too very still already now then so such really quite rather again often
    sufficient insufficient readable raw fix broken dead hot cold unclear clear obvious trivial
    internal external local global mine yours ours theirs given made taken chosen shown written
    stolen found seen left built typed kurz lang sicher unsicher schwach stark gut schlecht bekannt
    unbekannt wichtig gleich anders einfach schwierig komplex offen weg neu alt da hier dort zu sehr
    schon noch wieder teil voraussetzung sache aufgabe problem thema veraltet eindeutig einmalig
    vertraulich öffentlich privat persönlich temporär verloren kaputt
"""
_ADJECTIVE: Final = (
    r"(?:[^aeiou]ed|[ai]ble|[st]ory|[st]ive|ous|less|[iy]zed|pflichtig|lich|bar|isch|haft|los|"
    r"iert|pflichtend|reichend)$|^pflicht|^(?:ge|ver|be|er|zer|ent)\w{3,}t$"
    r"|^(?:un|in|non|multi|auto|self|user|server|client|case|time)-?\w*(?:ed|ive|able|t)$"
)
_VARIABLES: Final = """
    raw pw plain data form body payload request req response res params args arg kwargs self this
    result digest input value val await new getpass event item row obj person account model other
"""
_LABEL_WORDS: Final = """
    password passwd pwd pw pass passwort kennwort passphrase passcode secret token key pin
"""
# A passphrase has no such words; a message, a rule or a caption has them.
_IN_SENTENCES: Final = """
    please enter type choose confirm repeat again too short long weak strong cannot can't don't
    doesn't didn't match matches field you we he she must i'm secret secrets passwords bitte
    wiederholen ihr dein deine ihre passwörter stimmt überein stimmen
"""


# 6. E-mail addresses

# The look-behind keeps the search from starting again inside a run that was no address.
_LOCAL: Final = r"(?<![\w.+%'-])[\w.+%'-]++"
_DOMAIN: Final = (
    r"(?:[^\W_][\w-]{0,62}\.){1,20}(?P<top>xn--[a-z0-9-]{2,59}|[^\W\d_]{2,24})(?![\w-])"
    r"(?!\.[^\W\d_]{2})"
)
_EMAIL: Final = (
    rf"(?P<local>{_LOCAL}|\"[^\"\s@][^\"\n@\ufdd0]{{0,62}}\")"
    rf"(?P<at>@|\s?[\[(]\s?(?:at|ät)\s?[\])]\s?){_DOMAIN}"
)
_ESCAPED_EMAIL: Final = rf"(?P<email>(?<![\w.+-])[\w.+-]++%40{_DOMAIN})"
# Names with an @ that nobody can write to: units, pictures, archives.
_NO_TOP_LEVEL: Final = """
    service socket timer target mount automount slice scope path device swap png jpg jpeg gif svg
    webp ico css js jsx ts tsx mjs json yaml yml toml xml html lock txt tgz gz tar whl jar exe dll
"""
_LOGIN_BEFORE: Final = (
    r"(?:\b(?:ssh|sftp|mosh|ssh-copy-id|telnet)(?:\s+-\w+(?:[ =][\w./~:@-]{1,60})?){0,6}\s+"
    r"|://[^\s/]*)$"
)


def _emails(text: str) -> Iterator[Span]:
    for found in _compiled(_EMAIL).finditer(text):
        if _is_address(text, found):
            local = found["local"]
            start = found.start() + len(local) - len(local.lstrip(".+%'-"))
            yield start, found.end(), "email"


def _escaped_emails(text: str) -> Iterator[Span]:
    if "%40" in text:
        for found in _compiled(_ESCAPED_EMAIL).finditer(text):
            yield (*found.span(), "email")


def _is_address(text: str, found: re.Match[str]) -> bool:
    """Not a remote, a login, a version, a picture or a member of a program."""
    local, domain = found["local"].lower(), text[found.end("at") : found.end()]
    if not local.strip(".+%'-") or local in {"git", "this", "super", "return"}:
        return False
    before = text[max(0, found.start() - 200) : found.start()]
    if before.endswith("\\") and local in {"n", "r", "t"}:  # a decorator behind an escaped line end
        return False
    if before.endswith("@") or found["top"].lower() in _words(_NO_TOP_LEVEL):
        return False
    if _compiled(r"v?\d+\.\d|[1-9]x\.").match(domain):
        return False
    if _compiled(r":(?:[~/.:]|\d{1,5}\b|[\w.-]+(?:/|\.[a-z]{2,4}\b))").match(text, found.end()):
        return False
    return _compiled(_LOGIN_BEFORE).search(before) is None


# The order is a priority: an exact shape before a place, a place before an address.
_RULES: Final[tuple[Callable[[str], Iterator[Span]], ...]] = (
    *(_private_keys, _shapes, _web_tokens, _places, _headers, _pairs, _labels),
    *(_emails, _escaped_emails),
)
