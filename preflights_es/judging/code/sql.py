"""SQL: in capitals the grammar decides; in lower case, which prose shares, it takes more."""

from __future__ import annotations

from typing import Final

from preflights_es.judging.code.notation import Language, table

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
    anywhere=table(
        r"""
F | FROM & SELECT | SELECT\s++(?![^;]{0,160}FROM\s++(?i:<article>))(?:[^;.]
    |\.(?=\S)){1,160}?\sFROM\s++<named>
F | FROM & DELETE | DELETE\s++FROM\s++<named>
B | TABLE | (?:CREATE(?: (?:TEMP|TEMPORARY|UNLOGGED))?|ALTER|DROP|TRUNCATE)\s++TABLE\s++(?:IF\s++
    (?:NOT\s++)?EXISTS\s++)?<named>
* | select|SELECT | (?:select|SELECT)(?i:<all>)
name( | select|SELECT | (?:select|SELECT)(?i:<aggregate>)
( | INSERT & INTO | INSERT(?i:<insert>)
""",
        named=_NAMED,
        all=_ALL,
        aggregate=_AGGREGATE,
        insert=_INSERT,
    ),
    at_line=table(
        r"""
select | (?i)<where>
select | (?i)select(?:<all>|<aggregate>)
select | (?i)select\s++(?=[^;\n]{0,200}[._;])(?=[^;\n]{0,200},)<columns><source>\s*+(?:;|<eol>)
select | (?i)select\s++<columns><source>\s*+;
select | (?i)select\s++<columns><source><alias>\s++(?:order|group)\s++by\s
select | SELECT (?:\d|[\w.]++\()
insert | (?i)insert<insert>
update | (?i)update\s++<table>\s++set\s++[\w.\"`]{1,80}+\s*+=
join left inner | (?i)(?:(?:left|inner|outer)\s++){0,3}+join\s++<table>
    <alias>\s++on\s++\(?\w++\.\w++\s*+=
merge | MERGE INTO \w[^\n]{0,80} USING␣
delete | (?i)delete\s++from\s++(?!<article>)<table>(?:\s*+;|\s++where\s++<compared>)
create | CREATE(?: OR REPLACE)?(?: UNIQUE)? <thing> <named>
create | (?i)create\s++(?:temp\s++|temporary\s++)?+table\s++(?:if\s++not\s++exists\s++)?+
    <table>\s*+\(\s*+[\w\"`]{1,60}+\s++<type>\s*+(?:\(\d|,|\)|primary\s|not\s++null|unique\b
    |default\s|references\s)
drop alter | (?:DROP|ALTER)\s++(?:<thing>|COLUMN)\s++<named>
drop | (?i)drop\s++(?:table|index|view|database|schema|column)\s++(?:if\s++exists\s++)?+<table>
    (?:\s++cascade)?+\s*+;
alter | (?i)alter\s++table\s++<table>\s++(?:add|drop|alter|rename)\s++(?:column|constraint)\s
with | (?i)with\s++(?:recursive\s++)?+\w++\s++as\s*+\(\s*+select\s
grant revoke | (?:GRANT|REVOKE) [A-Z, ]{3,60} ON␣
begin commit rollback | (?:BEGIN(?: TRANSACTION)?|COMMIT|ROLLBACK);<end>
""",
        where=_WHERE,
        all=_ALL,
        aggregate=_AGGREGATE,
        columns=_COLUMNS,
        source=_FROM,
        alias=_ALIAS,
        insert=_INSERT,
        table=_TABLE,
        compared=_COMPARED,
        thing=_THING,
        named=_NAMED,
        type=_TYPE,
    ),
)
