"""What is no document of a pass: source and test files, by their names (specification 1.4).

Where a file lies, and whether a link leads out of the repository, is seen where it is opened.
"""

from __future__ import annotations

import re
from typing import Final


def _split_forbidden_names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SUFFIXES: Final = _split_forbidden_names("""
    ada adb ads as asm astro awk bas bash bat c c++ cbl cc cjs clj cljc cljs cls cmake cmd cob
    coffee cpp cr cs csh css csx cts cu cuh cxx d dart dpr el elm erb erl ex exs f f03 f08 f90 f95
    feature fish for frm fs fsi fsx gd gemspec glsl go gql gradle graphql groovy h h++ haml hbs hh
    hlsl hpp hrl hs hx hxx inl ino ipynb java jinja jinja2 jl js jsp jsx kt kts ksh less lhs lisp
    lua m mako mjs mk ml mli mm mts nim nix pas php phtml pl pm pp proto ps1 psd1 psm1 pug purs py
    pyi pyw pyx pxd r rake rb re rei rkt robot rs s sass scala scm scss sh sol sql styl sv svelte
    svh swift t tcl tf thrift ts tsx twig v vala vb vbs vhd vhdl vim vue wat wgsl xsl xslt zig zsh
""")
"""Of programming languages, styles, templates, notebooks and tests."""
NAMES: Final = _split_forbidden_names("""
    build.bazel cmakelists.txt dockerfile gemfile gnumakefile jenkinsfile justfile makefile podfile
    rakefile sconstruct vagrantfile workspace.bazel
""")
"""Of source files without a suffix of their own."""
COPIES: Final = _split_forbidden_names("""
    bak disabled dist example in j2 old orig rej sample save swp tmp tmpl tpl
""")
"""Suffixes that a file gets behind its own."""
TEST_FOLDERS: Final = frozenset(("test", "tests", "__tests__", "spec"))

_TEST: Final = re.compile(r"test_.*|.*_test|.*\.(?:spec|test)(?:\..*)?")


def why_forbidden(path: str) -> str:
    """Why a file is no document, by its name; empty where it is one.

    Args:
        path: relative to the root of the repository, with forward slashes.
    """
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
