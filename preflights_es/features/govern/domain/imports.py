"""What a text of a file, or a command, imports or installs: modules, packages, images.

The syntax of each kind of file decides, never a word: prose, comments, queries and addresses use
nothing. An edit is mostly a part of a file, so each form is one that also a part shows. Lock files
list what others need, and are passed over. What the names stand for is a matter of `products`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast
from unicodedata import normalize

from preflights_es.kernel.text import late_pattern, own_file
from preflights_es.words.language import CI_SERVICES, EVERYDAY, read_small_words

if TYPE_CHECKING:
    import ast  # it takes as long to load as all else here

Kind = Literal["module", "jvm", "address", "npm", "package", "image", "tool"]
"""`module`: a dotted name, whose root says whose it is; `jvm`: one whose owner stands behind a
domain, with `:` before the artifact; `address`: a path behind a host; `package`: of a registry but
npm's; `image`: what runs, of a registry of images or a system's packages; `tool`: what installs, or
an extra."""


class UsedName(NamedTuple):
    """Something of others, as the file names it."""

    name: str
    kind: Kind


Read = Callable[[str], Iterable[UsedName]]
_OF_OTHERS: Final = late_pattern(
    r"(?:^|/)(?:node_modules|vendor|third_party|site-packages)/|\.min\.js$"
)
_RESOLVED: Final = late_pattern(
    r"\.(?:lock|sum|map)$"
    r"|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|packages\.lock\.json)$"
)
"""What a resolver or a compiler wrote beside a file that says the same."""
_COMPILED: Final = late_pattern(
    r"\.(?:pyc|pyd|so|dll|dylib|jar|war|class|whl|egg|gem|nupkg|tgz|node|wasm)$"
)
"""Programs that hold no text."""


def used(path: str, text: str) -> frozenset[UsedName]:
    """What a file of this path imports or installs, by its text or a part of it."""
    place = _casefold_path(path)
    if not text or _OF_OTHERS.search(place) or _RESOLVED.search(place):
        return frozenset()
    if "." not in place.rpartition("/")[2] and (program := _PROGRAM.match(text)):
        place += _ENDINGS.get(program[1], ".sh")
    forms = text.split(OR)
    for form in [*filter(_ODD.search, forms)]:
        # A string may hold such white space, and the comment above ends with a backslash.
        even = form.replace("\r\n", "\n").translate(_AS_READ)
        forms += [even, even.replace("\\\n", " ")]
    names = (
        one for form in forms for one in _read_used_names(place, _ESCAPE.sub(_unescaped, form))
    )
    services = (
        UsedName(service, "tool")
        for ran, service in CI_SERVICES.items()
        if f"{place}/".startswith(f"{ran.casefold()}/")
    )
    return frozenset(_normal(one) for one in (*names, *services) if one.name)


OR: Final = "\0"
"""Between several readings of one file: what begins in one ends with it."""
_PROGRAM: Final = late_pattern(r"#!\S*/(?:env (?:-S )?)?(python|node|ruby|(?:ba|da|z)?sh\b)")
"""What runs a script."""
_ENDINGS: Final = {"python": ".py", "node": ".js", "ruby": ".rb"}


def may_import(path: str) -> bool:
    """Whether a file of this path can import or install anything, also where it is not read."""
    place = _casefold_path(path)
    is_known = any(_fits_any(names, place) for names, _ in _read_import_forms())
    return not _RESOLVED.search(place) and (is_known or bool(_COMPILED.search(place)))


def is_of_others(path: str) -> bool:
    """Whether it is kept as the work of others, which is not read: `vendor`, a minified script."""
    return bool(_OF_OTHERS.search(_casefold_path(path)))


_PAGES: Final = (".md", ".markdown", ".adoc", ".asciidoc", ".rst")


def is_loaded(path: str) -> bool:
    """Whether a program may load what a file names: no page does, no session, no others' work."""
    place = f"/{_casefold_path(path)}"
    is_read = place.endswith(_PAGES) or "/.sessions/" in place
    return not (is_read or _OF_OTHERS.search(place))


