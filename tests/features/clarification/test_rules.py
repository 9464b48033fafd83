"""The rules of docs/specs/clarification.md, each by its own examples."""

from __future__ import annotations

from collections.abc import Mapping

from preflights_es.features.clarification.domain import rules
from preflights_es.features.clarification.domain.values import (
    OTHER_OPTION,
    Answer,
    Category,
    DecisionPatch,
    Field,
    HeuristicsConfig,
    LLMResponse,
    Resolved,
    SessionSnapshot,
)
from preflights_es.words.questions import Question, is_placeholder
from tests.each import each
from tests.features.clarification.cases import CONFIG, config_of

AUTH, DATABASE, FRONTEND, BACKEND, INFRA = CONFIG.categories
STRATEGY = AUTH.fields()[0].asked()
LIBRARY = AUTH.secondary[0].asked()
DESCRIPTION = CONFIG.description.asked()
FREE = "something that names no category"


def category_detected(intention: str, config: HeuristicsConfig = CONFIG) -> str | None:
    found = rules.detected(intention, config)
    return found.category.name if found else None


# 1. Keywords ---------------------------------------------------------------------------------


@each(
    ("intention", "tokens"),
    [
        ("", []),
        ("...", []),
        ("Add Login", ["add", "login"]),
        ("docker-compose", ["docker", "docker-compose", "compose"]),
        ("CI/CD", ["ci", "cd"]),
        ("user_db", ["user", "db"]),
        ("a-b-c", ["a", "a-b", "b", "b-c", "c"]),
        ("log--in", ["log", "in"]),
        ("log - in", ["log", "in"]),
        ("log\u2010in", ["log", "log-in", "in"]),
        ("log\u2011in", ["log", "log-in", "in"]),
        ("log\u2013in", ["log", "in"]),
        ("login-", ["login"]),
        ("-login", ["login"]),
        ("(login)", ["login"]),
        ("oauth2", ["oauth2"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("Größe ändern", ["grösse", "ändern"]),
        ("API's", ["api", "s"]),
    ],
)
def test_tokens_are_runs_of_letters_and_digits(intention: str, tokens: list[str]) -> None:
    assert rules.keyword_tokens(intention) == tokens


@each(("category", "keyword"), [(c.name, k) for c in CONFIG.categories for k in c.keywords])
@each("template", ["{}", "Please {} now", "{}!", "x/{}", "«{}»", "user_{}_2"])
def test_every_keyword_is_found_among_words(category: str, keyword: str, template: str) -> None:
    for spelling in (keyword, keyword.upper(), keyword.title()):
        found = rules.detected(template.format(spelling), CONFIG)
        assert found is not None
        assert (found.category.name, found.keyword) == (category, keyword)


@each(
    "word",
    [
        *("author", "guide", "specific", "feedback", "rapid", "reaction", "pricing", "build"),
        *("authority", "authentic", "blogin", "logging", "dbase", "squid", "reactor", "reactive"),
        *("quit", "fruit", "capital", "apiary", "circle", "social", "redeploy", "dockyard"),
        *("log", "sign", "in", "front", "end", "back", "postgres15", "ui5", "mysqld"),
    ],
)
def test_a_keyword_inside_another_word_detects_nothing(word: str) -> None:
    assert category_detected(word) is None
    assert category_detected(f"Improve the {word} of it") is None


@each(
    ("intention", "category", "keyword"),
    [
        ("A database for login data", "Authentication", "login"),
        ("A react page over the db", "Database", "db"),
        ("An api for the ui", "Frontend", "ui"),
        ("Deploy the backend", "Backend", "backend"),
        ("Docker in ci", "Infra", "docker"),
        ("Login by jwt", "Authentication", "login"),
        ("jwt login", "Authentication", "jwt"),
    ],
)
def test_of_two_categories_the_first_of_the_table_is_detected(
    intention: str, category: str, keyword: str
) -> None:
    found = rules.detected(intention, CONFIG)
    assert found is not None
    assert (found.category.name, found.keyword) == (category, keyword)


def test_the_order_of_a_team_s_own_table_decides() -> None:
    assert category_detected("login to the db", config_of(DATABASE, AUTH)) == "Database"
    assert category_detected("login to the db", config_of(AUTH, DATABASE)) == "Authentication"
    assert category_detected("login to the db", config_of(FRONTEND)) is None


# 2. Answers ----------------------------------------------------------------------------------


@each(
    "blank",
    [
        None,
        "",
        " ",
        "\t\n",
        "\u00a0",
        "\u200b",
        " \u200b ",
        "\u200b \u200b \u200b",
        "\ufeff \u00ad",
        *((), ("",), (" ", "\u200b"), []),
    ],
)
def test_blank_is_unanswered(blank: Answer | None) -> None:
    assert rules.resolve_answer(STRATEGY, blank, None) == "blank"
    assert rules.resolve_answer(DESCRIPTION, blank, None) == "blank"
    assert rules.category_judged(CONFIG, blank, None) == "blank"


@each(
    ("given", "value"),
    [
        ("OAuth", "OAuth"),
        ("oauth", "OAuth"),
        ("  OAUTH\n", "OAuth"),
        ("email/password", "Email/Password"),
        ("MAGIC link", "Magic Link"),
        ("\u200bOAuth\u200b \ufeff", "OAuth"),
    ],
)
def test_an_option_is_met_in_any_case_and_filed_in_its_own_spelling(given: str, value: str) -> None:
    assert rules.resolve_answer(STRATEGY, given, None) == Resolved(value, "chosen")


@each("given", ["Passkeys", "OAuth 2.1", "SAML via Okta", "认证", "magic  link"])
def test_what_is_no_option_is_a_custom_value(given: str) -> None:
    assert rules.resolve_answer(STRATEGY, f" {given} ", None) == Resolved(given, "custom")


@each("other", [OTHER_OPTION, "other (SPECIFY)", "Other", " OTHER "])
def test_other_takes_the_text_of_its_companion(other: str) -> None:
    assert rules.resolve_answer(STRATEGY, other, " Passkeys ") == Resolved("Passkeys", "custom")
    assert rules.resolve_answer(STRATEGY, other, ("Passkeys",)) == Resolved("Passkeys", "custom")
    assert rules.resolve_answer(STRATEGY, other, ("", "Passkeys")) == Resolved("Passkeys", "custom")
    assert rules.resolve_answer(STRATEGY, other, "oauth") == Resolved("OAuth", "chosen")


@each("text", [None, "", "  ", (), ("", " "), OTHER_OPTION, "other", "\u200b"])
def test_other_without_a_text_of_its_own_is_unanswered(text: Answer | None) -> None:
    assert rules.resolve_answer(STRATEGY, OTHER_OPTION, text) == "other_needs_text"
    assert rules.category_judged(CONFIG, OTHER_OPTION, text) == "other_needs_text"


def test_other_takes_one_text_that_is_no_placeholder_and_counts_by_itself() -> None:
    assert rules.resolve_answer(STRATEGY, OTHER_OPTION, ("Passkeys", "Tokens")) == "several_values"
    assert rules.resolve_answer(STRATEGY, OTHER_OPTION, "tbd") == "placeholder"
    assert rules.category_judged(CONFIG, OTHER_OPTION, "???") == "placeholder"
    assert rules.resolve_answer(STRATEGY, "OAuth", "Passkeys") == Resolved("OAuth", "chosen")
    assert rules.resolve_answer(STRATEGY, "OAuth", "tbd") == Resolved("OAuth", "chosen")


def test_a_free_text_is_typed_and_never_the_option_to_specify() -> None:
    assert rules.resolve_answer(LIBRARY, " Authlib ", None) == Resolved("Authlib", "typed")
    assert rules.resolve_answer(DESCRIPTION, "Other", None) == Resolved("Other", "typed")
    assert rules.resolve_answer(LIBRARY, OTHER_OPTION, "Authlib") == Resolved("Authlib", "typed")
    assert rules.resolve_answer(LIBRARY, OTHER_OPTION, None) == "other_needs_text"
    assert rules.resolve_answer(DESCRIPTION, OTHER_OPTION, None) == "other_needs_text"


PLACEHOLDERS = [
    *("tbd", "TBD", "tba", "TBA", "todo", "ToDo", "n/a", "N/A", "placeholder", "xxx", "XXXX"),
    *("to be determined", "to be decided", "to be defined", "to be confirmed", "TO BE  DECIDED"),
    *("?", "???", "-", "---", "\u2013", "\u2014", "TBD.", "(tbd)", "<todo>", "[TBD]", "'n/a'"),
    *("...", "()", "todo:", "`tbd`", "{placeholder}", "To\nbe\tdetermined", " tbd ", "VALUE"),
]


def test_a_word_that_hints_print_in_capitals_may_be_a_decision() -> None:
    assert rules.resolve_answer(LIBRARY, "value", None) == Resolved("value", "typed")
    assert rules.resolve_answer(LIBRARY, "Value objects", None) == Resolved(
        "Value objects", "typed"
    )


@each("placeholder", PLACEHOLDERS)
def test_a_placeholder_is_refused_wherever_it_is_typed(placeholder: str) -> None:
    assert is_placeholder(placeholder)
    assert rules.resolve_answer(STRATEGY, placeholder, None) == "placeholder"
    assert rules.resolve_answer(STRATEGY, OTHER_OPTION, placeholder) == "placeholder"
    assert rules.resolve_answer(LIBRARY, placeholder, None) == "placeholder"
    assert rules.category_judged(CONFIG, placeholder, None) == "placeholder"
    answers = {"change_category": "Authentication", "auth_strategy": placeholder}
    assert rules.extract_decision_patch(FREE, answers, CONFIG) is None


@each(
    "value",
    [
        *("TBD by the platform team", "todoist", "xx", "n/a for now", "to be", "-1", "?x", "C++"),
        *("to be determined later", "placeholders", "NA", "none", "tba-2"),
    ],
)
def test_a_value_that_only_holds_such_a_word_counts(value: str) -> None:
    assert not is_placeholder(value)
    assert rules.resolve_answer(STRATEGY, value, None) == Resolved(value, "custom")


def test_one_element_is_unwrapped_and_several_are_refused() -> None:
    assert rules.resolve_answer(STRATEGY, ("oauth",), None) == Resolved("OAuth", "chosen")
    assert rules.resolve_answer(STRATEGY, ("", "oauth"), None) == Resolved("OAuth", "chosen")
    assert rules.resolve_answer(STRATEGY, ("OAuth", "Passkeys"), None) == "several_values"
    assert rules.resolve_answer(STRATEGY, ("OAuth", "OAuth"), None) == "several_values"
    assert rules.resolve_answer(LIBRARY, ("a", "b"), None) == "several_values"
    assert rules.category_judged(CONFIG, ("Backend", "Infra"), None) == "several_values"


def test_a_question_with_several_choices_files_each_value_once() -> None:
    many = Question("envs", "multi_choice", "Where?", ("Dev", "Test", "Prod", OTHER_OPTION))
    assert rules.resolve_answer(many, ("prod", "DEV", "Prod"), None) == Resolved(
        "Prod, Dev", "chosen"
    )
    assert rules.resolve_answer(many, ("Edge", "Moon"), None) == Resolved("Edge, Moon", "custom")
    assert rules.resolve_answer(many, ("Dev", "Edge"), None) == Resolved("Dev, Edge", "custom")
    assert rules.resolve_answer(many, ("Dev", OTHER_OPTION), "Edge") == Resolved(
        "Dev, Edge", "custom"
    )
    assert rules.resolve_answer(many, ("Dev", OTHER_OPTION), None) == "other_needs_text"
    assert rules.resolve_answer(many, ("Dev", "tbd"), None) == "placeholder"


# 3. The category -----------------------------------------------------------------------------


@each("category", CONFIG.categories)
def test_each_label_of_the_menu_leads_to_its_category(category: Category) -> None:
    for spelling in (category.name, category.name.lower(), f" {category.name.upper()} "):
        found = rules.category_judged(CONFIG, spelling, None)
        assert found == (category, Resolved(category.name, "chosen"))


@each(
    ("label", "found"),
    [
        *(
            (label, Resolved(label, "custom"))
            for label in ("Mobile", "Email", "frontends", "数据库")
        ),
        *(
            (label, Resolved("Other", "chosen"))
            for label in ("Other", "other", " OTHER ", ("Other",), ("Other", ""))
        ),
    ],
)
def test_an_unknown_label_and_other_itself_lead_to_other(label: Answer, found: Resolved) -> None:
    assert rules.category_judged(CONFIG, label, None) == (CONFIG.other(), found)


@each("text", ["Mobile", "database", "Database"])
def test_other_with_a_text_leads_to_other_whatever_the_text(text: str) -> None:
    found = rules.category_judged(CONFIG, OTHER_OPTION, text)
    assert not isinstance(found, str)
    assert found[0] == CONFIG.other()
    assert (found[1].value.casefold(), found[1].source) == (text.casefold(), "custom")


def test_an_answer_wins_over_the_keyword_also_where_it_is_not_on_the_menu() -> None:
    hidden = HeuristicsConfig(menu=("Frontend",))
    assert rules.category_judged(hidden, "infra", None) == (INFRA, Resolved("Infra", "chosen"))
    found = rules.category_of("Add login", CONFIG, {"change_category": "Infra"})
    assert found == (INFRA, Resolved("Infra", "chosen"))
    found = rules.category_of("Add login", CONFIG, {"change_category": "Other"})
    assert found == (CONFIG.other(), Resolved("Other", "chosen"))


@each("answer", ["", "tbd", OTHER_OPTION, ("Infra", "Backend"), ()])
def test_an_answer_that_does_not_count_leaves_the_keyword(answer: Answer) -> None:
    found = rules.category_of("Add login", CONFIG, {"change_category": answer})
    assert found == (AUTH, Resolved("Authentication", "detected"))
    assert rules.category_of(FREE, CONFIG, {"change_category": answer}) is None


# 4. The turn ---------------------------------------------------------------------------------


def turn_of(
    intention: str, answers: Mapping[str, Answer], turn: int = 1, config: HeuristicsConfig = CONFIG
) -> LLMResponse:
    said = SessionSnapshot(answers=dict(answers), turn=turn)
    return rules.MockLLMAdapter().generate_questions(intention, config, session_state=said)


def test_nothing_known_asks_the_generic_question() -> None:
    turn = turn_of(FREE, {})
    assert turn.questions == (
        Question(
            "change_category",
            "single_choice",
            "What type of change is this?",
            ("Frontend", "Backend", "Database", "Authentication", "Infra", "Other (specify)"),
        ),
    )
    assert turn.missing_info == ("change_category",)
    assert (turn.decision_hint, turn.progress) == ("unsure", 0.0)


@each("category", CONFIG.categories)
@each("detected", [True, False])
def test_a_known_category_asks_its_primary_question(category: Category, detected: bool) -> None:
    intention = f"Change the {category.keywords[0]}" if detected else FREE
    answers: dict[str, Answer] = {} if detected else {"change_category": category.name}
    turn = turn_of(intention, answers)
    assert category.primary is not None
    assert turn.questions == (category.primary.asked(),)
    assert turn.questions[0].options[-1] == OTHER_OPTION
    assert turn.missing_info == (category.primary.id,)
    assert turn.progress == 0.5
    assert turn.decision_hint == ("task" if category is FRONTEND else "adr")
    assert rules.extract_decision_patch(intention, answers, CONFIG) is None


@each("category", CONFIG.categories)
def test_the_primary_answer_ends_the_questions(category: Category) -> None:
    (primary, secondary) = category.fields()
    for option in primary.options:
        answers: dict[str, Answer] = {"change_category": category.name, primary.id: option}
        turn = turn_of(FREE, answers)
        assert (turn.questions, turn.missing_info, turn.progress) == ((), (), 1.0)
        assert rules.extract_decision_patch(FREE, answers, CONFIG) == DecisionPatch(
            category.name, ((primary.name, option),)
        )
        assert rules.extract_decision_patch(
            FREE, {secondary.id: "Tool", **answers}, CONFIG
        ) == DecisionPatch(category.name, ((primary.name, option), (secondary.name, "Tool")))


@each("label", ["Other", "Mobile", OTHER_OPTION])
def test_what_has_no_category_asks_for_a_description(label: str) -> None:
    answers: dict[str, Answer] = {"change_category": label, "change_category__other": "Mobile"}
    turn = turn_of(FREE, answers)
    assert turn.questions == (Question("description", "free_text", "What should be decided?"),)
    assert turn.missing_info == ("description",)
    assert (turn.decision_hint, turn.progress) == ("unsure", 0.5)
    assert rules.extract_decision_patch(FREE, answers, CONFIG) is None
    answers["description"] = "  Use Flutter "
    turn = turn_of(FREE, answers)
    assert (turn.questions, turn.missing_info, turn.progress) == ((), (), 1.0)
    assert rules.extract_decision_patch(FREE, answers, CONFIG) == DecisionPatch(
        "Other", (("Description", "Use Flutter"),)
    )


def test_a_secondary_answer_alone_asks_on_and_is_a_partial_patch() -> None:
    answers = {"auth_library": "Authlib"}
    turn = turn_of("Add login", answers)
    assert turn.missing_info == ("auth_strategy",)
    assert rules.extract_decision_patch("Add login", answers, CONFIG) == DecisionPatch(
        "Authentication", (("Library", "Authlib"),)
    )


def test_an_answer_is_not_filed_under_a_field_it_does_not_answer() -> None:
    answers = {"change_category": "Backend", "frontend_framework": "React", "db_type": "MySQL"}
    assert rules.extract_decision_patch(FREE, answers, CONFIG) is None
    answers |= {"api_style": "REST", "backend_framework": "Django"}
    assert rules.extract_decision_patch(FREE, answers, CONFIG) == DecisionPatch(
        "Backend", (("API_Style", "REST"), ("Framework", "Django"))
    )


@each("turn", [1, 2, 3, 4, 5, 100])
def test_never_more_than_one_question_is_asked_and_none_after_the_last_turn(turn: int) -> None:
    for answers in ({}, {"change_category": "Database"}, {"change_category": "Other"}):
        said = turn_of(FREE, answers, turn)
        assert len(said.questions) == (1 if turn <= 3 else 0)
        assert len(said.missing_info) == 1
        assert said.progress < 1.0


def test_a_category_may_have_no_question_or_a_free_text() -> None:
    config = config_of(Category("Docs", ("docs",)))
    turn = turn_of("Write docs", {}, config=config)
    assert (turn.questions, turn.missing_info, turn.progress) == ((), (), 1.0)
    assert rules.extract_decision_patch("Write docs", {}, config) is None
    config = config_of(Category("Docs", ("docs",), Field("Tool", "docs_tool", "Which tool?")))
    (question,) = turn_of("Write docs", {}, config=config).questions
    assert question == Question("docs_tool", "free_text", "Which tool?")
    assert rules.extract_decision_patch(
        "Write docs", {"docs_tool": "Sphinx"}, config
    ) == DecisionPatch("Docs", (("Tool", "Sphinx"),))


# 5. The document -----------------------------------------------------------------------------


@each(
    ("kind", "number", "title", "path"),
    [
        ("adr", 7, "Add login", "d/0007-add-login.md"),
        ("adr", 12345, "Add login", "d/12345-add-login.md"),
        ("adr", 7, "数据库", "d/0007-数据库.md"),
        ("adr", 7, "...", "d/0007.md"),
        ("adr", 7, "Straße & Café: größer!", "d/0007-straße-café-größer.md"),
        ("task", None, "Add login", "d/0123456789ab-add-login.md"),
        ("task", 7, "Add login", "d/0123456789ab-add-login.md"),
        ("task", None, "???", "d/0123456789ab.md"),
        ("task", None, "../../etc/passwd", "d/0123456789ab-etc-passwd.md"),
    ],
)
def test_a_document_is_named_by_its_number_or_its_uid(
    kind: rules.RecordKind, number: int | None, title: str, path: str
) -> None:
    assert rules.document_path("d", kind, number, "0123456789ab", title) == path
