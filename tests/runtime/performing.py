"""A provider that follows a script, and a clock that is moved by hand."""

from __future__ import annotations

from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import LLMError


class Scripted:
    """A provider that gives what it was told to give, and keeps what it was asked."""

    def __init__(self, *answers: str | Completion | LLMError) -> None:
        self._answers = list(answers)
        self.asked: list[CompletionRequested] = []

    async def respond(self, request: CompletionRequested) -> Completion:
        """The next answer."""
        self.asked.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, LLMError):
            raise answer
        return Completion(answer) if isinstance(answer, str) else answer


class Hands:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 1_000_000

    def __call__(self) -> int:
        """Microseconds."""
        return self.at
