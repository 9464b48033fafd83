"""Contracts: what a model must answer, and the judgement of what it did answer, in the order of
seed 2, section 6.1: extract, failure object, schema, source code, final checks. The first rejection
wins. Code is found by what only code has, never by a word alone; the tables of languages are read
when a text is searched first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache, cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from preflights_es.judging.code_languages import LANGUAGES
from preflights_es.judging.extraction import (
    Allowed,
    Leaves,
    extracted,
    leaves,
    path_of_key,
    path_of_list,
    path_of_text,
    read_prose_response,
)
from preflights_es.judging.schema import Shape, compile_schema_shape
from preflights_es.kernel import errors
from preflights_es.kernel.completions import (
    DETAILS_MAX,
    EXCERPT_MAX,
    VIOLATIONS_MAX,
    Accepted,
    FlawKind,
    Path,
    Policy,
    Rejected,
    Violation,
    excerpt,
    format_json_pointer,
    rejected,
)
from preflights_es.kernel.text import late_pattern, shortened

if TYPE_CHECKING:
    from pydantic import BaseModel


LINES_MAX: Final = 100_000  # lines that begin as code may; a plan has not a tenth as many lines
LOOKS_MAX: Final = 64  # parentheses looked at before a text is taken to hold calls

CALL: Final = "name("
"""The gate of rules that hold an opening parenthesis with no blank before it."""

Row = tuple[str, str]
"""A language, and a row of one of its tables without the gates."""
CodeMatch = tuple[str, int]
"""A language and a place in the text."""

_ARTICLES: Final = (
    r"(?:the|an?|all|any|each|every|to|its|their|this|that|these|those|both|only|if|when|with|from"
    r"|as|early|which|one|some|no|it|them|your|our|and|or|for|in|on|at|of|by|is|are|into)\b"
)
_PARTS: Final = {
    "~": r"[ \t]*+",
    " ": r"[ \t]++",
    "<name>": r"[\w$]{1,80}+",
    "<dotted>": r"[\w$.]{1,80}+",
    "<args>": r"\([^()]{0,300}\)",
    "<call>": r"\([^\n]{0,300}\)",
    "<end>": r"[ \t;`]*+(?:(?:#|//)[^\n\x7f]*+)?(?=[\n\x7f]|\Z)",
    "<eol>": r"(?=[\n\x7f]|\Z)",
    "<prose>": rf"(?=[ \t]+{_ARTICLES})",
    "<article>": rf"(?=[ \t]*{_ARTICLES})",
}
_TOKEN: Final = late_pattern(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|<[a-z]+>|[~ ]")


# 1. The rules --------------------------------------------------------------------------------


class Rule(NamedTuple):
    """One way to recognise a language."""

    pattern: re.Pattern[str]
    needles: tuple[tuple[str, ...], ...]
    """Pieces of text; of each group, every text that matches holds one."""
    is_word: bool
    """Whether a match begins with a word, and so not within one."""


@cache
def rule_of(row: str) -> Rule:
    """What a row without its gates says."""
    *needles, pattern = row.split(" | ")
    bare = pattern.removeprefix("(?i)")
    flags = re.MULTILINE | (0 if bare == pattern else re.IGNORECASE)
    text = expand_short_pattern(bare)
    groups = (group.replace("\\n", "\n") for some in needles for group in some.split(" & "))
    split = tuple(tuple(group.split("|")) for group in groups)
    return Rule(late_pattern(text, flags), split, text.removeprefix("(?:")[:1].isalpha())


def expand_short_pattern(pattern: str) -> str:
    """The regular expression of a pattern in which, outside of classes, `~` stands for blanks, a
    blank for at least one, and `<name>`, `<dotted>`, `<args>`, `<call>`, `<end>` (of a statement)
    and `<eol>` for what they say; `<prose>` and `<article>` look ahead for a word of prose alone.
    """
    return _TOKEN.sub(lambda token: _PARTS.get(token.group(), token.group()), pattern)


class Tables(NamedTuple):
    """The rows of all languages, behind each gate, first word or first character."""

    anywhere: dict[str, list[Row]]
    in_line: dict[str, list[Row]]
    at_line: dict[str, list[Row]]
    at_sign: dict[str, list[Row]]
    first_words: frozenset[str]
    """Of lines that may be code, with blanks behind them."""
    glued: frozenset[str]
    """How those begin that are glued to something (`if(`, `try:`)."""
    signs: frozenset[str]
    """What may stand before a first word: bullets, numbers, prompts, and the empty text."""


@cache
def read_language_tables() -> Tables:
    """Read once."""
    found: dict[str, dict[str, list[Row]]] = {}
    for kind in ("anywhere", "in_line", "at_line", "at_sign"):
        behind = found[kind] = {}
        for language in LANGUAGES:
            table = getattr(language, kind).strip("\n").replace("\n    ", "").replace("␣", " ")
            for name, part in language.parts.items():
                table = table.replace(f"<{name}>", part)
            for line in table.split("\n"):
                gates, _, row = line.partition(" | ")
                for gate in gates.split():
                    behind.setdefault(gate, []).append((language.name, row))
    firsts = set()
    for word, rows in found["at_line"].items():
        firsts |= {word, word.upper()}
        if any("(?i)" in row for _, row in rows):
            firsts.add(word.capitalize())
    return Tables(
        **found,
        first_words=frozenset(firsts),
        glued=frozenset([f"{word}{mark}"[:3] for word in firsts for mark in ("", *"(:;{\"'")]),
        signs=frozenset(("", *"-*>+$#.()|[{`0123456789\t", *found["at_sign"])),
    )


_FIRST_WORD: Final = late_pattern(r"[ \t\d.)$>+*#|(\[{`-]{0,16}+([A-Za-z_][\w-]*+)?")


# 2. Where a text holds code ------------------------------------------------------------------


def first_code(text: str) -> CodeMatch | None:
    """The first rule that matches, and where; those that match anywhere come first."""
    for gate, rows in read_language_tables().anywhere.items():
        if _holds_call(text) if gate == CALL else gate in text:
            for language, row in rows:
                rule = rule_of(row)
                if _has(text, rule) and (at := _find_rule_match(text, rule)) >= 0:
                    return language, at
    return _in_lines(text)


def _holds_call(text: str) -> bool:
    """Whether a parenthesis opens behind a character that is no blank."""
    at = text.find("(")
    for _ in range(LOOKS_MAX):
        if at < 0:
            return False
        if text[at - 1] not in " \n":
            return True
        at = text.find("(", at + 1)
    return True


def _has(text: str, rule: Rule) -> bool:
    for group in rule.needles:
        for needle in group:
            if needle in text:
                break
        else:
            return False
    return True


def _find_rule_match(text: str, rule: Rule) -> int:
    """The first match of a rule outside a word; -1 without one."""
    at = 0
    while found := rule.pattern.search(text, at):
        at = found.start()
        if not (rule.is_word and at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")):
            return at
        at += 1
    return -1


def _in_lines(text: str) -> CodeMatch | None:
    """The first rule that matches of those for the beginning of a line or a clause."""
    lines = text.replace(": ", ":\n").split("\n")
    heads = [line.partition(" ")[0] for line in lines]
    firsts = set(heads)
    rules = read_language_tables()
    behind = _FirstWordRows(text)
    plain = {one for one in firsts & rules.first_words if f"{one} " in text and behind[one]}
    glued = {
        first
        for first in firsts
        if first[:1] in rules.signs or (first[:3] in rules.glued and _is_glued(first))
    }
    gates = [
        (gate, needed)
        for gate, rows in rules.in_line.items()
        if gate in text and (needed := _select_possible_rows(text, rows))
    ]
    if not (plain or glued or gates):
        return None
    at = looks = 0
    for head, line in zip(heads, lines, strict=True):
        found = None
        if head in plain:
            looks += 1
            found = _matched(text, at, behind[head])
        elif line and head in glued and not line.isspace():
            looks += 1
            found = _at_line(text, line, at, behind)
        for gate, needed in gates:
            if not found and gate in line:
                looks += 1
                found = _at_starts(text, line, at, needed)
        if found:
            return found
        if looks > LINES_MAX:
            return "a script", at
        at += len(line) + 1
    return None


def _is_glued(first: str) -> bool:
    """Whether the first characters of a line are a first word with something behind it."""
    found = _FIRST_WORD.match(first)
    if found is None or found.end() == len(first):
        return False
    return found[1] in read_language_tables().first_words


def _select_possible_rows(text: str, rows: list[Row]) -> list[Row]:
    """The rows whose needles a text holds."""
    return [row for row in rows if _has(text, rule_of(row[1]))]


def _matched(text: str, at: int, rows: list[Row]) -> CodeMatch | None:
    """The first of these rules that matches at a place."""
    for language, row in rows:
        if rule_of(row).pattern.match(text, at):
            return language, at
    return None


class _FirstWordRows(dict[str, list[Row]]):
    """What may match behind a first word: of its rules those whose needles the text holds."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __missing__(self, word: str) -> list[Row]:
        at_line = read_language_tables().at_line
        rows = at_line.get(word) or at_line.get(word.lower(), [])
        self[word] = _select_possible_rows(self.text, rows)
        return self[word]