_MENTION: Final = late_pattern(
    r"""
    ["'`](@?[a-z][\w.@/:+-]*)(?=["'`=<>~!;,\[]|[ \t]+[=<>~!]=)    # a whole text
    | (?i: ["'`][ \t]*(?:import|from|require)[ \t]+               # code within a text
        | ^[ \t]*[#@]?(?:import|from|require|library|include|using|use)[ \t]*(?:[("'<\[][ \t]*)?
        | [{\[,\s]:(?=\w)                                         # a symbol
        | \b(?:install|add)[ \t]+["']? | \bfind_package\( | ^[ \t]*(?:-[ \t]+)?name:[ \t]+
      ) ((?i:@?[a-z][\w.@/:+-]*))
    | [\[,][ \t]*([a-z][\w.-]*)(?=[ \t]*[,\]])                      # in a list on one line
    | \b([a-z][\w+]*)(?=://)                                      # an address
    | ^[ \t]*(?:-[ \t]+)?["']?((?i:[a-z][\w.-]+))["']?(?:[ \t]*\[[^]\n]*\])?[ \t]*
      (?: [=<>~!]=[ \t]*["']?[\d*] | [=:][ \t]*(?:["'][\^~*\d<>=]|[\^~]\d) | $ )  # in a list
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A text that is a name is one of a package where it has small letters: `"Kafka"` is an author."""
_JOINT: Final = late_pattern(r"[/@:]+")


_WORDS: Final = late_pattern(r"[a-z]\w*")
PARTS_MAX: Final = 6  # of a dotted name, of which packages have two or three


def mentioned(path: str, text: str, wanted: AbstractSet[str]) -> set[str]:
    """Which of these names, folded, stand where a program may load something by them.

    In a language of which no form is known, a name that is no ordinary word stands so anywhere.
    """
    found, folded = set[str](), text.casefold()
    words = {*_WORDS.findall(folded)}  # most files hold none, and patterns take longer
    near = {name for name in wanted if words.issuperset(_WORDS.findall(name))}
    for one in _MENTION.finditer(text) if near else ():
        name = one[one.lastindex or 0].casefold().partition("::")[0].rstrip(".-+:/@")
        parts = _JOINT.split(name)
        owners = parts[0].split(".")[:PARTS_MAX]
        forms = {name, parts[0], *accumulate(owners, "{}.{}".format)}
        if parts[1:]:
            forms |= {f"{parts[0]}/{parts[1]}", f"@{parts[1]}", "/".join(parts[:3])}
            is_elsewhere = "." in parts[0] or name.startswith(("http", "node_modules"))
            forms |= {*parts} if is_elsewhere else {parts[-1]}
        found |= forms & near
    ordinary = wanted
    if f".{_casefold_path(path).rpartition('.')[2]}" in read_import_words("unread"):
        ordinary = EVERYDAY | read_small_words("everyday")
    for name in near - found:  # a full name, as languages take it without an import
        whole, dot = re.escape(name), r"\.|" if "." in name else ""
        form = rf"(?<![\w.:])(?:global::)?{whole}(?:{dot}::)\w|\\{whole}\\\w"
        if name not in ordinary:
            form = rf"(?<![\w-]){whole}(?![\w-])"
        if re.search(form, folded):
            found.add(name)
    return found


def runs_decoded_text(text: str) -> bool:
    """Whether a source both decodes and runs a text: what that imports is not seen."""
    return bool(_RUNS_TEXT.search(text) and _DECODES.search(text))


_RUNS_TEXT: Final = late_pattern(
    r"(?<![\w.$>:])(?<!def )(?<!function )(?:exec|eval|new Function)[ \t]*\("
)
_DECODES: Final = late_pattern(
    r"[ab](?:16|32|64|85)decode|codecs\.decode|Buffer\.from"
    r"|\b(?:fromhex|unhexlify|atob|decompress|base64_decode|decode64)\b"
)


def _casefold_path(path: str) -> str:
    return path.replace("\\", "/").casefold()


_ODD: Final = late_pattern("\\\\\n|[\r\x0b\x0c\xa0\u2028\u2029\ufeff]")
_AS_READ: Final = {ord(one): " " for one in "\x0b\x0c\xa0\ufeff"} | dict.fromkeys(
    map(ord, "\r\u2028\u2029"), "\n"
)
"""White space and ends of lines that languages take and patterns of lines do not; a line that goes
on behind a backslash."""


_ESCAPE: Final = late_pattern(
    r"\\(?:u\{0{0,6}([0-9a-f]{2})\}|u00([0-9a-f]{2})|x([0-9a-f]{2}))"
    r"|&#(?:x0{0,6}([0-9a-f]{2})|0{0,6}(\d{2,3}));",
    re.IGNORECASE,
)


def _unescaped(escape: re.Match[str]) -> str:
    """A letter or sign of a name that a string, or XML, writes by its number."""
    letter = chr(int(escape[escape.lastindex or 0], 10 if escape[5] else 16))
    return letter if letter.isalnum() or letter in "@/._-" else escape[0]


def _normal(one: UsedName) -> UsedName:
    """A name as Python reads it, which takes other forms of a letter for the letter."""
    return one if one.name.isascii() else UsedName(normalize("NFKC", one.name), one.kind)


def installed(command: str) -> frozenset[UsedName]:
    """What a command of a shell installs."""
    return frozenset(one for one in _commands(command) if one.name)


@cache
def read_import_words(kind: str) -> frozenset[str]:
    """Words of one kind.

    `roles` stand around the name of a package: what it does for a product, and for which language.
    `platforms` own many products: the next part of a name says which. `standard` begins what comes
    with a language. `asides` behind an option, in parentheses, name no owner. An option of
    `valued`, of a program that installs, takes the next word. Files of the languages that end in
    `unread` have no form.
    """
    rows = (line.split("|") for line in own_file(__spec__, "words.txt").decode().splitlines())
    return next(frozenset(of.split()) for name, of in rows if name.strip() == kind)


def _read_used_names(place: str, text: str) -> Iterator[UsedName]:
    for patterns, reads in _read_import_forms():
        if not _fits_any(patterns, place):
            continue
        left = text
        for kind, form in reads:
            if kind == "without":
                left = _compile_import_form(kind, form).sub("", left)
            elif kind == "comments":
                left = _compile_import_form(kind, form).sub(_keep_no_comment, left)
            elif kind == "python":
                if (tree := _python_tree(left)) is not None:
                    yield from _read_python_tree(tree, left)
                    break  # all that it imports
            elif kind in _READERS:
                yield from _READERS[kind](left)
            else:
                for found in _compile_import_form(kind, form).finditer(left):
                    yield from _used_names_of_match(cast("Kind", kind.rstrip("*")), found)


def _used_names_of_match(kind: Kind, found: re.Match[str]) -> Iterator[UsedName]:
    """The groups of a form are an owner and what it owns, or a list of this."""
    *owner, owned = (one for one in found.groups() if one is not None)
    # Without what stands behind `as`.
    for bare in [one.split()[0] for one in owned.split(",") if one.strip()] or [""]:
        yield UsedName((":" if kind == "jvm" else ".").join((*owner, bare)), kind)


def _keep_no_comment(found: re.Match[str]) -> str:
    """Nothing of a comment; a template or a text of HTML may hold what looks like its beginning."""
    return found[0] if "`" in found[0] or "</" in found[0] else ""


def _fits_any(patterns: tuple[str, ...], place: str) -> bool:
    name = place.rpartition("/")[2]
    endings, others = _apart(patterns)
    return name.endswith(endings) or any(
        _matches_file_pattern(o, place if "/" in o else name) for o in others
    )


@cache
def _apart(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What names end with, and the other patterns: most files fit none of them."""
    endings = tuple(one[1:] for one in patterns if one[:1] == "*" and "/" not in one)
    return endings, tuple(one for one in patterns if one[:1] != "*" or "/" in one)


def _matches_file_pattern(pattern: str, name: str) -> bool:
    begin, star, end = pattern.partition("*")
    return name.startswith(begin) and name.endswith(end) if star else name == pattern


@cache
def _read_import_forms() -> tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...]:
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
def _compile_import_form(kind: str, text: str) -> re.Pattern[str]:
    """A form of `forms.txt`: a blank stands for several, `~` for any number of them.

    It begins a line or a statement, apart from a kind with `*` and from what is left out before the
    others look.
    """
    written = text.replace(" ", r"[ \t]+").replace("~", r"[ \t]*")
    is_anywhere = kind in ("without", "comments") or kind.endswith("*")
    begin = "" if is_anywhere else r"(?:^|[;{}])[ \t]*"
    return re.compile(f"{begin}(?:{written})", re.MULTILINE)


# 1. Lists of packages -------------------------------------------------------------------------

_REQUIREMENT: Final = late_pattern(
    r"[ \t]*([A-Za-z0-9][\w.-]*)[ \t]*(?:\[([^]]*)\])?[ \t]*(?:(?:[=<>!~]?=|[<>@;]).*)?(?:#.*)?$"
)
_EXTRA: Final = late_pattern(r"[\w.-]+")
_QUOTED: Final = late_pattern(r"^[ \t]*['\"]([^'\"\n]+)['\"][ \t]*,?[ \t]*(?:#.*)?$", re.MULTILINE)
_KEY: Final = late_pattern(
    r"^[ \t]*[\"']?(\w[\w.-]*)[\"']?[ \t]*=[ \t]*(?:[\"'][~^<>=*\d]|\{)", re.MULTILINE
)
_TABLES: Final = late_pattern(
    r"(?:.*-)?dependencies|dependency-groups|requires|(?:dev-)?packages|libraries|plugins"
)
_HEADING: Final = late_pattern(r"^[ \t]*\[+[\w\"'.-]+\]+[ \t]*(?:#.*)?$", re.MULTILINE)
_OWN: Final = frozenset(("version", "python"))
"""Keys of these files whose value is a version, and no package's."""


def _required(lines: Iterable[str]) -> Iterator[UsedName]:
    for one in filter(None, map(_REQUIREMENT.match, lines)):
        yield UsedName(one[1], "package")
        yield from _extras(one[2] or "")


def _extras(listed: str) -> Iterator[UsedName]:
    """What `celery[redis]` brings is mostly called as the product is."""
    yield from (UsedName(one, "tool") for one in _EXTRA.findall(listed))


def _toml(text: str) -> Iterator[UsedName]:
    import tomllib

    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError):
        found = {}
    if _HEADING.search(text) or any(map(_TABLES.fullmatch, found)):
        yield from _read_dependency_table(found)
    else:  # a part of a list, or of a table
        yield from _required(_QUOTED.findall(text))
        yield from (UsedName(one, "package") for one in _KEY.findall(text) if one not in _OWN)


def _read_dependency_table(of: Mapping[str, Any], *, inside: bool = False) -> Iterator[UsedName]:
    for key, value in of.items():
        is_list = inside or _TABLES.fullmatch(key)
        if isinstance(value, list):
            yield from _required(one for one in value if is_list and isinstance(one, str))
        elif inside and key not in _OWN:
            said = value if isinstance(value, dict) else {}
            of_jvm = said.get("module") or said.get("id")
            yield UsedName(
                str(of_jvm or said.get("package") or key), "jvm" if of_jvm else "package"
            )
            yield from _extras(str(said.get("extras", "")))
        elif isinstance(value, dict):
            yield from _read_dependency_table(value, inside=bool(is_list))


def _read_package_json(text: str) -> Iterator[UsedName]:
    """The packages of a whole file, whatever their versions, and what its scripts install; none
    that lies in the repository.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    tables = found.items() if isinstance(found, dict) else ()
    for kind, table in tables:
        for name, version in table.items() if isinstance(table, dict) else ():
            yield from _commands(str(version)) if kind == "scripts" else ()
            is_here = re.match(r"(?:workspace|link|file|portal):", str(version))
            if kind.endswith("ependencies") and not is_here:
                yield UsedName(name, "npm")


def _read_notebook(text: str) -> Iterator[UsedName]:
    """What the cells of a notebook import and install."""
    try:
        cells = json.loads(text)["cells"]
        code = "\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "code")
    except (ValueError, RecursionError, LookupError, TypeError):
        return
    yield from _read_used_names(".py", code)
    yield from _commands(re.sub(r"(?m)^[ \t]*[%!]", "", code))


def _python_tree(text: str) -> ast.Module | None:
    """The tree of a whole source; None of a part, and of what this Python does not read."""
    import ast
    import warnings

    if "import" not in text and "_require" not in text:
        return ast.Module(body=[], type_ignores=[])  # 1 MB takes a third of a second to parse
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read_python_tree(tree: ast.Module, text: str) -> Iterator[UsedName]:
    """What a whole source imports, and what a `setup.py` installs."""
    import ast

    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (UsedName(one.name, "module") for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module != "unittest.mock":
            yield from (UsedName(f"{node.module}.{one.name}", "module") for one in node.names)
    for node in ast.walk(tree) if "_require" in text else ():
        if isinstance(node, ast.keyword) and node.arg in _SETUP:
            texts = (one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant))
            yield from _required(one for one in texts if isinstance(one, str))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements; an expression holds none, and there are ten times as many of these."""
    waiting: list[ast.AST] = [tree]
    for node in waiting:
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, block, ())


