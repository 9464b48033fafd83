"""E-mail addresses, and what only looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.patterns import Span, compiled, words

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
_ESCAPED_EMAIL: Final = rf"(?P<email>(?<![\w.+-])[\w.+-]++%40{_DOMAIN})"
_ESCAPES: Final = ("\\n", "\\r", "\\t")  # a line end or a tab as JSON writes it, before an address
# Names with an @ that are no mail addresses: units, pictures, archives.
_NO_TOP_LEVEL: Final = """
    service socket timer target mount automount slice scope path device swap png jpg jpeg gif svg
    webp ico css js jsx ts tsx mjs json yaml yml toml xml html lock txt tgz gz tar whl jar exe dll
"""
_LOGIN_BEFORE: Final = (
    r"(?:\b(?:ssh|sftp|mosh|ssh-copy-id|telnet)(?:\s+-\w+(?:[ =][\w./~:@-]{1,60})?){0,6}\s+"
    r"|://[^\s/]*)$"
)


def emails(text: str) -> Iterator[Span]:
    for found in compiled(EMAIL).finditer(text):
        if _is_address(text, found):
            local = found["local"]
            start = found.start() + len(local) - len(local.lstrip(".+%'-"))
            if text.endswith(_ESCAPES, 0, start + 1) and len(local) > 1:
                start += 1
            yield start, found.end(), "email"


def escaped_emails(text: str) -> Iterator[Span]:
    if "%40" in text:
        for found in compiled(_ESCAPED_EMAIL).finditer(text):
            yield (*found.span(), "email")


def _is_address(text: str, found: re.Match[str]) -> bool:
    """Not a remote, a login, a version, a picture or a member of a program."""
    local, domain = found["local"].lower(), text[found.end("at") : found.end()]
    if not local.strip(".+%'-") or local in {"git", "this", "super", "return"}:
        return False
    before = text[max(0, found.start() - 200) : found.start()]
    if before.endswith("\\") and local in {"n", "r", "t"}:  # a decorator behind an escaped line end
        return False
    if before.endswith("@") or found["top"].lower() in words(_NO_TOP_LEVEL):
        return False
    if compiled(r"v?\d+\.\d|[1-9]x\.").match(domain):
        return False
    if compiled(r":(?:[~/.:]|\d{1,5}\b|[\w.-]+(?:/|\.[a-z]{2,4}\b))").match(text, found.end()):
        return False
    return compiled(_LOGIN_BEFORE).search(before) is None
