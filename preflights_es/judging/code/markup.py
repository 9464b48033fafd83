"""HTML, diffs, and code blocks."""

from __future__ import annotations

from typing import Final

from preflights_es.judging.code.notation import Language, table

_TAG: Final = (
    r"(?:div|span|p|a|ul|ol|li|table|thead|tbody|tr|td|th|h[1-6]|html|head|body|script|style|form"
    r"|input|button|img|br|hr|meta|link|title|section|nav|header|footer|main|label|select|option"
    r"|textarea|iframe|svg|pre|code|strong|em|b|i|article|aside|template)"
)

# An opening tag alone may be a placeholder or a mention; with attributes, or a closing one, it is
# neither. One expression, because a text may be nothing but brackets.
_MARKUP: Final = (
    r"<(?=[A-Za-z]|/[A-Za-z]|!(?:--|[dD])|[?%][\w=\s])(?:/[A-Za-z][\w:.-]{0,60}+\s*+>"
    r"|!(?:--|(?i:doctype)\b)"
    r"|\?(?:php|xml|=)"
    r"|%[=\s]"
    r"|(?i:br|hr)\s*+/?>"
    rf"|(?i:{_TAG})\s*+>\s*+<(?i:{_TAG})\b"
    r"|[A-Za-z][\w:.-]{0,60}+(?:\s++[\w:@.-]{1,60}+\s*+=\s*+[\"'{]|(?:\s[^<>\n]{0,160})?/>))"
)

HTML: Final = Language(
    "HTML",
    anywhere=table(
        r"""
< | </|<!|<?|<%|/>|=|><|>␣<|>\n|<br|<hr|<BR|<HR | <markup>
< | <> | (?:return|=>|\()\s*+\(?\s*+<>
< | return | return\s*+\(?\s*+<[A-Za-z]
{ | ; | \{\s*+[a-z-]{2,40}+\s*+:\s*+[^;{}\n]{1,80};
""",
        markup=_MARKUP,
    ),
)

DIFF: Final = Language(
    "a diff",
    anywhere=table(
        r"""
@ | @@ | @@ -\d++(?:,\d++)? \+\d++(?:,\d++)? @@
+ | +++ & --- | --- [^\s]{0,200}[./][^\n]{0,200}\n\+\+\+ [^\s]{0,200}[./]
+ | -␣␣ & +␣␣ | -[ \t]{2,}+\S[^\n]{0,200}\n\+[ \t]{2,}+\S
* | *** | \*\*\* (?:Begin Patch|End Patch|(?:Update|Add|Delete) File:)
< | <<<<<<< | <<<<<<< \S
"""
    ),
    at_line=table(
        r"""
diff | diff --git␣
index | index [0-9a-f]{7,40}\.\.[0-9a-f]{7,40}
"""
    ),
)

BLOCK: Final = Language("a code block", anywhere=table("` | ``` | ```"))
