"""What a text of a file, or a command, imports or installs: modules, packages, images.

The syntax of each kind of file decides, never a word: prose, comments, queries and addresses use
nothing. An edit is mostly a part of a file, so each form is one that also a part shows. Lock files
list what others need, and are passed over. What the names stand for is a matter of `products`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast

from preflights_es.kernel.text import late_pattern, own_file

Kind = Literal["module", "jvm", "address", "npm", "package", "image", "tool"]
"""`module`: a dotted name, whose root says whose it is; `jvm`: one whose owner stands behind a
domain, with `:` before the artifact; `address`: a path behind a host; `package`: of a registry but
npm's; `image`: what runs, of a registry of images or a system's packages; `tool`: what installs."""


class Used(NamedTuple):
    """Something of others, as the file names it."""

    name: str
    kind: Kind


Read = Callable[[str], Iterable[Used]]
PARSED_MAX: Final = 200_000  # characters of a Python file that is parsed; a larger one is searched
_APART: Final = late_pattern(
    r"(?:^|/)(?:node_modules|vendor|third_party|site-packages|\.git)/|\.(?:lock|sum|min\.js|map)$"
    r"|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|packages\.lock\.json)$"
)
"""Files of others, and what a resolver wrote."""


def used(path: str, text: str) -> frozenset[Used]:
    """What a file of this path imports or installs, by its text or a part of it."""
    place = path.replace("\\", "/").casefold()
    if not text or _APART.search(place):
        return frozenset()
    return frozenset(one for one in _read(place, text) if one.name)


def installed(command: str) -> frozenset[Used]:
    """What a command of a shell installs."""
    return frozenset(one for one in _commands(command) if one.name)


def _read(place: str, text: str) -> Iterator[Used]:
    name = place.rpartition("/")[2]
    for patterns, reads in _forms():
        if any(_fits(one, place if "/" in one else name) for one in patterns):
            for kind, form in reads:
                if kind in _READERS:
                    yield from _READERS[kind](text)
                else:
                    found = _form(form).finditer(text)
                    yield from (Used(one[1], cast("Kind", kind)) for one in found)


def _fits(pattern: str, name: str) -> bool:
    begin, star, end = pattern.partition("*")
    return name.startswith(begin) and name.endswith(end) if star else name == pattern


@cache
def _forms() -> tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...]:
    """Patterns of names, and what reads a file of one: a kind and its form, or a function here."""
    found: list[tuple[tuple[str, ...], list[tuple[str, str]]]] = []
    for line in own_file(__spec__, "forms.txt").decode().splitlines():
        if line[0] == " ":
            kind, _, form = line.strip().partition(" ")
            found[-1][1].append((kind, form))
        else:
            found.append((tuple(line.split()), []))
    return tuple((names, tuple(reads)) for names, reads in found)


@cache
def _form(text: str) -> re.Pattern[str]:
    """A form of `forms.txt`: a blank stands for several, `~` for any number of them."""
    written = text.replace(" ", r"[ \t]+").replace("~", r"[ \t]*")
    return re.compile(rf"^[ \t]*(?:{written})", re.MULTILINE)


# 1. Source ------------------------------------------------------------------------------------

_IMPORT: Final = late_pattern(
    r"^[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import\b[ \t]*(?:\([ \t]*)?(\w*)"
    r"|import[ \t]+(\w[\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*\w[\w.]*(?:[ \t]+as[ \t]+\w+)?)*)"
    r"[ \t]*(?:[;#].*)?$)",
    re.MULTILINE,
)
_JS: Final = late_pattern(
    r"^[ \t]*(?:import|export|\}|\{)[^'\"\n;]*?\bfrom[ \t]*['\"]([^'\"\n]+)['\"]"
    r"|^[ \t]*import[ \t]*['\"]([^'\"\n]+)['\"]"
    r"|(?<![\w.$'\"])(?:require(?:\.resolve)?|import)[ \t]*\(\s*(?:/\*.*?\*/\s*)?"
    r"['\"`]([^'\"`\n$]+)['\"`]",
    re.MULTILINE,
)
_COMMENT: Final = late_pattern(
    r"^[ \t]*/\*.*?\*/|^[ \t]*//.*?$|[ \t]//[ \t].*?$", re.MULTILINE | re.DOTALL
)
_BARE: Final = late_pattern(
    r"(?:npm:|jsr:)?((?:@[a-z\d][\w.-]*/)?[a-zA-Z\d][\w./-]*)(?:@[\d^~].*)?"
)

_NODE: Final = frozenset(
    """
    assert buffer child_process cluster console crypto dns events fs http http2 https module net os
    path perf_hooks process querystring readline stream string_decoder timers tls url util v8 vm
    worker_threads zlib
    """.split()  # noqa: SIM905  a table
)
"""Modules of Node itself."""


def _python(text: str) -> Iterator[Used]:
    if not _IMPORT.search(text):
        return
    import ast
    from textwrap import dedent

    found: list[str] = []
    try:
        for one in _statements(ast.parse(dedent(text))) if len(text) <= PARSED_MAX else ():
            if isinstance(one, ast.Import):
                found += [alias.name for alias in one.names]
            elif isinstance(one, ast.ImportFrom) and one.module and not one.level:
                found += [f"{one.module}.{alias.name}" for alias in one.names]
        is_parsed = len(text) <= PARSED_MAX
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        is_parsed = False  # a part of a file
    for module, first, names in () if is_parsed else _IMPORT.findall(text):
        found += [f"{module}.{first}"] if module else [one.split()[0] for one in names.split(",")]
    # Tests of any runner use its mocks.
    yield from (Used(one, "module") for one in found if not one.startswith("unittest.mock"))


def _statements(tree: Any) -> Iterator[Any]:
    """The statements of a module and those within others; to walk its expressions takes longer."""
    left = [tree]
    while left:
        one = left.pop()
        yield one
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            within = getattr(one, name, ())
            left += within if isinstance(within, list) else ()


def _script(text: str) -> Iterator[Used]:
    """Modules of JavaScript: no path, no alias of one, no address."""
    for found in _JS.finditer(_COMMENT.sub("", text)):
        bare = _BARE.fullmatch(next(filter(None, found.groups()), ""))
        if bare and bare[1].partition("/")[0] not in _NODE:
            yield Used(bare[1], "npm")


# 2. Lists of packages -------------------------------------------------------------------------

_REQUIREMENT: Final = late_pattern(
    r"[ \t]*([A-Za-z0-9][\w.-]*)[ \t]*(?:\[[^]]*\])?[ \t]*(?:(?:[=<>!~]?=|[<>@;]).*)?(?:#.*)?$"
)
_COMPILED: Final = late_pattern(r"^#.*\bautogenerated by (?:pip-compile|uv)\b", re.MULTILINE)
_QUOTED: Final = late_pattern(r"^[ \t]*['\"]([^'\"\n]+)['\"][ \t]*,?[ \t]*(?:#.*)?$", re.MULTILINE)
_PAIR: Final = late_pattern(
    r"^[ \t]*[{,]?[ \t]*\"([@\w][\w./-]*)\"[ \t]*:[ \t]*\"((?:[~^<>=*\dv]|(?:workspace|catalog|npm"
    r"|file|link|git(?:hub)?|https?)[:+]|(?:latest|next)\"|\w+@)[^\"\n]*)",
    re.MULTILINE,
)
_KEY: Final = late_pattern(
    r"^[ \t]*[\"']?(\w[\w.-]*)[\"']?[ \t]*=[ \t]*(?:[\"'][~^<>=*\d]|\{)", re.MULTILINE
)
_TABLES: Final = late_pattern(
    r"(?:.*-)?dependencies|dependency-groups|requires|(?:dev-)?packages|libraries|plugins"
)
_HEADING: Final = late_pattern(r"^[ \t]*\[+[\w\"'.-]+\]+[ \t]*(?:#.*)?$", re.MULTILINE)
_LISTS: Final = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_OWN: Final = frozenset(("version", "node", "npm", "pnpm", "yarn", "python", "php"))
"""Keys of these files whose value is a version, and no package's."""