def _read_unquoted(text: str) -> Iterator[UsedName]:
    """What stands on lines of a source, also between quotes, where these may nest.

    They do in formatted strings since Python 3.12: an older one does not know where one ends, and
    what looks like a long string may be the lines between two of them.
    """
    if _FORMATTED.search(text):
        yield from _read_used_names(".py", text.translate(_UNQUOTED))


_FORMATTED: Final = late_pattern(r"(?i)\b(?:[ft]r?|r[ft])['\"]")
_UNQUOTED: Final = {ord("'"): " ", ord('"'): " ", ord("#"): "."}
_SETUP: Final = ("install_requires", "extras_require", "setup_requires", "tests_require")

# 2. Commands ----------------------------------------------------------------------------------

_START: Final = late_pattern(
    r"^[ \t]*(?:(?:-|run:|script:|command:|(?i:RUN|CMD)|sudo|exec|time|env|(?:ba|z)?sh[ \t]+-l?c|@"
    r"|\$|>|\||\w+=\S*|--\S+)[ \t]+|[@\"'])*"
)
_BETWEEN: Final = late_pattern(r"\r?\n|&&|\|\|?|;|\$\(")
_PINS: Final = late_pattern(r"(?<=.)(?:@(?![\w.-]+/)|[=<>!~\[;]|:(?=[\d^~*]|latest)).*")
_NUGET: Final = late_pattern(r"dotnet[ \t]+add[ \t]+(?:\S+[ \t]+)?package[ \t]+")
_SWITCHES: Final = late_pattern(
    r"-[ditqP]+|--(?:rm|init|privileged|detach|interactive|tty|quiet)|-\S+=.*"
)
"""Options of `docker run` that take no word."""


