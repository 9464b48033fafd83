"""The reference: what the rules plan, a pure function of the request (specification, section 6).

It reads the user message and the conversation behind it, as a model does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from preflights_es.features.compiler.domain.forbidden import prose_lines
from preflights_es.features.compiler.domain.rules import CONTRACTS, why_no_path
from preflights_es.features.compiler.domain.values import PASSES, PassName
from preflights_es.judging.code_search import first_code
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.simulation import References
from preflights_es.kernel.text import composed, shortened

Payload = dict[str, Any]

STYLES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "clean": (
        ("domain", "application", "interface", "infrastructure"),
        (
            "domain_cannot_import_infrastructure",
            "application_depends_on_domain",
            "infrastructure_depends_on_application",
        ),
    ),
    "hexagonal": (
        ("domain", "application", "ports", "adapters"),
        ("domain_cannot_import_infrastructure", "application_depends_on_domain"),
    ),
    "ddd": (
        ("domain", "application", "infrastructure", "presentation"),
        ("domain_cannot_import_infrastructure", "application_depends_on_domain"),
    ),
    "custom": (
        ("domain", "application", "infrastructure"),
        ("domain_cannot_import_infrastructure",),
    ),
}
"""Layers, from the inside out, and rules of a style."""

TESTS_MAX: Final = 40  # tests that one implementation is planned from


class RequestedPass(msgspec.Struct, frozen=True):
    """A pass as its request says it."""

    documents: dict[str, str] = {}
    """Texts by name."""
    plans: dict[str, Payload] = {}
    """Payloads by type."""
    layout: list[str] = []
    target: str = ""
    goal: str = ""
    answers: list[str] = []
    """What the person said behind the user message."""


def asked(request: CompletionRequested) -> RequestedPass:
    """What a request says; nothing where its user message is not that of a pass."""
    said = [one.content for one in request.messages if one.role == "user"]
    try:
        told = msgspec.json.decode(said[0] if said else "{}", type=_UserMessage)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return RequestedPass()
    return RequestedPass(
        documents={one.name: one.text for one in reversed(told.documents)},
        plans={one.type: one.payload for one in told.artifacts if _is_plan(one)},
        layout=told.layout,
        target=told.target,
        goal=told.goal,
        answers=[text for text in said[1:] if text.strip()],
    )


class _DocumentPart(msgspec.Struct):
    name: str
    text: str


class _PlanPart(msgspec.Struct):
    type: str
    payload: Payload


class _UserMessage(msgspec.Struct):
    documents: list[_DocumentPart] = []
    artifacts: list[_PlanPart] = []
    layout: list[str] = []
    target: str = ""
    goal: str = ""


def _is_plan(told: _PlanPart) -> bool:
    """Whether it meets the schema of its type."""
    contract = next(
        (CONTRACTS[f"{p.schema}.v1"] for p in PASSES.values() if p.writes == told.type), None
    )
    return contract is not None and not contract.shape.violations(told.payload, 0)


def planned(name: PassName, request: CompletionRequested) -> Payload:
    """The payload that the rules have for a request, or a failure object."""
    return _PLANS[name](asked(request))


def missing(details: str) -> Payload:
    """A failure object that asks a person."""
    return {"error": "missing_information", "details": details}


# 1. The passes -------------------------------------------------------------------------------


def _project(said: RequestedPass) -> Payload:
    domains = headings(said.documents.get("requirements", ""))
    if not domains and said.answers:
        parts = said.answers[-1].replace(";", ",").replace("\n", ",").replace(" and ", ",")
        domains = named(parts.split(","))
    if not domains:
        return missing(
            "The requirements have no second-level heading, so they name no domain. "
            "Which domains does the project have? Name them, with commas between them."
        )
    constraints = said.documents.get("constraints", "")
    return {
        "domains": [
            {"name": name, "responsibility": f"Everything that the requirements ask of {name}."}
            for name in domains
        ],
        "modules": [
            {"name": slug, "domain": name}
            for slug, name in zip(slugs(domains), domains, strict=True)
        ],
        "constraints": {
            "architecture": style(constraints),
            "languages": languages(constraints),
        },
    }


def _architecture(said: RequestedPass) -> Payload:
    constraints = said.plans.get("ProjectPlan", {}).get("constraints", {})
    layers, rules = STYLES.get(constraints.get("architecture"), STYLES["custom"])
    return {"layers": [*layers], "rules": [{"rule": rule} for rule in rules]}


def _scaffold(said: RequestedPass) -> Payload:
    project = said.plans.get("ProjectPlan", {})
    names = [one["name"] for one in project.get("modules", ())]
    if not names:
        return missing("The ProjectPlan has no module. Which modules does the program have?")
    ending = suffix(project["constraints"]["languages"][0])
    files = []
    for slug, name in zip(slugs(names), names, strict=True):
        files += [
            _file(f"src/{slug}{ending}", f"Carries the module {name}.", "source"),
            _file(f"tests/test_{slug}{ending}", f"Tests of the module {name}.", "test"),
        ]
    about = "Says what the program is for, and how people work on it."
    return {"files": [*files, _file("README.md", about, "doc")]}


def _file(path: str, description: str, kind: str) -> Payload:
    return {"path": path, "description": description, "kind": kind}


def _test(said: RequestedPass) -> Payload:
    files = said.plans.get("ScaffoldPlan", {}).get("files", ())
    paths = [one["path"] for one in files if one["kind"] == "source"]
    if not paths:
        return missing("The ScaffoldPlan has no source file. Which files are to be tested?")
    return {
        "tests": [
            {
                "id": f"{slug}_keeps_its_word",
                "target": path,
                "assertions": [
                    "Given what the requirements allow, the result is what they ask for.",
                    "Given what the requirements rule out, it is refused, and nothing changes.",
                ],
            }
            for slug, path in zip(slugs(map(_stem, paths)), paths, strict=True)
        ]
    }


def _stem(path: str) -> str:
    """A path without its first folder and its suffix."""
    inside = path.partition("/")[2] or path
    head, slash, last = inside.rpartition("/")
    return head + slash + (last.rpartition(".")[0] or last)


def _implementation(said: RequestedPass) -> Payload:
    tests = said.plans.get("TestPlan", {}).get("tests", ())
    own = [one for one in tests if one["target"] == said.target][:TESTS_MAX]
    first = "Offer what other files need of this one, and nothing else."
    if "target" in said.documents:
        first = "Keep what this file offers to others today."
    return {
        "target": said.target,
        "steps": [
            first,
            *(f"Make the test {one['id']} pass: {one['assertions'][0]}" for one in own),
            "Refuse what the requirements rule out, with a reason.",
        ],
        "related_tests": [one["id"] for one in own],
    }


def _refactor(said: RequestedPass) -> Payload:
    layers = said.plans.get("ArchitecturePlan", {}).get("layers", [])
    words = " ".join((said.goal, *said.answers))
    found = operations(words, said.layout, layers)
    if not found:
        return missing(
            "The goal names no file of the layout, no symbol and no layer. "
            "Which file, symbol or layer is to change, and what becomes of it?"
        )
    return {
        "goal": said.goal,
        "operations": found,
        "constraints": {"preserve_behavior": True},
    }


_PLANS: Final[dict[PassName, Callable[[RequestedPass], Payload]]] = {
    "project": _project,
    "architecture": _architecture,
    "scaffold": _scaffold,
    "test": _test,
    "implementation": _implementation,
    "refactor": _refactor,
}


# 2. As a provider ----------------------------------------------------------------------------


def _answer(name: PassName, request: CompletionRequested) -> str:
    return encoded(planned(name, request)).decode()


REFERENCES: Final[References] = {one.schema: partial(_answer, one.name) for one in PASSES.values()}


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


def named(texts: Iterable[str]) -> list[str]:
    """Names for domains: plain words, each once in whatever case; those without words go."""
    found: dict[str, str] = {}
    for text in texts:
        bare = _NUMBER.sub("", _LINK.sub(r"\1", composed(text)[:TITLE_MAX]).strip())
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


OPERATIONS_MAX: Final = 5  # of one goal
_QUOTES: Final = "`'\"\u201c\u201d\u2018\u2019\u00ab\u00bb()[]<>{},;:!?"
_RENAME: Final = re.compile(
    r"\brename\s+(?:the\s+)?(?:\w+\s+)?(\S+)\s+(?:in)?to\s+(\S+)", re.IGNORECASE
)
_SYMBOL: Final = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[a-z]\w*_\w+|\w+(?=\(\)$)")
_PATH: Final = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+/?|[\w-]+\.[a-zA-Z]{1,5}")

Operation = dict[str, Any]


def operations(text: str, layout: Sequence[str], layers: Sequence[str]) -> list[Operation]:
    """What is to be done, as far as a text names it; nothing where it names nothing known."""
    words = [bare for word in text.split() if (bare := _bare(word))]
    if any("/" in word and why_no_path(word.removesuffix("/")) for word in words):
        return []
    files = _files(words, layout)
    return (
        _renamed(text, files, layout)
        or _moved(words, files)
        or _symbols(words, files, layout)
        or [_interface(_camel(path), path) for path in files]  # nothing else is said of them
        or _layered(words, layers)
    )[:OPERATIONS_MAX]


def _bare(word: str) -> str:
    return word.strip(_QUOTES).rstrip(f".{_QUOTES}")


def _files(words: Sequence[str], layout: Sequence[str]) -> list[str]:
    """The files of the layout that are named, by their paths or by their names."""
    known = {path: path for path in layout if not why_no_path(path)}
    by_name = {path.rpartition("/")[2]: path for path in reversed(known)}
    found = (known.get(word) or by_name.get(word) for word in words)
    return list(dict.fromkeys(path for path in found if path))


def _renamed(text: str, files: Sequence[str], layout: Sequence[str]) -> list[Operation]:
    found = _RENAME.search(text)
    if found is None:
        return []
    old, new = map(_bare, found.groups())
    if not (old and new):
        return []
    if named := _files([old], layout):
        to_path = new if "/" in new else _sibling(named[0], new)
        return [] if why_no_path(to_path) else [_move(named[0], to_path)]
    if _PATH.fullmatch(old):
        return []
    within = {"from_path": files[0]} if files else {}
    return [{"type": "rename_symbol", "symbol": old, "to": new, **within}]


def _moved(words: Sequence[str], files: Sequence[str]) -> list[Operation]:
    """Each file that is named goes where the one new path says."""
    new = [w for w in words if "/" in w and _PATH.fullmatch(w) and w not in files]
    if not files or not new:
        return []
    if "." in new[-1].rpartition("/")[2]:
        return [_move(files[0], new[-1])]
    folder = new[-1].rstrip("/")
    return [_move(path, f"{folder}/{path.rpartition('/')[2]}") for path in files]


def _symbols(words: Sequence[str], files: Sequence[str], layout: Sequence[str]) -> list[Operation]:
    names = [w.removesuffix("()") for w in words if _SYMBOL.fullmatch(w.removesuffix("()"))]
    if not names:
        return []
    beside = files[0] if files else next((p for p in layout if p.startswith("src/")), "")
    beside = beside if beside and not why_no_path(beside) else f"src/x{SUFFIX}"
    return [_interface(name, beside) for name in dict.fromkeys(names)]


def _layered(words: Sequence[str], layers: Sequence[str]) -> list[Operation]:
    """A dependency from the first layer that is named to the second, or to another one."""
    known = {layer.casefold(): layer for layer in layers}
    said = (known.get(word.casefold()) for word in words)
    named = list(dict.fromkeys(layer for layer in said if layer))
    if not named:
        return []
    to = next((layer for layer in (*named[1:], *layers) if layer != named[0]), "")
    return [{"type": "enforce_dependency", "from": named[0], "to": to}] if to else []


def _move(path: str, to_path: str) -> Operation:
    return {"type": "move_file", "from_path": path, "to_path": to_path}


def _interface(symbol: str, path: str) -> Operation:
    stem = "_".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", symbol)).lower() or "shared"
    suffix = "." + path.rpartition(".")[2] if "." in path.rpartition("/")[2] else SUFFIX
    to_path = _sibling(path, f"{stem}_interface{suffix}")
    return {"type": "extract_interface", "symbol": symbol, "to_path": to_path}


def _sibling(path: str, name: str) -> str:
    """A path in the folder of another one."""
    head, slash, _ = path.rpartition("/")
    return head + slash + name


def _camel(path: str) -> str:
    stem = path.rpartition("/")[2].partition(".")[0] or "Shared"
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[\W_]+", stem)) or "Shared"
