"""What docs/api.md says of functions, results and errors is what they are."""

from __future__ import annotations

from tests.each import each
from tests.house.api_page import COROUTINES, PAGE, coroutines, functions, methods, parts
from tests.house.generated import is_fresh
from tests.markdown import ROOT


@each("name", parts())
def test_a_generated_part_is_fresh(name: str) -> None:
    assert is_fresh(PAGE, name, parts()[name]), "python -m tests.house.api_page"


def test_each_method_is_a_coroutine_too() -> None:
    assert is_fresh(COROUTINES, "methods", coroutines()), "python -m tests.house.api_page"


def test_every_method_of_a_log_says_what_it_does() -> None:
    assert all(one.__doc__ for one in methods().values())
    assert functions().count("\n#### log.") == len(methods())


def test_the_page_has_no_other_list_of_them() -> None:
    page = (ROOT / PAGE).read_text("utf-8")
    assert page.count("python -m tests.house.api_page") == len(parts())
