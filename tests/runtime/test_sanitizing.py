"""Text on its way into an Input: secrets that hide behind invisible characters go too."""

from __future__ import annotations

from typing import ClassVar

from preflights_es.kernel.events import Input, Typed, Value
from preflights_es.kernel.text import INTENTION_MAX
from preflights_es.redaction.patterns import KINDS, PERSONAL, SECRETS
from preflights_es.runtime.sanitizing import ANSWERS_MAX, SECRETS_ALONE, Sanitizer
from tests.each import each

EVERY_KIND = Sanitizer(KINDS)
EACH = {
    "email": "ada@example.com",
    "phone": "+49 170 1234567",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
}


@each("invisible", ["\u200b", "\u00ad", "\U000e0001", "\U000e0041", "\U000e007f"])
def test_a_secret_with_invisible_characters_inside_is_taken_out(invisible: str) -> None:
    hidden = f"{invisible}".join("ada@example.com")
    assert EVERY_KIND.cleaned_text("the intention", f"Ask {hidden}", INTENTION_MAX) == (
        "Ask [redacted:email]",
        ("email",),
    )


def test_invisible_characters_beside_no_secret_stay_as_they_were_typed() -> None:
    text = "Add a flag 🏴\U000e0067\U000e0062\U000e007f"
    assert EVERY_KIND.cleaned_text("the intention", text, INTENTION_MAX) == (text, ())


class Note(Value, frozen=True):
    """What a program read: some of its fields are texts of people."""

    path: str
    text: str
    said: tuple[str, ...] = ()
    inner: tuple[Note, ...] = ()


class NotesRead(Input, frozen=True):
    """Holds values with texts in some of their fields."""

    tag: ClassVar[str] = "test.notes_read.v1"
    typed: ClassVar = {"notes": Typed(1_000, parts=("text", "said", "inner"))}
    notes: tuple[Note, ...]
    redacted: tuple[str, ...] = ()


def test_the_texts_of_values_that_a_program_read_are_freed_and_the_rest_stays() -> None:
    mail, gone = "ada@example.com", "[redacted:email]"
    inner = Note("b", "x", said=(f"ask {mail}", "nothing"))
    fields = EVERY_KIND.cleaned_fields(
        NotesRead, {"notes": (Note(mail, f"To {mail}", inner=(inner,)),)}
    )
    freed = Note("b", "x", said=(f"ask {gone}", "nothing"))
    assert fields["notes"] == (Note(mail, f"To {gone}", inner=(freed,)),)
    assert fields["redacted"] == ("email", "email")


def test_more_values_than_answers_are_taken_of_what_a_program_read() -> None:
    notes = tuple(Note(str(number), "x") for number in range(ANSWERS_MAX + 1))
    assert EVERY_KIND.cleaned_fields(NotesRead, {"notes": notes})["notes"] == notes


def test_a_task_with_a_number_or_an_address_stays_unless_its_kind_is_named() -> None:
    assert set(EACH) == {*PERSONAL}
    for kind in PERSONAL:
        text = f"Call Kim at {EACH[kind]} about the key AKIAIOSFODNN7EXAMPLE"
        freed = text.replace("AKIAIOSFODNN7EXAMPLE", "[redacted:key]")
        cleaned, kinds = SECRETS_ALONE.cleaned_text("the note", text, INTENTION_MAX)
        assert (cleaned, kinds) == (freed, ("key",)), kind
        cleaned, kinds = Sanitizer((*SECRETS, kind)).cleaned_text("the note", text, INTENTION_MAX)
        assert cleaned == freed.replace(EACH[kind], f"[redacted:{kind}]")
        assert kinds == (kind, "key")
