"""Reads AsciiDoc as Markdown: other signs for headings and keys, every byte in its place."""

from __future__ import annotations

import re

from preflights_es.kernel.text import late_pattern

# A title of one sign, below comments, attributes and anchors at most.
_BEGINS = late_pattern(rb"(?:[ \t]*\n|//[^\n]*\n|:[\w-]+:[^\n]*\n|\[[^\n]*\n)*=[ \t]+\S")
_BLOCK = late_pattern(
    rb"^(?P<fence>-{4,}|\.{4,}|/{4,}|`{3,})[ \t]*$.*?(?:^(?P=fence)[ \t]*$|\Z)|^//(?!/)[^\n]*",
    re.MULTILINE | re.DOTALL,
)
_SIGNS = late_pattern(
    rb"^(?:(?P<heading>={1,6})(?=[ \t])|:(?=[\w-]+:[ \t])|(?P<term>[A-Za-z][\w -]*)::(?=[ \t]))",
    re.MULTILINE,
)
_LINK = late_pattern(r"\[([^\]]*)\]\(([^)]*)\)")


def is_asciidoc(text: bytes) -> bool:
    """Whether a text begins with a title of AsciiDoc, which no Markdown does."""
    return _BEGINS.match(text) is not None


def as_markdown(text: bytes) -> bytes:
    """The text with the signs of Markdown, and blanks for code and comments."""
    return _SIGNS.sub(_sign, _BLOCK.sub(blanks, text))


def as_asciidoc(line: str) -> str:
    """A line of ours in Markdown, with the signs of AsciiDoc."""
    return _LINK.sub(r"link:\2[\1]", line).replace("## ", "== ")


def blanks(found: re.Match[bytes]) -> bytes:
    """As many blanks, on as many lines."""
    return b"\n".join(b" " * len(line) for line in found[0].split(b"\n"))


def _sign(found: re.Match[bytes]) -> bytes:
    """`#` for `=`, ` status:` for `:status:`, and `Status :` for `Status::`."""
    if found["heading"]:
        return b"#" * len(found[0])
    return found["term"] + b" :" if found["term"] else b" "
