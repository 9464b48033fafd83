"""Reads AsciiDoc as Markdown: other signs for headings and keys, every byte in its place.

And writes a document of ours, which is Markdown, as AsciiDoc.
"""

from __future__ import annotations

import re

import msgspec

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


def document_in_asciidoc(text: str) -> str:
    """A document of ours, its front matter as attributes below the title.

    What Markdown escapes, and what only AsciiDoc has a meaning for, is a reference to the letter.
    """
    front, body = "", text
    if text.startswith("---\n"):
        _, front, body = text.split("---\n", 2)
    lines = [_line_in_asciidoc(line) for line in body.strip("\n").split("\n")]
    attributes = [f":{key}: {_plain(key, value)}" for key, value in _PAIRS.findall(front)]
    return "\n".join((lines[0], *attributes, *lines[1:])) + "\n"


def document_in_markdown(text: str) -> str:
    """The same back, without its attributes."""
    body = _LINKED.sub(r"[\2](\1)", _ATTRIBUTES.sub(r"\1", text))
    body = _NUMBERED.sub(lambda sign: f"\\{chr(int(sign[1]))}", body)
    return as_markdown(body.encode()).decode()


_ATTRIBUTES = late_pattern(r"\A(= .*\n)(?::.*\n)+")
_LINKED = late_pattern(r"link:([^\[\s]*)\[([^\]\n]*)\]")
_NUMBERED = late_pattern(r"&#(\d{2,3});")
_PAIRS = late_pattern(r"^([\w-]+): (.*)$", re.MULTILINE)
_PARTS = late_pattern(
    r"(?P<code>`[^`\n]+`)|\[(?P<words>(?:[^\]\\]|\\.)*)\]\((?P<link>[^)\s]*)\)"
    r"|\\(?P<escaped>.)|(?P<sign>[{}+^#]|::|;;|\A[/.])"
)
_BEGINNING = late_pattern(r"(?:#{1,6}|[*>]) ")


def _line_in_asciidoc(line: str) -> str:
    begins = _BEGINNING.match(line)
    before = begins[0] if begins else ""
    return before.replace("#", "=") + _PARTS.sub(_part, line[len(before) :])


def _part(found: re.Match[str]) -> str:
    if found["code"]:
        return f"`+{found['code'][1:-1]}+`"
    if found["words"] is not None:
        return f"link:{found['link']}[{_PARTS.sub(_part, found['words'])}]"
    return "".join(f"&#{ord(sign)};" for sign in found["escaped"] or found["sign"])


def _plain(key: str, value: str) -> str:
    """A text of our front matter, or a list of one name, without quotes: both are JSON."""
    said = msgspec.json.decode(value) if value[:1] in ('"', "[") else value
    if isinstance(said, list):
        said = said[0] if key == "decision-makers" else value
    return re.sub(r"\\$", "&#92;", str(said))


def blanks(found: re.Match[bytes]) -> bytes:
    """As many blanks, on as many lines."""
    return b"\n".join(b" " * len(line) for line in found[0].split(b"\n"))


def _sign(found: re.Match[bytes]) -> bytes:
    """`#` for `=`, ` status:` for `:status:`, and `Status :` for `Status::`."""
    if found["heading"]:
        return b"#" * len(found[0])
    return found["term"] + b" :" if found["term"] else b" "
