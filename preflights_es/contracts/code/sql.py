"""SQL: in capitals the grammar decides; in lower case, which prose shares, it takes more."""

from __future__ import annotations

from typing import Final

from preflights_es.contracts.code.notation import CALL, Language, rule, words

_TABLE: Final = r"[\w.\"`\[\]]{1,80}+"
_COLUMN: Final = r"[\w.\"`*]{1,60}+(?:\([\w.*\"` ,]{0,60}\))?+(?:\s++as\s++\w++)?+"
_COLUMNS: Final = rf"(?:distinct\s++)?+{_COLUMN}(?:\s*+,\s*+{_COLUMN}){{0,20}}+"
_FROM: Final = rf"\s++from\s++(?!<article>){_TABLE}"
_ALIAS: Final = r"(?:\s++(?:as\s++)?+(?!where\b|order\b|group\b|on\b)\w++)?+"
_COMPARED: Final = (
    r"[\w.\"`]{1,80}+\s*+"
    r"(?:[=<>]|!=|\blike\b|\bin\s*+\(|\bis\s++(?:not\s++)?+null\b|\bbetween\b)"
)
_TYPE: Final = (
    r"(?:int|integer|serial|bigserial|bigint|smallint|varchar|uuid|boolean|timestamptz?|jsonb"
    r"|numeric|decimal|bytea|nvarchar|datetime|text|date|blob|real|char)\b"
)
_THING: Final = (
    r"(?:INDEX|VIEW|TRIGGER|FUNCTION|PROCEDURE|SCHEMA|DATABASE|SEQUENCE|TYPE|EXTENSION|OPERATOR)"
)
_NAMED: Final = r"(?!(?i:<article>))[\w\"`]"
_WHERE: Final = rf"select\s++{_COLUMNS}{_FROM}{_ALIAS}\s++where\s++{_COMPARED}"
_AGGREGATE: Final = (
    r"\s++(?:distinct\s++)?+(?:[\w., ]{0,80},\s*+)?(?:count|sum|avg|min|max|coalesce)"
    r"\([^()\n]{0,60}\)[^;]{0,80}?\sfrom\s"
)
_ALL: Final = r"\s++(?:distinct\s++)?+(?:\w++\.)?+\*\s++from\s++(?!<article>)\w"
_INSERT: Final = rf"\s++into\s++{_TABLE}\s*+(?:\([^()]{{1,300}}\)\s*+)?(?:values\s*+\(|select\s)"

SQL: Final = Language(
    "SQL",
    anywhere=(
        (
            "F",
            rule(
                rf"SELECT\s++(?![^;]{{0,160}}FROM\s++(?i:<article>))(?:[^;.]|\.(?=\S)){{1,160}}?\sFROM\s++{_NAMED}",
                "FROM",
                "SELECT",
            ),
        ),
        ("F", rule(rf"DELETE\s++FROM\s++{_NAMED}", "FROM", "DELETE")),
        (
            "B",
            rule(
                r"(?:CREATE(?: (?:TEMP|TEMPORARY|UNLOGGED))?|ALTER|DROP|TRUNCATE)\s++TABLE\s++"
                rf"(?:IF\s++(?:NOT\s++)?EXISTS\s++)?{_NAMED}",
                "TABLE",
            ),
        ),
        ("*", rule(rf"select(?i:{_ALL})", "select")),
        ("*", rule(rf"SELECT(?i:{_ALL})", "SELECT")),
        (CALL, rule(rf"select(?i:{_AGGREGATE})", "select")),
        (CALL, rule(rf"SELECT(?i:{_AGGREGATE})", "SELECT")),
        ("(", rule(rf"INSERT(?i:{_INSERT})", "INSERT", "INTO")),
    ),
    at_line=(
        *words("select", _WHERE, any_case=True),
        *words("select", rf"select(?:{_ALL}|{_AGGREGATE})", any_case=True),
        *words(
            "select",
            rf"select\s++(?=[^;\n]{{0,200}}[._;])(?=[^;\n]{{0,200}},){_COLUMNS}{_FROM}"
            r"\s*+(?:;|<eol>)",
            any_case=True,
        ),
        *words("select", rf"select\s++{_COLUMNS}{_FROM}\s*+;", any_case=True),
        *words(
            "select",
            rf"select\s++{_COLUMNS}{_FROM}{_ALIAS}\s++(?:order|group)\s++by\s",
            any_case=True,
        ),
        *words("select", r"SELECT (?:\d|[\w.]++\()"),
        *words("insert", rf"insert{_INSERT}", any_case=True),
        *words("update", rf"update\s++{_TABLE}\s++set\s++[\w.\"`]{{1,80}}+\s*+=", any_case=True),
        *words(
            "join left inner",
            rf"(?:(?:left|inner|outer)\s++){{0,3}}+join\s++{_TABLE}{_ALIAS}\s++on\s++\(?\w++\.\w++\s*+=",
            any_case=True,
        ),
        *words("merge", r"MERGE INTO \w[^\n]{0,80} USING "),
        *words(
            "delete",
            rf"delete\s++from\s++(?!<article>){_TABLE}(?:\s*+;|\s++where\s++{_COMPARED})",
            any_case=True,
        ),
        *words("create", rf"CREATE(?: OR REPLACE)?(?: UNIQUE)? {_THING} {_NAMED}"),
        *words(
            "create",
            r"create\s++(?:temp\s++|temporary\s++)?+table\s++(?:if\s++not\s++exists\s++)?+"
            rf"{_TABLE}\s*+\(\s*+[\w\"`]{{1,60}}+\s++{_TYPE}\s*+"
            r"(?:\(\d|,|\)|primary\s|not\s++null|unique\b|default\s|references\s)",
            any_case=True,
        ),
        *words("drop alter", rf"(?:DROP|ALTER)\s++(?:{_THING}|COLUMN)\s++{_NAMED}"),
        *words(
            "drop",
            r"drop\s++(?:table|index|view|database|schema|column)\s++(?:if\s++exists\s++)?+"
            rf"{_TABLE}(?:\s++cascade)?+\s*+;",
            any_case=True,
        ),
        *words(
            "alter",
            rf"alter\s++table\s++{_TABLE}\s++(?:add|drop|alter|rename)\s++(?:column|constraint)\s",
            any_case=True,
        ),
        *words("with", r"with\s++(?:recursive\s++)?+\w++\s++as\s*+\(\s*+select\s", any_case=True),
        *words("grant revoke", r"(?:GRANT|REVOKE) [A-Z, ]{3,60} ON "),
        *words("begin commit rollback", r"(?:BEGIN(?: TRANSACTION)?|COMMIT|ROLLBACK);<end>"),
    ),
)
