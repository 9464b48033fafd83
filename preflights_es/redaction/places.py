"""Places of a fixed form, and the order of all rules.

Of a place the named group is the secret, what is around it stays.
A shell takes what is glued to an option, or stands behind it (`mysql -pSECRET`), literally: only a
variable, a placeholder or a port is no password there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

from preflights_es.redaction.classifier import (
    is_base64,
    is_code,
    is_mixed,
    is_safe_mix,
    refers,
    specifies,
)
from preflights_es.redaction.labels import LABEL_WORDS, find_labelled_secrets, trimmed
from preflights_es.redaction.patterns import (
    SecretKind,
    Span,
    compile_pattern,
    find_by_rule,
    find_by_table,
    find_named_spans,
    lower_as_matched,
    read_word_table,
    split_rule,
    split_table,
    split_words,
)
from preflights_es.redaction.shapes import (
    EMAIL,
    PHONE,
    SEED,
    cards,
    emails,
    encoded_keys,
    escaped_emails,
    ibans,
    phones,
    private_keys,
    seed_phrases,
    shapes,
    web_tokens,
)

# What the text must hold (in lower case) to be searched at all, or the words that a match begins
# with, behind a ^; and the pattern. The password of a
# URL ends at the last @ before the path; one with a slash, at the first @.
_PLACES: Final = r"""
:// | «U»(?P<password>[^\s/"'<>`\ufdd0]+)@
:// | «U»(?P<password>[^\s@"'<>\ufdd0]{1,200})@
:// | ://(?P<token>(?=[A-Za-z_-]{0,60}[0-9])«D»{20,256})@
:oracle: | :oracle:[a-z0-9]{2,8}:[^\s/@]{1,128}/(?P<password>[^\s@"'<>\ufdd0]{1,200})@
tcp( | (?:^|[\s"'`=])[\w.-]{1,64}:(?P<password>[^\s"'`@\ufdd0]{1,200})@(?:tcp|unix)\(
^curl | \bcurl\b(?:[^\n]|(?<=\\)\n){0,250}?«O»[^\s"':]{0,64}:«P»
^mysql | (?i:\bmysql[\w.-]{0,24})«C»-u[^\n|;]{1,80}?\s-p\s(?=\S{0,80}[A-Za-z])(?=\S{0,80}\d)«P»
^smbclient | (?i:\bsmbclient«X»)«C»-U\s?["']?[\w.\\-]{1,64}%«P»
^requirepass masterauth | (?:requirepass|masterauth)\s+«P»
pass: | -pass(?:in|out)?\s+["']?pass:«P»
chpasswd | ["'\s][\w.-]{1,32}:(?P<password>«A»{3,64})["']?\s{0,9}\|\s{0,9}(?:sudo\s+)?chpasswd
^echo | \becho\s+["']?(?P<password>«A»{3,128})["']?\s{0,9}\|(?:\s{0,9}sudo\s-S|[^\n|]{0,99}-stdin)
^net | \bnet\s+user\s+[^\s/]{1,64}\s+(?![/*])«P»
^htpasswd | \bhtpasswd\s+-\w*b\w*\s+\S{1,99}\s+\S{1,99}\s+«P»
key-data | (?i:\bclient-key-data["']?\s*:\s*)["']?(?P<key>[A-Za-z0-9+/=]{16,})
^$ | (?<![\w$])(?P<password>\$(?:apr1|1|5|6|y|2[abxy]?|argon2\w{1,2}|scrypt)\$[\w./$=,+-]{20,})
{s | \{(?i:s?sha(?:256|512)?)\}(?P<password>[A-Za-z0-9+/]{20,}={0,2})
^sqlplus | \bsqlplus\s+[\w$#]{1,64}/(?P<password>[^\s@"']{1,99})@
^machine | \bmachine\s+\S{1,99}\s+login\s+\S{1,99}\s+password\s+«P»
identified | (?i:\b(?:user|role|to)\s+\S{1,80}\s+identified\s+(?:with\s+\S{1,40}\s+)?by\s+)«Q»
^with encrypted set | (?i:\b(?:with|encrypted|set)\s+password\s*=?\s*)(?=')«Q»
auth | (?i:auth\s?=?\s?)\(\s?["'][^"'\n]{1,64}["'],\s?«F»
securestring | (?i:ConvertTo-SecureString\s+(?:-String\s+)?)«Q»
"""

# The same of addresses that let in who knows them: of Slack, Discord, Teams, Telegram, Azure, AWS.
_ADDRESSED: Final = r"""
hooks.slack | /(?:services|workflows|triggers)/(?P<token>«W»[A-Za-z0-9/_-]{9,})
/webhooks/ | /webhooks/(?P<token>[0-9]{5,}/«D»{10,})
/webhook | (?i:office\.com/webhook(?:b2)?/)(?P<token>[^\s"'<>`\ufdd0]{20,})
hooks.zapier | /hooks/catch/(?P<token>[0-9]+/[a-z0-9/]{4,})
/bot | /bot(?P<token>[0-9]{6,12}:«D»{16,})
code= signature= | [?&;#](?i:code|signature)=(?P<token>«E»[\w%.~+/=-]{20,})
sig= | [?&;#]sig=(?P<token>(?=\S{0,60}[A-Z\d])[A-Za-z0-9%+/=_-]{16,})
x-amz- | (?i:x-amz-(?:signature|security-token)=)(?P<token>[A-Za-z0-9%+/=_-]{16,})
"""


def find_placed_secrets(text: str) -> Iterator[Span]:
    yield from _find_by_table(_PLACES, text)


def find_addressed_secrets(text: str) -> Iterator[Span]:
    yield from _find_by_table(_ADDRESSED, text)


def _find_by_table(table: str, text: str) -> Iterator[Span]:
    spans = find_named_spans(find_by_table(table, text))
    found = [span for span in spans if not refers(text[span[0] : span[1]], quoted=False)]
    yield from _apart(sorted(found, key=lambda span: (span[0], -span[1])))


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """Those that do not overlap one before."""
    done = 0
    for span in spans:
        if span[0] >= done:
            yield span
            done = span[1]


_COOKIES: Final = (
    "^set-cookie cookie curl | "
    r"(?i)(?:(?<![\w])(?P<set>set-)?cookie2?[\"'`\\]{0,2}\s{0,3}[:=,]\s{0,3}"
    r"|\bcurl\b[^\n]{0,250}?\s(?:-b|--cookie)[ =])[\"'`]{0,2}"
    r"(?P<pairs>[\w.!#$%&*+^|~-]{1,80}=[^\n\"'`\ufdd0]{1,4000})"
)
_COOKIE: Final = r"[\w.!#$%&*+^|~-]{1,80}=(?P<token>[^\s;,]{8,4000})"


def cookies(text: str) -> Iterator[Span]:
    """Values in the headers of cookies that are no plain word: most of them log a person in."""
    for header in find_by_rule(_COOKIES, text):
        start, end = header.span("pairs")
        if header["set"]:  # its attributes follow
            end = min(end, text.find(";", start) % (len(text) + 1))
        for found in compile_pattern(_COOKIE).finditer(text, start, end):
            value = found["token"]
            is_word = len(value) < 16 and (value.isalpha() or value.isdigit())
            if not is_word and not refers(value, quoted=False):
                yield (*found.span("token"), "token")


_HEADER: Final = (
    "^authorization bearer basic | "
    r"(?i)(?:(?P<header>authorization[\"'`\]\\]{0,4}\s{0,3}[:=,]\s{0,3}[\"'`\\]{0,3})"
    r"(?:(?P<named>bearer|basic|token|apikey|api-key|key)\s{1,3}|[a-z][\w-]{2,20}\s{1,3})?"
    r"|(?<![\w-])(?P<alone>bearer|basic)\s{1,3})"
    r"[\"'`]?(?P<value>[A-Za-z0-9._~+/=-]{4,})(?![\w(\[{])"
)


def headers(text: str) -> Iterator[Span]:
    """What follows `Bearer` or `Basic`, where it is a credential and not a word of prose."""
    for found in find_by_rule(_HEADER, text):
        value, scheme = found["value"].rstrip("."), (found["named"] or found["alone"] or "").lower()
        if refers(value, quoted=False) or specifies(value):
            continue
        shaped = (is_base64 if scheme == "basic" else is_code)(value)
        if shaped or (found["named"] and len(value) >= 6):
            start = found.start("value")
            yield start, start + len(value), "password" if scheme == "basic" else "token"


_PAIR: Final = (
    "^cred log basic account konto compte cuenta identifiant zugang anmeld user benutzer sign "
    "connect connexion conexi acc @ | "
    r"(?i)(?:(?<![\w-])(?=[a-z])(?:credentials?|creds|log-?ins?(?:[ -]?data)?|basic[ -]?auth|"
    r"account|konto|compte|cuenta|identifiants?|credenciales|"
    r"logindaten|zugangsdaten|zugang|anmeldedaten|user(?:name)? ?/ ?pass(?:word)?|"
    r"benutzer(?:name)? ?/ ?passwort|(?:log(?:ged)?|sign(?:ed)?) in as|connect(?:ed)? as)"
    r"[\"'`*]{0,3}\s{0,3}(?::|=|\b(?:are|is|sind|lauten?|ist|with|mit|as|als|via|est|es|sont|son|avec|con)\b)?\s{0,3}"
    r"[\"'`*]{0,3}[\w.@+-]{1,64}(?:/|:| / | : |\|)"
    r"|(?=[ac])\b(?:connexion|conexi(?:ó|o)n|acc(?:è|e)s|acceso|anmeldung)\s?:\s?[\w.@+-]{1,64} / "
    r"|(?<=\w)@(?:[\w-]{1,63}\.){1,9}[a-z]{2,24}(?: [/:|] |:(?![^\s./]{0,64}[./])))"
    r"(?P<password>[^\s\"'`<>/\ufdd0]{6,127})"
)


def find_paired_passwords(text: str) -> Iterator[Span]:
    """The second half of `credentials: admin / hunter2`."""
    if not ("/" in text or ":" in text or "|" in text):
        return
    for found in find_by_rule(_PAIR, text):
        start, value = found.start("password"), trimmed(found["password"])
        known = (
            specifies(value) or refers(value, quoted=False) or compile_pattern(EMAIL).match(value)
        )
        if len(value) >= 6 and is_safe_mix(value) and not known:
            yield start, start + len(value), "password"


# The words that a match begins with (in lower case), and the pattern. A loose value must be a safe
# password, one that stands apart no word of a sentence. Before the option of mysql there may be
# others: -vp.
_OPTION: Final = r"-(?<![^\s`\"'(]-)[a-z]"
_OPTIONS: Final = r"""
^mysql | (?i:\bmysql[\w.-]{0,24})«C»-«M»p(?!ort\b|rotocol)«P»
^mariadb | (?i:\bmariadb[\w.-]{0,24})«C»-«M»p(?!ort\b|rotocol)«P»
^sshpass twine cqlsh | (?i:\b(?:sshpass|twine|cqlsh)«X»)«C»-p«B»(?!-)«P»
^rdesktop psexec rabbitmqadmin | (?i:\b(?:rdesktop|psexec(?:64)?|rabbitmqadmin)«X»)«C»-p«B»(?!-)«P»
^mongo | (?i:\bmongo(?:sh|dump|restore|export|import|stat|top|files)?«X»)«C»-p«B»(?!-)«P»
^docker podman nerdctl buildah skopeo oras helm az oc cf | (?i:\b«I»\s+login)«C»-p«B»(?!-)«P»
^7z | (?i:\b7z[arz]?«X»)«C»-p«P»
^rar unrar | (?i:\b(?:un)?rar«X»)«C»-h?p«P»
^sqlcmd osql isql bcp zip unzip | (?i:\b(?:sqlcmd|osql|isql|bcp|zip|unzip)«X»)«C»-P«B»«P»
^ldap | (?i:\bldap[a-z]+«X»)«C»-w«B»«P»
^mosquitto_ | (?i:\bmosquitto_(?:pub|sub|rr)«X»)«C»-P«B»(?!-)«P»
^openssl | (?i:\bopenssl«X»\s+(?:enc|aes[\w-]{1,20}))«C»-k[ \t]+(?![-:])«P»
^redis-cli | (?i:\bredis-cli«X»)«C»-a«B»(?!-)«P»
^-u | (?<![^\s`"'(])-u["']?[\w.@][\w.@-]{0,63}["']?\s+-p«P»
^-u | (?<![^\s`"'(])-u\s["']?[\w.@][\w.@-]{0,63}["']?\s+-p["']?(?P<loose>«A»{3,})
"""
_ABSENT: Final = r"[$<{%\[(]|[xX*•._#?-]+$"
# What is glued to -p in other programs: `gcc -pthread`, `find -path`, `pytest -pno:cacheprovider`.
_OTHERS: Final = (
    r"(?:thread|edantic(?:-errors)?|ipe(?:line)?s?|ie|g|rint[\w-]*|ath|rune|erm|lugins?|arallel|atch|rofile|roject|"
    r"rivate|ublic|rocess|rogress|rotocol|ackage|arents|ython\d?|ager|arse|review|retty|refix|od)$|no:\w"
)
_PORTS: Final = r"(?:[\d.]*:)?\d{1,5}:\d{1,5}(?:-\d{1,5})?(?:/\w+)?$|\d{1,5}/(?:tcp|udp)$"
_CONTAINERS: Final = r"\b(?:docker|podman|nerdctl|compose)\s+(?:run|create)\b[^\n|;]*$"


def find_option_passwords(text: str) -> Iterator[Span]:
    if not compile_pattern(_OPTION).search(lower_as_matched(text)):
        return
    found = set[tuple[int, int]]()
    for match in find_by_table(_OPTIONS, text):
        span = match.span(match.lastgroup or 0)
        if _is_password(text, *span, loose=match.lastgroup == "loose"):
            found.add(span)
    yield from _apart((start, end, "password") for start, end in sorted(found))


def _is_password(text: str, start: int, end: int, *, loose: bool) -> bool:
    value = text[start:end]
    word = value.rstrip(".,;:!?").lower()
    if text[start - 1].isspace() and word in read_word_table("behind_an_option"):
        return False
    if compile_pattern(_OTHERS).match(value):
        return False
    if compile_pattern(_ABSENT).match(value) or compile_pattern(_PORTS).match(value):
        return False
    if value.isdigit() and compile_pattern(_CONTAINERS).search(text[max(0, start - 200) : start]):
        return False
    return is_mixed(value) if loose else True


# The order is a priority: an exact shape before a place, a place before an address. Behind each
# rule stand the kinds that it finds.
_SHAPES: Final = {
    private_keys: ("key",),
    shapes: ("key", "token"),
    web_tokens: ("token",),
    encoded_keys: ("key", "token"),
    seed_phrases: ("key",),
}
_PLACED: Final = {
    find_option_passwords: ("password",),
    find_addressed_secrets: ("token",),
    find_placed_secrets: ("password", "token", "key"),
    ibans: ("iban",),
    cards: ("card",),
    phones: ("phone",),
    headers: ("password", "token"),
    cookies: ("token",),
    find_paired_passwords: ("password",),
    find_labelled_secrets: ("password", "token", "key"),
}
_ADDRESSES: Final = {emails: ("email",), escaped_emails: ("email",)}


@cache
def choose_rules(
    kinds: tuple[SecretKind, ...], *, by_form: bool
) -> tuple[Callable[[str], Iterator[Span]], ...]:
    """The rules that find something of these kinds, in their order.

    Args:
        by_form: those alone that know a secret by its form.
    """
    for table in (_PLACES, _ADDRESSED, _OPTIONS):
        split_table(table)  # so that all words that are sought are known before any text
    for rule in (_COOKIES, _HEADER, _PAIR, SEED, PHONE):
        split_rule(rule)
    split_words(LABEL_WORDS)
    placed = {find_addressed_secrets: ("token",)} if by_form else _PLACED
    found = {**_SHAPES, **placed, **_ADDRESSES}.items()
    return tuple(rule for rule, own in found if any(kind in kinds for kind in own))
