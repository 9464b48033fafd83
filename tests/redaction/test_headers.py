"""Logins in files of servers and in headers of cookies, and keys behind invisible characters."""

from __future__ import annotations

from tests.each import each
from tests.redaction.every_kind import redact_hidden

SECRETS = {
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
INNOCENT = (
    "Cookie: theme=dark; lang=en; consent=accepted",
    "Set-Cookie: lang=en; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    "cookie = request.cookies.get('session_id')",
    "const parts = document.cookie.split('; ')",
    "Cookie: session=${SESSION_ID_VALUE}",
    "bcrypt writes $2b$12$ in front of it",
    "The scheme {SHA} is old",
    "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
)


@each("text", SECRETS)
def test_a_login_is_taken_out(text: str) -> None:
    found = redact_hidden(text)
    assert found.kinds
    assert SECRETS[text] not in found.text


@each("text", INNOCENT)
def test_what_only_speaks_of_them_stays(text: str) -> None:
    assert redact_hidden(text).text == text
