"""What is recognised by its own form, wherever it stands: credentials, addresses, numbers.

Credentials have the shapes that their vendors document. Of numbers, those go that name a person's
money or line: a checksum tells a card and an account from an order's number; a phone number is told
by its country code. Any other number stays.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.patterns import (
    Span,
    compile_pattern,
    find_by_rule,
    find_named_spans,
    read_word_table,
    rules,
    telling_words,
)

# 1. Credentials --------------------------------------------------------------------------------

# One a line, as the vendors document them and secret scanners collect them. What ends a shape is
# greedy and unbounded: a long credential goes as a whole, and no search starts again inside it.
_KEYS: Final = r"""
LS0tLS1CRUdJTi(?:BSU0Eg|BQUklW|BFQyBQ|BPUEVO|BFTkNS|BEU0Eg)[A-Za-z0-9+/=]{16,}
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
tvly-(?:[a-z]{2,6}-)?(?=[A-Za-z_-]{0,60}[0-9])«D»{16,}
csk-(?=[a-z]{0,60}[0-9])[a-z0-9]{32,}
fc-(?=[a-f]{0,60}[0-9])[0-9a-f]{32,}
AQ\.[A-Z](?=[A-Za-z_-]{0,60}[0-9])«D»{32,}
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
tgp_v1_(?=[A-Za-z_-]{0,60}[0-9])«D»{32,}
vc[aikr]_(?=[A-Za-z]{0,60}[0-9])«W»{24,}
cf(?:k|at|ut)_(?=[A-Za-z]{0,60}[0-9])«W»{40,}
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
pat«W»{14}\.[0-9a-f]{64,}
key(?=«W»{0,13}[0-9](?:[a-z]|«W»{0,12}[0-9]))(?=«W»{0,13}[A-Z])«W»{14}(?!«W»)
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


# A run of a dozen characters: it spares most words the long lists.
_RUN: Final = r"(?<![A-Za-z0-9])(?=[A-Za-z0-9~][A-Za-z0-9_.~/:+-]{11})"
# With a digit, or of sixteen characters: a shape without a digit is not shorter.
_CANDIDATE: Final = rf"{_RUN}(?:[A-Za-z_.~/:+-]{{0,14}}[0-9]|[A-Za-z0-9_.~/:+=-]{{16}})"


def shapes(text: str) -> Iterator[Span]:
    """Keys and tokens of the lists, which take long to compile: a text of words needs neither."""
    telling = telling_words(text)
    if not compile_pattern(_CANDIDATE).search(telling):
        return
    keys, tokens = "|".join(rules(_KEYS)), "|".join(rules(_TOKENS))
    pattern = compile_pattern(f"{_RUN}(?:(?P<key>{keys})|(?P<token>{tokens}))")
    if pattern.search(telling):
        yield from find_named_spans(pattern.finditer(text))


# Also without padding, and in the alphabet of URLs; shorter runs hold no credential.
_ENCODED: Final = r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}+={0,2}"


def encoded_keys(text: str) -> Iterator[Span]:
    """Base64 of a text in which a shape stands; nearly all other runs decode to bytes, not text."""
    pattern = compile_pattern(_ENCODED)
    if any(map(_encoded_spans, pattern.findall(telling_words(text)))):
        for found in pattern.finditer(text):
            yield from ((*found.span(), kind) for _, _, kind in _encoded_spans(found.group()))


def _encoded_spans(run: str) -> list[Span]:
    """The first secret of what it decodes to."""
    decoded = _text_of_base64(run.rstrip("="))
    return [*shapes(decoded), *web_tokens(decoded)][:1] if decoded else []


def _text_of_base64(run: str) -> str:
    """The ASCII text that it decodes to; empty where it is bytes."""
    begin = run[:16].translate(_TO_STANDARD)
    if not a2b_base64(begin).isascii() or len(run) % 4 == 1:
        return ""
    content = a2b_base64(run.translate(_TO_STANDARD) + "=" * (-len(run) % 4))
    return content.decode() if content.isascii() else ""


_TO_STANDARD: Final = str.maketrans("-_", "+/")


