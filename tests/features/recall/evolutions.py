"""Pairs of decisions, each with how the new one stands to the old one."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from preflights_es.features.recall.domain.rules import ComparedDecision
from preflights_es.features.recall.word_variants import stems
from preflights_es.words.decisions import Evolution


def decided(
    category: str, intention: str, *fields: str, number: int | None = None
) -> ComparedDecision:
    """A decision; a field is `Name=Value`."""
    pairs = tuple((name, value) for name, _, value in (one.partition("=") for one in fields))
    return ComparedDecision(
        category=category, fields=pairs, intention=intention, uid="0d1da1e8af20", number=number
    )


OAUTH: Final = decided("Authentication", "Add login", "Strategy=OAuth", number=3)
MAIL: Final = decided("Authentication", "Add login", "Strategy=Email/Password", number=4)
POSTGRES: Final = decided("Database", "Store orders", "Type=PostgreSQL", number=7)
FULL: Final = decided("Database", "Store orders", "Type=PostgreSQL", "Hosting=RDS", number=8)
REDIS: Final = decided("Caching", "Faster pages", "Cache=Redis", number=12)


REST: Final = decided("Backend", "An API for partners", "API_Style=REST", number=13)


def api(intention: str, *fields: str) -> ComparedDecision:
    return decided("Backend", intention, *fields)


def auth(intention: str, *fields: str) -> ComparedDecision:
    return decided("Authentication", intention, *fields)


def data(intention: str, *fields: str) -> ComparedDecision:
    return decided("Database", intention, *fields)


def at(scope: str, one: ComparedDecision) -> ComparedDecision:
    """A decision for something."""
    return replace(one, scope=stems(scope))


def dates(value: str, scope: str = "dates") -> ComparedDecision:
    """A decision without a topic, titled by what it is for."""
    one = decided("Other", "Choose a library", f"Description={value}")
    return replace(at(scope, one), subject=stems(scope))


ORDERS: Final = at("orders", POSTGRES)


EVOLUTIONS: Final[tuple[tuple[Evolution, ComparedDecision, ComparedDecision], ...]] = (
    ("update", auth("Replace the login", "Strategy=Magic Link"), OAUTH),
    ("update", auth("Migrate login to magic links", "Strategy=Magic Link"), OAUTH),
    ("update", auth("Switch the sign-in", "Strategy=SAML"), OAUTH),
    ("update", auth("SAML instead of what we have", "Strategy=SAML"), OAUTH),
    ("update", auth("OAuth is too much for us", "Strategy=Magic Link"), OAUTH),
    ("update", auth("No more email/password", "Strategy=OAuth"), MAIL),
    ("update", auth("Anmeldung ersetzen", "Strategy=SAML"), OAUTH),
    ("update", auth("Auf Passkeys umstellen", "Strategy=Passkeys"), OAUTH),
    ("update", auth("Passkeys statt Passwort", "Strategy=Passkeys"), MAIL),
    ("update", data("Wechsel auf MySQL", "Type=MySQL"), POSTGRES),
    ("update", data("Die Datenbank ablösen", "Type=MySQL"), POSTGRES),
    ("update", data("postgresql does not scale for us", "Type=CockroachDB"), POSTGRES),
    ("update", data("Swap the store", "Type=MySQL", "Hosting=RDS"), FULL),
    ("contradict", auth("Add login for partners", "Strategy=SAML"), OAUTH),
    ("contradict", auth("Anmeldung für Partner", "Strategy=LDAP"), OAUTH),
    ("contradict", auth("A way to log in", "Strategy=Magic Link"), MAIL),
    ("contradict", data("Store invoices", "Type=MySQL"), POSTGRES),
    ("contradict", data("Rechnungen speichern", "Type=SQLite"), POSTGRES),
    ("contradict", data("Store invoices", "Type=PostgreSQL", "Hosting=Own"), FULL),
    ("contradict", data("Keep schema migrations apart", "Type=MySQL"), POSTGRES),
    ("contradict", data("Store logs", "Type=MySQL", "Backup=Nightly"), POSTGRES),
    ("contradict", decided("caching", "Cache search", "cache=Memcached"), REDIS),
    ("extend", auth("Choose the library", "Strategy=OAuth", "Library=Authlib"), OAUTH),
    ("extend", auth("Bibliothek wählen", "Strategy=oauth", "Library=Authlib"), OAUTH),
    ("extend", data("Where to run it", "Type=PostgreSQL", "Hosting=RDS"), POSTGRES),
    ("extend", data("Back it up", "Type=PostgreSQL", "Hosting=RDS", "Backup=x"), FULL),
    ("extend", data("Replace nothing", "type=postgresql", "Hosting=RDS"), POSTGRES),
    ("derive", decided("Caching", "Cache rows of PostgreSQL", "Cache=Redis"), POSTGRES),
    ("derive", decided("Backup", "Back up the PostgreSQL database", "Method=Restic"), FULL),
    ("derive", decided("Secrets", "Keep the OAuth client secret", "Store=Vault"), OAUTH),
    ("derive", decided("Realtime", "Redis as the channel", "Transport=SSE"), REDIS),
    ("derive", decided("Backup", "What follows from ADR-0007", "Method=Restic"), POSTGRES),
    ("derive", decided("Backup", "Folgt aus adr 7", "Method=Restic"), POSTGRES),
    ("derive", decided("Backup", "See e8af20 and 0d1da1e8af20", "Method=Restic"), POSTGRES),
    ("derive", data("Pool for PostgreSQL", "Pooling=PgBouncer"), POSTGRES),
    ("none", decided("Backup", "Survive a lost disk", "Method=Restic"), POSTGRES),
    ("same", data("Store orders", "Type=PostgreSQL"), POSTGRES),
    ("none", data("How long to keep rows", "Retention=1 year"), POSTGRES),
    ("none", decided("Backup", "Replace the tapes", "Method=Restic"), REDIS),
    ("none", decided("Search", "As in ADR-0070", "Engine=Meilisearch"), POSTGRES),
    ("update", auth("Wir lösen die Anmeldung ab", "Strategy=SAML"), OAUTH),
    ("update", auth("Die Anmeldung zieht um: Umzug im Mai", "Strategy=SAML"), OAUTH),
    ("update", data("Migration der Bestellungen nach MySQL", "Type=MySQL"), POSTGRES),
    ("update", data("Get rid of our database server", "Type=SQLite"), POSTGRES),
    ("update", data("Change the database", "Type=SQLite"), POSTGRES),
    ("contradict", data("Run migrations nightly", "Type=SQLite"), POSTGRES),
    ("contradict", data("Record every change the team makes", "Type=SQLite"), POSTGRES),
    ("update", api("We drop REST in favour of GraphQL", "API_Style=GraphQL"), REST),
    ("derive", api("Pages of the REST endpoints", "Pages=Cursor"), REST),
    ("exception", at("carts", data("Store carts", "Type=MongoDB")), POSTGRES),
    ("none", at("carts", data("Store carts", "Type=PostgreSQL 16")), POSTGRES),
    ("none", at("carts", data("Store carts", "Type=MongoDB")), ORDERS),
    ("contradict", at("order", data("Store orders", "Type=MongoDB")), ORDERS),
    ("none", data("Store all", "Type=MongoDB"), ORDERS),
    ("none", at("orders 2", data("Store orders", "Type=pg")), at("orders 1", POSTGRES)),
    ("contradict", dates("Luxon"), dates("date-fns")),
    ("same", dates("date-fns"), dates("date-fns")),
    ("none", dates("Luxon", "maps"), dates("date-fns")),
    ("same", at("the order", data("Store orders", "Type=pg")), ORDERS),
    ("none", api("Add rest periods to the shift planner", "Pages=Cursor"), REST),
)
"""The evolution, the new decision, the older one."""
