"""What is no document of a pass: source and test files, by name and by content (specification 1.4);
and which lines of a document are prose.

Where a file lies, and whether a link leads out of the repository, is seen where it is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from preflights_es.judging.code_search import first_code


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SUFFIXES: Final = _words("""
    ada adb ads as asm astro awk bas bash bat c c++ cbl cc cjs clj cljc cljs cls cmake cmd cob
    coffee cpp cr cs csh css csx cts cu cuh cxx d dart dpr el elm erb erl ex exs f f03 f08 f90 f95
    feature fish for frm fs fsi fsx gd gemspec glsl go gql gradle graphql groovy h h++ haml hbs hh
    hlsl hpp hrl hs hx hxx inl ino ipynb java jinja jinja2 jl js jsp jsx kt kts ksh less lhs lisp
    lua m mako mjs mk ml mli mm mts nim nix pas php phtml pl pm pp proto ps1 psd1 psm1 pug purs py
    pyi pyw pyx pxd r rake rb re rei rkt robot rs s sass scala scm scss sh sol sql styl sv svelte
    svh swift t tcl tf thrift ts tsx twig v vala vb vbs vhd vhdl vim vue wat wgsl xsl xslt zig zsh
""")
"""Of programming languages, styles, templates, notebooks and tests."""
NAMES: Final = _words("""
    build.bazel cmakelists.txt dockerfile gemfile gnumakefile jenkinsfile justfile makefile podfile
    rakefile sconstruct vagrantfile workspace.bazel
""")
"""Of source files without a suffix of their own."""
COPIES: Final = _words("""
    bak disabled dist example in j2 old orig rej sample save swp tmp tmpl tpl
""")
"""Suffixes that a file gets behind its own."""
DATA: Final = _words("""
    cfg conf csv env ini json json5 jsonc properties toml tsv xml yaml yml
