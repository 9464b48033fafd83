"""The repository of an invented product: files, five records of another tool, twenty decisions."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from tests.cli.program import Project

FILES: Final = Path(__file__).with_name("parcelwise")
RECORDS: Final = sorted((FILES / "docs" / "decisions").iterdir())


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
    shutil.copytree(FILES, folder)
    project.git("init", "--quiet", "--template=")
    for words in DECISIONS:
        done = project.call("start", *words)
        assert done.code == 0, (words, done.out, done.err)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Decide")
    return project
