"""Which packages a line of code or of a list names, and which options are names of products.

Only products are looked for in code. A plan is prose about one thing, and the final checks look for
every option in it. Code is full of words: `cursor`, `static` and `url_path` decide nothing there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Final

from preflights_es.kernel.text import late_pattern


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KNOWN: Final = _words("""
    airflow alembic alpine angular ansible astro auth0 babel bazel biome bitbucket bootstrap
    bulma cassandra celery circleci clickhouse cloudflare cloudfront cockroachdb consul couchdb
    cypress dagster datadog dbt django docker dramatiq drizzle drupal echarts elasticsearch
    eslint etcd express fastify firebase flask flutter flyway formik gatsby gatling gradle
    grafana grpc gunicorn hapi haproxy hasura helm heroku hibernate highcharts htmx huey
    influxdb ionic jaeger jasmine jenkins jest joi jquery junit kafka keycloak kibana knex koa
    kong ktor kubernetes kysely laravel leaflet liquibase lit lodash loki mailgun mapbox mariadb
    matomo maven meilisearch memcached metabase minio mobx mollie mongo mongodb mongoose mysql
    nats nestjs netlify next nginx nomad npm numpy nuxt okta opensearch oracle pandas paypal
    peewee penpot phoenix pinia playwright plotly pnpm podman poetry polars postgres postgresql
    postmark prefect preact prettier prisma prometheus pulsar pulumi puppeteer pydantic pytest
    pytorch qdrant quarkus qwik rabbitmq rails react redis redpanda redshift redux remix rollup
    sanic sass scylladb selenium sendgrid sentry sequelize sinatra snowflake solidjs solr splunk
    spring sqlalchemy sqlite starlette storybook stripe styled-components supabase svelte
    sveltekit swr symfony tailwind tauri tensorflow terraform tornado traefik trpc turborepo
    typeorm typesense unittest uvicorn vercel vite vitest vue vuex wagtail weaviate webpack
    wordpress yarn yup zeromq zipkin zod zustand
""")
"""Products whose names are written like words."""
GENERAL: Final = _words("""
    api apis ascii ideal pin aws cd ci cli cors cpu crud css csv db dns dom ecma get gpu gui
    html http https id ide ip javascript json jwk key lan md mime none null oop os pdf php post
    put python ram rest rpc ruby sdk sql ssh ssl ssr svg tcp tls todo typescript udp ui uri url
    urls utc utf utf8 ux vm vpn wip xml yaml yml
    crypto events fs go java kotlin node path rust scala std stream swift system util
""")
"""Words that look like names of products and stand in any code."""
AMBIGUOUS: Final = _words("""
    alpine angular babel bootstrap celery cypress drizzle helm hibernate jasmine jest kong loki
    nomad npm oracle poetry prefect prettier pulsar rails redshift remix rollup sass snowflake solr
    storybook stripe tornado vue yarn
""")
"""Products that are also words: only a package or a command of the name is one."""
SHORT: Final = 4  # letters of an abbreviation that is also a word in lower case, as NATS
_ASIDE: Final = late_pattern(r"\s*\([^()]*\)")
_WORD: Final = late_pattern(r"[\s/+_-]+")
_SIGN: Final = late_pattern(r"[\s/+_.-]+")
_SHAPED: Final = late_pattern(
    r"[A-Z]\w*[a-z]\w*[A-Z]\w*|[A-Z]{2,}[a-z]\w*|[a-z][A-Z]{2,}\w*"  # RabbitMQ, MySQL; GRPCx; gRPC
    r"|[A-Z][A-Z0-9]{2,}"  # JWT, SAML
    r"|[A-Za-z]+\.(?:js|io|net|dev|rs|py)|\.NET"  # Node.js
    r"|[A-Z][A-Za-z]*\d[A-Za-z\d]*"  # OAuth2, Neo4j
)


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


def is_product(option: str) -> bool:
    """Whether an option is the name of something that code names when it uses it."""
    words = [word for word in _WORD.split(_ASIDE.sub("", option).strip()) if word]
    if not words or len(words) > 3:
        return False
    if len(words) == 1:
        return _is_name(words[0])
    # Of several words, such as GitHub Actions, each must be written as a name is.
    return any(map(_is_name, words)) and all(word[0].isupper() or _is_name(word) for word in words)


def signs(options: Iterable[str]) -> tuple[str, ...]:
    """Words in lower case without which a text names none of the options."""
    found = []
    for option in options:
        word = next(filter(None, _SIGN.split(option.strip().casefold())), "")
        found += [word, *(driver for driver, of in DRIVERS.items() if of == word)]
    return tuple(filter(None, found))


def is_package(option: str) -> bool:
    """Whether an option may be the name of a package, which says more than the word alone."""
    option, name = option.strip(), squeezed(option)
    if " " in option or len(name) < 2 or name in sys.stdlib_module_names:
        return False
    return GENERAL.isdisjoint(_SIGN.split(option.casefold()))


def is_word(option: str) -> bool:
    """Whether an option is also a word: only a package or a command of its name is meant."""
    return option.casefold() in AMBIGUOUS or not is_product(option)


def is_meant(option: str, lines: Iterable[str], path: str) -> bool:
    """Whether lines that name an option mean the product, and no word that is written like it."""
    folded = option.casefold()
    is_short = option.isupper() and len(option) <= SHORT
    if not is_short and not is_word(option):
        return True
    is_known = is_product(option)
    return any(
        (is_known and ((is_short and option in line) or command(line.strip(), path) == folded))
        or squeezed(option) in map(squeezed, imported(line.strip(), path))
        for line in lines
    )


def _is_name(word: str) -> bool:
    if word.casefold() in GENERAL:
        return False
    return word.casefold() in KNOWN or _SHAPED.fullmatch(word) is not None


# Packages -----------------------------------------------------------------------------------------


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
