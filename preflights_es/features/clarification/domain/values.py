"""The words of seed 0: what a team can configure, what is asked, and what is decided."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from preflights_es.kernel.events import Actor, Value, Whole
from preflights_es.kernel.text import caseless
from preflights_es.words.decisions import OTHER, Speaker
from preflights_es.words.questions import Question, QuestionType

Answer = str | tuple[str, ...]
Hint = Literal["adr", "task", "unsure"]
Source = Literal["detected", "stated", "chosen", "custom", "typed", "suggested"]
"""`stated` stands in the intention; `suggested` is a model's reading of what was said."""
Filing = Literal["structural", "contract", "local"]
"""What seed 0 hints a category of decisions to be filed as."""
Mark = Literal["", "task", "adr"]
"""As what a person wants it filed; a record where that is not said."""

OTHER_OPTION = "Other (specify)"
SCOPE = "__scope"
"""Suffix of the key that says what a decision is for: no question, and no turn."""
TOPIC = "Decision"
"""The topic of a question whose writer names none."""
COMPANION = "__other"
"""Suffix of the key that carries the text of `Other (specify)` (seed 0, section 4.3)."""


class Field(Value, frozen=True):
    """A field of a patch and the question that fills it; without a question it is never asked."""

    name: str
    id: str
    """The key under which it is answered."""
    question: str = ""
    options: tuple[str, ...] = ()
    """Without `Other (specify)`, which every choice gets."""
    type: QuestionType = "single_choice"

    def asked(self) -> Question:
        """The question as it is put to a person."""
        options = (*self.options, OTHER_OPTION) if self.options else ()
        return Question(self.id, self.type if options else "free_text", self.question, options)


class Category(Value, frozen=True):
    """One row of the tables in seed 0, sections 3.2, 5.1, 6 and 9."""

    name: str
    keywords: tuple[str, ...] = ()
    """Whole tokens, case-folded; each with the family of words that it stands for."""
    primary: Field | None = None
    secondary: tuple[Field, ...] = ()
    """Taken when given, never asked."""
    filing: Filing = msgspec.field(default="local", name="scope")
    """Of the hint: `structural` and `contract` say ADR, `local` says task."""

    def fields(self) -> tuple[Field, ...]:
        """Primary first."""
        return (self.primary, *self.secondary) if self.primary else self.secondary