def _commands(text: str) -> Iterator[UsedName]:
    for part in _BETWEEN.split(text.replace("\\\n", " ")):
        line = _NUGET.sub("nuget install ", _START.sub("", part, count=1), count=1)
        for long, short in _installs()[1]:
            if line.startswith(long):
                line = short + line[len(long) :]
        program, *typed = (word.strip("\"'`,])") for word in line.split() or [""])
        while typed[1:] and typed[0].startswith("-"):  # before the verb
            typed = typed[2 if typed[0] in read_import_words("valued") else 1 :]
        kind, verbs = _installs()[0].get(program, ("", frozenset()))
        if not kind or (verbs and typed[:1] and typed[0] not in verbs):
            continue
        if typed or program == "yarn":
            yield UsedName(program, "tool")
            yield from _arguments(program, cast("Kind", kind), typed if verbs else ["", *typed])


def _arguments(program: str, kind: Kind, typed: list[str]) -> Iterator[UsedName]:
    verb, *rest = typed or [""]
    if program == "kubectl":
        yield from (UsedName(word.partition("--image=")[2], kind) for word in rest)
        return
    are_images = program in ("docker", "podman")
    skipped = int(program == "helm" and verb != "pull")  # the name of the release
    for word in [*_operands(rest, are_images=are_images)][skipped:]:
        name = word.removeprefix("oci://") if are_images else _PINS.sub("", word)
        yield UsedName(f"create-{name}" if verb in ("create", "init") else name, kind)
        yield from _extras(word.partition("[")[2].partition("]")[0])
        if are_images or verb in ("", "run", "dlx", "x", "exec", "create", "init"):
            return  # what follows is for the program that runs


def _operands(typed: Iterable[str], *, are_images: bool) -> Iterator[str]:
    """Words that are no options, and no values of these; no paths."""
    is_value = False
    for word in typed:
        if word.startswith(("#", ">", "<", "2>")):
            return
        if is_value or not word or word in ("&", "\\"):
            is_value = False
        elif word.startswith("-"):
            takes = (
                not _SWITCHES.fullmatch(word) if are_images else word in read_import_words("valued")
            )
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
    kinds = ((kind.strip(), names.split(), frozenset(verbs.split())) for kind, names, verbs in rows)
    programs = {one: (kind, verbs) for kind, names, verbs in kinds for one in names}
    return programs, [(f"{long} ", f"{one} ") for long, one in short]


_READERS: Final[Mapping[str, Read]] = {
    "requirements": lambda text: _required(text.splitlines()),
    "toml": _toml,
    "unquoted": _read_unquoted,
    "json": _read_package_json,
    "notebook": _read_notebook,
    "commands": _commands,
}
"""What reads a file, by its name in `forms.txt`."""
