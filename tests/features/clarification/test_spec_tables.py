"""The tables of docs/specs/clarification.md against the code: neither changes alone."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args, get_type_hints
from unicodedata import name

from preflights_es.features.clarification.domain import (
    WORKFLOW,
    contracts,
    events,
    reasons,
    rules,
    state,
    values,
)
from preflights_es.features.clarification.domain.values import (
    Category,
    DecisionPatch,
    HeuristicsConfig,
)
from preflights_es.kernel import text
from preflights_es.kernel.events import Decision, Input
from preflights_es.runtime import sanitizing
from preflights_es.words.decisions import OTHER
from preflights_es.words.questions import (
    INVISIBLE,
    PLACEHOLDER,
    UNDECIDED,
    WRAPPING,
    QuestionType,
    RefusalReason,
    is_placeholder,
    is_undecided,
)
from preflights_es.words.workflow import STATUSES
from tests import markdown
from tests.markdown import Row, ticked

CONFIG = HeuristicsConfig()


@cache
def spec() -> dict[str, list[Row]]:
    return markdown.tables("docs/specs/clarification.md")


def rows(heading: str) -> list[Row]:
    return spec()[heading]


def column(heading: str, name: str) -> tuple[str, ...]:
    """The words between backticks of one column, one each row."""
    return tuple(word for row in rows(heading) for word in ticked(row[name]))


def literals(cls: type[Any], field: str) -> tuple[str, ...]:
    return get_args(get_type_hints(cls)[field])


def characters(heading: str) -> str:
    """The characters that a table lists, each under its own name."""
    listed = [chr(int(row["Character"].removeprefix("U+"), 16)) for row in rows(heading)]
    assert [row["Name"] for row in rows(heading)] == [name(c).lower() for c in listed]
    return "".join(listed)


def constants(heading: str) -> dict[str, int]:
    return {row["Constant"].strip("`"): int(row["Value"]) for row in rows(heading)}


def other() -> Category:
    return CONFIG.other()


# Section 2 -----------------------------------------------------------------------------------


def test_limits_and_stops_are_those_of_the_code() -> None:
    asked = max(len(rules.response_in(CONFIG, {}, turn, None).questions) for turn in range(9))
    assert constants("2.1 Limits") == {
        "": asked,
        "TURNS_MAX": rules.TURNS_MAX,
        "INTENTION_MAX": text.INTENTION_MAX,
        "ANSWER_MAX": text.ANSWER_MAX,
        "KEY_MAX": text.KEY_MAX,
        "ANSWERS_MAX": sanitizing.ANSWERS_MAX,
    }
    assert constants("13.2 Limits") == {
        "RATIONALE_MAX": reasons.RATIONALE_MAX,
        "ANSWER_MAX": text.ANSWER_MAX,
        "VALUE_MAX": state.VALUE_MAX,
        "OFFERED_MAX": contracts.OFFERED_MAX,
    }
    assert column("2.3 The next step", "Stop") == literals(events.ClarificationStopped, "reason")


# Section 3 -----------------------------------------------------------------------------------


def test_the_menu_is_offered_in_the_order_of_the_specification() -> None:
    menu = rows("3.2 The menu")
    assert tuple(row["Category"] for row in menu) == CONFIG.menu
    assert [row["Place"] for row in menu] == [str(i + 1) for i in range(len(menu))]
    assert CONFIG.category_question().options == (*CONFIG.menu, values.OTHER_OPTION)


def test_each_category_asks_what_the_specification_says() -> None:
    found = [
        {
            "Category": category.name,
            "Field": category.primary.name,
            "Key": f"`{category.primary.asked().id}`",
            "Type": f"`{category.primary.asked().type}`",
            "Question": category.primary.asked().question,
            "Options": ", ".join(f"`{option}`" for option in category.primary.options),
        }
        for category in CONFIG.categories
        if category.primary is not None
    ]
    assert found == rows("3.3 Primary questions")
    assert len(found) == len(CONFIG.categories)


def test_each_secondary_field_stands_in_the_specification() -> None:
    found = [
        {"Category": category.name, "Field": field.name, "Key": f"`{field.id}`"}
        for category in CONFIG.categories
        for field in category.secondary
    ]
    assert found == rows("3.4 Secondary fields")
    assert not any(f.question or f.options for c in CONFIG.categories for f in c.secondary)


def test_the_generic_question_and_the_description_stand_in_the_specification() -> None:
    (description,) = other().fields()
    generic = {"Field": CONFIG.category.name}
    described = {"Category": other().name, "Field": description.name}
    for heading, named, question in (
        ("3.1 The generic question", generic, CONFIG.category_question()),
        ("3.5 The description", described, description.asked()),
    ):
        asked = {"Key": f"`{question.id}`", "Type": f"`{question.type}`"}
        assert rows(heading) == [{**named, **asked, "Question": question.question}]


def test_the_words_and_types_of_a_question_are_those_of_the_specification() -> None:
    assert column("3.6 The shape of a question", "Text") == (
        values.OTHER_OPTION,
        OTHER,
        values.COMPANION,
    )
    used = {CONFIG.category.type, other().fields()[0].type} | {
        c.primary.type for c in CONFIG.categories if c.primary
    }
    assert used <= set(get_args(QuestionType)) == {"single_choice", "multi_choice", "free_text"}


# Section 4 -----------------------------------------------------------------------------------


def test_the_keywords_decide_in_the_order_of_the_specification() -> None:
    found = [(row["Category"], ticked(row["Keywords"])) for row in rows("4.2 Keywords by category")]
    assert found == [(category.name, category.keywords) for category in CONFIG.categories]


def test_the_examples_of_detection_hold() -> None:
    for row in rows("4.3 Examples"):
        found = rules.detected(row["Intention"], CONFIG)
        said = (found.category.name, f"`{found.keyword}`") if found else ("", "")
        assert said == (row["Category"], row["Keyword"]), row["Intention"]


# Section 5 -----------------------------------------------------------------------------------


def test_characters_without_width_and_placeholders_are_those_of_the_specification() -> None:
    assert characters("5.1 How one answer is read") == INVISIBLE
    patterns = [ticked(row["Pattern"])[0] for row in rows("5.2 Placeholders")]
    assert "|".join(patterns) == PLACEHOLDER.pattern
    examples = column("5.2 Placeholders", "Examples")
    assert len(examples) >= len(rows("5.2 Placeholders"))
    for example in examples:
        assert is_placeholder(example), example
    assert characters("5.2.1 Marks around a placeholder") == WRAPPING.removeprefix(" \t\n")
    assert column("5.3 Sources", "Source") == get_args(values.Source)
    assert column("5.7 Refusals", "Reason") == get_args(RefusalReason)


def test_the_words_that_leave_it_undecided_are_those_of_the_specification() -> None:
    table = rows("5.2.2 Words that leave it undecided")
    assert "|".join(ticked(row["Pattern"])[0] for row in table) == UNDECIDED.pattern
    for example in column("5.2.2 Words that leave it undecided", "Examples"):
        assert is_undecided(example), example


# Section 6 -----------------------------------------------------------------------------------


def test_filing_and_hint_of_each_category_are_those_of_the_specification() -> None:
    found = [
        {
            "Category": category.name,
            "Filing": f"`{category.filing}`",
            "Hint": f"`{rules.category_hint(category)}`",
        }
        for category in CONFIG.categories
    ]
    unsure = {"Category": "Other", "Filing": "", "Hint": f"`{rules.category_hint(other())}`"}
    assert [*found, unsure] == rows("6.1 Filing and hint")
    assert set(column("6.1 Filing and hint", "Hint")) == set(get_args(values.Hint))
    assert set(column("6.1 Filing and hint", "Filing")) == set(get_args(values.Filing))
    assert rules.category_hint(None) == "unsure"


def test_progress_is_the_table_of_the_specification() -> None:
    said = {"yes": True, "no": False}
    for row in rows("6.3 Progress"):
        missing = ("a_key",) if said[row["Something missing"]] else ()
        assert rules.turn_progress(said[row["Category known"]], missing) == float(row["Progress"])
    assert len(rows("6.3 Progress")) == 3


# Section 7 -----------------------------------------------------------------------------------


def test_a_record_or_a_task_follows_from_the_mark() -> None:
    patches = {"yes": DecisionPatch("Database"), "no": None}
    marks = {"": "No mark", **{m: f"Mark `{m}`" for m in get_args(values.Mark) if m}}
    for row in rows("7.1 Record or task"):
        assert [*row] == ["A patch", *marks.values()]
        for mark, head in marks.items():
            assert (
                rules.choose_record_kind(patches[row["A patch"]], mark) == ticked(row[head])[0]
            ), row


def test_templates_and_paths_are_those_of_the_specification() -> None:
    found = [
        {
            "Kind": f"`{kind}`",
            "Template": f"`{template}`",
            "Path": f"`{rules.document_path('FOLDER', kind, 7, 'UID', 'Add login')}`",
        }
        for kind, template in rules.TEMPLATES.items()
    ]
    for row in found:
        row["Path"] = row["Path"].replace("0007", "NNNN").replace("add-login", "TITLE")
    assert found == rows("7.3 The file")


def test_the_refused_changes_are_those_of_the_event() -> None:
    table = rows("7.6 Refused changes")
    assert tuple(ticked(row["Change"])[0] for row in table) == literals(
        events.ClarificationChangeRefused, "change"
    )
    assert {word for row in table for word in ticked(row["Reasons"])} == set(
        literals(events.ClarificationChangeRefused, "reason")
    )


# Section 8 -----------------------------------------------------------------------------------


def test_the_events_are_those_of_the_workflow() -> None:
    kinds = {"Input": Input, "Decision": Decision}
    table = rows("8.1 Events")
    assert [(row["Event"], ticked(row["Tag"])[0]) for row in table] == [
        (cls.__name__, cls.tag) for cls in events.EVENTS
    ]
    for row, cls in zip(table, events.EVENTS, strict=True):
        assert issubclass(cls, kinds[row["Kind"]])


def test_the_statuses_are_those_of_every_view() -> None:
    expected = {*STATUSES, *WORKFLOW.shown.statuses}
    assert set(column("8.3 Status", "Status")) == expected
    assert len(rows("8.3 Status")) == len(expected)
