"""Words of the same topic in English and German: by them a question finds what it does not name.

The first words of a topic are those of its category.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Topic(NamedTuple):
    """Words that stand for the same thing; each is one word."""

    english: tuple[str, ...]
    german: tuple[str, ...]
    asked: tuple[str, ...]
    """Words of questions about it, in both languages, by which no decision is looked up."""


def _topic(english: str, german: str, asked: str = "") -> Topic:
    return Topic(tuple(english.split()), tuple(german.split()), tuple(asked.split()))


TOPICS: Final = (
    _topic(
        "authentication login auth signin signup sso oauth registration password",
        "anmeldung registrierung benutzerkonten passwort einloggen",
        "sign identity accounts einloggen anmelden melden",
    ),
    _topic(
        "database db persistence postgres sql datastore",
        "datenbank datenspeicherung persistenz",
        "store table tables tabelle speichern",
    ),
    _topic("frontend ui gui interface webapp", "oberfläche benutzeroberfläche weboberfläche"),
    _topic("backend api rest endpoint service", "schnittstelle webservice"),
    _topic(
        "infra hosting infrastructure cloud serverless hoster",
        "infrastruktur hosten anbieter",
        "server servers datacenter läuft betreiben betrieb rechenzentrum",
    ),
    _topic(
        "authorization permissions roles access rbac",
        "berechtigungen rollen rechte zugriffsrechte",
        "allowed rights dürfen darf",
    ),
    _topic("tenancy multi tenants tenant isolation", "mandanten mandantenfähigkeit"),
    _topic("data access orm mapper", "datenzugriff datenbankzugriff"),
    _topic("schema migrations migration", "migrationen schemaänderungen"),
    _topic(
        "caching cache memoization",
        "zwischenspeicher zwischenspeichern",
        "fast performance schnell",
    ),
    _topic(
        "messaging queue broker bus events pubsub",
        "warteschlange nachrichten",
        "notify ereignisse benachrichtigen",
    ),
    _topic("background jobs worker tasks", "hintergrundaufgaben hintergrundjobs"),
    _topic(
        "scheduling scheduler cron reminders", "erinnerungen zeitplan", "nightly nachts täglich"
    ),
    _topic(
        "search fulltext engine autocomplete", "suche volltextsuche suchfunktion", "find finden"
    ),
    _topic(
        "storage file upload uploads attachments bucket",
        "dateiupload dateiablage anhänge",
        "files documents images pdf dateien dokumente bilder",
    ),
    _topic(
        "backup backups recovery restore",
        "datensicherung sicherung",
        "disaster loss sichern verlust",
    ),
    _topic("pipeline etl warehouse ingestion", "datenpipeline datenimport"),
    _topic("rendering ssr ssg seo prerendering", "darstellung"),
    _topic("state management store", "zustandsverwaltung zustand"),
    _topic("styling css theming design stylesheet", "gestaltung designsystem"),
    _topic("mobile app ios android smartphone", "handy handyapp"),
    _topic("versioning versions compatibility", "versionierung abwärtskompatibilität"),
    _topic("validation checks", "validierung eingabeprüfung", "inputs eingaben prüfen"),
    _topic(
        "error handling retries exceptions",
        "fehlerbehandlung fehlerkonzept",
        "errors failures fehler",
    ),
    _topic(
        "pagination paging scrolling", "paginierung seitenweise", "lists scroll listen blättern"
    ),
    _topic("webhooks callbacks webhook", "rückrufe"),
    _topic("realtime live websocket websockets chat", "echtzeit liveanzeige", "push time"),
    _topic("limiting rate throttling quota", "drosselung"),
    _topic("containers docker kubernetes orchestration", "entwicklungsumgebung containerisierung"),
    _topic(
        "deployment rollout release rollback",
        "auslieferung veröffentlichung",
        "deploy ship downtime ausliefern",
    ),
    _topic("ci continuous integration build", "buildserver"),
    _topic("repositories monorepo repos repository", "quellcode"),
    _topic(
        "package dependency dependencies lockfile",
        "paketmanager paketverwaltung",
        "pin",
    ),
    _topic(
        "observability monitoring logging tracing alerting metrics logs",
        "überwachung protokolle",
        "slow alerts dashboard langsam überwachen",
    ),
    _topic("audit trail history", "änderungshistorie protokollierung revision", "changed geändert"),
    _topic("secrets credentials vault keys", "zugangsdaten geheimnisse", "passwords passwörter"),
    _topic("feature flags toggles", "schalter"),
    _topic(
        "analytics usage statistics tracking",
        "nutzungsstatistik besucherstatistik",
        "visitors count besucher zählen",
    ),
    _topic("testing tests e2e automation", "teststrategie testautomatisierung"),
    _topic("email mail mails newsletter", "mailversand mails", "send versand"),
    _topic(
        "payments payment billing checkout subscriptions",
        "zahlungen bezahlung bezahlen abos",
        "pay card kreditkarte zahlen",
    ),
    _topic(
        "internationalization translations i18n localization languages",
        "übersetzungen sprachen mehrsprachigkeit",
        "language german sprache",
    ),
    _topic("language model llm ai chatbot", "sprachmodell ki"),
    _topic("cdn delivery edge assets", "auslieferungsnetz"),
)
