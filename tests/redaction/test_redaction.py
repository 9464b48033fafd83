"""Redaction: the corpus that holds it to no miss and no false alarm, and the laws it keeps.

Every secret here is made up. What has a vendor's shape is put together at run time, so that no
scanner of secrets stops this file. `↵` stands for a line break.
"""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.redaction.patterns import KINDS
from tests.each import each
from tests.filed_cases import filed_cases
from tests.redaction.every_kind import redact, redact_hidden

FILED = filed_cases(__file__)

MIX = "a1B2" * 12  # 48 characters
HEX = "0a1b2c3d" * 8  # 64 characters
GITHUB = "ghp_" + "a1" * 18
AWS = "AKIA" + "IOSFODNN7" + "EXAMPLE"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
OPENAI = "sk-" + "proj-" + MIX
STRIPE = "sk_" + "live_" + MIX[:24]
JWT = ".".join(("eyJhbGciOi" + "JIUzI1NiJ9", "eyJzdWIi" + "OiIxMjMifQ", MIX))
HEADER, FOOTER = "-----BEGIN {}PRIVATE" + " KEY-----", "-----END {}PRIVATE" + " KEY-----"
PEM = f"{HEADER.format('RSA ')}\nMII{MIX}\n{MIX}==\n{FOOTER.format('RSA ')}"

# 1. What must go: the text, and below it what may be recorded

SETTINGS = FILED["SETTINGS"]
SENTENCES = FILED["SENTENCES"]
GERMAN = FILED["GERMAN"]
URLS = FILED["URLS"]
HEADERS = FILED["HEADERS"]
COMMANDS = FILED["COMMANDS"]
ADDRESSES = FILED["ADDRESSES"]
GUILTY = (SETTINGS, SENTENCES, GERMAN, URLS, HEADERS, COMMANDS, ADDRESSES)


def pairs(*blocks: str) -> list[tuple[str, str]]:
    """Pairs of a text and what may be recorded of it."""
    lines = [line.replace("↵", "\n") for block in blocks for line in block.strip("\n").splitlines()]
    return [
        (text, line.removeprefix("    "))
        for text, line in zip(lines[::2], lines[1::2], strict=True)
    ]


# Pairs of a credential and what it is recorded as.
SHAPES = [
    (AWS, "key"),
    ("ASIA" + "Y34FZKBOKMUTVV7A", "key"),
    ("sk-" + MIX, "key"),
    ("sk-" + "abc123def456", "key"),
    (OPENAI, "key"),
    ("sk-" + "svcacct-" + MIX, "key"),
    ("sk-" + "ant-api03-" + MIX, "key"),
    ("sk-" + "or-v1-" + HEX, "key"),
    (STRIPE, "key"),
    ("sk_" + "test_" + MIX[:24], "key"),
    ("rk_" + "live_" + MIX[:24], "key"),
    ("whsec_" + MIX[:32], "key"),
    ("AIza" + "Sy" + MIX[:33], "key"),
    ("GOC" + "SPX-" + MIX[:28], "key"),
    ("SK" + HEX[:32], "key"),
    ("SG." + MIX[:22] + "." + MIX[:43], "key"),
    ("key-" + HEX[:32], "key"),
    (HEX[:32] + "-us12", "key"),
    ("AGE-SECRET-" + "KEY-1" + "QPZRY9X8" * 7, "key"),
    ("A3-" + "ABCDEF-GHIJKL-MNOPQ-RSTUV-WXYZ2-34567", "key"),
    ("NRAK-" + "ABC123" * 5, "key"),
    ("PMAK-" + HEX[:24] + "-" + HEX[:34], "key"),
    ("LTAI" + MIX[:20], "key"),
    ("gsk_" + MIX, "key"),
    ("xai-" + MIX, "key"),
    ("pplx-" + MIX, "key"),
    ("lin_api_" + MIX[:40], "key"),
    ("tskey-" + "auth-" + MIX[:12] + "-" + MIX[:20], "key"),
    ("sq0csp-" + MIX[:43], "key"),
    ("xkeysib-" + HEX + "-" + MIX[:16], "key"),
    ("abC8" + "Q~" + MIX[:34], "key"),
    ("tvly-" + "dev-" + MIX[:32], "key"),
    ("tvly-" + "dev-" + MIX[:5] + "-" + MIX[:45], "key"),
    ("csk-" + HEX[:48], "key"),
    ("fc-" + HEX[:32], "key"),
    ("AQ." + "Ab8RN6" + MIX[:44], "key"),
    ("tgp_" + "v1_" + MIX[:20] + "-" + MIX[:22], "token"),
    ("vck_" + MIX + MIX[:12], "token"),
    ("cfut_" + MIX, "token"),
    ("cfat_" + MIX, "token"),
    ("cfk_" + MIX, "token"),
    (GITHUB, "token"),
    ("gho_" + MIX[:36], "token"),
    ("ghs_" + MIX[:36], "token"),
    ("ghu_" + MIX[:36], "token"),
    ("ghr_" + MIX[:36], "token"),
    ("github_" + "pat_" + MIX[:22] + "_" + MIX, "token"),
    ("glpat-" + MIX[:20], "token"),
    ("glrt-" + MIX[:20], "token"),
    ("xoxb-" + "123456789012-" + MIX[:24], "token"),
    ("xoxp-" + "123456789012-" + MIX[:24], "token"),
    ("xapp-1-" + "A0123456789-" + HEX, "token"),
    ("ya29." + MIX, "token"),
    ("1//0g" + MIX, "token"),
    ("npm_" + MIX[:36], "token"),
    ("pypi-" + "AgEIcHlwaS5vcmc" + MIX, "token"),
    ("hf_" + "aBcDeF" * 5 + "gHiJ", "token"),
    ("dop_v1_" + HEX, "token"),
    ("123456789:" + "AA" + MIX[:33], "token"),
    ("MTAxMjM0" + MIX[:16] + ".GabcDE." + MIX[:38], "token"),
    ("sntrys_" + MIX, "token"),
    ("dapi" + HEX[:32], "token"),
    ("hvs." + MIX, "token"),
    ("shpat_" + HEX[:32], "token"),
    ("dckr_" + "pat_" + MIX[:27], "token"),
    ("figd_" + MIX[:40], "token"),
    ("ATATT3" + MIX, "token"),
    ("pul-" + HEX[:40], "token"),
    ("glsa_" + MIX[:32] + "_0a1b2c3d", "token"),
    ("sbp_" + HEX[:40], "token"),
    ("pat" + MIX[:14] + "." + HEX, "token"),
    ("key" + "Goa9mI63JozGw8", "token"),
    (JWT, "token"),
    (JWT.rpartition(".")[0], "token"),
    (PEM, "key"),
    (PEM.rpartition("-----END")[0].rstrip(), "key"),
    (PEM.replace("\n", "\\n"), "key"),
    (f"{HEADER.format('')}\nMIIEow...\n{FOOTER.format('')}", "key"),
    (f"{HEADER.format('OPENSSH ')}\nb3Blbn{MIX}", "key"),
]