def _split_keywords(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_AUTHENTICATION = Category(
    "Authentication",
    _split_keywords("""
        auth authn authz authenticate authenticates authenticated authenticating authentication
        authorize authorise authorization authorisation oauth oauth2 login logins log-in signin
        sign-in jwt jwts sso saml oidc
    """),
    Field(
        "Strategy",
        "auth_strategy",
        "Which authentication approach?",
        ("OAuth", "Email/Password", "Magic Link"),
    ),
    (Field("Library", "auth_library"),),
    filing="structural",
)
_DATABASE = Category(
    "Database",
    ("database", "databases", "db", "dbs", "postgres", "postgresql", "mysql", "mongodb", "sqlite"),
    Field("Type", "db_type", "Which database type?", ("PostgreSQL", "MySQL", "MongoDB")),
    (Field("ORM", "db_orm"),),
    filing="structural",
)
_FRONTEND = Category(
    "Frontend",
    ("frontend", "front-end", "ui", "uis", "react", "component", "components"),
    Field("Framework", "frontend_framework", "Which framework?", ("React", "Vue", "Svelte")),
    (Field("Styling", "styling"),),
    filing="local",
)
_BACKEND = Category(
    "Backend",
    ("api", "apis", "endpoint", "endpoints", "backend", "back-end"),
    Field("API_Style", "api_style", "Which API style?", ("REST", "GraphQL", "gRPC")),
    (Field("Framework", "backend_framework"),),
    filing="contract",
)
_INFRA = Category(
    "Infra",
    _split_keywords("""
        deploy deploys deployed deploying deployment deployments docker dockerize ci infra
        infrastructure
    """),
    Field("Hosting", "hosting", "Which hosting approach?", ("Cloud", "Self-hosted", "Serverless")),
    (Field("CI_CD", "ci_cd"),),
    filing="structural",
)

TITLES: dict[str, str] = {
    "auth_strategy": "Use {value} for authentication",
    "db_type": "Use {value} for the database",
    "frontend_framework": "Use {value} for the frontend",
    "api_style": "Use {value} for the API",
    "hosting": "Use {value} for hosting",
}
"""Of a record, by the key of its first field."""


class HeuristicsConfig(Value, frozen=True):
    """The tables of seed 0; a team replaces them, and every session carries its own copy."""

    categories: tuple[Category, ...] = (_AUTHENTICATION, _DATABASE, _FRONTEND, _BACKEND, _INFRA)
    """In the order in which keywords decide (section 9)."""
    menu: tuple[str, ...] = ("Frontend", "Backend", "Database", "Authentication", "Infra")
    """In the order in which categories are offered (section 4.1)."""
    category: Field = Field("Category", "change_category", "What type of change is this?")
    description: Field = Field(
        "Description", "description", "What should be decided?", type="free_text"
    )
    """Asked where no category fits (specification, section 3)."""

    def named(self, name: str) -> Category | None:
        """The category of that name, in any case; `Other` for what no category bears."""
        for category in self.categories:  # as it is spelled, almost always; asked all the time
            if category.name == name:
                return category
        folded = caseless(name)
        return next((c for c in self.categories if caseless(c.name) == folded), None)

    def category_question(self) -> Question:
        """The generic question of phase 1."""
        field = self.category
        return Question(field.id, "single_choice", field.question, (*self.menu, OTHER_OPTION))

    def other(self) -> Category:
        """What stands for every label that is not in the table."""
        return Category(OTHER, primary=self.description)


class TopicValue(Value, frozen=True):
    """A value that an intention names, in the spelling of the pack."""

    topic: str
    value: str


class PackRef(Value, frozen=True):
    """Which pack of topics a session began with."""

    name: str
    version: Whole
    sha256: str
    """Of the file's bytes, in hexadecimal."""


class Heuristics(Value, frozen=True):
    """What a team chose: a pack of topics and tables of its own, or tables alone."""

    tables: HeuristicsConfig
    """Beside a pack: only what the team says otherwise."""
    pack: PackRef | None = None
    """None for the reference: `tables` are the whole."""
    inlined: str = ""
    """The pack's text, where it is a file of the team."""


class Resolved(Value, frozen=True):
    """A concrete value and how it came about."""

    value: str
    source: Source


CategoryMatch = tuple[Category, Resolved]
"""A category, and how it became known."""


class LLMContext(Value, frozen=True):
    """What is known of the surroundings; the reference behaviour does not look at it."""

    file_summary: str = ""
    technology_signals: tuple[str, ...] = ()
    architecture_summary: str = ""


class SessionSnapshot(Value, frozen=True):
    """What a log folds to, as section 9 of seed 0 hands it over."""

    asked: tuple[Question, ...] = ()
    answers: dict[str, Answer] = {}
    turn: int = 1


class LLMResponse(Value, frozen=True):
    """One turn of the clarification (seed 0, section 9.1)."""

    questions: tuple[Question, ...] = ()
    missing_info: tuple[str, ...] = ()
    """Keys of what is still open; never a companion key."""
    decision_hint: Hint = "unsure"
    progress: float = 0.0


class DecisionPatch(Value, frozen=True):
    """What was decided: a category and pairs of field name and value, in the order of the table."""

    category: str
    fields: tuple[tuple[str, str], ...] = ()


class Provenance(Value, frozen=True):
    """The source of one value, and its actor."""

    key: str
    """The question it answers."""
    field: str
    """`Category`, or the field's name in the patch."""
    value: str
    source: Source
    by: Speaker
    relayed_by: Actor | None = None
    """Who passed the actor's words on."""


def select_suggested_values(provenance: Iterable[Provenance]) -> tuple[Provenance, ...]:
    """Values of fields that a model read or chose, and that no person gave."""
    found = (one for one in provenance if one.source == "suggested")
    return tuple(one for one in found if one.field != "Category")
