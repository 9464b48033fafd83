"""Text from outside, how it is shown, and keys, which are shown nowhere."""

from __future__ import annotations

import json
import re
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.kernel import text
from preflights_es.kernel.text import Secret
from tests.each import each

ANY = st.text(st.characters())
"""Any code points, lone surrogates too."""
NASTY = st.text(
    st.sampled_from(
        "a\n\r\t\x00\x07\x1b\x7f\x85\x9b\u2028\u2029\u202e\u2066\u2069\ufeff\ud800é 🚀\U000e0041"
    )
)
HIDDEN = {
    *"\u2028\u2029\ufeff",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
    *map(chr, range(0xE0000, 0xE0080)),
}


def harmful(shown: str) -> set[str]:
    """What moves a cursor, turns the direction, or cannot be printed at all."""
    return {c for c in shown if unicodedata.category(c) in {"Cc", "Cs"} or c in HIDDEN}


# 1. What is refused --------------------------------------------------------------------------


@each("fine", ["", "a", "a\nb\tc\r\n", "é 🚀 \u202e", "\u200b", "x" * 10])
def test_text_that_can_be_recorded_has_no_problem(fine: str) -> None:
    assert text.problem(fine, 10) is None


@each(
    ("bad", "said"),
    [
        ("x" * 1_011, "has 1,011 characters, at most 10 are taken: shorten it"),
        ("ab\ud800", "is not valid Unicode (a lone surrogate at character 3): retype it"),
        ("\udfff", "is not valid Unicode (a lone surrogate at character 1): retype it"),
        ("a\x00b", "holds the control character U+0000 at character 2: remove it"),
        ("\x1b[31m", "holds the control character U+001B at character 1: remove it"),
        ("ab\x7f", "holds the control character U+007F at character 3: remove it"),
        ("\x9b", "holds the control character U+009B at character 1: remove it"),
        ("\x0b", "holds the control character U+000B at character 1: remove it"),
    ],
)
def test_a_problem_says_where_and_what_to_do(bad: str, said: str) -> None:
    assert text.problem(bad, 10) == said


def test_the_limit_itself_is_taken() -> None:
    assert text.problem("x" * text.ANSWER_MAX, text.ANSWER_MAX) is None
    assert text.problem("x" * (text.ANSWER_MAX + 1), text.ANSWER_MAX) is not None


def test_a_limit_counts_a_letter_with_its_accents_once() -> None:
    typed = unicodedata.normalize("NFD", "für")
    assert len(typed) == 4
    assert text.problem(typed, 3) is None
    assert text.problem(typed, 2) == "has 3 characters, at most 2 are taken: shorten it"


@given(ANY | NASTY)
def test_what_has_no_problem_can_be_encoded_and_controls_nothing(given_text: str) -> None:
    if text.problem(given_text, len(given_text)) is None:
        assert given_text.encode().decode() == given_text
        assert {c for c in given_text if unicodedata.category(c) == "Cc"} <= {*"\t\n\r"}
    else:
        assert {unicodedata.category(c) for c in given_text} & {"Cc", "Cs"}


# 2. How it is shown --------------------------------------------------------------------------


