"""Numbers that name a person's money or line: payment cards, IBANs, phone numbers.

A checksum tells a card and an account from an order's number; a phone number is told by its
country code. Any other number stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.patterns import Span, compiled

# 1. Payment cards: ISO/IEC 7812, the ranges as the networks publish them ----------------------

_BLANK: Final = " \u00a0\u202f"
_GAP: Final = rf"[{_BLANK}.\u2011\u2013-]"  # one sign between groups, the same each time
_CARD: Final = (
    r"(?<![\w.+/])(?<!\w-)(?:[0-9]{13,19}"
    rf"|[0-9]{{4}}(?P<gap>{_GAP})(?:[0-9]{{4}}(?P=gap)[0-9]{{4}}(?P=gap)[0-9]{{4}}(?:(?P=gap)[0-9]{{1,3}})?"
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
    while found := compiled(_CARD).search(text, position):
        end = next((end for end in _ends(found.group()) if _is_card(found.group()[:end])), 0)
        end = 0 if _is_measured(text, found) else end
        if end:
            yield found.start(), found.start() + end, "card"
        # The next group may begin a number as well.
        position = found.start() + (end or 4)


def _is_measured(text: str, found: re.Match[str]) -> bool:
    """A number in one run with a unit behind it, and no word of paying before it."""
    if not found.group().isdigit() or not compiled(_MEASURED).match(text, found.end()):
        return False
    before = text[max(0, found.start() - 40) : found.start()]
    money = compiled(_MONEY).match(text, found.end())
    return money is None and compiled(_PAID_WITH).search(before) is None


def _ends(candidate: str) -> tuple[int, ...]:
    """All of it, or without the last group, which may be a code or a date behind the number."""
    shorter = 19 if len(candidate) > 19 and not candidate.isdigit() else 0
    return (len(candidate), shorter) if shorter else (len(candidate),)


def _is_card(candidate: str) -> bool:
    digits = "".join(c for c in candidate if c.isdigit())
    known = any(
        len(digits) in lengths and compiled(prefix).match(digits) for prefix, lengths in _CARDS
    )
    return known and _luhn(digits) and not (len(digits) == 13 and _is_article(digits))


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_article(digits: str) -> bool:
    """The number of an article: an EAN of 13 digits, whose checksum is another."""
    return (sum(map(int, digits[::2])) + 3 * sum(map(int, digits[1::2]))) % 10 == 0


# 2. IBANs: ISO 13616, the registry's lengths --------------------------------------------------

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


def ibans(text: str) -> Iterator[Span]:
    position = 0
    while found := compiled(_IBAN).search(text, position):
        end = _end_of_iban(found.group(), found["gap"] or "")
        if end:
            yield found.start(), found.start() + end, "iban"
        position = found.start() + (end or 4)


def _end_of_iban(candidate: str, gap: str) -> int:
    """The length of the account; words may follow in groups of four. 0 without an account."""
    length = _lengths().get(candidate[:2].upper())
    if length is None:
        return 0
    end = length + (length - 1) // 4 if gap else length
    ended = end == len(candidate) or candidate[end : end + 1] == gap
    account = candidate[:end].replace(gap, "") if gap else candidate[:end]
    return end if ended and len(account) == length and _mod_97(account) == 1 else 0


def _lengths() -> dict[str, int]:
    return {entry[:2]: int(entry[2:]) for entry in _IBANS.split()}


def _mod_97(account: str) -> int:
    return int("".join(str(int(c, 36)) for c in account[4:] + account[:4])) % 97


# 3. Phone numbers with a country code: ITU-T E.164, E.123 -------------------------------------

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
_PHONE: Final = (
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
    is_dialled = any(sign in text for sign in ("+", "%2", "00", "011"))
    found = [*compiled(_PHONE).finditer(text)] if is_dialled else []
    if "wa.me/" in (low := text.lower()) or "phone=" in low or "tel:" in low:
        found = sorted((*found, *compiled(_LINK).finditer(text)), key=lambda match: match.span())
    done = 0
    for match in found:
        start, end = match.span("linked" if match.re is compiled(_LINK) else 0)
        if start >= done and _is_phone(text, match):
            yield start, end, "phone"
            done = end


def _is_phone(text: str, found: re.Match[str]) -> bool:
    before = text[max(0, found.start() - 40) : found.start()]
    digits = "".join(c for c in found["number"] if c.isdigit())
    linked = found.re is compiled(_LINK)
    called = linked or compiled(_CALLED).search(before) is not None
    if not linked and found["zeros"] and not called and _is_padded(found, digits, before):
        return False
    if found["country"] is None:
        return len(digits) == 11  # in North America and in Russia
    national = found["national"]
    if digits.endswith("000000") or not _DIGITS_MIN <= len(digits) <= _DIGITS_MAX:
        return False
    if "." in national and compiled(r"(?:\.[0-9]+){2,}").fullmatch(national) is None:
        return False  # a decimal number, a place on the globe
    # Also thousands are grouped so, and a large number is written in one run.
    if not (national.isdigit() or compiled(rf"(?:[{_BLANK}.][0-9]{{3}})+").fullmatch(national)):
        return True
    if compiled(_MEASURED).match(text, found.end()) or compiled(_AMOUNT).search(before):
        return False
    short = compiled(_SHORT_PLANS).fullmatch(found["country"]) is not None
    return called or len(digits) > _DIGITS_MIN or short


def _is_padded(found: re.Match[str], digits: str, before: str) -> bool:
    """A number filled up with zeros, not one that is dialled."""
    if compiled(rf"00{_GAP}").fullmatch(found["zeros"]):  # digits in columns
        return True
    if found["zeros"] == "011" and found["number"].isdigit():
        return True
    constant = found["number"].isdigit() and compiled(_CONSTANTS).match(digits)
    return bool(constant or compiled(_COUNTED).search(before))
