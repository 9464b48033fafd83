"""Several decisions of one topic, and questions by a stranger to the rules."""

from __future__ import annotations

from typing import Final

from tests.features.recall.recalls import Case

CROWDED: Final = tuple(
    Case(*line.split(" | "))
    for line in """
Database | Type | PostgreSQL | Use PostgreSQL for the orders service
Other | Session store | Redis | Which store for user sessions in the web shop?
Authentication | Strategy | Magic Link | Customers of the web shop sign in
Authentication | Strategy | SAML with Okta | Staff log in to the back office
Authentication | Strategy | Client certificates (mTLS) | Partners authenticate at the partner API
File Storage | Storage | S3 | Store product pictures
File Storage | Storage | Azure Blob with immutability policy | Store invoices as PDF for ten years
Search | Engine | Elasticsearch | Search in the product catalogue
Search | Engine | Algolia | Search in the help center
Email | Delivery | Amazon SES | Send order confirmations by mail
Other | Newsletter tool | Mailchimp | Send the weekly newsletter
Payments | Provider | Stripe | Payments in the checkout
Other | Instalments | Klarna | Buy now, pay later in Germany
Messaging | Broker | RabbitMQ | Messages between services
Background Jobs | Mechanism | Sidekiq | Background jobs in the Rails app
Background Jobs | Mechanism | Celery | Background jobs in the Python services
Scheduling | Scheduler | Kubernetes CronJob | Nightly reports run on a schedule
Infra | Hosting | Kubernetes on GKE | Deploy the web shop
Infra | Hosting | Netlify | Deploy the marketing site
Deployment | Strategy | Blue-green | Roll out new versions without downtime
CI | Service | GitHub Actions | CI for the monorepo
CI | Service | Xcode Cloud | CI for the iOS app
Frontend | Framework | React | Frontend of the web shop
Frontend | Framework | Vue | Frontend of the back office
Styling | Approach | Tailwind CSS | Styling of the web shop
State Management | Store | Redux Toolkit | State management in the web shop
Rendering | Strategy | Server-side rendering with Next.js | How the web shop is rendered
Mobile | Approach | Flutter | Mobile app for couriers
Mobile | Approach | Native (Swift and Kotlin) | Mobile app for customers
Backend | API_Style | REST | API style of the public API
Backend | API_Style | gRPC | API between internal services
Backend | API_Style | GraphQL | API of the mobile app's backend
API Versioning | Scheme | Version in the URL path | Versioning of the public API
Pagination | Scheme | Cursor | Pagination of list endpoints
Error Handling | Strategy | RFC 9457 problem details | Format of API errors
Validation | Approach | Zod | Validate requests in the Node services
Validation | Approach | Pydantic | Validate requests in the Python services
Rate Limiting | Method | Token bucket in the gateway | Rate limiting of the public API
Webhooks | Delivery | Signed with HMAC, retried for 3 days | Webhooks to partners
Realtime | Transport | Server-Sent Events | Live updates of the courier map
Realtime | Transport | WebSocket | Chat between customer and courier
Caching | Cache | Varnish | Cache product pages
Caching | Cache | Redis with 60 seconds TTL | Cache prices
CDN | Provider | Cloudflare | CDN for static files
Data Access | Approach | SQLAlchemy | ORM in the Python services
Data Access | Approach | jOOQ | Data access in the Kotlin service
Schema Migrations | Tool | Flyway | Migrate database schemas
Backup | Method | Daily snapshot, 35 days | Backups of the production databases
Secrets | Store | HashiCorp Vault | Where secrets live
Feature Flags | Tool | Unleash | Feature flags
Analytics | Tool | PostHog | Product analytics
Observability | Tooling | Sentry | Error tracking
Observability | Tooling | Prometheus and Grafana | Metrics and dashboards
Other | Log collection | Loki | Where logs are collected
Audit Log | Method | Append-only table | Audit trail of back office actions
Testing | Approach | Vitest | Unit tests of the frontend
Testing | Approach | Playwright | End-to-end tests of the checkout
Internationalization | Approach | FormatJS with Phrase | Translations of the web shop
Language Model | Provider | Claude | Model that answers support tickets
Other | Vector database | pgvector | Vector store
Data Pipeline | Tool | BigQuery | Data warehouse
Package Management | Tool | uv | Python package manager
Package Management | Tool | pnpm | JavaScript package manager
Repositories | Layout | Monorepo with Nx | One repository or many
Containers | Platform | distroless | Base image of our containers
Multi-tenancy | Isolation | One schema per tenant | Tenants of the partner portal
Authorization | Model | Roles (RBAC) | Permissions in the back office
Other | Maps | Mapbox | Maps in the courier app
Other | Barcode scanner | Scandit | Barcode scanning in the warehouse app
Other | Primary keys | UUIDv7 | Type of primary keys
Other | Money type | Integer cents with currency code | How money is stored
Other | Timestamps | UTC everywhere | Time zone of stored times
Other | License | Apache-2.0 | License of our open source libraries
Other | Branches | Trunk-based | Branching model
Other | Formatter | Prettier | Code formatter for TypeScript
Other | PDF renderer | WeasyPrint | PDF generation of invoices
Other | Import format | CSV over SFTP | Import of supplier price lists
Other | Registry | GitHub Container Registry | Container registry
Other | Resilience | resilience4j | Circuit breaker between services
Other | Password hash | Argon2id | Password hashing
Other | Second factor | WebAuthn keys | Second factor for staff
Other | CSRF | SameSite cookies and token | CSRF protection
Other | Dependency bot | Renovate | Dependency updates
Other | Browsers | Last two versions | Supported browsers
Other | Datenbank | MariaDB | Datenbank der Kundenkartei
Other | Anmeldung | OIDC über Keycloak | Anmeldung im Händlerportal
Other | Dokumentenablage | Nextcloud | Ablage der Lieferscheine
Other | Rechnungsformat | XRechnung | Elektronische Rechnungen an Behörden
Other | Kartenterminal | SumUp | Bezahlarten in den Filialen
Other | TSE | Cloud-TSE von fiskaly | Signatur der Kassenbelege (TSE)
Other | Tourenplanung | PTV | Tourenplanung der eigenen LKW
Other | Zeitreihendatenbank | TimescaleDB | Zeitreihen der Sensoren speichern
Other | Löschfrist | 6 Monate | Löschfrist der Bewerberdaten
Other | Standort der Daten | Frankfurt | Wo unsere Server stehen
Other | Plattenverschlüsselung | LUKS | Verschlüsselung der Festplatten
Other | VPN | WireGuard | Fernzugriff auf das Firmennetz
Other | Passwortmanager | Bitwarden | Passwörter im Team
Other | Wiki | Confluence | Wissensablage
Other | Retourenportal | parcelLab | Retouren
Other | Sendungsverfolgung | AfterShip | Sendungsverfolgung
Other | Übersetzung | DeepL | Mehrsprachige Produkttexte übersetzen
Other | Wetterdienst | DWD | Wetterdaten für die Prognose
Other | Mahnlauf | Drei Stufen, 14 Tage | Mahnwesen
Other | Aufbewahrung | 10 Jahre | Aufbewahrung der Kassendaten
Other | Kassen-Betriebssystem | Debian | Betriebssystem der Kassen
Other | Palettenkennung | SSCC nach GS1 | Paletten kennzeichnen
""".strip().splitlines()
)

