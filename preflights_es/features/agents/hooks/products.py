"""Which options are names of products: only those are looked for in code.

A plan is prose about one thing, and the final checks look for every option in it. Code is full of
words: `cursor`, `static` and `url_path` decide nothing there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final

from preflights_es.features.agents.hooks.packages import DRIVERS, command, imported, squeezed
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
