"""What a text of a file, or a command, imports or installs: modules, packages, images.

The syntax of each kind of file decides, never a word: prose, comments, queries and addresses use
nothing. An edit is mostly a part of a file, so each form is one that also a part shows. Lock files
list what others need, and are passed over. What the names stand for is a matter of `products`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast

from preflights_es.kernel.text import late_pattern, own_file

Kind = Literal["module", "jvm", "address", "package", "image", "tool", "style"]
"""`module`: the root of a dotted name says whose it is; `jvm`: its second part does; `address`: a
path behind a host; `package`: of a registry; `tool`: a program that installs; `style`: a sheet."""


class Used(NamedTuple):
    """Something of others, as the file names it."""

    name: str
    kind: Kind


Read = Callable[[str], Iterable[Used]]
PARSED_MAX: Final = 200_000  # characters of a Python file that is parsed; a larger one is searched


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
    """Whether a pattern with `*` fits a name; most are an ending, for which none is compiled."""
    if "*" not in pattern[1:]:
        is_end = pattern[0] == "*"
        return name.endswith(pattern[1:]) if is_end else name == pattern
    return fnmatchcase(name, pattern)


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


_APART: Final = late_pattern(
    r"(?:^|/)(?:node_modules|vendor|third_party|site-packages|\.git)/|\.(?:lock|sum|min\.js|map)$"
    r"|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|packages\.lock\.json"
    r"|gradle\.lockfile|package\.resolved)$"
)
"""Files of others, and what a resolver wrote."""


# 1. Source ------------------------------------------------------------------------------------

_IMPORT: Final = late_pattern(
    r"^[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import\b[ \t]*(?:\([ \t]*)?(\w*)"
    r"|import[ \t]+(\w[\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*\w[\w.]*(?:[ \t]+as[ \t]+\w+)?)*)"
    r"[ \t]*(?:[;#].*)?$)",
    re.MULTILINE,
)
_CELL: Final = late_pattern(r"^[ \t]*\"((?:[^\"\\\n]|\\.)*?)(?:\\n)?\",?[ \t]*$", re.MULTILINE)
_ASIDE: Final = late_pattern(
    r"^[ \t]*/\*.*?\*/|^[ \t]*//.*?$|[ \t]//[ \t].*?$", re.MULTILINE | re.DOTALL
)


def _python(text: str) -> Iterator[Used]:
    if not _IMPORT.search(text) and "import_module" not in text and "__import__" not in text:
        return
    from textwrap import dedent

    try:
        found = [*_parsed(dedent(text))] if len(text) <= PARSED_MAX else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = None  # a part of a file
    for name in found if found is not None else _searched(text):
        if not name.startswith("unittest.mock"):  # tests of any runner use it
            yield Used(name, "module")


def _parsed(text: str) -> Iterator[str]:
    import ast

    tree = ast.parse(text)
    has_calls = "import_module" in text or "__import__" in text
    for one in ast.walk(tree) if has_calls else _statements(tree):
        match one:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ) if not module.startswith("."):
                yield module


def _statements(tree: Any) -> Iterator[Any]:
    """The statements of a module, those within others too; its expressions take far longer."""
    left = [tree]
    while left:
        one = left.pop()
        yield one
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            within = getattr(one, name, ())
            left += within if isinstance(within, list) else ()


def _searched(text: str) -> Iterator[str]:
    for module, first, names in _IMPORT.findall(text):
        yield from [f"{module}.{first}"] if module else (one.split()[0] for one in names.split(","))


def _notebook(text: str) -> Iterator[Used]:
    """Cells of JSON, or the code of one."""
    code = "\n".join(_CELL.findall(text)) if text.lstrip().startswith(("{", '"')) else text
    lines = code.splitlines()
    yield from _python("\n".join(line for line in lines if line.lstrip()[:1] not in ("!", "%")))
    for line in lines:
        if line.lstrip().startswith(("!", "%")):
            yield from _commands(line.lstrip("!% \t"))


_BARE: Final = late_pattern(r"(?:@[\w.-]+/)?[\w.-]+")
_CDN: Final = late_pattern(
    r"(?:unpkg\.com|esm\.(?:sh|run)|(?:cdn\.)?skypack\.dev|jspm\.dev|deno\.land/x"
    r"|cdn\.jsdelivr\.net/(?:npm|gh)|cdnjs\.cloudflare\.com/ajax/libs|ajax\.googleapis\.com/ajax/libs"
    r"|code\.jquery\.com)/(?:v\d+/|stable/|pin/)?((?:@[\w.-]+/)?[a-zA-Z][\w.]*(?:-[a-zA-Z]\w*)*)"
)
_PINNED: Final = late_pattern(r"/((?:@[\w.-]+/)?[a-zA-Z][\w.-]*)@[\dv^~]")
_HOST: Final = late_pattern(r"(?:https?:)?//(?:[\w-]+\.)*([\w-]+)\.[a-z]{2,}(?=[/:?#]|$)")


def _specified(name: str) -> Iterator[Used]:
    """What a module of JavaScript is called by: no path, no alias of one, nothing of Node."""
    if "//" in name:
        if found := _CDN.search(name) or _PINNED.search(name):
            yield Used(found[1], "package")
        elif found := _HOST.match(name):
            yield Used(found[1], "module")
        return
    for prefix in ("npm:", "jsr:"):
        name = name.removeprefix(prefix)
    is_path = name.startswith((".", "@/", "node:", "bun:"))
    if _BARE.match(name) and not is_path and name.partition("/")[0] not in table("node"):
        yield Used(name, "package")


def _script(text: str) -> Iterator[Used]:
    for found in _JS.finditer(_ASIDE.sub("", text)):
        yield from _specified(next(filter(None, found.groups()), ""))


_JS: Final = late_pattern(
    r"^[ \t]*(?:import|export|\}|\{)[^'\"\n;]*?\bfrom[ \t]*['\"]([^'\"\n]+)['\"]"
    r"|^[ \t]*import[ \t]*['\"]([^'\"\n]+)['\"]"
    r"|(?<![\w.$'\"])(?:require(?:\.resolve)?|import)[ \t]*\(\s*(?:/\*.*?\*/\s*)?"
    r"['\"`]([^'\"`\n$]+)['\"`]",
    re.MULTILINE,
)
_LOADS: Final = late_pattern(
    r"<(?:script\b[^>]*?\bsrc|link\b(?=[^>]*stylesheet)[^>]*?\bhref)=[\"']([^\"'\s]+)",
    re.IGNORECASE,
)


def _page(text: str) -> Iterator[Used]:
    """What a page loads from elsewhere."""
    for name in _LOADS.findall(text):
        yield from _specified(name) if "//" in name else ()


# 2. Lists of packages -------------------------------------------------------------------------

_REQUIREMENT: Final = late_pattern(
    r"[ \t]*(?:-[ \t]+)?([A-Za-z0-9][\w.-]*)[ \t]*(?:\[[^]]*\])?[ \t]*"
    r"(?:(?:[=<>!~]?=|[<>@;]).*)?(?:#.*)?$"
)
_COMPILED: Final = late_pattern(r"^#.*\bautogenerated by (?:pip-compile|uv)\b", re.MULTILINE)
_VERSION: Final = (
    r"(?:[~^<>=*\dv]|(?:workspace|catalog|npm|jsr|file|link|git(?:hub)?|https?)[:+]"
    r"|(?:latest|next|any)\")"
)
_QUOTED: Final = late_pattern(r"^[ \t]*['\"]([^'\"\n]+)['\"][ \t]*,?[ \t]*(?:#.*)?$", re.MULTILINE)
_PAIR: Final = late_pattern(
    rf"^[ \t]*[{{,]?[ \t]*\"([@\w][\w./-]*)\"[ \t]*:[ \t]*\"({_VERSION}[^\"\n]*)", re.MULTILINE
)
_MANAGER: Final = late_pattern(r"\"packageManager\"[ \t]*:[ \t]*\"(\w+)")
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
    for line in lines:
        if found := _REQUIREMENT.match(line):
            yield Used(found[1], "package")


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
            named = said.get("module") or said.get("id") or said.get("package") or key
            yield Used(str(named), "jvm" if "id" in said else "package")
        elif isinstance(value, dict):
            yield from _table(value, inside=bool(is_list))


def _setup(text: str) -> Iterator[Used]:
    """Quoted requirements with a version, and those of a list that is said to be one."""
    for found in re.finditer(r"(?:requires?|requirements)\w*['\"]?\s*[=:]\s*[\[{]([^]}]*)", text):
        yield from _required(re.findall(r"['\"]([^'\"\n]+)['\"](?!\s*:)", found[1]))
    for line in _QUOTED.findall(text):
        if re.search(r"[=<>~]=", line):
            yield from _required([line])


def _setup_cfg(text: str) -> Iterator[Used]:
    key = "install_requires"
    for line in text.splitlines():
        value = line
        if line[:1].strip():
            key, _, value = line.partition("=")
        if value.strip() and ("require" in key or "options.extras" in key):
            yield from _required([value])


def _json(text: str) -> Iterator[Used]:
    import msgspec

    try:
        found = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        for name, version in _PAIR.findall(text):
            yield from _versioned(name, version)
        found = {"packageManager": "".join(_MANAGER.findall(text))}
    for key in (*_LISTS, "require", "require-dev", "imports"):
        said = found.get(key)
        for name, version in said.items() if isinstance(said, dict) else ():
            yield from _versioned(name, version)
    manager = str(found.get("packageManager", "")).partition("@")[0]
    yield Used(manager, "tool")


def _versioned(name: str, version: Any) -> Iterator[Used]:
    alias = re.match(r"(?:npm|jsr):((?:@[\w.-]+/)?[a-zA-Z][\w.-]*)", str(version))
    is_own = name in _OWN or str(version).startswith(("workspace:", "file:", "link:"))
    if alias or not is_own:
        yield Used(alias[1] if alias else name, "package")


def _pom(text: str) -> Iterator[Used]:
    """Pairs of group and artifact; of a part of a file one of them."""
    for group, artifact, alone in _ARTIFACT.findall(text):
        yield Used(f"{group or alone}:{artifact}", "package")


_ARTIFACT: Final = late_pattern(
    r"(?:<groupId>([\w.-]+)</groupId>\s*)?<artifactId>([\w.-]+)</artifactId>"
    r"|<groupId>([\w.-]+)</groupId>"
)


def _below(key: str, form: str) -> Read:
    """Reads lines of YAML under a key, or of a part that shows no key at its left."""

    def read(text: str) -> Iterator[Used]:
        inside = True
        for line in text.splitlines():
            if line[:1].strip() and line[:1] not in "#-":
                inside = re.match(key, line) is not None
            elif inside and (found := re.match(form, line)):
                yield Used(found[1], "package")

    return read


# 3. Commands ----------------------------------------------------------------------

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
"""Options of `docker run` that do not."""
_OF_IMAGES: Final = ("docker", "podman", "nerdctl")


def _commands(text: str) -> Iterator[Used]:
    for part in _BETWEEN.split(text.replace("\\\n", " ")):
        line = _NUGET.sub("nuget install ", _START.sub("", part, count=1), count=1)
        for long, short in _installs()[1]:
            if line.startswith(long):
                line = short + line[len(long) :]
        words = [word.strip("\"'`,])") for word in line.split()]
        program = words[0] if words else ""
        verbs = _installs()[0].get(program)
        if verbs is None or (verbs and (len(words) < 2 or words[1] not in verbs)):
            if program == "yarn" and len(words) == 1:
                yield Used(program, "tool")
            continue
        yield Used(program, "tool")
        yield from _arguments(program, words[1:] if verbs else ["", *words[1:]])


def _arguments(program: str, words: list[str]) -> Iterator[Used]:
    verb, *rest = words
    if program == "helm" and verb != "pull":  # the name of the release
        rest = [*_operands(program, rest)][1:]
    for word in _operands(program, rest):
        name = _PINS.sub("", word.removeprefix("oci://"))
        if program in _OF_IMAGES:
            yield Used(word, "image")
            return  # what follows is for the program that runs
        if program == "kubectl":
            continue
        yield Used(name, "address" if program == "go" else "package")
        if verb in ("create", "init"):
            yield Used(f"create-{name}", "package")
        if verb in ("", "run", "dlx", "x", "exec", "create", "init"):
            return
    for word in rest if program == "kubectl" else ():
        yield Used(word.partition("--image=")[2], "image")


def _operands(program: str, words: Iterable[str]) -> Iterator[str]:
    """Words that are no options, and no values of these; no paths."""
    is_value = False
    for word in words:
        if word.startswith(("#", ">", "<", "2>")):
            return
        if is_value or not word or word in ("&", "\\"):
            is_value = False
        elif word.startswith("-"):
            takes = (
                not _SWITCHES.fullmatch(word) if program in _OF_IMAGES else word in table("valued")
            )
            is_value = takes and "=" not in word
        elif not word.startswith((".", "/", "$")):
            yield word


@cache
def _installs() -> tuple[dict[str, frozenset[str]], list[tuple[str, str]]]:
    """Programs that install, with the words behind them that do; and commands that mean another.

    None of `npx` needs a word.
    """
    lines = own_file(__spec__, "installs.txt").decode().splitlines()
    pairs = [line.split("|") for line in lines if "|" in line]
    short = [line.split(" > ") for line in lines if " > " in line]
    programs = {one: frozenset(verbs.split()) for names, verbs in pairs for one in names.split()}
    return programs, [(f"{long} ", f"{one} ") for long, one in short]


@cache
def table(name: str) -> frozenset[str]:
    """Words of `words.txt`: `node`, modules of Node itself; `valued`, options that take a word.

    `platforms` own many products, and the next part of a name says which; `scopes`, `publishers`
    and `of_go` are of names that need not be the project's own.
    """
    lines = own_file(__spec__, "words.txt").decode().splitlines()
    return next(frozenset(line.split()[2:]) for line in lines if line.startswith(f"{name} |"))


_READERS: Final[Mapping[str, Read]] = {
    "python": _python,
    "notebook": _notebook,
    "script": _script,
    "page": _page,
    "requirements": _requirements,
    "toml": _toml,
    "setup": _setup,
    "setup_cfg": _setup_cfg,
    "json": _json,
    "pom": _pom,
    "pubspec": _below(
        r"(?:dev_)?dependencies:", r"  [\'\"]?(\w+)[\'\"]?:[ \t]*(?:[\^\d<>~'\"]|any\b|$)"
    ),
    "conda": _below(
        "dependencies:", r"[ \t]*-[ \t]+(?:[\w.-]+::)?([A-Za-z][\w.-]*)[ \t]*(?:[=<>!~\[].*)?$"
    ),
    "chart": _below("dependencies:", r"[ \t]*-?[ \t]+name:[ \t]*['\"]?([\w.-]+)"),
    "commands": _commands,
}
"""What reads a file, by its name in `forms.txt`."""
