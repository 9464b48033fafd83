"""200 decisions, and 40 questions with the one that each is about."""

from __future__ import annotations

from typing import Final, NamedTuple


class Case(NamedTuple):
    """A decision: its category, field, value and intention."""

    category: str
    field: str
    value: str
    intention: str


_SPECIFIC: Final = (
    ("Authentication", "Strategy", "OAuth", "Add login for customers"),
    ("Database", "Type", "PostgreSQL", "Store orders"),
    ("Frontend", "Framework", "React", "Build the shop window"),
    ("Backend", "API_Style", "GraphQL", "Offer the catalogue to partners"),
    ("Infra", "Hosting", "Hetzner", "Run the shop somewhere"),
    ("Authorization", "Model", "RBAC", "Editors may not delete"),
    ("Multi-tenancy", "Isolation", "Schema per tenant", "Keep customers apart"),
    ("Data Access", "Approach", "SQLAlchemy", "Read orders in the code"),
    ("Schema Migrations", "Tool", "Alembic", "Change tables safely"),
    ("Caching", "Cache", "Redis", "Make the start page fast"),
    ("Messaging", "Broker", "RabbitMQ", "Tell the warehouse about orders"),
    ("Background Jobs", "Mechanism", "Celery", "Resize images later"),
    ("Scheduling", "Scheduler", "systemd timers", "Send a report every night"),
    ("Search", "Engine", "Meilisearch", "Find products by name"),
    ("File Storage", "Storage", "S3", "Keep invoices as PDF"),
    ("Backup", "Method", "Restic", "Survive a lost disk"),
    ("Data Pipeline", "Tool", "dbt", "Prepare numbers for finance"),
    ("Rendering", "Strategy", "Server side", "Pages that search engines read"),
    ("State Management", "Store", "Zustand", "Remember the cart in the browser"),
    ("Styling", "Approach", "Tailwind", "One look for all pages"),
    ("Mobile", "Approach", "Flutter", "An app for drivers"),
    ("API Versioning", "Scheme", "URL path", "Partners upgrade slowly"),
    ("Validation", "Approach", "Pydantic", "Refuse wrong orders"),
    ("Error Handling", "Strategy", "Problem Details", "Tell clients what went wrong"),
    ("Pagination", "Scheme", "Cursor", "Long lists of orders"),
    ("Webhooks", "Delivery", "Svix", "Notify partners"),
    ("Realtime", "Transport", "WebSockets", "Show the driver on a map"),
    ("Rate Limiting", "Method", "Token bucket", "Stop scrapers"),
    ("Containers", "Platform", "Podman", "The same machine for all developers"),
    ("Deployment", "Strategy", "Blue/green", "No downtime on Fridays"),
    ("CI", "Service", "GitHub Actions", "Build every commit"),
    ("Repositories", "Layout", "Monorepo", "Share code of shop and app"),
    ("Package Management", "Tool", "uv", "Pin versions of libraries"),
    ("Observability", "Tooling", "Grafana", "See what is slow"),
    ("Audit Log", "Method", "Append-only table", "Who changed a price"),
    ("Secrets", "Store", "Vault", "No passwords in the repository"),
    ("Feature Flags", "Tool", "Unleash", "Switch things on for some"),
    ("Analytics", "Tool", "Plausible", "Count visitors"),
    ("Payments", "Provider", "Stripe", "Take money"),
    ("Internationalization", "Approach", "Fluent", "A shop for Austria and France"),
)
_AREAS: Final = ("warehouse", "newsroom", "clinic", "garage")

DECISIONS: Final = (
    *(Case(*one) for one in _SPECIFIC),
    *(
        Case(f"{area.title()} rule", "Rule", f"Plan {n} of the {area}", f"Settle matter {n} there")
        for area in _AREAS
        for n in range(40)
    ),
)
"""40 of different categories, and 160 that only fill the log."""

RECALLS: Final = (
    ("what do we use for login?", "OAuth"),
    ("Welche Datenbank nehmen wir?", "PostgreSQL"),
    ("which UI library did we choose?", "React"),
    ("Wie sieht die Schnittstelle für Partner aus?", "GraphQL"),
    ("where do we host?", "Hetzner"),
    ("Wer hat welche Berechtigungen?", "RBAC"),
    ("how are tenants separated?", "Schema per tenant"),
    ("which ORM?", "SQLAlchemy"),
    ("Womit machen wir Migrationen?", "Alembic"),
    ("what is our cache?", "Redis"),
    ("Welche Warteschlange verwenden wir?", "RabbitMQ"),
    ("how do background tasks run?", "Celery"),
    ("cron jobs?", "systemd timers"),
    ("Volltextsuche", "Meilisearch"),
    ("where do uploads go?", "S3"),
    ("Wie machen wir die Datensicherung?", "Restic"),
    ("ETL tool", "dbt"),
    ("SSR or SSG?", "Server side"),
    ("Zustandsverwaltung im Client", "Zustand"),
    ("CSS framework", "Tailwind"),
    ("iOS and Android", "Flutter"),
    ("Versionierung der API", "URL path"),
    ("Eingabeprüfung", "Pydantic"),
    ("Fehlerbehandlung", "Problem Details"),
    ("paging of long lists", "Cursor"),
    ("callbacks to partners", "Svix"),
    ("live updates", "WebSockets"),
    ("throttling", "Token bucket"),
    ("docker or something else?", "Podman"),
    ("how do we roll out a release?", "Blue/green"),
    ("build server", "GitHub Actions"),
    ("one repo or many?", "Monorepo"),
    ("Paketmanager", "uv"),
    ("monitoring and logging", "Grafana"),
    ("Änderungshistorie", "Append-only table"),
    ("where do credentials live?", "Vault"),
    ("feature toggles", "Unleash"),
    ("Nutzungsstatistik", "Plausible"),
    ("billing provider", "Stripe"),
    ("Übersetzungen", "Fluent"),
)
"""Questions, each with the value of the decision that it is about."""