def _required(lines: Iterable[str]) -> Iterator[Used]:
    yield from (Used(one[1], "package") for one in map(_REQUIREMENT.match, lines) if one)


def _requirements(text: str) -> Iterator[Used]:
    return iter(()) if _COMPILED.search(text) else _required(text.splitlines())


def _toml(text: str) -> Iterator[Used]:
    import tomllib

    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError):
        found = {}
    if _HEADING.search(text) or any(map(_TABLES.fullmatch, found)):
        yield from _table(found)
    else:  # a part of a list, or of a table
        yield from _required(_QUOTED.findall(text))
        yield from (Used(one, "package") for one in _KEY.findall(text) if one not in _OWN)


def _table(of: Mapping[str, Any], *, inside: bool = False) -> Iterator[Used]:
    for key, value in of.items():
        is_list = inside or _TABLES.fullmatch(key)
        if isinstance(value, list):
            yield from _required(one for one in value if is_list and isinstance(one, str))
        elif inside and key not in _OWN:
            said = value if isinstance(value, dict) else {}
            of_jvm = said.get("module") or said.get("id")
            yield Used(str(of_jvm or said.get("package") or key), "jvm" if of_jvm else "package")
        elif isinstance(value, dict):
            yield from _table(value, inside=bool(is_list))


def _json(text: str, kind: Kind = "npm") -> Iterator[Used]:
    import msgspec

    try:
        found = msgspec.json.decode(text, type=dict[str, Any])
        lists = [found.get(key) for key in (*_LISTS, "require", "require-dev")]
        pairs = [pair for one in lists if isinstance(one, dict) for pair in one.items()]
        pairs.append(("packageManager", found.get("packageManager", "")))
    except (msgspec.DecodeError, RecursionError):
        pairs = _PAIR.findall(text)
    for name, version in pairs:
        said, _, alias = str(version).partition(":")
        if name == "packageManager":
            yield Used(said.partition("@")[0], "tool")
        elif name not in _OWN and said not in ("workspace", "file", "link"):
            bare = _BARE.fullmatch(alias) if said == "npm" else None
            yield Used(bare[1] if bare else name, kind)