# Pairs of a text and what may be recorded of it, with credentials that only exist at run time.
ASSEMBLED = [
    (f"Deploy with {AWS} to eu-central-1.", "Deploy with [redacted:key] to eu-central-1."),
    (f"aws_secret_access_key = {AWS_SECRET}", "aws_secret_access_key = [redacted:key]"),
    (f"export GITHUB_TOKEN={GITHUB}", "export GITHUB_TOKEN=[redacted:token]"),
    (f"Our key is {OPENAI}, keep it safe", "Our key is [redacted:key], keep it safe"),
    (f"STRIPE_SECRET_KEY={STRIPE}", "STRIPE_SECRET_KEY=[redacted:key]"),
    (f"Authorization: Bearer {JWT}", "Authorization: Bearer [redacted:token]"),
    (f"https://x.example/?jwt={JWT}&a=1", "https://x.example/?jwt=[redacted:token]&a=1"),
    (
        f"git clone https://oauth2:{GITHUB}@github.com/org/repo.git",
        "git clone https://oauth2:[redacted:token]@github.com/org/repo.git",
    ),
    (
        "https://hooks.slack.com/" + "services/T01ABCDEF/B01ABCDEF/" + MIX[:24],
        "https://hooks.slack.com/services/[redacted:token]",
    ),
    (
        "https://discord.com/api/" + "webhooks/123456789012345678/" + MIX,
        "https://discord.com/api/webhooks/[redacted:token]",
    ),
    (
        "https://api.telegram.org/" + "bot123456789:AA" + MIX[:33] + "/getMe",
        "https://api.telegram.org/bot[redacted:token]/getMe",
    ),
    (
        "https://" + HEX[:32] + "@o1.ingest.sentry.io/2",
        "https://[redacted:token]@o1.ingest.sentry.io/2",
    ),
    (
        "AccountName=a;AccountKey=" + MIX + "==;EndpointSuffix=core.windows.net",
        "AccountName=a;AccountKey=[redacted:key];EndpointSuffix=core.windows.net",
    ),
    (f"Sign with\n{PEM}\nand deploy.", "Sign with\n[redacted:key]\nand deploy."),
    ("the password is \u2018hunter2\u2019", "the password is \u2018[redacted:password]\u2019"),
    ("password \u2013 hunter2", "password \u2013 [redacted:password]"),
]


@each(("text", "recorded"), [*pairs(*GUILTY), *ASSEMBLED])
def test_a_secret_goes_and_the_rest_stays(text: str, recorded: str) -> None:
    assert redact(text).text == recorded