def _at_line(text: str, line: str, at: int, behind: _FirstWordRows) -> CodeMatch | None:
    """The rules for the first word of a line, or for the sign that it begins with."""
    first = _FIRST_WORD.match(line)
    if first and first[1] and (found := _matched(text, at + first.start(1), behind[first[1]])):
        return found
    rows = read_language_tables().at_sign.get(line.lstrip()[:1])
    return _at_starts(text, line, at, rows) if rows else None


def _at_starts(text: str, line: str, at: int, rows: list[Row]) -> CodeMatch | None:
    """Rules that match where a line begins, with or without its bullets."""
    first = _FIRST_WORD.match(line)
    starts = {0, len(line) - len(line.lstrip()), first.start(1) if first and first[1] else 0}
    for language, row in rows:
        for start in sorted(starts):
            if rule_of(row).pattern.match(text, at + start):
                return language, at + start
    return None


# 3. In a value --------------------------------------------------------------------------------

TOKEN_MAX: Final = 16  # characters of an item, on average, up to which a list may be split tokens
# Ends the texts of one place: no white space, so that nothing matches across it.
_APART: Final = "\x7f\n"
# Signs one of which is in every piece of code that is split into tokens.
_MARKS: Final = "(\"'=:.-;{<"
_WORD: Final = late_pattern(r"\w")
_BLANK_AT_MARK: Final = late_pattern(r" (?=[()\[\]{}.,:;\"'])|(?<=[()\[\]{}.,:;\"']) ")
_BREAKS: Final = "\r\x0b\x0c\x85\u2028\u2029"
_BREAK: Final = late_pattern(f"\r\n|[{_BREAKS}]")