_ARTIFACT: Final = late_pattern(
    r"(?:<groupId>([\w.-]+)</groupId>\s*)?<artifactId>([\w.-]+)</artifactId>"
    r"|<groupId>([\w.-]+)</groupId>"
)


def _pom(text: str) -> Iterator[Used]:
    """Pairs of group and artifact; of a part of a file one of them."""
    found = _ARTIFACT.findall(text)
    yield from (Used(f"{group or alone}:{artifact}", "jvm") for group, artifact, alone in found)


# 3. Commands ----------------------------------------------------------------------------------

_START: Final = late_pattern(
    r"^[ \t]*(?:(?:-|run:|script:|command:|RUN|CMD|sudo|exec|time|env|(?:ba|z)?sh[ \t]+-l?c|@|\$|>"
    r"|\||\w+=\S*|--\S+)[ \t]+|[@\"'])*"
)
_BETWEEN: Final = late_pattern(r"\r?\n|&&|\|\|?|;|\$\(")
_PINS: Final = late_pattern(r"(?<=.)(?:@(?![\w.-]+/)|[=<>!~\[;]|:(?=[\d^~*]|latest)).*")
_NUGET: Final = late_pattern(r"dotnet[ \t]+add[ \t]+(?:\S+[ \t]+)?package[ \t]+")
_SWITCHES: Final = late_pattern(
    r"-[ditqP]+|--(?:rm|init|privileged|detach|interactive|tty|quiet)|-\S+=.*"
)
"""Options of `docker run` that take no word."""
_VALUED: Final = frozenset(
    """
    -r --requirement -c --constraint -i --index-url --extra-index-url --registry -G --group --prefix
    -w --workspace --filter -F --target -t --version --source --features -n --namespace -f --values
    --python --cwd --dir --optional --find-links --set -s --cache -C
    """.split()  # noqa: SIM905  a table
)
"""Options of the others that take one."""


def _commands(text: str) -> Iterator[Used]:
    for part in _BETWEEN.split(text.replace("\\\n", " ")):
        line = _NUGET.sub("nuget install ", _START.sub("", part, count=1), count=1)
        for long, short in _installs()[1]:
            if line.startswith(long):
                line = short + line[len(long) :]
        program, *words = (word.strip("\"'`,])") for word in line.split() or [""])
        while words[1:] and words[0].startswith("-"):  # before the verb
            words = words[2 if words[0] in _VALUED else 1 :]
        kind, verbs = _installs()[0].get(program, ("", frozenset()))
        if not kind or (verbs and words[:1] and words[0] not in verbs):
            continue
        if words or program == "yarn":
            yield Used(program, "tool")
            yield from _arguments(program, cast("Kind", kind), words if verbs else ["", *words])


def _arguments(program: str, kind: Kind, words: list[str]) -> Iterator[Used]:
    verb, *rest = words or [""]
    if program == "kubectl":
        yield from (Used(word.partition("--image=")[2], kind) for word in rest)
        return
    are_images = program in ("docker", "podman")
    skipped = int(program == "helm" and verb != "pull")  # the name of the release
    for word in [*_operands(rest, are_images=are_images)][skipped:]:
        name = word.removeprefix("oci://") if are_images else _PINS.sub("", word)
        yield Used(f"create-{name}" if verb in ("create", "init") else name, kind)
        if are_images or verb in ("", "run", "dlx", "x", "exec", "create", "init"):
            return  # what follows is for the program that runs


def _operands(words: Iterable[str], *, are_images: bool) -> Iterator[str]:
    """Words that are no options, and no values of these; no paths."""
    is_value = False
    for word in words:
        if word.startswith(("#", ">", "<", "2>")):
            return
        if is_value or not word or word in ("&", "\\"):
            is_value = False
        elif word.startswith("-"):
            takes = not _SWITCHES.fullmatch(word) if are_images else word in _VALUED
            is_value = takes and "=" not in word
        elif not word.startswith((".", "/", "$")):
            yield word


@cache
def _installs() -> tuple[dict[str, tuple[str, frozenset[str]]], list[tuple[str, str]]]:
    """Programs that install: the kind, and the words behind them that do; what means another.

    None of `npx` needs a word.
    """
    lines = own_file(__spec__, "installs.txt").decode().splitlines()
    rows = [line.split("|") for line in lines if "|" in line]
    short = [line.split(" > ") for line in lines if " > " in line]
    programs = {
        one: (kind.strip(), frozenset(verbs.split()))
        for kind, names, verbs in rows
        for one in names.split()
    }
    return programs, [(f"{long} ", f"{one} ") for long, one in short]


_READERS: Final[Mapping[str, Read]] = {
    "python": _python,
    "script": _script,
    "requirements": _requirements,
    "toml": _toml,
    "package.json": _json,
    "composer.json": lambda text: _json(text, "package"),
    "pom": _pom,
    "commands": _commands,
}
"""What reads a file, by its name in `forms.txt`."""