@each(("secret", "kind"), SHAPES)
def test_a_credential_goes_by_its_shape(secret: str, kind: str) -> None:
    assert redact(f"use {secret} for it") == (f"use [redacted:{kind}] for it", (kind,))
    assert redact(f'"{secret}",') == (f'"[redacted:{kind}]",', (kind,))
    encoded = b64encode(f"{secret}\n".encode()).decode()
    assert redact(f"data: {encoded}").kinds, encoded
    assert redact(f"data={encoded.rstrip('=')},").kinds, encoded


WORDS = "ribbon velvet anchor dune oxygen puzzle tiger marble window crisp lunar gadget"
NUMBERED = "\n".join(f"{number}. {word}" for number, word in enumerate(WORDS.split(), 1))


@each(
    "text",
    [
        f"Seed phrase: {WORDS}",
        f"SEED_PHRASE={WORDS} {WORDS}",
        f'"mnemonic": "{WORDS}"',
        f'const seed = "{WORDS}";',
        f"The recovery phrase is {WORDS}. Keep it.",
        f"Wiederherstellungsphrase: {WORDS}",
        f"Recovery phrase:\n{NUMBERED}",
    ],
)
def test_a_seed_phrase_goes_behind_its_label(text: str) -> None:
    recorded = redact(text)
    assert recorded.kinds == ("key",)
    assert not any(word in recorded.text for word in WORDS.split())


# 2. What must stay

INNOCENT = FILED["INNOCENT"]

INNOCENT_ASSEMBLED = [
    f"Detect {HEADER.format('')!r} headers in commits",
    f"It begins with {HEADER.format('')} and ends with {FOOTER.format('')}.",
    f"{HEADER.format('')}\n...\n{FOOTER.format('')}",
    "password \u2013 required",
    "password\u2026 forgotten?",
    "",
    f"a line of words is no seed: {WORDS}",
    f"ids: {b64encode(WORDS.encode()).decode()}",
]


@each("text", [*INNOCENT.strip("\n").splitlines(), *INNOCENT_ASSEMBLED])
def test_an_innocent_text_stays(text: str) -> None:
    text = text.replace("↵", "\n")
    assert redact(text) == (text, ())


def test_the_corpus_is_large_and_half_innocent() -> None:
    guilty = len(pairs(*GUILTY)) + len(SHAPES) + len(ASSEMBLED)
    innocent = len(INNOCENT.strip("\n").splitlines()) + len(INNOCENT_ASSEMBLED)
    assert guilty >= 110
    assert innocent >= 110
    assert 0.4 <= innocent / (guilty + innocent) <= 0.6


# 3. What the person is told


def test_the_kinds_are_told_in_order_of_appearance() -> None:
    text = f"ada@example.com, password hunter2, key {AWS}, then {GITHUB} and bob@example.com"
    assert redact(text).kinds == ("email", "password", "key", "token", "email")


def test_a_marker_that_was_there_is_neither_told_nor_touched() -> None:
    text = "password: [redacted:password], mail bob@example.com, token=[redacted:token]"
    assert redact(text) == (text.replace("bob@example.com", "[redacted:email]"), ("email",))


def test_nothing_is_read_across_a_marker() -> None:
    text = "the password is [redacted:password] required by [redacted:email] hunter2"
    assert redact(text) == (text, ())


# 4. Laws

FRAGMENTS = [
    *("password", "Passwort", "pw", "pin", "token", "secret", "api key", "session", "Bearer "),
    *("=", ": ", " is ", " ist ", " as ", " to ", "hunter2", "swordfish", "geheim123", "required"),
    *(AWS, GITHUB, OPENAI, JWT, PEM, HEADER.format(""), "sk-", "ghp_", "A1b2C3d4E5f6", "1234"),
    *("@", "alice@example.com", "bob%40x.de", "postgres://", "user:", "://", "(at)", "git@"),
    *("[redacted:token]", "[redacted:", "password]", "]", "\ufdd0", "${", "{{", "<", ">", "***"),
    *("\n", " ", "\t", "\\", '"', "'", "`", "„", "“", ",", ";", ".", "&", "|", "-", "_", "--", "İ"),
    *("curl -u ", "mysql -p", "login ", "value", "for the ", "of bob", " and ", "https://", "/"),
]
texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=16).map("".join))
# Without p, s, t and k there is no label, without a digit or a sign no shape and no address.
prose = st.text(alphabet="abcdefghijlmnoqruvwxyzäöüABCDEFG .,!?\n")


@given(texts)
def test_redacting_again_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once) == (once, ())


