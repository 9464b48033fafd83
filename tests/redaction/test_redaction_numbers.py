"""Redaction of payment cards, IBANs and phone numbers: no miss and no false alarm.

The cards are the networks' test numbers and the IBANs those of the registry's examples. Phone
numbers come from ranges that are kept for fiction. `↵` stands for a line break.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.redaction.masking import redact
from tests.each import each
from tests.redaction.test_redaction import pairs

CARDS = r"""
card 4532015112830 EUR 50
    card [redacted:card] EUR 50
4111111111111111 usd 20
    [redacted:card] usd 20
pay with 4111111111111111 times 3
    pay with [redacted:card] times 3
4111111111111111
    [redacted:card]
4111 1111 1111 1111
    [redacted:card]
4111-1111-1111-1111
    [redacted:card]
Pay with 4242 4242 4242 4242, please
    Pay with [redacted:card], please
card: 5555555555554444
    card: [redacted:card]
MasterCard 5105 1051 0510 5100.
    MasterCard [redacted:card].
2223003122003222
    [redacted:card]
2223 0031 2200 3222 is a new one
    [redacted:card] is a new one
Amex 378282246310005
    Amex [redacted:card]
amex: 3782 822463 10005
    amex: [redacted:card]
3714-496353-98431
    [redacted:card]
Diners 30569309025904
    Diners [redacted:card]
3056 930902 5904
    [redacted:card]
38520000023237
    [redacted:card]
36227206271667
    [redacted:card]
Discover: 6011 1111 1111 1117
    Discover: [redacted:card]
6011000990139424
    [redacted:card]
JCB 3530111333300000
    JCB [redacted:card]
3566 0020 2036 0505
    [redacted:card]
UnionPay 6200000000000005
    UnionPay [redacted:card]
6205500000000000004
    [redacted:card]
6759 6498 2643 8453
    [redacted:card]
4222222222222
    [redacted:card]
{"card": "4012888888881881", "cvc": "123"}
    {"card": "[redacted:card]", "cvc": "123"}
4012 8888 8888 1881 12/27 123
    [redacted:card] 12/27 123
(4000056655665556)
    ([redacted:card])
card=4000 0000 0000 3220&amount=5
    card=[redacted:card]&amount=5
Die Kreditkarte ist 4111 1111 1111 1111.
    Die Kreditkarte ist [redacted:card].
4111 1111 1111 1111↵5555 5555 5555 4444
    [redacted:card]↵[redacted:card]
12 4111 1111 1111 1111
    12 [redacted:card]
2026 4111 1111 1111 1111
    2026 [redacted:card]
4111.1111.1111.1111
    [redacted:card]
Karte 4242.4242.4242.4242, bitte
    Karte [redacted:card], bitte
3782.822463.10005
    [redacted:card]
"""
NO_CARDS = r"""
took 4532015112830 ns
took 4111111111111111 ns
wrote 4111111111111111 bytes
4111111111111112
4111 1111 1111 1112
5555 5555 5555 4445
order 4111111111111113
1234567890123456
1234 5678 9012 3456
0000 0000 0000 0000
9999-9999-9999-9999
1700000000000
1732287586000
1732287586123456
1732287586123456789
20241122153000123
2024-11-22 15:30:00.123456
9780306406157
4006381333931
EAN 4012345678901
412345678901234567
550e8400-e29b-41d4-a716-446655440000
41111111-1111-1111-1111-111111111111
a4111111111111111
4111111111111111b
0x4111111111111111
0.4111111111111111
4111111111111111.5
4111,1111,1111,1111
build-4111111111111111
4111 1111 1111
4111 1111-1111 1111
41111 11111 11111 1
da39a3ee5e6b4b0d3255bfef95601890afd80709
SHA-1 4111111111111111da39a3ee5e6b4b0d3255bfef
tests 4242 of 4242 passed
port 4111, 1111 users, 1111 rows
IMEI 490154203237518
192.168.111.111 4111 1111
4111.1111.1111.1112
4111.1111.1111
4111.1111.1111.1111.1111
4111.1111-1111.1111
v4.4242.4242.4242
"""
IBANS = r"""
DE89370400440532013000
    [redacted:iban]
