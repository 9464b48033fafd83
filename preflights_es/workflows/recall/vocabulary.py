"""Words of the same topic in English and German: by them a question finds what it does not name.

The first words of a topic are those of its category.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Topic(NamedTuple):
    """Words that stand for the same thing; each is one word."""

    english: tuple[str, ...]
    german: tuple[str, ...]


def _topic(english: str, german: str) -> Topic:
    return Topic(tuple(english.split()), tuple(german.split()))


TOPICS: Final = (
    _topic(
        "authentication login auth signin signup sso oauth registration password",
        "anmeldung registrierung benutzerkonten passwort einloggen",
    ),
    _topic(
        "database db persistence postgres sql datastore",
        "datenbank datenspeicherung persistenz",
    ),
    _topic("frontend ui gui interface webapp", "oberfläche benutzeroberfläche weboberfläche"),
    _topic("backend api rest endpoint service", "schnittstelle webservice"),
    _topic("infra hosting infrastructure cloud serverless hoster", "infrastruktur hosten anbieter"),
    _topic(
        "authorization permissions roles access rbac", "berechtigungen rollen rechte zugriffsrechte"
    ),
    _topic("tenancy multi tenants tenant isolation", "mandanten mandantenfähigkeit"),
    _topic("data access orm mapper", "datenzugriff datenbankzugriff"),
    _topic("schema migrations migration", "migrationen schemaänderungen"),
    _topic("caching cache memoization", "zwischenspeicher zwischenspeichern"),
    _topic("messaging queue broker bus events pubsub", "warteschlange nachrichten"),
    _topic("background jobs worker tasks", "hintergrundaufgaben hintergrundjobs"),
    _topic("scheduling scheduler cron reminders", "erinnerungen zeitplan"),
    _topic("search fulltext engine autocomplete", "suche volltextsuche suchfunktion"),
    _topic("storage file upload uploads attachments bucket", "dateiupload dateiablage anhänge"),
    _topic("backup backups recovery restore", "datensicherung sicherung"),
    _topic("pipeline etl warehouse ingestion", "datenpipeline datenimport"),
    _topic("rendering ssr ssg seo prerendering", "darstellung"),
    _topic("state management store", "zustandsverwaltung zustand"),
    _topic("styling css theming design stylesheet", "gestaltung designsystem"),
    _topic("mobile app ios android smartphone", "handy handyapp"),
    _topic("versioning versions compatibility", "versionierung abwärtskompatibilität"),
    _topic("validation checks", "validierung eingabeprüfung"),
    _topic("error handling retries exceptions", "fehlerbehandlung fehlerkonzept"),
    _topic("pagination paging scrolling", "paginierung seitenweise"),
    _topic("webhooks callbacks webhook", "rückrufe"),
    _topic("realtime live websocket websockets chat", "echtzeit liveanzeige"),
    _topic("limiting rate throttling quota", "drosselung"),
    _topic("containers docker kubernetes orchestration", "entwicklungsumgebung containerisierung"),
    _topic("deployment rollout release rollback", "auslieferung veröffentlichung"),
    _topic("ci continuous integration build", "buildserver"),
    _topic("repositories monorepo repos repository", "quellcode"),
    _topic("package dependency dependencies lockfile", "paketmanager paketverwaltung"),
    _topic(
        "observability monitoring logging tracing alerting metrics logs", "überwachung protokolle"
    ),
    _topic("audit trail history", "änderungshistorie protokollierung revision"),
    _topic("secrets credentials vault keys", "zugangsdaten geheimnisse"),
    _topic("feature flags toggles", "schalter"),
    _topic("analytics usage statistics tracking", "nutzungsstatistik besucherstatistik"),
    _topic("testing tests e2e automation", "teststrategie testautomatisierung"),
    _topic("email mail mails newsletter", "mailversand mails"),
    _topic("payments payment billing checkout subscriptions", "zahlungen bezahlung bezahlen abos"),
    _topic(
        "internationalization translations i18n localization languages",
        "übersetzungen sprachen mehrsprachigkeit",
    ),
    _topic("language model llm ai chatbot", "sprachmodell ki"),
    _topic("cdn delivery edge assets", "auslieferungsnetz"),
)
