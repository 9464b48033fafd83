"""Ten tasks of a coding agent, and what the agent asks by itself."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Task(NamedTuple):
    """What the agent is to do."""

    name: str
    """Of the file with what it is told."""
    words: str
    """Of the person who gives the task."""
    query: str
    """What it looks for among the decisions."""
    why: str = ""
    """The decision that it wants explained; empty for none."""
    question: dict[str, Any] | None = None
    """Its own question, as `start_decision` takes it."""


TASKS: Final = (
    Task(
        name="01-in-force",
        words="Send customers an e-mail when their parcel is late",
        query="e-mail",
        why="ADR-23",
        question={
            "question": "Which service sends the notices?",
            "options": [
                {
                    "label": "Amazon SES",
                    "description": "Costs a tenth of the others",
                    "against": "Bounces are ours to handle",
                },
                {
                    "label": "Postmark",
                    "description": "Sends transactional mail alone",
                    "against": "Costs more for a million mails",
                },
            ],
            "topic": "Email",
            "recommendation": "Postmark",
            "reason": "The notices of delay go through it",
            "why": "A late notice is worth nothing",
            "scope": "notices of delay",
            "evidence": ["src/parcelwise/scans.py"],
        },
    ),
    Task(
        name="02-another-tool",
        words="Import the price lists of the carriers in background jobs",
        query="background jobs",
        why="docs/decisions/0001-run-background-jobs-with-arq.md",
        question={
            "question": "What runs the imports?",
            "options": ["Celery", "arq"],
            "topic": "Background Jobs",
        },
    ),
    Task(
        name="03-contradicts",
        words="Use Redux for client state",
        query="Redux",
        why="ADR-15",
    ),
    Task(
        name="04-exception",
        words="Use MongoDB for the archive of scans",
        query="database for the archive of scans",
        why="ADR-6",
        question={
            "question": "Where does the archive of scans live?",
            "options": ["MongoDB", "PostgreSQL"],
            "topic": "Database",
            "scope": "archive of scans",
        },
    ),
    Task(
        name="05-superseded",
        words="Which broker carries the tracking events?",
        query="RabbitMQ tracking events",
        why="ADR-7",
    ),
    Task(
        name="06-nothing-in-force",
        words="Let customers follow the van on a map in realtime",
        query="realtime",
    ),
    Task(
        name="07-plain-fix",
        words="Fix the rounding of surcharges on the invoice",
        query="rounding of surcharges",
    ),
    Task(
        name="08-german",
        words="Welche Datenbank nehmen wir für die Zolldokumente?",
        query="Datenbank",
        question={
            "question": "Wo liegen die Zolldokumente?",
            "options": [
                {
                    "label": "MinIO",
                    "description": "Wie die Etiketten",
                    "against": "Keine Suche",
                },
                {
                    "label": "PostgreSQL",
                    "description": "Neben den Sendungen",
                    "against": "Die Sicherung wächst",
                },
            ],
            "topic": "File Storage",
            "recommendation": "MinIO",
            "reason": "Die Etiketten liegen auch dort",
            "why": "Der Zoll fragt zehn Jahre lang danach",
            "scope": "Zolldokumente",
            "evidence": ["src/parcelwise/labels.py:1"],
        },
    ),
    Task(
        name="09-full-question",
        words="Print the labels of a parcel at the desk of a shop",
        query="labels",
        question={
            "question": "How does a label reach the printer of a shop?",
            "options": [
                {
                    "label": "PDF in the browser",
                    "description": "The clerk prints it by the browser's dialog",
                    "against": "The clerk chooses printer and size each time",
                },
                {
                    "label": "ZPL by a local agent",
                    "description": "A small program sends it to the label printer",
                    "against": "The shop installs and updates it on each desk",
                },
            ],
            "topic": "Label printing",
            "recommendation": "PDF in the browser",
            "reason": "It works on the desks that are there",
            "why": "A shop prints two hundred labels a day",
            "scope": "labels at the desk",
            "consequences": ["The size of the paper is a setting of the shop"],
            "evidence": ["src/parcelwise/labels.py:1"],
        },
    ),
    Task(
        name="10-poor-question",
        words="Show the way of a parcel on a map",
        query="map",
        question={"question": "Which map library?", "options": ["Leaflet", "MapLibre"]},
    ),
)
