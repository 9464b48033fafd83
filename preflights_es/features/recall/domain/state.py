"""What the log of a recall folds to."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from preflights_es.features.recall.domain.events import (
    Asks,
    ComparisonAsked,
    DecisionsFound,
    DecisionsRecalled,
    EntitiesExtracted,
    EvolutionDetected,
    Found,
    FoundRecord,
    LearningAsked,
    QueriesRewritten,
    RecallAsked,
    Rewriter,
    WordsLearned,
)
from preflights_es.kernel import lead as leading
from preflights_es.kernel.decisions import OlderDecision
from preflights_es.kernel.events import Event, Input
from preflights_es.kernel.lead import Led
from preflights_es.kernel.questions import Language


class State(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    question: str = ""
    """Empty where no question is asked."""
    about: LearningAsked | ComparisonAsked | None = None
    """The decision that is learned or compared; None where a question is asked."""
    language: Language = "en"
    everything: bool = False
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: Led = Led()
    queries: tuple[str, ...] | None = None
    """None until the question is rewritten."""
    source: Rewriter = "rules"
    results: tuple[Found, ...] | None = None
    """The best first; None until it is looked for."""
    records: tuple[FoundRecord, ...] = ()
    """Of other tools, the best first."""
    names: tuple[str, ...] | None = None
    """What a model names in the decision; None until then."""
    words: tuple[str, ...] | None = None
    """What the decision gains; None until it is known."""
    findings: tuple[OlderDecision, ...] | None = None
    """How the decision stands to older ones; None until it is known."""
    redacted: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether the session asks something."""
        return bool(self.question) or self.about is not None

    @property
    def asks(self) -> Asks:
        """What the session is about."""
        if self.about is None:
            return "question"
        return "learning" if isinstance(self.about, LearningAsked) else "comparison"


def is_terminal(state: State) -> bool:
    """Whether the answer is there."""
    answers = (state.results, state.words, state.findings)
    return any(answer is not None for answer in answers)


def evolve(state: State, event: Event) -> State:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _after_input(state, event)
    match event:
        case QueriesRewritten(queries=queries, source=source):
            return replace(state, queries=queries, source=source)
        case DecisionsRecalled(uids=uids):
            new = state.input
            if not isinstance(new, DecisionsFound):
                return replace(state, results=())  # only a forged file says so
            of = {one.uid: one for one in new.found}
            results = tuple(of[uid] for uid in uids if uid in of)
            return replace(state, results=results, records=new.records)
        case EntitiesExtracted(names=names):
            return replace(state, names=names)
        case WordsLearned(words=words, source=source):
            return replace(state, words=words, source=source)
        case EvolutionDetected(findings=findings, source=source):
            return replace(state, findings=findings, source=source)
        case _:
            led = leading.after(state.led, state.input, event)
            return state if led is state.led else replace(state, led=led)


def _after_input(state: State, new: Input) -> State:
    if state.is_open:
        return replace(state, input=new)
    if isinstance(new, LearningAsked | ComparisonAsked):
        led = leading.opened(new.setup)
        return replace(state, about=new, language=new.language, input=new, led=led)
    if isinstance(new, RecallAsked):
        return replace(
            state,
            question=new.question,
            language=new.language,
            everything=new.everything,
            input=new,
            led=leading.opened(new.setup),
            redacted=new.redacted,
        )
    return replace(state, input=new)