DE89 3704 0044 0532 0130 00
    [redacted:iban]
de89 3704 0044 0532 0130 00
    [redacted:iban]
de89370400440532013000
    [redacted:iban]
IBAN: DE89 3704 0044 0532 0130 00.
    IBAN: [redacted:iban].
Überweise an AT61 1904 3002 3457 3201
    Überweise an [redacted:iban]
BE68 5390 0754 7034
    [redacted:iban]
BE68-5390-0754-7034
    [redacted:iban]
CH93 0076 2011 6238 5295 7
    [redacted:iban]
CH9300762011623852957 is ours
    [redacted:iban] is ours
CZ65 0800 0000 1920 0014 5399
    [redacted:iban]
DK50 0040 0440 1162 43
    [redacted:iban]
ES91 2100 0418 4502 0005 1332
    [redacted:iban]
La cuenta es ES9121000418450200051332
    La cuenta es [redacted:iban]
FI21 1234 5600 0007 85
    [redacted:iban]
FR14 2004 1010 0505 0001 3M02 606
    [redacted:iban]
Le compte FR1420041010050500013M02606 est le nôtre
    Le compte [redacted:iban] est le nôtre
GB29 NWBK 6016 1331 9268 19
    [redacted:iban]
pay GB29NWBK60161331926819, thanks
    pay [redacted:iban], thanks
IE29 AIBK 9311 5212 3456 78
    [redacted:iban]
IT60 X054 2811 1010 0000 0123 456
    [redacted:iban]
LI21 0881 0000 2324 013A A
    [redacted:iban]
LU28 0019 4006 4475 0000
    [redacted:iban]
MT84 MALT 0110 0001 2345 MTLC AST0 01S
    [redacted:iban]
NL91 ABNA 0417 1643 00
    [redacted:iban]
NO93 8601 1117 947
    [redacted:iban]
PL61 1090 1014 0000 0712 1981 2874
    [redacted:iban]
PT50 0002 0123 1234 5678 9015 4
    [redacted:iban]
SE45 5000 0000 0583 9825 7466
    [redacted:iban]
iban=NL91ABNA0417164300;bic=ABNANL2A
    iban=[redacted:iban];bic=ABNANL2A
NL91 ABNA 0417 1643 00 from 2027 on
    [redacted:iban] from 2027 on
NL91 ABNA 0417 1643 00 each year
    [redacted:iban] each year
"iban": "SA0380000000608010167519"
    "iban": "[redacted:iban]"
DE89.3704.0044.0532.0130.00
    [redacted:iban]
FR14.2004.1010.0505.0001.3M02.606
    [redacted:iban]
Konto BE68.5390.0754.7034.
    Konto [redacted:iban].
"""
NO_IBANS = r"""
DE88370400440532013000
DE89 3704 0044 0532 0130 01
DE89 3704 0044 0532 0130
DE893704004405320130001
XDE89370400440532013000
DE89370400440532013000X
DE89-370400440532013000
XX89 3704 0044 0532 0130 00
AA12345678901234567890
IBAN-Prüfung
IBAN: 22 characters in Germany
IBAN: DExx xxxx xxxx xxxx xxxx xx
DE00 0000 0000 0000 0000 00
NL91 ABNA 0417
BE68 5390
GB29 NWBK
ID12 3456 7890 1234 5678 90
UTF16 is no encoding of ours
AT 61 items, CH 93 of them
de89 is the first group of an account
da39a3ee5e6b4b0d3255bfef95601890afd80709
be68539007547035
build de123456789012345678
9fceb02d0ae598e95dc970b74767f19372d61af8
SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDD5WcHQrNOb8bVUo0
550e8400-e29b-41d4-a716-446655440000
ES2022 modules and ES2023 arrays
CH32 V003 chips from 2024 on, with 16 pins
AC12 BE34 CD56 DE78 EF90 AA11
PT100 sensors at 4000 ohms
NO12 or NO13 in room 1200
SE22 0001 0002 0003 0004 0005
LT32 timers, RO24 oscillators
DE89.3704.0044.0532.0130.01
DE89.3704.0044
BE68.5390.0754-7034
"""
PHONES = r"""
+49 30 901820
    [redacted:phone]