def found_code(value: Any, parts: Leaves) -> Rejected | None:
    """The first piece of source code in the texts and keys of a value, None without any.

    The texts of a list are searched as lines, and, where they are tokens, once more as one line.
    """
    keys = [key for key in parts.keys if not key.isidentifier()]
    lists = ["\n".join(words) for words in parts.words]
    tokens = [line for words in parts.words if (line := _one_line(words))]
    texts = [*parts.texts, *keys, *lists, *tokens]
    whole = _APART.join(texts)
    if any(sign in whole for sign in _BREAKS):
        texts = [_BREAK.sub("\n", text) for text in texts]
        whole = _APART.join(texts)
    found = first_code(whole)
    if found is None:
        return None
    language, at = found
    ends = list(accumulate(len(text) + len(_APART) for text in texts))
    number = min(bisect_right(ends, at), len(texts) - 1)
    before = whole[ends[number - 1] if number else 0 : at]
    path = _locate_searched_text(value, parts, keys, number, before=before)
    message = f"looks like {language}, where words are asked for"
    violation = Violation(format_json_pointer(path), message)
    look = whole[at : at + 2 * EXCERPT_MAX].replace(_APART, "\n")
    return Rejected("code_in_output", (violation,), excerpt(look))


def _locate_searched_text(
    value: Any, parts: Leaves, keys: list[str], number: int, before: str
) -> Path:
    """Where the text with this number stands; `before` is what stands in it before the match."""
    if number < len(parts.texts):
        return path_of_text(value, parts.texts[number])
    number -= len(parts.texts)
    if number < len(keys):
        return path_of_key(value, keys[number])
    number -= len(keys)
    if number < len(parts.lists):
        items, words = parts.lists[number], parts.words[number]
        ends = list(accumulate(_BREAK.sub("\n", text).count("\n") + 1 for text in words))
        word = words[min(bisect_right(ends, before.count("\n")), len(words) - 1)]
        return (*path_of_list(value, items), items.index(word)) if value != word else ()
    number -= len(parts.lists)
    lists = zip(parts.lists, parts.words, strict=True)
    split = (items for items, words in lists if _one_line(words))
    return path_of_list(value, next(islice(split, number, None)))


