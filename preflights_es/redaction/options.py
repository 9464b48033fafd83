"""Passwords that are glued to an option, or stand behind it: `mysql -pSECRET`.

A shell takes such a value literally. Only a variable, a placeholder or a port is no password.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.entropy import is_mixed
from preflights_es.redaction.patterns import Span, compiled, lower, rules, words

# What the text must hold (in lower case), and the pattern. A loose value must be a safe password,
# one that stands apart no word of a sentence. Before the option of mysql there may be others: -vp.
_OPTIONS: Final = r"""
mysql | (?i:\bmysql[\w.-]{0,24})«C»-«M»p(?!ort\b|rotocol)«P»
mariadb | (?i:\bmariadb[\w.-]{0,24})«C»-«M»p(?!ort\b|rotocol)«P»
-p | (?i:\b(?:sshpass|twine|cqlsh|rdesktop|psexec(?:64)?|rabbitmqadmin)«X»)«C»-p«B»(?!-)«P»
-p | (?i:\bmongo(?:sh|dump|restore|export|import|stat|top|files)?«X»)«C»-p«B»(?!-)«P»
-p | (?i:\b«I»\s+login)«C»-p«B»(?!-)«P»
-p | (?i:\b7z[arz]?«X»)«C»-p«P»
rar | (?i:\b(?:un)?rar«X»)«C»-h?p«P»
-p | (?i:\b(?:sqlcmd|osql|isql|bcp|zip|unzip)«X»)«C»-P«B»«P»
-w | (?i:\bldap[a-z]+«X»)«C»-w«B»«P»
mosquitto | (?i:\bmosquitto_(?:pub|sub|rr)«X»)«C»-P«B»(?!-)«P»
openssl | (?i:\bopenssl«X»\s+(?:enc|aes[\w-]{1,20}))«C»-k[ \t]+(?![-:])«P»
-a | (?i:\bredis-cli«X»)«C»-a«B»(?!-)«P»
-p | (?<![^\s`"'(])-u["']?[\w.@][\w.@-]{0,63}["']?\s+-p«P»
-p | (?<![^\s`"'(])-u\s["']?[\w.@][\w.@-]{0,63}["']?\s+-p["']?(?P<loose>«A»{3,})
"""
_ABSENT: Final = r"[$<{%\[(]|[xX*•._#?-]+$"
# What is glued to -p in other programs: `gcc -pthread`, `find -path`, `pytest -pno:cacheprovider`.
_OTHERS: Final = (
    r"(?:thread|edantic(?:-errors)?|ipe(?:line)?s?|ie|g|rint[\w-]*|ath|rune|erm|lugins?|arallel|atch|rofile|roject|"
    r"rivate|ublic|rocess|rogress|rotocol|ackage|arents|ython\d?|ager|arse|review|retty|refix|od)$|no:\w"
)
_SAID: Final = """
    flag flags option options switch argument parameter is are was and or but for in to on with
    instead then und oder ist sind statt et ou est sont pour avec puis y o es son para con
"""
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
    if text[start - 1].isspace() and value.rstrip(".,;:!?").lower() in words(_SAID):
        return False
    if compiled(_OTHERS).match(value):
        return False
    if compiled(_ABSENT).match(value) or compiled(_PORTS).match(value):
        return False
    if value.isdigit() and compiled(_CONTAINERS).search(text[max(0, start - 200) : start]):
        return False
    return is_mixed(value) if loose else True