+4930901820123
    [redacted:phone]
+49 (30) 901820
    [redacted:phone]
+49 (0)30 901820
    [redacted:phone]
+49 170/1234567
    [redacted:phone]
Ruf mich an: +49 151 23456789.
    Ruf mich an: [redacted:phone].
0049 30 901820
    [redacted:phone]
0049301234567
    [redacted:phone]
Telefon 0049-30-901820
    Telefon [redacted:phone]
+1 (415) 555-2671
    [redacted:phone]
+14155552671
    [redacted:phone]
+1-202-555-0123
    [redacted:phone]
+1.202.555.0123
    [redacted:phone]
Call +1 202 555 0123, then wait
    Call [redacted:phone], then wait
001 202 555 0123
    [redacted:phone]
+44 20 7946 0958
    [redacted:phone]
+44 (0)20 7946 0958
    [redacted:phone]
+44 7700 900123
    [redacted:phone]
(call +44 7700 900123)
    (call [redacted:phone])
+33 1 99 00 12 34
    [redacted:phone]
+33199001234
    [redacted:phone]
Appelle le +33 6 39 98 12 34 ce soir
    Appelle le [redacted:phone] ce soir
+34 612 345 678
    [redacted:phone]
Llama al +34 91 123 45 67
    Llama al [redacted:phone]
+351 912 345 678
    [redacted:phone]
+41 44 668 18 00
    [redacted:phone]
+43 1 234567
    [redacted:phone]
tel:+43-1-2345678
    tel:[redacted:phone]
+7 495 123-45-67
    [redacted:phone]
+61 491 570 156
    [redacted:phone]
+81 3-1234-5678
    [redacted:phone]
+91 98765 43210
    [redacted:phone]
+353 20 915 1234
    [redacted:phone]
phone: +376 312 345
    phone: [redacted:phone]
{"phone": "+4915112345678"}
    {"phone": "[redacted:phone]"}
+49 30 901820 / +49 30 901821
    [redacted:phone] / [redacted:phone]
SMS to +46 70 174 06 05!
    SMS to [redacted:phone]!
011 49 170 1234567
    [redacted:phone]
call 011-44-20-7946-0958 from the US
    call [redacted:phone] from the US
call 01149301234567
    call [redacted:phone]
0011 49 170 1234567
    [redacted:phone]
wa.me/491701234567
    wa.me/[redacted:phone]
https://wa.me/33639981234?text=hi
    https://wa.me/[redacted:phone]?text=hi
https://api.whatsapp.com/send?phone=447700900123
    https://api.whatsapp.com/send?phone=[redacted:phone]
whatsapp://send?phone=%2B447700900123&text=hi
    whatsapp://send?phone=[redacted:phone]&text=hi
?tel=%2b447700900123
    ?tel=[redacted:phone]
https://t.me/+447700900123
    https://t.me/[redacted:phone]
tel:447700900123
    tel:[redacted:phone]
+376 312 345
    [redacted:phone]
+376312345
    [redacted:phone]
Mi número es +376 312 345, gracias
    Mi número es [redacted:phone], gracias
+299 32 10 00
    [redacted:phone]
+33 612 345 678
    [redacted:phone]
+33 612 345 678 after 6 pm
    [redacted:phone] after 6 pm
+34 612 345 678 por la tarde
    [redacted:phone] por la tarde
Kannst du +49 301 234 567 mal anrufen?
    Kannst du [redacted:phone] mal anrufen?
+33.612.345.678
    [redacted:phone]
+33 6 39 98 12 34 h
    [redacted:phone] h
appelez le 00 33 6 39 98 12 34
    appelez le [redacted:phone]
