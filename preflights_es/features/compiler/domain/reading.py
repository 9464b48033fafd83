"""What the reference reads in prose: headings, languages, the style of an architecture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from preflights_es.judging.code_search import first_code
from preflights_es.kernel.text import shortened

NAME_MAX: Final = 80  # characters of a domain's name
TITLE_MAX: Final = 500  # characters of a heading that are read
SLUG_MAX: Final = 40  # characters of a module's name

LANGUAGES: Final[dict[str, tuple[str, str]]] = {
    "Python": (r"(?i:python)", ".py"),
    "TypeScript": (r"(?i:typescript)", ".ts"),
    "JavaScript": (r"(?i:javascript)", ".js"),
    "Java": (r"Java|JAVA", ".java"),
    "Kotlin": (r"(?i:kotlin)", ".kt"),
    "Go": (r"Golang|Go(?!\s+(?:a|ahead|back|beyond|for|in|live|on|through|to|with)\b)", ".go"),
    "Rust": (r"Rust", ".rs"),
    "C#": (r"C#", ".cs"),
    "C++": (r"C\+\+", ".cpp"),
    "C": (r"C\d\d|C(?=,| and\b| language\b)", ".c"),
    "Swift": (r"Swift", ".swift"),
    "Ruby": (r"Ruby", ".rb"),
    "PHP": (r"PHP", ".php"),
    "Scala": (r"Scala", ".scala"),
    "Elixir": (r"Elixir", ".ex"),
    "Haskell": (r"Haskell", ".hs"),
    "Dart": (r"Dart", ".dart"),
}
"""A pattern that names the language, and the suffix of its files."""
UNSPECIFIED: Final = "unspecified"
SUFFIX: Final = ".txt"  # of the files of a language that is not known here

_STYLES: Final = re.compile(
    r"\b(?:(?P<clean>clean[\s-]+architecture)|(?P<hexagonal>hexagonal|ports[\s-]+and[\s-]+adapters)"
    r"|(?P<ddd>ddd|domain[\s-]+driven))\b",
    re.IGNORECASE,
)
_NAMED: Final = {
    name: re.compile(rf"(?:{pattern})(?![^\W_]|[+#])") for name, (pattern, _) in LANGUAGES.items()
}
_IN_A_WORD: Final = re.compile(r"[\w.]")
"""What stands before a name that is only the end of a word."""
_FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<tag>[^`]*)$")
_RULER: Final = re.compile(r"(?P<mark>-{4})(?P<tag>)\s*$")
_LISTING: Final = re.compile(r"\[(?:source|listing)\b.*\]\s*$")
"""The line before a fence of AsciiDoc, `----`."""
_HEADING: Final = re.compile(r" {0,3}##[ \t]+(?P<text>.*)$")
_UNDERLINE: Final = re.compile(r" {0,3}-{2,}[ \t]*$")
_NO_TITLE: Final = re.compile(r"\s*$|\s*[#>|*+-]| {4}|\s*\d+[.)]\s")
_NUMBER: Final = re.compile(r"^\d+(?:\.\d+)*[.):]?\s+")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_UNWORDED: Final = re.compile(r"[^\w &'-]+")
_WORD: Final = re.compile(r"[^\W_]+")


def headings(text: str) -> list[str]:
    """The second-level headings of a document in Markdown, cleaned, each once."""
    return named(_headings(text))


def _headings(text: str) -> Iterator[str]:
    before = ""
    for line in prose_lines(text):
        if found := _HEADING.match(line):
            yield found["text"].rstrip().rstrip("#")
        elif _UNDERLINE.match(line) and not _NO_TITLE.match(before):
            yield before
        before = line


def prose_lines(text: str) -> Iterator[str]:
    """The lines of a document in Markdown, without front matter and fenced blocks."""
    return (line for line, is_fenced in _lines(text) if not is_fenced)


def fenced_lines(text: str) -> Iterator[str]:
    """The lines inside fenced blocks."""
    return (line for line, is_fenced in _lines(text) if is_fenced)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Pairs of a line and whether a fenced block holds it; fences and front matter go."""
    lines = text.removeprefix("\ufeff").splitlines()
    start, mark = 0, ""
    if lines and lines[0].rstrip() == "---":
        ends = (n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "..."))
        start = next(ends, -1) + 1
    before = ""
    for line in lines[start:]:
        fence = (_RULER if _LISTING.match(before) or mark == "----" else _FENCE).match(line)
        before = line
        if mark:
            if fence and fence["mark"].startswith(mark) and not fence["tag"].strip():
                mark = ""
            else:
                yield line, True
        elif fence:
            mark = fence["mark"]
        else:
            yield line, False


def named(texts: Iterable[str]) -> list[str]:
    """Names for domains: plain words, each once in whatever case; those without words go."""
    found: dict[str, str] = {}
    for text in texts:
        bare = _NUMBER.sub("", _LINK.sub(r"\1", text[:TITLE_MAX]).strip())
        name = " ".join(_UNWORDED.sub(" ", bare).split())
        name = shortened(name, NAME_MAX).strip("_ '&-")
        if _WORD.search(name):
            name = f"Part {len(found) + 1}" if first_code(name) else name
            found.setdefault(name.casefold(), name)
    return list(found.values())


def slugs(names: Iterable[str]) -> list[str]:
    """A name for a module or a file for each name, in lower case, no two alike."""
    found: list[str] = []
    for n, name in enumerate(names, 1):
        slug = "_".join(_WORD.findall(name.casefold()))[:SLUG_MAX].strip("_") or f"module_{n}"
        while slug in found:
            slug += f"_{n}"
        found.append(slug)
    return found


def languages(text: str) -> list[str]:
    """The programming languages that a text names, in its order."""
    lowered = text.lower()
    at = {name: found for name in LANGUAGES if (found := _first(name, text, lowered)) >= 0}
    return sorted(at, key=at.__getitem__) or [UNSPECIFIED]


def _first(name: str, text: str, lowered: str) -> int:
    """Where a language is named first, -1 where it is not.

    Most texts name few, and looking for the letters is many times as fast as for the pattern.
    """
    if name.lower() not in lowered:
        return -1
    places = (found.start() for found in _NAMED[name].finditer(text))
    return next((at for at in places if not _IN_A_WORD.match(text, at - 1, at)), -1)


def style(text: str) -> str:
    """The first style of an architecture that a text names; `custom` without one."""
    found = _STYLES.search(text)
    return (found.lastgroup if found else None) or "custom"


def suffix(language: str) -> str:
    """Of the files of a language."""
    return LANGUAGES.get(language, ("", SUFFIX))[1]