# A wallet's words, behind what names them. A sentence has small words that the list of BIP-39
# lacks: its 2,048 words have three to eight letters.
_SEED_WORD: Final = r"(?!(?:the|and|for|are|with|from|was|has|not|its|our|but|your)\b)[a-z]{3,8}\b"
_SEED_LABEL: Final = (
    r"(?i:\b(?:(?:seed|recovery|backup|wallet|wiederherstellungs|bip-?39)[ _-]?"
    r"(?:seed|mnemonic|phrase|words?)|mnemonic(?:[ _-]?(?:seed|phrase|words?))?))"
    r"[\"'`*]{0,3}\s{0,3}(?::|=|\b(?:is|ist|lautet)\b)[\s\"'`\[(]{0,6}"
    r"|(?i:\bseed)[\"']?\s?[:=]\s?[\"'](?=[a-z]{3,8}(?: [a-z]{3,8}){11,23}[\"'])"
)
SEED: Final = (
    "^seed recovery backup wallet wiederherstellungs bip mnemonic | "
    rf"(?:{_SEED_LABEL})(?P<key>(?:1[.):]\s?)?(?i:{_SEED_WORD})"
    rf"(?:[\"'`]?,?\s{{1,3}}(?:\d{{1,2}}[.):]\s?)?[\"'`]?{_SEED_WORD}){{11,23}})"
)


def seed_phrases(text: str) -> Iterator[Span]:
    yield from find_named_spans(find_by_rule(SEED, text))


def web_tokens(text: str) -> Iterator[Span]:
    if "eyJ" in text:
        yield from find_named_spans(compile_pattern(rules(_JWT)[0]).finditer(text))


# 2. Private keys in PEM blocks, whole or cut, over one line or many ----------------------------

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


def private_keys(text: str) -> Iterator[Span]:
    """PEM blocks, also without their end or their beginning; a header named in prose stays."""
    if "PRIVATE KEY" not in text:
        return
    done = 0
    for found in compile_pattern(f"(?P<begin>{_PEM_BEGIN})|{_PEM_END}").finditer(text):
        if found.start() < done:
            continue
        span = _block(text, found) if found["begin"] else _block_tail(text, found, done)
        if span:
            yield (*span, "key")
            done = span[1]


def _block(text: str, begin: re.Match[str]) -> tuple[int, int] | None:
    body = compile_pattern(_PEM_BODY).match(text, begin.end())
    body_end = body.end() if body else begin.end()
    if end := compile_pattern(_PEM_END).match(text, body_end):
        material = compile_pattern(_PEM_MATERIAL).search(text, begin.end(), body_end)
        return (begin.start(), end.end()) if material else None
    cut = compile_pattern(_PEM_CUT).match(text, begin.end())
    return (begin.start(), cut.end()) if cut else None


def _block_tail(text: str, end: re.Match[str], done: int) -> tuple[int, int] | None:
    near = max(done, end.start() - 16)
    before = compile_pattern(r"[A-Za-z0-9+/]{3}={0,2}(?:\s|\\n){1,9}$")
    if not before.search(text, near, end.start()):
        return None
    window = max(done, end.start() - _PEM_MAX)
    tail = compile_pattern(_PEM_TAIL).search(text, window, end.start())
    return (tail.start(), end.end()) if tail else None


# 3. E-mail addresses, and what only looks like one ---------------------------------------------

# The look-behind keeps the search from starting again inside a run that was no address.
_LOCAL: Final = r"(?<![\w.+%'-])[\w.+%'-]++"
_DOMAIN: Final = (
    r"(?:[^\W_][\w-]{0,62}\.){1,20}(?P<top>xn--[a-z0-9-]{2,59}|[^\W\d_]{2,24})(?![\w-])"
    r"(?!\.[^\W\d_]{2})"
)
EMAIL: Final = (
    rf"(?P<local>{_LOCAL}|\"[^\"\s@][^\"\n@\ufdd0]{{0,62}}\")"
    rf"(?P<at>@|\s?[\[(]\s?(?:at|ät)\s?[\])]\s?){_DOMAIN}"
)
_QUOTED_MAX: Final = 70  # characters: a local part in quotes may hold blanks
_AT: Final = r"[@\[(](?:(?<=@)|\s?(?:at|ät)\s?[\])])"
_ESCAPED_EMAIL: Final = rf"(?P<email>(?<![\w.+-])[\w.+-]++%40{_DOMAIN})"
_ESCAPES: Final = ("\\n", "\\r", "\\t")  # a line end or a tab as JSON writes it, before an address
_LOGIN_BEFORE: Final = (
    r"(?:\b(?:ssh|sftp|mosh|ssh-copy-id|telnet)(?:\s+-\w+(?:[ =][\w./~:@-]{1,60})?){0,6}\s+"
    r"|://[^\s/]*)$"
)


