"""`MockLLMAdapter` as seed 0 describes it, through the public API alone."""

from __future__ import annotations

import os
import subprocess
import sys

from preflights_es import (
    ADR_CATEGORIES,
    ADR_LEANING_CATEGORIES,
    CATEGORY_FIELD_MAP,
    TASK_CATEGORIES,
    DecisionPatch,
    HeuristicsConfig,
    LLMContext,
    LLMResponse,
    MockLLMAdapter,
    SessionSnapshot,
    compute_hint,
    compute_progress,
    extract_decision_patch,
    resolve_value,
)
from tests.each import each
from tests.markdown import ROOT

ADAPTER = MockLLMAdapter()
CONFIG = HeuristicsConfig()
NO_KEYWORD = "Improve what we have"

Answers = dict[str, str | tuple[str, ...]]


def questions(intention: str, answers: Answers | None = None, turn: int = 1) -> LLMResponse:
    snapshot = SessionSnapshot(answers=answers or {}, turn=turn)
    return ADAPTER.generate_questions(intention, CONFIG, None, snapshot)


def patch(intention: str, answers: Answers) -> DecisionPatch | None:
    return ADAPTER.extract_decision_patch(intention, answers, CONFIG)


# The flow (seed 0, section 3) ----------------------------------------------------------------


def test_context_state_and_asking_change_nothing() -> None:
    assert ADAPTER.generate_questions(NO_KEYWORD, CONFIG, None, None) == questions(NO_KEYWORD)
    assert ADAPTER.generate_questions(
        intention=NO_KEYWORD, heuristics_config=CONFIG, context=None, session_state=None
    ) == questions(NO_KEYWORD)
    answers: Answers = {"change_category": "Database"}
    snapshot = SessionSnapshot(answers=answers)
    first = ADAPTER.generate_questions(NO_KEYWORD, CONFIG, None, snapshot)
    assert ADAPTER.generate_questions(NO_KEYWORD, CONFIG, None, snapshot) == first
    assert answers == {"change_category": "Database"}
    context = LLMContext("200 files", ("postgres", "react"), "a monolith with a login")
    assert ADAPTER.generate_questions(NO_KEYWORD, CONFIG, context, None) == questions(NO_KEYWORD)


# Detection (section 9) -----------------------------------------------------------------------


# Extraction (section 5) ----------------------------------------------------------------------


def test_other_specify_is_a_first_class_path() -> None:
    answers: Answers = {
        "change_category": "Authentication",
        "auth_strategy": "Other (specify)",
        "auth_strategy__other": "Passkeys",
    }
    assert patch(NO_KEYWORD, answers) == DecisionPatch(
        "Authentication", (("Strategy", "Passkeys"),)
    )
    assert questions(NO_KEYWORD, answers).progress == 1.0


@each("text", ["", " ", "TBD", "Other (specify)"])
def test_other_specify_without_a_text_is_unanswered(text: str) -> None:
    answers: Answers = {"auth_strategy": "Other (specify)", "auth_strategy__other": text}
    assert patch("Add login", answers) is None
    assert patch("Add login", {"auth_strategy": "Other (specify)"}) is None
    turn = questions("Add login", answers)
    assert turn.missing_info == ("auth_strategy",), "the companion is never missing"


def test_a_custom_value_is_worth_as_much_as_a_listed_one() -> None:
    listed = questions("Add login", {"auth_strategy": "OAuth"})
    custom = questions("Add login", {"auth_strategy": "Passkeys"})
    assert listed == custom
    assert patch("Add login", {"auth_strategy": " Passkeys "}) == DecisionPatch(
        "Authentication", (("Strategy", "Passkeys"),)
    )


# Budget (section 2) --------------------------------------------------------------------------


# The seed's functions and tables (sections 5 to 8) -------------------------------------------


def test_an_answer_is_resolved_as_the_seed_resolves_it() -> None:
    answers: Answers = {"auth_strategy": "OAuth", "db_type": "Other (specify)", "styling": ""}
    assert resolve_value(answers, "auth_strategy", "x") == "OAuth"
    assert resolve_value(answers, "hosting", "x") == "x"
    assert resolve_value(answers, "hosting", None) is None
    assert resolve_value(answers, "db_type", "x") == "x"
    assert resolve_value({**answers, "db_type__other": "Valkey"}, "db_type", "x") == "Valkey"
    assert resolve_value(answers, "styling", "x") == ""