QUESTIONS: Final = tuple(
    (question, tuple(values.split(" / ")))
    for question, _, values in (
        line.partition(" | ")
        for line in """
what do we use for login in the back office? | SAML with Okta
how do shop customers sign in? | Magic Link
which database does the orders service use? | PostgreSQL
where do we keep session data? | Redis
which message broker did we choose? | RabbitMQ
how do partner systems authenticate? | Client certificates (mTLS)
what is our payment provider? | Stripe
do we have a decision about error monitoring? | Sentry
which tool do we use for browser tests? | Playwright
how do we hash passwords? | Argon2id
where are container images pushed to? | GitHub Container Registry
what did we decide about feature toggles? | Unleash
why is there no offset paging in our lists? | Cursor
which framework for the courier's phone app? | Flutter
how is money represented in the database? | Integer cents with currency code
do we store timestamps in UTC or local time? | UTC everywhere
what's the policy for branching in git? | Trunk-based
how long do we keep backups? | Daily snapshot, 35 days
which vector db do we use? | pgvector
what do couriers see as a map? | Mapbox
who sends our transactional emails? | Amazon SES
how do services talk to each other synchronously? | gRPC
Womit melden sich Händler an? | OIDC über Keycloak
Welche Datenbank nutzt die Kundenkartei? | MariaDB
Wo legen wir Lieferscheine ab? | Nextcloud
Welches Format haben Rechnungen an Behörden? | XRechnung
Wie lange heben wir Kassendaten auf? | 10 Jahre
Wann löschen wir die Daten von Bewerbern? | 6 Monate
Womit bezahlen Kunden im Checkout? | Stripe
Wie speichern wir Sensordaten? | TimescaleDB
Welches VPN haben wir? | WireGuard
Welche Suche steckt im Hilfebereich? | Algolia
Wo landen unsere Logs? | Loki
Welches Werkzeug nehmen wir für Übersetzungen der Produkttexte? | DeepL
Wie verteilen wir neue Versionen ohne Ausfall? | Blue-green
Welchen Paketmanager nehmen wir für Python? | uv
Wo verwahren wir Geheimnisse wie API-Schlüssel? | HashiCorp Vault
Wer signiert die Kassenbons? | Cloud-TSE von fiskaly
Wie werden Passwörter im Team geteilt? | Bitwarden
Welche Warteschlange nutzen wir zwischen den Diensten? | RabbitMQ
how do couriers get their live position on a map? | Server-Sent Events / Mapbox
what is used for full text search of products? | S3 / Elasticsearch
how do we pay out in shops, card terminal? | SumUp
which tool manages translations of the UI? | FormatJS with Phrase
where do invoices live for ten years? | Azure Blob with immutability policy
what do we do about circuit breaking? | resilience4j
do we have two-factor for employees? | WebAuthn keys
how do we number pallets? | SSCC nach GS1
what do we use to generate PDFs? | WeasyPrint
how are primary keys generated? | UUIDv7
which model answers support mails? | Claude
password hashing algorithm | Argon2id
what about CSRF? | SameSite cookies and token
dependency bot? | Renovate
what formatter for TypeScript | Prettier
which browsers do we support? | Last two versions
How do partners get notified? | Signed with HMAC, retried for 3 days
what decides roles in the back office? | Roles (RBAC)
which cloud runs the web shop? | Kubernetes on GKE
who translates product texts? | DeepL
Wie versenden wir den Newsletter? | Mailchimp
Womit scannen wir Barcodes? | Scandit
Welche Karte nutzt die Kurier-App? | Mapbox
Wie werden Retouren abgewickelt? | parcelLab
Wo stehen unsere Server? | Frankfurt
Welche Frist gilt für Mahnungen? | Drei Stufen, 14 Tage
Wie verschlüsseln wir Festplatten? | LUKS
Womit planen wir die Touren? | PTV
Welches Betriebssystem haben die Kassen? | Debian
Wie loggen sich Mitarbeiter im Backoffice ein? | SAML with Okta
Welche Bezahlart gibt es beim Kauf auf Raten? | Klarna
Wie heißt unser Wiki? | Confluence
Wer liefert Wetterdaten? | DWD
Wie testen wir den Checkout? | Playwright
Welche Lizenz haben unsere Bibliotheken? | Apache-2.0
Wie alt dürfen Kassendaten werden? | 10 Jahre
Welcher Nachrichtendienst verbindet die Dienste? | RabbitMQ
Wie verfolgen Kunden ihre Sendung? | AfterShip
Wohin gehen Fehlermeldungen? | Sentry
Wie kommen Preislisten der Lieferanten zu uns? | CSV over SFTP
""".strip().splitlines()
    )
)
"""Pairs of a question and the values that answer it."""
