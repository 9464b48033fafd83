"""Values: where they begin and end, and what of the text around them bears on the judgement."""

from __future__ import annotations

from typing import Final, NamedTuple

from preflights_es.redaction.classifier import Manner, PlacedValue
from preflights_es.redaction.patterns import VALUE_MAX, compiled


class Extent(NamedTuple):
    """Where a value stands in the text."""

    start: int
    end: int
    quote: str = ""
    secret: bool = True  # False: read in vain to the limit, and nothing to find in it


# What closes a quotation; single ones as escapes, since they are easily taken for others.
_QUOTES: Final = {
    "“": "”“",
    "„": '“”"',
    "«": "»",
    "»": "«",
    "\u2018": "\u2019",
    "\u201a": "\u2018\u2019",
}
_OPENING: Final = r"(?:[frbuFRBU@$]{1,2}(?=[\"']))?\\*(?P<quote>\"\"\"|'''|[\"'`“„«»\u2018\u201a])"
_UNQUOTED: Final = (
    r"(?:[^\s\"'`<>&,;|\\\ufdd0]++|\|(?!\w{1,40}=)|&(?![\w.\[\]-]{1,40}=)|'(?=\w)|\\(?![\"'nr])"
    r"|[,;](?!\s|$|[\w\"' -]{1,40}[=:]))+"
)


def value_at(text: str, start: int) -> Extent | None:
    """What stands here: to the closing quote, or to the blank or the sign that ends it."""
    if opening := compiled(_OPENING).match(text, start):
        quote, start = opening["quote"], opening.end()
        closing = _QUOTES.get(quote, quote[0])
        body = compiled(rf"[^\n\ufdd0{closing}]*").match(text, start, start + VALUE_MAX)
        end = body.end() if body else start
        if end > start and text[end : end + 1] and text[end] in closing:
            if quote == "«":  # French sets blanks inside
                bare = text[start:end].strip()
                start = text.find(bare, start)
                end = start + len(bare)
            return Extent(start, end - (text[end - 1] == "\\"), quote)
    run = compiled(_UNQUOTED).match(text, start, start + VALUE_MAX)
    value = trimmed(run.group()) if run else ""
    return Extent(start, start + len(value)) if value else None


_AROUND: Final = r"(?:[.,;:?|…]|\*\*|__)+$"


def trimmed(value: str) -> str:
    """Without the punctuation of the sentence around it."""
    while value:
        opening = {")": "(", "]": "[", "}": "{"}.get(value[-1])
        if opening and opening not in value:
            value = value[:-1]
        elif (around := compiled(_AROUND).search(value, max(0, len(value) - 8))) is not None:
            value = value[: around.start()]
        else:
            break
    return value


def whole(text: str, span: Extent) -> Extent:
    """A value cut at the limit of what is judged goes to its end."""
    if span.quote or span.end - span.start < VALUE_MAX - 8:
        return span
    rest = compiled(r"[^\s\"'`<>\ufdd0]*").match(text, span.end)
    return span._replace(end=rest.end()) if rest else span


# A sentence, a line, an item or a list of fields ends here: the value stood alone.
_ENDED: Final = (
    r"[\"'`*_]{0,3}[.!…]{0,3}(?:\s*$|[ \t]*\r?\n|\s*[;,)}\]|]|[\"'`&]|</"
    r"|\s+(?:and|und|but|aber|et|mais|y|pero)\s|\s+(?:--?\w|#|//)|\s+[\w-]{1,20}\s?[:=])"
)
_IN_A_CALL: Final = r"\w\([^()\n]*$|(?:^|\n)\s*(?:\w+\s?,\s?)+$"  # or unpacked: a, b = c
_IN_AN_OBJECT: Final = r"\{[^{}\n]*$"


def told_at(text: str, low: str, label: int, span: Extent, manner: Manner) -> PlacedValue:
    left = low[max(0, label - 200) : label]
    inside = _IN_A_CALL if manner == "=" else _IN_AN_OBJECT
    return PlacedValue(
        value=text[span.start : span.end],
        quote=span.quote,
        manner=manner,
        tight=text[span.start - 1] in "=:->",
        ended=bool(span.quote) or compiled(_ENDED).match(text, span.end) is not None,
        variable=not span.quote and compiled(inside).search(left) is not None,
    )
