"""Text on its way into an Input: checked, freed of secrets, with line ends of one kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Input, Typed
from preflights_es.kernel.text import ANSWER_MAX, KEY_MAX, NAME_MAX, problem, visible
from preflights_es.redaction.patterns import SECRETS, SecretKind
from preflights_es.words.questions import GivenAnswer

ANSWERS_MAX: Final = 50  # answers in one Input


class Sanitizer(msgspec.Struct, frozen=True):
    """Frees texts of the kinds of secrets that go."""

    kinds: tuple[SecretKind, ...] = SECRETS

    def cleaned_fields(self, new: type[Input], said: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of an Input as they are recorded, with the kinds of secrets that were taken out.

        Raises:
            Refused: a text is empty or too long, or holds what no text holds.
        """
        fields, kinds = dict(said), list[str]()
        for name, typed in new.typed.items():
            if name in said:
                fields[name], found = self._cleaned(name, typed, said[name])
                kinds += found
        return fields | ({"redacted": tuple(kinds)} if "redacted" in new.__struct_fields__ else {})

    def _cleaned(self, name: str, typed: Typed, value: Any) -> tuple[Any, tuple[str, ...]]:
        match value:
            case str():
                bare = value.strip() if typed.needed else value
                text, kinds = self.cleaned_text(f"the {name}", bare, typed.limit)
                if typed.needed and not visible(text):
                    raise Refused(f"the {name} is empty: {typed.needed}", code="empty_text")
                return text, kinds
            case (GivenAnswer(), *_):
                return self.cleaned_answers((given.key, given.values) for given in value)
            case (msgspec.Struct(), *_) if typed.parts:
                return self._of_parts(name, typed, value)
            case (str() | msgspec.Struct(), *_):
                if len(value) > ANSWERS_MAX:
                    raise Refused(f"too many {name} at once: at most {ANSWERS_MAX} are taken")
                parts = [self._freed(name, typed.limit, one) for one in value]
                return tuple(part for part, _ in parts), tuple(
                    k for _, kinds in parts for k in kinds
                )
            case _:
                found = [
                    (key, *self.cleaned_text(f"the {key}", text, typed.limit))
                    for key, text in value
                ]
                pairs = tuple((key, text) for key, text, _ in found)
                return pairs, tuple(kind for *_, kinds in found for kind in kinds)

    def _of_parts(self, name: str, typed: Typed, value: Any) -> tuple[Any, tuple[str, ...]]:
        """What a program read: a text, or values with texts in some of their fields."""
        if isinstance(value, str):
            return self.cleaned_text(f"one of the {name}", value, typed.limit)
        kinds = list[str]()
        if isinstance(value, msgspec.Struct):
            freed = {}
            for field in (one for one in value.__struct_fields__ if one in typed.parts):
                freed[field], found = self._of_parts(name, typed, getattr(value, field))
                kinds += found
            return msgspec.structs.replace(value, **freed), tuple(kinds)
        parts = [self._of_parts(name, typed, one) for one in value]
        return tuple(part for part, _ in parts), tuple(k for _, found in parts for k in found)

    def _freed(self, name: str, limit: int, value: Any) -> tuple[Any, tuple[str, ...]]:
        """A text, or a value whose fields are texts."""
        if isinstance(value, str):
            return self.cleaned_text(f"one of the {name}", value, limit)
        texts = {
            field: self.cleaned_text(
                f"the {field} of one of the {name}", getattr(value, field), limit
            )
            for field in value.__struct_fields__
        }
        freed = msgspec.structs.replace(
            value, **{field: text for field, (text, _) in texts.items()}
        )
        return freed, tuple(kind for _, kinds in texts.values() for kind in kinds)

    def cleaned_text(self, what: str, text: str, limit: int) -> tuple[str, tuple[str, ...]]:
        """The text as it is recorded, and the kinds of secrets that were taken out.

        Raises:
            Refused: it is too long, or holds what no text holds.
        """
        if found := problem(text, limit):
            raise Refused(f"{what} {found}", code="unfit_text")
        from preflights_es.redaction.masking import redact_hidden

        redacted = redact_hidden(text.replace("\r\n", "\n").replace("\r", "\n"), self.kinds)
        return redacted.text, redacted.kinds

    def cleaned_answers(
        self, answers: Iterable[tuple[str, Sequence[str]]]
    ) -> tuple[tuple[GivenAnswer, ...], tuple[str, ...]]:
        """Answers as they are recorded, and the kinds of secrets that were taken out.

        Raises:
            Refused: a text is too long, or holds what no text holds; or there are too many.
        """
        given: list[GivenAnswer] = []
        kinds: list[str] = []
        for key, values in answers:
            name, in_key = self.cleaned_text("the key of an answer", key.strip(), KEY_MAX)
            texts = [
                self.cleaned_text(f"the answer to {name!r}", value, ANSWER_MAX) for value in values
            ]
            given.append(GivenAnswer(name, tuple(text for text, _ in texts)))
            kinds += [*in_key, *(kind for _, found in texts for kind in found)]
        if len(given) > ANSWERS_MAX or any(len(g.values) > ANSWERS_MAX for g in given):
            message = f"too many answers at once: at most {ANSWERS_MAX} are taken"
            raise Refused(message, code="too_many_answers", most=ANSWERS_MAX)
        return tuple(given), tuple(kinds)

    def cleaned_name(self, name: str) -> str:
        """A person's name as it is recorded."""
        return self.cleaned_text("the name", name.strip(), NAME_MAX)[0]


SECRETS_ALONE: Final = Sanitizer()