@given(texts)
def test_each_kind_told_is_a_marker_more(text: str) -> None:
    markers = [f"[redacted:{kind}]" for kind in KINDS]
    redacted = redact(text)
    before = sum(text.count(marker) for marker in markers)
    after = sum(redacted.text.count(marker) for marker in markers)
    assert after == before + len(redacted.kinds)


@given(prose)
def test_text_that_can_hold_no_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())


@given(prose, st.sampled_from(SHAPES), prose)
def test_a_credential_goes_from_anywhere(before: str, shape: tuple[str, str], after: str) -> None:
    secret, kind = shape
    expected = f"{before} [redacted:{kind}] {after}"
    assert redact(f"{before} {secret} {after}") == (expected, (kind,))


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_text_raises(text: str) -> None:
    redact(text)


# 5. Hostile texts: without bounds in the patterns, these would not end

MILLION = 1_000_000  # characters


@pytest.mark.slow("sizes")
@each("unit", ["a", "@", "password=", "-----BEGIN", "a@", "a.", "eyJ", "://a:", "[redacted:", "\\"])
def test_a_long_text_without_a_secret_stays(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert redact(text) == (text, ())


@each(
    ("unit", "recorded", "kind"),
    [
        ("password=hunter2 ", "password=[redacted:password] ", "password"),
        ("bob@example.com ", "[redacted:email] ", "email"),
        (f"{AWS} ", "[redacted:key] ", "key"),
        (f"{GITHUB}\n", "[redacted:token]\n", "token"),
        ("://a:b@ ", "://a:[redacted:password]@ ", "password"),
    ],
)
def test_secrets_without_number_all_go(unit: str, recorded: str, kind: str) -> None:
    number = 2_000
    assert redact(unit * number) == (recorded * number, (kind,) * number)


@each(
    ("start", "kind"),
    [
        ("password=hunter2", "password"),
        ("sk-a1", "key"),
        ("ghp_a1", "token"),
        ("eyJabcdef.", "token"),
    ],
)
def test_a_credential_without_end_goes_as_a_whole(start: str, kind: str) -> None:
    long = start + "x" * MILLION
    recorded = "password=[redacted:password]" if kind == "password" else f"[redacted:{kind}]"
    assert redact(long) == (recorded, (kind,))


def test_a_private_key_without_end_goes_as_a_whole() -> None:
    long = HEADER.format("RSA ") + "\nMII" + "a1B2" * (MILLION // 4)
    assert redact(long) == ("[redacted:key]", ("key",))


# Logins and headers ---------------------------------------------------------------------------


LOGINS = {
    "ada:$apr1$Qx7mVb2K$5yVtE0uWwqWZC1cJ9m3Ks/": "5yVtE0uWwqWZC1cJ9m3Ks/",
    "bob:$2y$05$W8wXk3l0mYqWcQm2H0dZ1OeXzB4yq1Jc2JZ3mG1QZ1bq3oZ8mGd1K": "W8wXk3l0mYqWcQm2H0dZ1O",
    "carol:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=": "5en6G6MezRroT3XKqkdPOmY",
    "dan:$6$rounds=5000$Sa1tSa1t$kJ8hQw2eR5tYkJ8hQw2eR5tYkJ8hQw": "kJ8hQw2eR5tY",
    "Cookie: theme=dark; _s=GA1.2.1234567890.1687; connect.sid=s%3AxY12ab34.Zk9": "xY12ab34",
    "Set-Cookie: app=q8s7df6a5sd4f3a2; Path=/; HttpOnly": "q8s7df6a5sd4f3a2",
    "curl -b 'PHPSESSID=q8s7df6a5sd4f3a2' https://shop.example": "q8s7df6a5sd4f3a2",
    "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJ": "LS0tLS1CRUdJTiBSU0Eg",
    'KEY_PEM = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2Z0lCQURBTkJn"': "Ck1JSUV2Z0lCQURBTkJn",
    "ghp_16C7e42F292c6912E7\u200b710c838347Ae178B4a": "710c838347Ae178B4a",
    "AKIA\u2060IOSFODNN7EXAMPLQ": "IOSFODNN7EXAMPLQ",
}
INNOCENT_HEADERS = (
    "Cookie: theme=dark; lang=en; consent=accepted",
    "Set-Cookie: lang=en; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    "cookie = request.cookies.get('session_id')",
    "const parts = document.cookie.split('; ')",
    "Cookie: session=${SESSION_ID_VALUE}",
    "bcrypt writes $2b$12$ in front of it",
    "The scheme {SHA} is old",
    "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
)


@each("text", LOGINS)
def test_a_login_is_taken_out(text: str) -> None:
    found = redact_hidden(text)
    assert found.kinds
    assert LOGINS[text] not in found.text


@each("text", INNOCENT_HEADERS)
def test_what_only_speaks_of_them_stays(text: str) -> None:
    assert redact_hidden(text).text == text
