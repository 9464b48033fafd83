"""The reference behaviour of seed 0: what to ask next, and what was decided.

Tables and formulas are docs/specs/clarification.md; `decide` and `MockLLMAdapter` both ask here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeVar

import msgspec

from preflights_es.features.clarification.domain.values import (
    COMPANION,
    OTHER_OPTION,
    Answer,
    Category,
    CategoryMatch,
    DecisionPatch,
    Filing,
    HeuristicsConfig,
    Hint,
    LLMContext,
    LLMResponse,
    Mark,
    Resolved,
    SessionSnapshot,
)
from preflights_es.kernel.completions import Policy
from preflights_es.kernel.text import caseless, composed, late_pattern, slug
from preflights_es.words.decisions import OTHER, RecordForm
from preflights_es.words.questions import Question, is_placeholder, is_undecided, stripped

PROMPTS: Final = {"clarify": "clarify.v1", "decide": "decide.v1"}
POLICY: Final = Policy(bad_output=1, failed_transport=1, then="rules")
"""Of what a model is asked."""
TURNS_MAX: Final = 3  # questions answered in one session (seed 0, section 2.2)

Answers = Mapping[str, Answer]
"""As they were given, by key, with those of companions."""
Values = Mapping[str, Resolved]
"""As they count, by key."""
Objection = Literal["blank", "placeholder", "several_values", "other_needs_text"]
"""Why an answer leaves its question open."""


class Detected(msgspec.Struct, frozen=True):
    """A category and the word of the intention that named it."""

    category: Category
    keyword: str


# 1. Keywords (section 9) ---------------------------------------------------------------------

_TOKEN = late_pattern(r"[^\W_]+")
_HYPHENS = ("-", "\u2010", "\u2011")


def keyword_tokens(text: str) -> list[str]:
    """Runs of letters and digits, case-folded; two joined by a hyphen also count as one."""
    text, found = composed(text), list[str]()
    end, last = len(text), ""
    for match in _TOKEN.finditer(text):
        token = match.group().casefold()
        if match.start() == end + 1 and text[end] in _HYPHENS:
            found.append(f"{last}-{token}")
        found.append(token)
        end, last = match.end(), token
    return found


def detected(intention: str, config: HeuristicsConfig) -> Detected | None:
    """The first category of the table that a word of the intention names."""
    words = keyword_tokens(intention)
    for category in config.categories:
        for word in words:
            if word in category.keywords:
                return Detected(category, word)
    return None


# 2. Answers (sections 4.3 and 5.2) -----------------------------------------------------------


def resolve_answer(
    question: Question, given: Answer | None, other: Answer | None
) -> Resolved | Objection:
    """The value that an answer and its companion give, or why they give none."""
    values = [v for v in _strings(given) if v]
    if not values:
        return "blank"
    if len(values) == 1:
        return _judged_one(question, values[0], other)
    if question.type != "multi_choice":
        return "several_values"
    resolved = [_judged_one(question, value, other) for value in values]
    objections = [r for r in resolved if not isinstance(r, Resolved)]
    if objections:
        return objections[0]
    concrete = [r for r in resolved if isinstance(r, Resolved)]
    sources = {r.source for r in concrete}
    value = ", ".join(dict.fromkeys(r.value for r in concrete))
    return Resolved(value, concrete[0].source if len(sources) == 1 else "custom")


def is_left_undecided(question: Question, values: Sequence[str]) -> bool:
    """Whether one of the values says that there is no answer yet."""
    options = {caseless(option) for option in question.options}
    return any(is_undecided(value) and caseless(stripped(value)) not in options for value in values)


def _strings(given: Answer | None) -> list[str]:
    if given is None:
        return []
    texts = (given,) if isinstance(given, str) else given
    return [composed(stripped(text)) for text in texts]


def _judged_one(question: Question, value: str, other: Answer | None) -> Resolved | Objection:
    if chose_other(question, value):
        texts = other_texts(question, other)
        if not texts:
            return "other_needs_text"
        if len(texts) > 1:
            return "several_values"
        value = texts[0]
    if is_placeholder(value):
        return "placeholder"
    if not question.options:
        return Resolved(value, "typed")
    by_name = {caseless(option): option for option in question.options[:-1]}
    if option := by_name.get(caseless(value)):
        return Resolved(option, "chosen")
    # An agent lets a person choose several where ours takes one value.
    several = [by_name.get(caseless(part), "") for part in value.split(", ")]
    return Resolved(", ".join(several), "chosen") if all(several) else Resolved(value, "custom")


_OTHER: Final = OTHER.casefold()
_OTHER_OPTION: Final = OTHER_OPTION.casefold()


def chose_other(question: Question, value: str) -> bool:
    """Whether a value stands for `Other (specify)` rather than for itself.

    The bare `Other` does so only where there are others: to a free text it is a word.
    """
    folded = caseless(value)
    return folded == _OTHER_OPTION or (folded == _OTHER and bool(question.options))


def other_texts(question: Question, other: Answer | None) -> list[str]:
    """The texts of a companion that say something of their own."""
    return [text for text in _strings(other) if text and not chose_other(question, text)]


# 3. The category (sections 3.1 and 9) --------------------------------------------------------


def category_judged(
    config: HeuristicsConfig, given: Answer | None, other: Answer | None
) -> tuple[Category, Resolved] | Objection:
    """The category that an answer names; every label that is no category leads to `Other`."""
    if [v.casefold() for v in _strings(given) if v] == [OTHER.casefold()]:
        return config.other(), Resolved(OTHER, "chosen")
    question = config.category_question()
    found = resolve_answer(question, given, other)
    if not isinstance(found, Resolved):
        return found
    specified = any(chose_other(question, v) for v in _strings(given))
    category = None if specified else config.named(found.value)
    if category is None:
        return config.other(), Resolved(found.value, "custom")
    return category, Resolved(category.name, "chosen")


def category_of(intention: str, config: HeuristicsConfig, answers: Answers) -> CategoryMatch | None:
    """The category as answered, else as detected; None while neither says."""
    key = config.category.id
    if key in answers:
        found = category_judged(config, answers[key], answers.get(key + COMPANION))
        if not isinstance(found, str):
            return found
    by_keyword = detected(intention, config)
    if by_keyword is None:
        return None
    return by_keyword.category, Resolved(by_keyword.category.name, "detected")


# 4. The turn (sections 3, 6, 7 and 8) --------------------------------------------------------

_HINTS: dict[Filing, Hint] = {"structural": "adr", "contract": "adr", "local": "task"}


def category_hint(category: Category | None) -> Hint:
    """Informs, decides nothing (section 6)."""
    return "unsure" if category is None or category.name == OTHER else _HINTS[category.filing]


def turn_progress(category_known: bool, missing: tuple[str, ...]) -> float:
    """0.0 before the category is known, 0.5 with the targeted question open, 1.0 after it."""
    if not missing:
        return 1.0
    return 0.5 if category_known else 0.0


def _resolve_field_values(found: CategoryMatch | None, answers: Answers) -> Values:
    """Those of the category's fields whose questions count as answered."""
    keyed = [(field.id, field.asked()) for field in found[0].fields()] if found else []
    values = ((k, resolve_answer(q, answers.get(k), answers.get(k + COMPANION))) for k, q in keyed)
    return {key: value for key, value in values if isinstance(value, Resolved)}


