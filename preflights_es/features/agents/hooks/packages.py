"""Which packages a line of code, of a list of packages or of commands names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from preflights_es.kernel.text import late_pattern

LINE_MAX: Final = 1_000  # characters that are read closely
DRIVERS: Final = {
    "aiokafka": "kafka",
    "aiomysql": "mysql",
    "aiosqlite": "sqlite",
    "amqplib": "rabbitmq",
    "asyncpg": "postgresql",
    "ioredis": "redis",
    "jsonwebtoken": "jwt",
    "kafkajs": "kafka",
    "mongoose": "mongodb",
    "motor": "mongodb",
    "pg": "postgresql",
    "pika": "rabbitmq",
    "psycopg": "postgresql",
    "pyjwt": "jwt",
    "pymongo": "mongodb",
    "pymysql": "mysql",
}
"""Packages by which code uses a product of another name."""

_IMPORT: Final = late_pattern(
    r"from\s+(?P<python>[\w.]+)\s+import\b"
    r"|(?:import|using)\s+(?:static\s+)?(?P<dotted>[\w.]+)\s*(?:$|[;,#*]|as\s)"  # or Java, C#
    r"|use\s+(?P<rust>\w+)(?:::|\\)"  # or PHP
    r"|.*?(?:\bfrom|\bimport|\brequire)\s*\(?\s*[\"'](?P<quoted>[@\w./-]+)[\"']"  # or Ruby, Go
    r"|(?:require\s+|\w+\s+)?\"?(?P<go>[\w-]+\.[a-z]+/[\w./-]+)\"?(?:\s+v\d.*)?$"
    r"|.*?\b(?:implementation|api|compileOnly|runtimeOnly)\s*\(?\s*[\"'](?P<gradle>[\w.-]+:[\w.-]+)"
    r"|<(?:groupId|artifactId)>(?P<maven>[\w.-]+)<"
    r"|<PackageReference\s+Include=\"(?P<nuget>[\w.-]+)"
    r"|gem\s+[\"'](?P<gem>[\w-]+)"
    r"|(?:FROM|-?\s*image:)\s*[\"']?(?P<image>[\w./-]+)"
    r"|.*?<(?:script|link(?=[^>]*stylesheet))\b[^>]*?\b(?:src|href)=[\"'](?:https?:)?//(?P<page>[^\"'?]+)"
    r"|.*?[\"'=\s](?!https?:)(?P<scheme>[a-z]\w*)(?:\+\w+)?://"
)
_LISTED: Final = late_pattern(
    r"[\"'](?:@types/)?(?P<quoted>[@\w./-]+)[\"']\s*:\s*[\"'][~^<>=*\dv]"  # package.json
    r"|(?:-\s*)?[\"']?(?P<pypi>[A-Za-z][\w.-]*)(?:\[[^]]*\])?\s*"
    r"(?:[=~<>!]=|=\s*[\"'{][\^~<>=\d{ ]|$)"
)
_LIST: Final = late_pattern(
    r"(?:package|composer|deno)\.json$|(?:pyproject|cargo)\.toml$|pipfile$|setup\.(?:py|cfg)$"
    r"|(?:^|[/_-])(?:requirements|constraints)[^/]*\.(?:txt|in)$|requirements/[^/]*\.txt$"
    r"|environment\.ya?ml$|pubspec\.yaml$",
    2,  # re.IGNORECASE
)
_SHELL: Final = late_pattern(
    r"\.(?:sh|bash|zsh|ps1|ya?ml)$|(?:^|/)(?:(?:make|just|proc)file|dockerfile[^/]*|package\.json)$",
    2,
)
_COMMAND: Final = late_pattern(
    r"(?:(?:RUN|sudo|exec|npx|-|\$|\w+:|\"[\w:-]+\":)\s+|\")*([a-z][\w-]*)\s+[a-z-]"
)
_PART: Final = late_pattern(r"[./:@]+")
_OF_CODE: Final = ("python", "dotted", "rust", "quoted")
"""Forms that are also words of a text."""
_DATA: Final = late_pattern(r"\.(?:ya?ml|toml|ini|cfg|s?css|less|sql|properties)$")
_PLACES: Final = frozenset(
    ["apache", "cdn", "com", "de", "dev", "github", "google", "io", "net", "npm", "org", "www"]
)
"""Parts of addresses that name no package."""
_SQUEEZED: Final = late_pattern(r"[\W_]+")


def is_list(path: str) -> bool:
    """Whether a file lists the packages of a project."""
    return _LIST.search(path) is not None


def imported(line: str, path: str) -> Iterator[str]:
    """The packages that a line names, and what they stand for; none of the project's own."""
    line = line[:LINE_MAX]
    found = _IMPORT.match(line) or (_LISTED.match(line) if is_list(path) else None)
    kind = (found and found.lastgroup) or ""
    if found is None or (kind in _OF_CODE and _DATA.search(path)):
        return
    for part in _parts(kind, found[kind]):
        bare = part.rstrip("0123456789")
        yield from (one for one in {bare, DRIVERS.get(bare.casefold(), "")} if one)


def _parts(kind: str, name: str) -> Iterable[str]:
    """What of a name says whose it is: `app.vue` is of `app`, `@angular/core` of Angular."""
    if kind in _OF_CODE and name.startswith((".", "/", "@/")):
        return ()
    first = name.partition("/")[0]
    if kind == "quoted" and "." not in first:
        return (first.removeprefix("@"), name)
    parts = [part for part in _PART.split(name) if part not in _PLACES]
    if kind in ("python", "dotted"):
        return parts[:1]
    # Behind its host an address has an owner and a name, and then what lies in it.
    return (name, *(parts[:2] if kind in ("quoted", "go") else parts))


def command(line: str, path: str) -> str:
    """The program that a line of a script calls; else nothing."""
    found = _COMMAND.match(line) if _SHELL.search(path) else None
    return found.group(1) if found else ""


def squeezed(name: str) -> str:
    """A name without what packages write in many ways: `Socket.IO`, `socketio`; `Vue.js`, `vue`."""
    return _SQUEEZED.sub("", name.casefold().removesuffix(".js"))