def emails(text: str) -> Iterator[Span]:
    done = 0
    while at := compile_pattern(_AT).search(text, done):
        # The pattern tries each word: it is sought from the blank before the sign on.
        end = at.start() - 1  # one may stand in front of the sign
        blank = max(text.rfind(" ", done, end), text.rfind("\n", done, end))
        begin = max(done, min(blank, end - _QUOTED_MAX))
        if (found := compile_pattern(EMAIL).search(text, begin)) is None:
            return
        done = found.end()
        if _is_address(text, found):
            local = found["local"]
            start = found.start() + len(local) - len(local.lstrip(".+%'-"))
            if text.endswith(_ESCAPES, 0, start + 1) and len(local) > 1:
                start += 1
            yield start, found.end(), "email"


def escaped_emails(text: str) -> Iterator[Span]:
    if "%40" in text:
        for found in compile_pattern(_ESCAPED_EMAIL).finditer(text):
            yield (*found.span(), "email")


def _is_address(text: str, found: re.Match[str]) -> bool:
    """Not a remote, a login, a version, a picture or a member of a program."""
    local, domain = found["local"].lower(), text[found.end("at") : found.end()]
    if not local.strip(".+%'-") or local in {"git", "this", "super", "return"}:
        return False
    before = text[max(0, found.start() - 200) : found.start()]
    if before.endswith("\\") and local in {"n", "r", "t"}:  # a decorator behind an escaped line end
        return False
    if before.endswith("@") or found["top"].lower() in read_word_table("no_top_level"):
        return False
    if compile_pattern(r"v?\d+\.\d|[1-9]x\.").match(domain):
        return False
    behind = compile_pattern(r":(?:[~/.:]|\d{1,5}\b|[\w.-]+(?:/|\.[a-z]{2,4}\b))")
    if behind.match(text, found.end()):
        return False
    return compile_pattern(_LOGIN_BEFORE).search(before) is None


# 4. Payment cards: ISO/IEC 7812, the ranges as the networks publish them ----------------------

_BLANK: Final = " \u00a0\u202f"
_GAP: Final = rf"[{_BLANK}.\u2011\u2013-]"  # one sign between groups, the same each time
_CARD: Final = (
    r"[0-9](?<![\w.+/][0-9])(?<!\w-[0-9])(?:[0-9]{12,18}"  # a digit first: it is sought fast
    rf"|[0-9]{{3}}(?P<gap>{_GAP})(?:[0-9]{{4}}(?P=gap)[0-9]{{4}}(?P=gap)[0-9]{{4}}(?:(?P=gap)[0-9]{{1,3}})?"
    r"|[0-9]{6}(?P=gap)[0-9]{4,5}))(?!\w|-[0-9]|[.,][0-9])"
)
# Prefixes, and how many digits a number has that begins so.
_CARDS: Final = (
    (r"4", (13, 16, 19)),
    (r"5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)", (16,)),
    (r"3[47]", (15,)),
    (r"30[0-5]|3[689]", (14,)),
    (r"35(?:2[89]|[3-8])|6011|64[4-9]|65", (16,)),
    (r"62", (16, 17, 18, 19)),
    (r"50(?:18|20|38)|5893|6304|67(?:59|6[1-3])", (13, 15, 16, 18, 19)),
)


