"""The repository of an invented product: files, five records of another tool, twenty decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.cli.program import Project

FILES: Final = {
    "README.md": """\
# Parcelwise

Parcelwise tells shops and their customers where a parcel is. It collects the scans of forty
carriers, computes when a parcel arrives, and sends a message when that changes.

## Development

`docker compose up`, then `make test`.
""",
    "pyproject.toml": """\
[project]
name = "parcelwise"
version = "4.2.0"
requires-python = ">=3.12"
dependencies = [
    "alembic>=1.13",
    "arq>=0.26",
    "confluent-kafka>=2.5",
    "duckdb>=1.1",
    "fastapi>=0.115",
    "opentelemetry-sdk>=1.27",
    "psycopg[binary]>=3.2",
    "redis>=5.0",
    "structlog>=24.4",
]
""",
    "compose.yaml": """\
services:
  database:
    image: postgres:16
  cache:
    image: redis:7
  events:
    image: apache/kafka:3.8.0
""",
    "web/package.json": """\
{
  "name": "parcelwise-web",
  "dependencies": {"leaflet": "^1.9", "react": "^18.3", "zustand": "^5.0"},
  "devDependencies": {"tailwindcss": "^3.4", "vite": "^5.4", "vitest": "^2.1"}
}
""",
    ".github/workflows/test.yml": "name: test\non: push\n",
    "src/parcelwise/scans.py": '"""Scans of carriers, as they come in."""\n',
    "src/parcelwise/labels.py": '"""Labels of parcels."""\n',
    "web/src/Map.tsx": "export const Map = () => null\n",
}

RECORDS: Final = {
    "0001-run-background-jobs-with-arq.md": """\
# 1. Use arq for background jobs

Date: 2024-02-11

## Status

Accepted

## Context

The imports of the carriers' price lists take minutes and cannot run within a request.

## Decision

We run background jobs with arq, on the Redis that is there already.

## Consequences

A job has to be safe to run twice.
""",
    "0002-write-logs-with-structlog.md": """\
# 2. Use structlog for the logs

Date: 2024-03-04

## Status

Accepted

## Context

Logs of forty carriers cannot be searched as plain text.

## Decision

We write every log line as JSON with structlog.

## Consequences

A line without a parcel's number fails in review.
""",
    "0003-sql-without-an-orm.md": """\
---
status: accepted
date: 2024-05-19
decision-makers: [Tomasz, Ada]
---

# Use plain SQL for the queries

## Context and Problem Statement

The estimate of arrival needs window functions. How do we write queries?

## Considered Options

* SQLAlchemy ORM
* plain SQL with psycopg

## Decision Outcome

Chosen option: "plain SQL with psycopg", because the ORM hid the slow queries.
""",
    "0004-zolldokumente-zehn-jahre.md": """\
---
status: accepted
date: 2024-09-02
---

# Zolldokumente zehn Jahre aufbewahren

## Context and Problem Statement

Der Zoll darf zehn Jahre lang nach den Dokumenten einer Sendung fragen.

## Decision Outcome

Chosen option: "zehn Jahre", because das Gesetz es verlangt.
""",
    "0005-release-every-tuesday.md": """\
# Release every Tuesday

Status: Accepted
Date: 2024-11-18

A release on a Friday cost us a weekend. We release on Tuesdays, and a fix at any time.
""",
}

ADA: Final = ("--accept", "--by", "Ada Lovelace")
GRACE: Final = ("--accept", "--by", "Grace Hopper")

DECISIONS: Final[tuple[tuple[str, ...], ...]] = (
    ("Use PostgreSQL because the reports join scans with orders", *ADA),  # ADR-6
    ("Use RabbitMQ for tracking events because the team knows it", *ADA),  # 7, until 10
    ("Use Vue for the frontend", *GRACE),  # 8, until 14
    (
        *("How do customers sign in?", "--answer", "auth_strategy=Magic Link"),
        *("--because", "Most customers look at one parcel a year and forget a password"),
        *("--alternative", "Email/Password: it was reset more often than it was used", *ADA),
    ),  # 9
    (
        *("Use Kafka for tracking events", "--supersedes", "ADR-7"),
        *("--because", "A new estimate of arrival is computed from old events"),
        *("--alternative", "RabbitMQ: it forgets an event when it is read", *ADA),
    ),  # 10
    (
        *("Where do we run Parcelwise?", "--question", "Which hosting?", "--topic", "Hosting"),
        *("--option", "Hetzner", "--option", "AWS", "--answer", "custom.hosting=Hetzner"),
        *("--because", "The addresses of customers stay in the EU", *GRACE),
    ),  # 11
    ("Use Redis for caching", "--because", "It is there for arq already", *ADA),  # 12
    (
        *("Use DuckDB for the monthly reports", "--exception", "ADR-6"),
        *("--because", "The reports read two years of scans at once", *ADA),
    ),  # 13
    (
        *("Use React for the frontend", "--supersedes", "ADR-8"),
        *("--because", "The shops embed our widget in React pages", *GRACE),
    ),  # 14
    ("Use Zustand for client state because Redux was more code than the pages", *GRACE),  # 15
    ("Use Tailwind CSS for styling", *GRACE),  # 16
    (
        *("How do partners call us?", "--question", "Which style has the partners' API?"),
        *("--option", "REST", "--option", "GraphQL", "--topic", "API style"),
        *("--answer", "custom.api_style=REST", "--scope", "partners"),
        *("--because", "Half of the shops call it from PHP without a library", *ADA),
    ),  # 17
    (
        *("Which pagination has the list of scans?", "--answer", "pagination=Cursor"),
        *("--because", "New scans shifted the pages while a shop read them"),
        *("--alternative", "Offset and limit: page 900 took eleven seconds", *ADA),
    ),  # 18
    (
        *("How do we hold amounts of money?", "--question", "What is an amount in the code?"),
        *("--option", "Integer cents", "--option", "Decimal", "--topic", "Money"),
        *("--answer", "custom.money=Integer cents"),
        *("--because", "Surcharges in floats did not add up to the invoice", *ADA),
    ),  # 19
    ("Use GitHub Actions for CI", *GRACE),  # 20
    ("Use SendGrid for e-mails because the first year was free", *GRACE),  # 21, until 23
    ("Use MinIO for the labels because a label is read once and kept a year", *ADA),  # 22
    (
        *("Use Postmark for e-mails", "--supersedes", "ADR-21"),
        *("--because", "SendGrid delivered the notices of delay after the parcel", *GRACE),
    ),  # 23
    ("Use OpenTelemetry for tracing", *ADA),  # 24
    (
        *("Retry the calls of carriers", "--answer", "description=Three times, then a person"),
        *("--because", "A carrier blocks us after ten failed calls a minute", *ADA),
    ),  # 25
)


def made(folder: Path, home: Path) -> Project:
    """The repository, with all of it accepted and committed."""
    project = Project(folder, home)
    folder.mkdir()
    project.git("init", "--quiet", "--template=")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    records = folder / "docs" / "decisions"
    records.mkdir(parents=True)
    for name, text in RECORDS.items():
        (records / name).write_text(text)
    for words in DECISIONS:
        done = project.call("start", *words)
        assert done.code == 0, (words, done.out, done.err)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Decide")
    return project