def response_in(
    config: HeuristicsConfig, values: Values, turn: int, found: CategoryMatch | None
) -> LLMResponse:
    """What to ask next: one question, or none when nothing is missing or the turns are used up."""
    question: Question | None
    if found is None:
        category, question = None, config.category_question()
    else:
        category = found[0]
        primary = category.primary
        is_open = primary is not None and primary.id not in values
        question = primary.asked() if primary is not None and is_open else None
    missing = (question.id,) if question else ()
    return LLMResponse(
        questions=(question,) if question and turn <= TURNS_MAX else (),
        missing_info=missing,
        decision_hint=category_hint(category),
        progress=turn_progress(category is not None, missing),
    )


def patch_in(values: Values, found: CategoryMatch | None) -> DecisionPatch | None:
    """Only concrete values, at least one of them; else None (section 5.2)."""
    if found is None:
        return None
    category = found[0]
    fields = tuple((f.name, values[f.id].value) for f in category.fields() if f.id in values)
    return DecisionPatch(category.name, fields) if fields else None


# 5. The document (section 6, and docs/specs/clarification.md, section 7) ---------------------

RecordKind = Literal["adr", "task"]
OUR_FORM: Final = RecordForm()
TEMPLATES: dict[RecordKind, str] = {"adr": OUR_FORM.template, "task": "task.v1"}
"""Another form of records has a template of its own."""