@each(
    ("raw", "shown"),
    [
        ("plain é 🚀", "plain é 🚀"),
        ("two\nlines", "two⏎ lines"),
        ("two\r\nlines", "two⏎ lines"),
        ("back\rwards", "back\\x0dwards"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x9b2J", "\\x9b2J"),
        ("tab\there", "tab\\x09here"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("\u2066a\u2069", "\\u2066a\\u2069"),
        ("\ufeffa\u2028b", "\\ufeffa\\u2028b"),
        ("\ud800", "\\ud800"),
        ("a\U000e0069\U000e007f", "a\\U000e0069\\U000e007f"),
        ("\U000e0000\U000e0001", "\\U000e0000\\U000e0001"),
        ("🏴\U000e0067\U000e0062", "🏴\\U000e0067\\U000e0062"),
    ],
)
def test_what_is_shown_moves_nothing(raw: str, shown: str) -> None:
    assert text.escaped_text(raw) == shown


@each(
    ("raw", "shown"),
    [
        ("two\n\tlines", "two\n\tlines"),
        ("two\r\nlines\r\n", "two\nlines\n"),
        ("back\rwards", "back\\x0dwards"),
        ("\x1b[2J\n\u202e", "\\x1b[2J\n\\u202e"),
        ("a\n\U000e0041", "a\n\\U000e0041"),
    ],
)
def test_lines_are_shown_as_lines(raw: str, shown: str) -> None:
    assert text.shown_lines(raw) == shown


@given(ANY | NASTY)
def test_nothing_shown_controls_the_terminal(raw: str) -> None:
    shown = text.escaped_text(raw)
    assert harmful(shown) == set()
    assert len(shown.splitlines()) <= 1
    assert shown.encode().decode() == shown


@given(ANY | NASTY)
def test_lines_shown_keep_only_their_breaks_and_tabs(raw: str) -> None:
    shown = text.shown_lines(raw)
    assert harmful(shown) <= {"\n", "\t"}
    assert shown.count("\n") == raw.count("\n")
    assert shown.encode().decode() == shown


@given(st.text(st.characters(exclude_categories=("C", "Z"))))
def test_ordinary_text_is_shown_as_it_is(raw: str) -> None:
    assert text.escaped_text(raw) == raw
    assert text.shown_lines(raw) == raw


# 3. Lines, lengths and slugs -----------------------------------------------------------------


@given(ANY | NASTY)
def test_one_line_has_no_break_and_no_blank_too_many(raw: str) -> None:
    line = text.one_line(raw)
    assert line == text.one_line(line)
    assert "".join(line.split()) == "".join(raw.split())
    assert not re.search(r"\s\s|^\s|\s$|[^\S ]", line)


@each("unseen", ["", " \n\t", "\u200b", "\u3164", "\u115f\u1160", "\u2800", "\u061c"])
def test_what_is_drawn_as_nothing_is_not_visible(unseen: str) -> None:
    assert not text.visible(unseen)
    assert text.visible(f"{unseen}.")


def test_what_is_too_long_is_cut_with_an_ellipsis() -> None:
    assert text.shortened("abcdef", 6) == "abcdef"
    assert text.shortened("abcdefg", 6) == "abcde…"
    assert text.shortened("abcd efg", 6) == "abcd…"


@given(ANY, st.integers(1, 30))
def test_what_was_shortened_fits(raw: str, width: int) -> None:
    short = text.shortened(raw, width)
    assert len(short) <= width
    assert short == raw or short.endswith("…")


@each(
    ("title", "slug"),
    [
        ("Add login", "add-login"),
        ("  Add   LOGIN!  ", "add-login"),
        ("Straße & Café", "straße-café"),
        ("U\u0308ber ﬁnal", "über-final"),
        ("データ保持は10年", "データ保持は10年"),
        ("डेटा को रखें", "डेटा-को-रखें"),
        ("Данные: 10 лет", "данные-10-лет"),
        ("a\u3164b \u0301c \ud800d\u202ee", "a-b-c-d-e"),
        ("語" * 80, "語" * 40),
        ("CI/CD user_db", "ci-cd-user-db"),
        ("../../etc/passwd", "etc-passwd"),
        ("数据库", "数据库"),
        ("", ""),
        ("--- ", ""),
        ("x" * 80, "x" * 60),
        ("a" * 30 + " " + "b" * 29 + " c", "a" * 30 + "-" + "b" * 29),
        ("a" * 30 + " " + "b" * 30, "a" * 30),
        ("x" * 80 + " y", "x" * 60),
    ],
)
def test_a_slug_is_words_with_dashes(title: str, slug: str) -> None:
    assert text.slug(title) == slug


@given(ANY | NASTY | st.text("ab c-", max_size=200))
def test_a_slug_is_safe_in_a_path_and_short(title: str) -> None:
    slug = text.slug(title)
    assert not any(c in slug for c in "/\\:*?<>|. _\"'\n\0")
    assert not slug.startswith("-")
    assert "--" not in slug
    assert slug.isprintable()
    assert len(slug) <= text.SLUG_MAX
    assert len(slug.encode()) <= text.SLUG_BYTES_MAX
    assert text.slug(slug) == slug


def test_a_secret_shows_nothing_of_itself() -> None:
    secret = Secret("hunter2", "MY_KEY")
    shown = f"{secret} {secret!r} {secret:>8} %s" % secret + str([secret]) + str({"a": secret})
    assert "hunter2" not in shown
    assert "***" in shown
    assert secret.reveal() == "hunter2"
    assert secret.source == "MY_KEY"


def test_a_secret_is_no_json() -> None:
    with pytest.raises(TypeError):
        json.dumps(Secret("hunter2"))
    with pytest.raises(TypeError):
        msgspec.json.encode(Secret("hunter2"))


def test_secrets_are_equal_by_value_and_empty_is_none() -> None:
    assert Secret("a", "X") == Secret("a", "Y")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert not Secret("")