def cards(text: str) -> Iterator[Span]:
    position = 0
    while found := compile_pattern(_CARD).search(text, position):
        end = next((end for end in _ends(found.group()) if _is_card(found.group()[:end])), 0)
        end = 0 if _is_measured(text, found) else end
        if end:
            yield found.start(), found.start() + end, "card"
        # The next group may begin a number as well.
        position = found.start() + (end or 4)


def _is_measured(text: str, found: re.Match[str]) -> bool:
    """A number in one run with a unit behind it, and no word of paying before it."""
    if not found.group().isdigit() or not compile_pattern(_MEASURED).match(text, found.end()):
        return False
    before = text[max(0, found.start() - 40) : found.start()]
    money = compile_pattern(_MONEY).match(text, found.end())
    return money is None and compile_pattern(_PAID_WITH).search(before) is None


def _ends(candidate: str) -> tuple[int, ...]:
    """All of it, or without the last group, which may be a code or a date behind the number."""
    shorter = 19 if len(candidate) > 19 and not candidate.isdigit() else 0
    return (len(candidate), shorter) if shorter else (len(candidate),)


def _is_card(candidate: str) -> bool:
    digits = "".join(c for c in candidate if c.isdigit())
    prefixes = (prefix for prefix, lengths in _CARDS if len(digits) in lengths)
    known = any(compile_pattern(prefix).match(digits) for prefix in prefixes)
    return known and _luhn(digits) and not (len(digits) == 13 and _is_article(digits))


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_article(digits: str) -> bool:
    """The number of an article: an EAN of 13 digits, whose checksum is another."""
    return (sum(map(int, digits[::2])) + 3 * sum(map(int, digits[1::2]))) % 10 == 0


# 5. IBANs: ISO 13616, the registry's lengths --------------------------------------------------

_IBANS: Final = """
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18
    DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23
    IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27
    MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19
    SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
"""
_IBAN: Final = (
    r"(?<![^\W_])[A-Za-z]{2}[0-9]{2}(?:[A-Za-z0-9]{11,29}"
    rf"|(?P<gap>{_GAP})[A-Za-z0-9]{{4}}(?:(?P=gap)[A-Za-z0-9]{{4}}){{1,6}}"
    r"(?:(?P=gap)[A-Za-z0-9]{1,4})?)(?![^\W_])"
)


_IBAN_DIGIT: Final = r"[0-9](?<=[A-Za-z]{2}[0-9])[0-9]"  # sought faster than two letters


def ibans(text: str) -> Iterator[Span]:
    position = 0
    while digit := compile_pattern(_IBAN_DIGIT).search(text, position + 2):
        found = compile_pattern(_IBAN).match(text, digit.start() - 2)
        if not found:
            position = digit.start() - 1
            continue
        end = _end_of_iban(found.group(), found["gap"] or "")
        if end:
            yield found.start(), found.start() + end, "iban"
        position = found.start() + (end or 4)


def _end_of_iban(candidate: str, gap: str) -> int:
    """The length of the account; words may follow in groups of four. 0 without an account."""
    lengths = {entry[:2]: int(entry[2:]) for entry in _IBANS.split()}
    length = lengths.get(candidate[:2].upper())
    if length is None:
        return 0
    end = length + (length - 1) // 4 if gap else length
    ended = end == len(candidate) or candidate[end : end + 1] == gap
    account = candidate[:end].replace(gap, "") if gap else candidate[:end]
    if not ended or len(account) != length:
        return 0
    number = "".join(str(int(c, 36)) for c in account[4:] + account[:4])
    return end if int(number) % 97 == 1 else 0


# 6. Phone numbers with a country code: ITU-T E.164, E.123 -------------------------------------