def choose_record_kind(decided: DecisionPatch | None, mark: Mark) -> RecordKind:
    """A decision becomes a record unless a person says task (RESOLUTIONS, seed 0, 13)."""
    return "task" if decided is None or mark == "task" else "adr"


def document_path(
    folder: str,
    of: RecordKind,
    number: int | None,
    uid: str,
    title: str,
    form: RecordForm = OUR_FORM,
    day: str = "",
) -> str:
    """`folder/NNNN-title.md` for a record, or as its form says; `folder/uid-title.md` for a task.

    Args:
        day: of the acknowledgement, ISO 8601.
    """
    if of == "adr" and number is not None:
        return f"{folder}/{form.file_name(number, day, title)}"
    words = slug(title)
    return f"{folder}/{uid}-{words}.md" if words else f"{folder}/{uid}.md"


# 6. The names under which seed 0 describes it ---------------------------------------------------


class MockLLMAdapter:
    """Deterministic: the same inputs give the same questions, always.

    Holds no state; what was asked and answered comes in with each call.
    Source: seed 0, section 9 (behavioural contract).
    """

    def generate_questions(
        self,
        intention: str,
        heuristics_config: HeuristicsConfig,
        context: LLMContext | None = None,  # noqa: ARG002  the reference looks at no surroundings
        session_state: SessionSnapshot | None = None,
    ) -> LLMResponse:
        """At most one question, what is missing, a hint and the progress."""
        state = session_state or SessionSnapshot()
        found = category_of(intention, heuristics_config, state.answers or {})
        values = _resolve_field_values(found, state.answers or {})
        return response_in(heuristics_config, values, state.turn or 1, found)

    def extract_decision_patch(
        self,
        intention: str,
        answers: Mapping[str, Answer] | None,
        heuristics_config: HeuristicsConfig,
    ) -> DecisionPatch | None:
        """A patch of concrete values, or None when more clarification is needed.

        Never a placeholder, never a category that the configuration does not know but `Other`.
        """
        found = category_of(intention, heuristics_config, answers or {})
        return patch_in(_resolve_field_values(found, answers or {}), found)


T = TypeVar("T")

_STANDARD: Final = HeuristicsConfig()
_BY_NAME: Final = {category.name: category for category in _STANDARD.categories}

CATEGORY_FIELD_MAP: Final[Mapping[str, Mapping[str, str]]] = {
    category.name: {field.name: field.id for field in category.fields()}
    for category in (*_STANDARD.categories, _STANDARD.other())
}
"""By category: the key of each field, the primary one first (seed 0, section 5.1)."""

ADR_CATEGORIES: Final = frozenset(c.name for c in _BY_NAME.values() if c.filing == "structural")
ADR_LEANING_CATEGORIES: Final = frozenset(
    c.name for c in _BY_NAME.values() if c.filing == "contract"
)
TASK_CATEGORIES: Final = frozenset(c.name for c in _BY_NAME.values() if c.filing == "local")
"""Categories that lead to a task, unless the user chooses (seed 0, section 6)."""


def resolve_value(answers: Mapping[str, Answer], qid: str, default: T) -> Answer | T:
    """The answer to a question; for `Other (specify)` the text that goes with it.

    A placeholder is returned as it was given: `extract_decision_patch` leaves it out.
    Source: seed 0, section 5.2, rule 2.
    """
    value = answers.get(qid, default)
    return answers.get(qid + COMPANION, default) if value == OTHER_OPTION else value


def extract_decision_patch(
    intention: str, answers: Mapping[str, Answer], config: HeuristicsConfig
) -> DecisionPatch | None:
    """A patch of concrete values, or None when more clarification is needed.

    Source: seed 0, section 5.3.
    """
    return MockLLMAdapter().extract_decision_patch(intention, answers, config)


def compute_hint(category: str) -> Hint:
    """What a category of the standard tables leads to; `unsure` for any other name.

    Source: seed 0, section 6.
    """
    return category_hint(_BY_NAME.get(category))


def compute_progress(total_expected: int, remaining_missing: int) -> float:
    """Share of what must be known that is known, from 0.0 to 1.0; 1.0 when nothing is missing.

    Source: seed 0, section 8.
    """
    if remaining_missing == 0:
        return 1.0
    return (total_expected - remaining_missing) / total_expected