def _one_line(texts: list[str]) -> str:
    """The tokens of a list on one line; blanks around punctuation go, where an item is just that.

    Empty where the items are too long to be tokens, or too few.
    """
    if len(texts) < 2 or sum(map(len, texts)) > TOKEN_MAX * len(texts):
        return ""
    line = " ".join(texts)
    if not any(mark in line for mark in _MARKS):
        return ""
    if any(len(text) < 3 and text.strip() and not _WORD.search(text) for text in texts):
        line = _BLANK_AT_MARK.sub("", line)
    return line


__all__ = ["Accepted", "Contract", "OutputValidator", "Rejected", "Violation", "judge"]

_FAILURES: Final[dict[str, Literal["missing_information", "invalid_request"]]] = {
    "missing_information": "missing_information",
    "invalid_request": "invalid_request",
}


class Contract(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """What a response must be, and which stages judge it; by default all of them."""

    name: str
    version: int
    schema: dict[str, Any] | bool | Callable[[], dict[str, Any]] | None = None
    """A JSON Schema, or what loads it at the first judgement; None: that of `model`, or any."""
    model: type[BaseModel] | Callable[[], type[BaseModel]] | None = None
    """A pydantic class, or what imports it; asked what a schema cannot say."""
    prose: Literal["refuse", "drop"] = "refuse"
    """Text around the one value: refused, or dropped and reported."""
    reasoning: Literal["refuse", "drop"] = "drop"
    """What the model thought before the value, between tags: likewise."""
    unknown: Literal["refuse", "drop"] = "refuse"
    """Properties the schema does not declare: refused if it says so, or dropped and reported."""
    failure: bool = True
    """Whether `{"error": "missing_information", ...}` is an answer of its own."""
    code: bool = True
    """Whether source code in values and keys is refused."""
    words: bool = False
    """Whether a reply in words, without JSON, is an answer: its payload is a `str`."""
    checks: Callable[[Any], tuple[Violation, ...]] | None = None
    """Final checks of a payload that meets the schema; pure, and never raising. Words have none."""
    policy: Policy = Policy()
    """What follows where a call brings nothing that meets it: which failures are asked again, how
    often, and what ends the step."""

    @property
    def id(self) -> str:
        """`name.vN`, as it stands in a `CompletionRequested`."""
        return f"{self.name}.v{self.version}"

    def judge(self, raw: str) -> Accepted | Rejected:
        """The payload of a response, or the first reason to reject it; never raises."""
        return judge(raw, self)

    @cached_property
    def shape(self) -> Shape:
        """The schema, compiled.

        Raises:
            ValueError: it is no valid JSON Schema: a bug of the contract's author.
        """
        schema: Any = self.schema
        model: Any = self.model
        if model is not None and not isinstance(model, type):
            model = model()
        if callable(schema):
            schema = schema()
        if schema is None:
            schema = True if model is None else model.model_json_schema()
        return compile_schema_shape(schema, model)


def judge(raw: str, contract: Contract) -> Accepted | Rejected:
    """The payload of a response, or the first reason to reject it; never raises for any text."""
    return _run_contract_stages(raw, contract, contract.shape)


def _run_contract_stages(raw: str, contract: Contract, shape: Shape) -> Accepted | Rejected:
    prose, reasoning = contract.prose == "drop", contract.reasoning == "drop"
    found = extracted(raw, Allowed(prose=prose, reasoning=reasoning, arrays=shape.arrays))
    if isinstance(found, Rejected):
        text = read_prose_response(raw) if contract.words and found.kind == "invalid_json" else ""
        return Accepted(text) if text else found
    value = found.value
    parts = leaves(value)
    if parts.flaw:
        return rejected("invalid_json", parts.flaw, excerpt(raw))
    if not shape.arrays and isinstance(value, list) and sum(isinstance(v, dict) for v in value) > 1:
        return rejected("multiple_artifacts", "it is an array of several objects", excerpt(raw))
    if contract.failure and isinstance(value, dict) and (failure := _find_declared_failure(value)):
        return failure
    dropped = shape.drop_unknown(value) if contract.unknown == "drop" else ()
    if violations := shape.violations(value, len(raw)):
        return Rejected("schema_violation", violations, excerpt(raw))
    if contract.code and (code := found_code(value, leaves(value) if dropped else parts)):
        return code
    if contract.checks and (violations := contract.checks(value)):
        return Rejected("schema_violation", tuple(violations[:VIOLATIONS_MAX]), excerpt(raw))
    return Accepted(value, found.prose, dropped)


def _find_declared_failure(value: dict[str, Any]) -> Rejected | None:
    """A model's own word that it cannot answer (docs/contracts.md)."""
    error = value.get("error")
    if not isinstance(error, str) or (kind := _FAILURES.get(error.strip().lower())) is None:
        return None
    details = value.get("details", "")
    text = details if isinstance(details, str) else msgspec.json.encode(details).decode()
    return Rejected(kind, details=shortened(text, DETAILS_MAX))


_OUTPUT_ERRORS: Final[dict[FlawKind, type[errors.LLMOutputError]]] = {
    "invalid_json": errors.InvalidJSONError,
    "schema_violation": errors.SchemaViolationError,
    "code_in_output": errors.CodeInOutputError,
    "multiple_artifacts": errors.MultipleArtifactsError,
    "explanatory_text": errors.ExplanatoryTextError,
}


def error_of(found: Rejected) -> errors.LLMError:
    """A rejection as an exception of the tree in `kernel.errors`."""
    if found.kind == "missing_information":
        return errors.LLMMissingInformationError(found.message, details=found.details)
    if found.kind == "invalid_request":
        return errors.LLMInvalidRequestError(found.message, details=found.details)
    kind = _OUTPUT_ERRORS[found.kind]
    return kind(found.message, violations=found.violations, excerpt=found.excerpt)


_ALL_STAGES: Final = Contract(name="output", version=1, reasoning="refuse")


class OutputValidator:
    """The judgement of seed 2, for any JSON Schema."""

    def validate(self, raw: str, schema: dict[str, Any] | bool) -> Any:
        """The payload of a response that meets a schema; all stages apply.

        Raises:
            LLMOutputError: the response breaks the contract; one of its subclasses.
            LLMMissingInformationError: the model lacks information.
            LLMInvalidRequestError: the model refuses the request.
            ValueError: the *schema* is no valid JSON Schema, or refers to another document:
                a mistake of the caller, said before the response is looked at.
        """
        verdict = _run_contract_stages(raw, _ALL_STAGES, compile_schema_shape(schema))
        if isinstance(verdict, Rejected):
            raise error_of(verdict)
        return verdict.payload