""")
"""Suffixes of files whose lines look like code, and are data."""
TEST_FOLDERS: Final = frozenset(("test", "tests", "__tests__", "spec"))

PROSE_WORDS: Final = 4  # of one line outside of fenced blocks, so that prose quotes them
LINE_MAX: Final = 400  # characters of a line that are
LINES_MAX: Final = 5_000  # looked at for their form; a document has fewer
HITS_MAX: Final = 20  # lines of code that are enough, however long a document is
SHARE: Final = 0.3  # of lines that have the form of code; prose has next to none

_TEST: Final = re.compile(r"test_.*|.*_test|.*\.(?:spec|test)(?:\..*)?")
_MARKUP: Final = re.compile(
    r"\s*(?:\{%|<(?:!doctype\s+html|html|head|body|script|style|template|svg|\?php|\?xml|%)\b)",
    re.IGNORECASE,
)
_REMARK: Final = re.compile(r"\s*#(?![A-Za-z])")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_INLINE: Final = re.compile(r"(?<!`)(`{1,8}+)(?!`)[^\n]{1,500}?(?<!`)\1(?!`)")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|&[a-z#0-9]{2,8};")
_URL: Final = re.compile(r"\bhttps?://\S+|!?\[[^\]\n]{0,300}\]\([^)\n]{0,300}\)")
_SECTION: Final = re.compile(r"\[[\w. :-]+\]")
_FORM: Final = re.compile(
    r"""
    [^-*+].*\{$ | \}.* | [^-*+].*[)}];$ | [)\]]+[;,)]*$ | end[;,.)]?$
    | (?:my|our|local|let|var|val|const|auto|final|static|mut)?\s*[$@%*&]?[A-Za-z_][\w.\[\]>'"-]*
      (?:\s*:\s*[\w\[\]<>., |?]+)?\s*(?:=|:=|\+=|-=|<-)\s*(?!=)(?![^\W\d_]+(?:[ '-][^\W\d_]+)*$)\S.*
    | (?:\#\s*(?:include|define|if|ifdef|ifndef|endif|pragma|import)|@\w+\(|//|/\*|\*/|--\s).*
    | ;;.* | \((?:def\w*|let\*?|setq|require|provide|lambda|cond|ns|define|display|if|when)\b.*
    | [a-z]\w*\s*::\s*\S.* | @echo\b.* | set\s\w+=.* | goto\s\w+$
    | (?:FROM|RUN|COPY|ADD|CMD|ENTRYPOINT|WORKDIR|ENV|EXPOSE|ARG|VOLUME)\s+\S.*
    | =(?:head\d|cut|pod|item|over|back|begin|end)\b.*
    | (?:def|defp|fn|fun|func|function|sub|proc|method|procedure)\s+[\w.!?$]+.*
    | (?:module|defmodule|class|struct|enum|trait|impl|interface|namespace|object)\s+[A-Z]\w*\b
      [^.,]*
    | (?:package|use|using|import|include|require|library|source|from)\s+\(?[\w-]*[.:"'<{*/$@;].*
    | (?:if|elsif|elif|unless|for|foreach|while|until|case|switch|match|with|when)\b.*[:{]$
    | (?:if|elsif|for|while|case)\b.*\b(?:then|do|of)$
    | (?:else|try|do|begin|ensure|rescue|finally):?$
    | (?:return|raise|throw|yield|print|puts|echo|assert|await|expect|assert_\w+|exit)\b
      .*(?:\w\(|["'=;$\[]).*
    """,
    re.VERBOSE,
)
_SENTENCE: Final = re.compile(r"#+\s|[^\W\d_].*\s.*\s.*[^\W\d_)][.:?!]$")
_PROSE_LINE: Final = re.compile(
    r"(?:\s*(?:[-*+>#|]|\d+[.)])\s|.*[a-z,)][.:,;?!]$|.*\w+(?:\s+\w+){7})"
)


def why_forbidden(path: str, text: str) -> str:
    """Why a file is no document: what its name or its content says; empty where it is one.

    Args:
        path: relative to the root of the repository, with forward slashes.
    """
    return _by_name(path) or _by_content(path, text)


# 1. By name ----------------------------------------------------------------------------------


def _by_name(path: str) -> str:
    *folders, name = [part.strip(" .").casefold() for part in path.split("/")]
    bare = _original(name)
    stem, dot, suffix = bare.rpartition(".")
    if name in NAMES or bare in NAMES:
        return f"{name} is the name of a source file"
    if dot and stem and suffix in SUFFIXES:
        return f".{suffix} is a suffix of source files"
    if _TEST.fullmatch(stem if dot and stem else bare) or _TEST.fullmatch(bare):
        return f"{name} is the name of a test"
    inside = next((folder for folder in folders if folder in TEST_FOLDERS), "")
    return f"it lies in a folder of tests, {inside}/" if inside else ""


def _original(name: str) -> str:
    """A name without what a copy or a template has behind its suffix."""
    while True:
        bare = name.rstrip("~ .")
        head, dot, last = bare.rpartition(".")
        if dot and head and last in COPIES:
            bare = head
        if bare == name:
            return name
        name = bare


# 2. By content -------------------------------------------------------------------------------


def _by_content(path: str, text: str) -> str:
    text = text.lstrip("\ufeff")
    if text.startswith("#!"):
        return "its first line, #!, names an interpreter"
    if _MARKUP.match(text):
        return "it begins as markup or a page of code does"
    lines = [*prose_lines(text)]
    if not any(len(_WORD.findall(line)) >= PROSE_WORDS for line in lines):
        lines += (line for line, is_fenced in _lines(text) if is_fenced)
    lines = _without_remarks([line for line in lines if line.strip()][:LINES_MAX])
    if path.rpartition(".")[2].casefold() not in DATA and _has_form(lines):
        return "its lines have the form of source code"
    return _code(lines)


def _without_remarks(lines: list[str]) -> list[str]:
    """Lines without block comments, and without comments of `#`: three in turn are no headings."""
    lines = _without_blocks(lines)
    marked = [bool(_REMARK.match(line)) for line in lines]
    runs = [all(marked[n : n + 3]) and n + 3 <= len(lines) for n in range(len(lines))]
    return [line for n, line in enumerate(lines) if not any(runs[max(0, n - 2) : n + 1])]


def _without_blocks(lines: list[str]) -> list[str]:
    """Lines without those of comments that begin a line with `/*`."""
    kept, is_inside = [], False
    for line in lines:
        is_inside = is_inside or line.lstrip().startswith("/*")
        if not is_inside:
            kept.append(line)
        is_inside = is_inside and "*/" not in line
    return kept


def _has_form(lines: list[str]) -> bool:
    """Whether so many lines are statements, whatever the language."""
    if any(map(_SECTION.fullmatch, lines)):
        return False  # settings
    short = [line.strip()[:LINE_MAX] for line in lines]
    formed = sum(map(_is_formed, short))
    prose = sum(bool(_SENTENCE.match(line)) for line in short)
    return formed >= 2 and formed >= SHARE * len(lines) and formed > prose


def _is_formed(line: str) -> bool:
    return bool(_FORM.match(line)) and not (
        _PROSE_LINE.match(line) and not line.endswith((";", "{"))
    )


def _code(lines: Iterable[str]) -> str:
    """Which language the lines at the margin look like, where enough of them do."""
    lines = [*lines]
    margin = [line for line in lines if not line.startswith(("   ", "\t"))] or lines
    first, *others = "\n".join(margin).split("<!--")
    text = first + "".join(other.partition("-->")[2] for other in others)
    text = _INLINE.sub(" x ", text)
    text = _URL.sub(" x ", _TAG.sub(" ", text))
    count, language = len(margin), ""
    for _ in range(min(1 + (count > 10) + (count > 40) + count // 60, HITS_MAX)):
        found = first_code(text)
        if found is None:
            return ""
        language, at = found
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        text = text[:start] + (text[end + 1 :] if end >= 0 else "")
    return f"it looks like {language}, where prose is asked for"


# 3. Markdown --------------------------------------------------------------------------------

_FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<tag>[^`]*)$")
_RULER: Final = re.compile(r"(?P<mark>-{4})(?P<tag>)\s*$")
_LISTING: Final = re.compile(r"\[(?:source|listing)\b.*\]\s*$")
"""The line before a fence of AsciiDoc, `----`."""


def prose_lines(text: str) -> Iterator[str]:
    """The lines of a document in Markdown, without front matter and fenced blocks."""
    return (line for line, is_fenced in _lines(text) if not is_fenced)


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
