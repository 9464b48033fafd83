"""Passwords that are glued to an option, or stand behind it: `mysql -pSECRET`.

A shell takes such a value literally. Only a variable, a placeholder or a port is no password.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.entropy import is_mixed
from preflights_es.redaction.patterns import Span, compiled, lower, rules

# What the text must hold (in lower case), and the pattern. A loose value must be a safe password.
_OPTIONS: Final = r"""
-p | \b(?:mysql|mariadb)[a-z_-]*«C»-p(?!ort\b|rotocol)«P»
-p | \b(?:sshpass|login|mongo[a-z]*|twine)«C»-p[ =]?(?!-)«P»
-p | \b7z[ar]?«C»-p«P»
rar | \b(?:un)?rar«C»-h?p«P»
-p | \b(?:sqlcmd|zip|unzip)«C»-P\s?«P»
-w | \bldap[a-z]+«C»-w\s?«P»
-a | \bredis-cli«C»-a\s?(?!-)«P»
-p | (?<![^\s`"'(])-u["']?[\w.@][\w.@-]{0,63}["']?\s+-p«P»
-p | (?<![^\s`"'(])-u\s["']?[\w.@][\w.@-]{0,63}["']?\s+-p["']?(?P<loose>«A»{3,})
"""
_ABSENT: Final = r"[$<{%\[(]|[xX*•._#?-]+$"
_PORTS: Final = r"(?:[\d.]*:)?\d{1,5}:\d{1,5}(?:-\d{1,5})?(?:/\w+)?$|\d{1,5}/(?:tcp|udp)$"
_CONTAINERS: Final = r"\b(?:docker|podman|nerdctl|compose)\s+(?:run|create)\b[^\n|;]*$"


def options(text: str) -> Iterator[Span]:
    low = lower(text)
    found = [
        match.span(match.lastgroup or 0)
        for guard, pattern in (rule.split(" | ", 1) for rule in rules(_OPTIONS))
        if guard in low
        for match in compiled(pattern).finditer(text)
        if _is_password(text, *match.span(match.lastgroup or 0), loose=match.lastgroup == "loose")
    ]
    done = 0
    for start, end in sorted(set(found)):
        if start >= done:
            yield start, end, "password"
            done = end


def _is_password(text: str, start: int, end: int, *, loose: bool) -> bool:
    value = text[start:end]
    if compiled(_ABSENT).match(value) or compiled(_PORTS).match(value):
        return False
    if value.isdigit() and compiled(_CONTAINERS).search(text[max(0, start - 200) : start]):
        return False
    return is_mixed(value) if loose else True