# Possessive, so that a run of digits is read in one way only.
_BETWEEN: Final = rf"[{_BLANK}]?+\)?+[{_BLANK}]?+[-./\u2013]?+[{_BLANK}]?+\(?+"
_NORTH_AMERICAN: Final = rf"1{_BETWEEN}[2-9][0-9]{{2}}{_BETWEEN}[2-9][0-9]{{2}}{_BETWEEN}[0-9]{{4}}"
_RUSSIAN: Final = rf"7{_BETWEEN}[3489][0-9]{{2}}(?:{_BETWEEN}[0-9]{{2,3}}){{2,3}}"
_COUNTRY: Final = (
    r"2(?:[07]|[1-69][0-9])|3(?:[0-469]|[578][0-9])|4(?:[013-9]|2[0-9])|5(?:[1-8]|[09][0-9])"
    r"|6(?:[0-6]|[7-9][0-9])|8(?:[1246]|[0357-9][0-9])|9(?:[0-58]|[679][0-9])"
)
_NUMBER: Final = (
    rf"(?P<number>{_NORTH_AMERICAN}|{_RUSSIAN}"
    rf"|(?P<country>{_COUNTRY})(?P<national>(?:{_BETWEEN}[0-9]{{1,13}}+){{1,8}}))"
    rf"(?!\w|[.,:/-][0-9]|[{_BLANK}]?[%€$£¥₹])"
)
# A plus, also as a URL writes it, or what is dialled for it: 00, 011 in America, 0011 in Australia.
PHONE: Final = (
    "^+ %2 00 011 | "
    rf"(?<![\w.+)\]-])(?:\+|%2[Bb]|(?<![0-9][{_BLANK}-])(?P<zeros>(?:0011|011|00){_GAP}?)){_NUMBER}"
)
_LINK: Final = rf"(?i:\bwa\.me/|\bwhatsapp\S{{0,40}}[?&]phone=|\btel:)(?P<linked>\+?{_NUMBER})"
_DIGITS_MAX: Final = 15  # E.164
_DIGITS_MIN: Final = 9  # with the country code; the shortest plans have numbers of six digits
# The countries whose numbers have six digits: nine in groups of three are no thousands there.
_SHORT_PLANS: Final = r"29[89]|352|37[68]|508|597|67[26]|68[15789]"
_CONSTANTS: Final = r"314159|271828|141421|161803"  # pi, e, the roots: padded digits, no country
_CALLED: Final = (
    r"(?i)\b(?:phone|mobile|cell|tel|call|dial|ring|text|fax|sms|whatsapp|signal|ruf|handy|mobil|"
    r"appel|portable|llama|m[oó]vil)"
)
_COUNTED: Final = (
    r"(?i)(?:\b(?:id|ids|no|nr|number|order|invoice|ticket|sku|article|part|serial|batch|build|"
    r"commit|code|bestellung|rechnung|auftrag|artikel|kunde|commande|facture|pedido|factura)"
    r"[\w.-]{0,20}|[#=_/])[\s:#=\"']{0,3}$"
)
# What is counted or measured, in four languages: a number with a unit is no phone number.
_UNITS: Final = (
    r"eur(?:os?)?|usd|gbp|chf|jpy|cny|inr|dollars?|d[oó]lares|pounds?|francs?|franken|cents?|cts|"
    r"(?:[kmgt]i?)?(?:b|bytes?|bits?|octets?)|[kmgt]o|(?:[mnuµ]|milli|micro|nano)?s(?:ec(?:ond)?s?)?|"
    r"m(?:in(?:ute)?s?)?|h(?:ours?|eures?|oras?)?|days?|jours?|d[ií]as?|tage?n?|stunden?|minuten?|"
    r"minutos|sekunden?|segundos?|secondes?|[ck]?m|k?g|k?wh?|[kmg]?hz|°c|(?:more|less) than|"
    r"times|fois|veces|percent|prozent|pour ?cent|por ciento|points?|punkte|puntos|"
    r"lines?|rows?|records?|entries|items?|requests?|calls|queries|events?|messages?|users?|customers?|"
    r"clients|downloads?|views?|visits?|hits?|clicks?|sessions?|tokens?|characters?|chars|words|files?|"
    r"objects?|documents?|orders?|transactions?|operations?|ops|iterations?|steps|cycles?|samples?|"
    r"errors?|commits?|tests?|pixels?|px|people|inhabitants|units?|pieces|copies|votes|"
    r"zeilen|datensätze|einträge|anfragen|aufrufe|abfragen|ereignisse|nachrichten|nutzer|benutzer|"
    r"kunden|zeichen|wörter|dateien|objekte|bestellungen|fehler|schritte|einheiten|stück|einwohner|"
    r"menschen|personen|treffer|"
    r"lignes|enregistrements|entrées|requêtes|appels|événements|utilisateurs|caractères|mots|fichiers|"
    r"commandes|opérations|erreurs|unités|habitants|personnes|octets|"
    r"l[ií]neas|filas|registros|entradas|peticiones|solicitudes|consultas|llamadas|eventos|mensajes|"
    r"usuarios|clientes|caracteres|palabras|archivos|ficheros|pedidos|operaciones|errores|unidades|"
    r"habitantes|personas|visitas|descargas"
)
_MEASURED: Final = (
    rf"(?i)[{_BLANK}](?:(?:more|new|active|unique|total|additional|extra|neue|weitere|nouve(?:lles|aux)|"
    rf"nuev[ao]s|of|de)[{_BLANK}])?(?:{_UNITS})(?![\w'\u2019])"
)
# Money, or one letter, which is no sure unit behind a card.
_MONEY: Final = (
    rf"(?i)[{_BLANK}](?:\w(?!\w)|eur|usd|gbp|chf|jpy|cny|inr|dollar|d[oó]lar|pound|franc|franken)"
)
_PAID_WITH: Final = (
    r"(?i)(?:card|karte|carte|tarjeta|visa|amex|\b(?:pay|paid|pagar)|charge|zahl|\b(?:cc|pan)\b)"
)
_AMOUNT: Final = (
    r"(?i)(?:[€$£¥₹]|\b(?:eur|usd|gbp|chf|bytes|octets|rows|lines|requests|zeilen|lignes|filas|delta|"
    r"diff|growth|wachstum|balance|saldo|solde|total|sum|summe|profit|gewinn)\b)[\s:=]{0,3}$"
)


