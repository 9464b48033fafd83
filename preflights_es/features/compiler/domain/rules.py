"""What a plan must be in itself (specification, section 5), and which files are no documents of a
pass (1.4). A *flaw* rejects the response. Whether a plan agrees with others, a person sees; where a
file lies is seen where it is opened.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from preflights_es.features.compiler.domain.events import (
    PACKAGE,
    PASSES,
    POLICY,
    PassBegun,
    PassName,
)
from preflights_es.judging.contract import Contract, first_code
from preflights_es.kernel.completions import (
    VIOLATIONS_MAX,
    Path,
    Violation,
    decode_prompt_schema,
    format_json_pointer,
    quote_foreign_value,
)
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import escaped_text, is_git, visible

PLAN_MAX: Final = 1_000_000  # bytes of a plan as JSON; the next pass reads it in one request

Flaws = Iterator[tuple[Path, str]]
"""Places of a plan, and what is wrong there."""


load_compiler_schema: Final = partial(decode_prompt_schema, PACKAGE)
"""A schema of this workflow, by `name.vN`."""
CONTRACTS: Final[dict[str, Contract]] = {
    f"{one.schema}.v1": Contract(
        name=one.schema,
        version=1,
        schema=partial(load_compiler_schema, f"{one.schema}.v1"),
        reasoning="refuse",
        policy=POLICY,
    )
    for one in PASSES.values()
}
"""What a model must answer in each pass, by the id that a request names."""


def find_pass_violations(begun: PassBegun, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """The flaws of a payload that meets its schema, and where; nothing where it passes."""
    if (size := len(canonical_json(payload))) > PLAN_MAX:
        return (Violation("", f"expected at most {PLAN_MAX:,} bytes, the plan has {size:,}"),)
    flaws = FLAWS[begun.pass_type](begun, payload)
    found = [Violation(format_json_pointer(at), what) for at, what in flaws]
    for at, text in leaves(payload):
        if at[0] != "operations" and not visible(text):  # a field that one does not need may be so
            found.append(Violation(format_json_pointer(at), "expected words"))
    return tuple(found[:VIOLATIONS_MAX])


# 1. One pass each ----------------------------------------------------------------------------


def _project(_: PassBegun, payload: dict[str, Any]) -> Flaws:
    domains = [one["name"] for one in payload["domains"]]
    modules = payload["modules"]
    yield from _twice(domains, lambda n: ("domains", n, "name"))
    yield from _twice([one["name"] for one in modules], lambda n: ("modules", n, "name"))
    for n, one in enumerate(modules):
        if one["domain"] not in domains:
            what = f"{quote_foreign_value(one['domain'])} is no domain of this plan"
            yield ("modules", n, "domain"), what


def _architecture(_: PassBegun, payload: dict[str, Any]) -> Flaws:
    yield from _twice(payload["layers"], lambda n: ("layers", n))
    yield from _twice([one["rule"] for one in payload["rules"]], lambda n: ("rules", n, "rule"))


def _scaffold(_: PassBegun, payload: dict[str, Any]) -> Flaws:
    paths = [one["path"] for one in payload["files"]]
    for n, path in enumerate(paths):
        yield from _find_path_flaws(path, ("files", n, "path"))
    yield from _twice(paths, lambda n: ("files", n, "path"), _in_any_case)


def _test(_: PassBegun, payload: dict[str, Any]) -> Flaws:
    yield from _twice([one["id"] for one in payload["tests"]], lambda n: ("tests", n, "id"))
    for n, one in enumerate(payload["tests"]):
        yield from _find_path_flaws(one["target"], ("tests", n, "target"))


def _implementation(begun: PassBegun, payload: dict[str, Any]) -> Flaws:
    target = payload["target"]
    yield from _find_path_flaws(target, ("target",))
    if target != begun.target:
        yield ("target",), f"expected {quote_foreign_value(begun.target)}, which was asked for"


OPERATIONS: Final[dict[str, tuple[str, str]]] = {
    "move_file": ("from_path", "to_path"),
    "rename_symbol": ("symbol", "to"),
    "extract_interface": ("symbol", "to_path"),
    "enforce_dependency": ("from", "to"),
}
"""The fields that an operation of a type needs."""


def _refactor(begun: PassBegun, payload: dict[str, Any]) -> Flaws:
    if payload["goal"].split() != begun.goal.split():
        yield ("goal",), f"expected {quote_foreign_value(begun.goal)}, which was asked for"
    for n, one in enumerate(payload["operations"]):
        for name in OPERATIONS[one["type"]]:
            if not visible(one.get(name) or ""):
                yield ("operations", n, name), f"is required for {one['type']}"
        for name in ("from_path", "to_path"):
            yield from _find_path_flaws(one.get(name) or "", ("operations", n, name))


FLAWS: Final[dict[PassName, Callable[[PassBegun, dict[str, Any]], Flaws]]] = {
    "project": _project,
    "architecture": _architecture,
    "scaffold": _scaffold,
    "test": _test,
    "implementation": _implementation,
    "refactor": _refactor,
}
"""By pass, the flaws of its plan."""


def _twice(
    names: Iterable[str], place: Callable[[int], Path], alike: Callable[[str], str] = str
) -> Flaws:
    """What stands before already, as `alike` has it."""
    before: set[str] = set()
    for n, name in enumerate(names):
        if alike(name) in before:
            yield place(n), f"{quote_foreign_value(name)} stands twice"
        before.add(alike(name))


# 2. Every text of a plan ---------------------------------------------------------------------


def why_no_path(path: str) -> str:
    """Why a text is no path within the repository; empty where it is one."""
    parts = path.split("/")
    if "\\" in path:
        return "has a backslash"
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return "is not relative"
    if not all(map(visible, parts)):
        return "has an empty part"
    if ".." in parts:
        return "leaves its folder with '..'"
    if "." in parts:
        return "has the part '.'"
    if any(part != part.strip() for part in parts) or escaped_text(path) != path:
        return "has white space or control characters that are not seen"
    if any(map(is_git, parts)):
        return "is within .git, which is not part of the repository's files"
    return ""


def why_no_goal(goal: str) -> str:
    """Why no plan can repeat a goal: code would be found in it; empty where one can."""
    found = first_code(goal)
    return f"looks like {found[0]}: say it in words" if found else ""


def _find_path_flaws(path: str, at: Path) -> Flaws:
    if visible(path) and (why := why_no_path(path)):
        yield at, f"{quote_foreign_value(path)} {why}; expected a path within the repository"


def _in_any_case(path: str) -> str:
    """As a file system has it that knows no case and one form of each letter."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def leaves(value: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text of a payload and its place; a schema bounds the depth."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*at, key))
    elif isinstance(value, list):
        for n, one in enumerate(value):
            yield from leaves(one, (*at, n))


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