def test_the_patch_of_the_diagram_is_extracted() -> None:
    answers: Answers = {"change_category": "Authentication", "auth_strategy": "OAuth"}
    good = DecisionPatch(category="Authentication", fields=(("Strategy", "OAuth"),))
    assert extract_decision_patch(NO_KEYWORD, answers, CONFIG) == good
    assert extract_decision_patch(intention=NO_KEYWORD, answers=answers, config=CONFIG) == good
    assert extract_decision_patch(NO_KEYWORD, {}, CONFIG) is None
    assert ADAPTER.extract_decision_patch(NO_KEYWORD, None, CONFIG) is None
    assert extract_decision_patch(NO_KEYWORD, {**answers, "auth_strategy": "TBD"}, CONFIG) is None
    assert extract_decision_patch(NO_KEYWORD, {"change_category": "Database"}, CONFIG) is None
    described: Answers = {"change_category": "Mobile", "description": "An app"}
    assert extract_decision_patch(NO_KEYWORD, described, CONFIG) == DecisionPatch(
        category="Other", fields=(("Description", "An app"),)
    )


def test_categories_progress_and_hints_are_those_of_the_seed() -> None:
    assert {"Authentication", "Database", "Infra"} == ADR_CATEGORIES
    assert {"Backend"} == ADR_LEANING_CATEGORIES
    assert {"Frontend"} == TASK_CATEGORIES
    assert [compute_progress(2, missing) for missing in (2, 1, 0)] == [0.0, 0.5, 1.0]
    assert compute_progress(4, 1) == 0.75
    assert compute_progress(0, 0) == 1.0
    for hint, categories in (
        ("adr", ("Authentication", "Database", "Infra", "Backend")),
        *(("task", ("Frontend",)), ("unsure", ("Other", "authentication", ""))),
    ):
        assert {compute_hint(category) for category in categories} == {hint}


def test_the_fields_of_each_category_are_those_of_the_table() -> None:
    assert {category: tuple(fields) for category, fields in CATEGORY_FIELD_MAP.items()} == {
        "Authentication": ("Strategy", "Library"),
        "Database": ("Type", "ORM"),
        "Frontend": ("Framework", "Styling"),
        "Backend": ("API_Style", "Framework"),
        "Infra": ("Hosting", "CI_CD"),
        "Other": ("Description",),
    }
    assert [*CATEGORY_FIELD_MAP["Authentication"].values()] == ["auth_strategy", "auth_library"]
    assert [*CATEGORY_FIELD_MAP["Database"].values()] == ["db_type", "db_orm"]
    assert [*CATEGORY_FIELD_MAP["Frontend"].values()] == ["frontend_framework", "styling"]


@each("category", CATEGORY_FIELD_MAP)
def test_the_seeds_algorithm_over_the_public_names_comes_to_the_same_patch(category: str) -> None:
    answers: Answers = {"change_category": category}
    for question_id in CATEGORY_FIELD_MAP[category].values():
        answers[question_id] = f"a value of {question_id}"
        fields = tuple(
            (name, value)
            for name, id_ in CATEGORY_FIELD_MAP[category].items()
            if (value := resolve_value(answers, id_, None))
        )
        found = extract_decision_patch(NO_KEYWORD, answers, CONFIG)
        assert found == DecisionPatch(category, fields)  # type: ignore[arg-type]  # texts, all of them


# Determinism (section 2.1) -------------------------------------------------------------------

_PROGRAM = """
from preflights_es import HeuristicsConfig, MockLLMAdapter, SessionSnapshot
adapter, config = MockLLMAdapter(), HeuristicsConfig()
for intention in ("Add login over an api, in docker", "Improve what we have", "db for the ui"):
    for answers in ({}, {"change_category": "Infra"}, {"auth_library": "A", "auth_strategy": "B"}):
        print(adapter.generate_questions(intention, config, None, SessionSnapshot((), answers)))
        print(adapter.extract_decision_patch(intention, answers, config))
"""


def _output(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_process_says_the_same() -> None:
    first = _output("0")
    assert first.count("LLMResponse") == 9
    assert _output("4711") == first