def phones(text: str) -> Iterator[Span]:
    found = [*find_by_rule(PHONE, text)]
    if "wa.me/" in (low := text.lower()) or "phone=" in low or "tel:" in low:
        found += compile_pattern(_LINK).finditer(text)
        found.sort(key=lambda match: match.span())
    done = 0
    for match in found:
        start, end = match.span("linked" if match.re is compile_pattern(_LINK) else 0)
        if start >= done and _is_phone(text, match):
            yield start, end, "phone"
            done = end


def _is_phone(text: str, found: re.Match[str]) -> bool:
    before = text[max(0, found.start() - 40) : found.start()]
    digits = "".join(c for c in found["number"] if c.isdigit())
    linked = found.re is compile_pattern(_LINK)
    called = linked or compile_pattern(_CALLED).search(before) is not None
    if not linked and found["zeros"] and not called and _is_padded(found, digits, before):
        return False
    if found["country"] is None:
        return len(digits) == 11  # in North America and in Russia
    national = found["national"]
    if digits.endswith("000000") or not _DIGITS_MIN <= len(digits) <= _DIGITS_MAX:
        return False
    if "." in national and compile_pattern(r"(?:\.[0-9]+){2,}").fullmatch(national) is None:
        return False  # a decimal number, a place on the globe
    # Also thousands are grouped so, and a large number is written in one run.
    if not (
        national.isdigit() or compile_pattern(rf"(?:[{_BLANK}.][0-9]{{3}})+").fullmatch(national)
    ):
        return True
    if compile_pattern(_MEASURED).match(text, found.end()):
        return False
    if compile_pattern(_AMOUNT).search(before):
        return False
    short = compile_pattern(_SHORT_PLANS).fullmatch(found["country"]) is not None
    return called or len(digits) > _DIGITS_MIN or short


def _is_padded(found: re.Match[str], digits: str, before: str) -> bool:
    """A number filled up with zeros, not one that is dialled."""
    if compile_pattern(rf"00{_GAP}").fullmatch(found["zeros"]):  # digits in columns
        return True
    if found["zeros"] == "011" and found["number"].isdigit():
        return True
    constant = found["number"].isdigit() and compile_pattern(_CONSTANTS).match(digits)
    return bool(constant or compile_pattern(_COUNTED).search(before))