"""
NO_PHONES = r"""
+1
+1 from me
C++11, C++17 and C++20
C++ 20 23 26 29 32
+100 %
+49 %
+49 30 90 %
growth of +49 301 234 567 €
+5 to +10
+10-20
2 + 49301234567
x+49301234567
a[i]+4930123456
[+100, +200, +300]
[+100000000, +200000000]
+0.5 and -0.5
+49.30901820
+40.7127-074.0059
+48.8577+002.2950
UTC+1, UTC+01:00
2026-11-22T10:00:00+0100
2026-11-22T10:00:00+01:00
+0100
1e+10 and 1.5e+308
v1.2.3+49301234567
1.2.3+build.49301234567
+1 2024-01-01 10:00
+1 123 456 7890
+12345678
+1234567890
+100000000000
+44 000 000 000
+234 567 890 rows
+44 (0)20
+49 30
0049
00
007
0012345678
order 0041234567890
order no. 0049301234567
id=0049301234567
id: 00491234567890
#0049301234567
/orders/0049301234567
0000000000000
00:49:30.901820
git diff +12 -34
+++ b/file.py
++49301234567
increase by +25, +50 or +75 ms
+49301234567890123456
+33 612 345 678 EUR
+33 612 345 678 euros
+33 612 345 678 USD since May
+33 612 345 678 bytes
+33612345678 bytes
+49 301 234 567 B
+33 612 345 678 requests
+33 612 345 678 new requests
+33 612 345 678 more rows than before
+33 612 345 678 lines, -12
+33 612 345 678 octets
+33 612 345 678 lignes
+33 612 345 678 requêtes
+33 612 345 678 filas
+34 612 345 678 peticiones
+49 301 234 567 Zeilen
+49 301 234 567 weitere Anfragen
+33.612.345.678 EUR
+376 312 345 rows
EUR +33 612 345 678
rows: +33 612 345 678
delta = +33612345678
0031415926535
0027182818284
0014142135623
01149301234567
0049301234567 bytes
order 011-4930-1234567
011 items
port 011
wa.me/
wa.me/qr
wa.me/491701234567890123
phone=1
tel:911
00 33 6 39 98 12 34
00 49 30 20 10 45 07
+34 612 345 678 de euros
"""


TYPOGRAPHIC = [
    ("4111\u20111111\u20111111\u20111111", "[redacted:card]"),
    ("5555\u20135555\u20135555\u20134444", "[redacted:card]"),
]


@each(("text", "recorded"), [*pairs(CARDS, IBANS, PHONES), *TYPOGRAPHIC])
def test_a_number_of_a_person_goes_and_the_rest_stays(text: str, recorded: str) -> None:
    assert redact(text).text == recorded
    assert redact(recorded) == (recorded, ())


@each("text", "".join((NO_CARDS, NO_IBANS, NO_PHONES)).split("\n"))
def test_another_number_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("guilty", "innocent"), [(CARDS, NO_CARDS), (IBANS, NO_IBANS), (PHONES, NO_PHONES)]
)
def test_each_kind_has_as_many_innocents_as_positives(guilty: str, innocent: str) -> None:
    assert len(pairs(guilty)) >= 25
    assert len(innocent.strip().splitlines()) >= len(pairs(guilty))


NUMBERS = ["4111 1111 1111 1111", "378282246310005", "DE89 3704 0044 0532 0130 00", "+49 30 901820"]
PIECES = st.sampled_from(
    [*NUMBERS, *"0123456789", *"+-./() \n", "00", "4111", "DE89", "\u00a0", "[redacted:card]", "٤"]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_redacting_numbers_again_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once) == (once, ())


@given(st.text("abc .,;:\n"), st.sampled_from(NUMBERS), st.text("abc ,;:\n"))
def test_a_number_goes_wherever_it_stands(before: str, number: str, after: str) -> None:
    assert len(redact(f"{before} {number} {after}").kinds) == 1


LONG = 50_000  # characters
UNITS = """
wa.me/|wa.me/49|tel:|011 49|0011|4111.|DE89.|%2B49|+33 612 |1|4|4111 |4111-
1234 5678 |+|+4|+49 |00|(0)|1(|49 30/|DE89|DE89 |a1|+1 202 555 |00 1 |+49(|- -|.
"""


@pytest.mark.parametrize("unit", UNITS.strip("\n").replace("\n", "|").split("|"))
def test_a_long_text_without_a_whole_number_stays(unit: str) -> None:
    text = unit * (LONG // len(unit))
    assert redact(text) == (text, ())
