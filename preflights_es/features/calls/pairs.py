"""Pairs of recorded calls, which `regress --workflow calls` compares: each call is asked with and
without a change, as it was recorded, and its answers are judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from preflights_es.features.calls.asked_bodies import (
    AskedAnswer,
    BodyAsker,
    BodyToAsk,
    answer_of_kept,
    recorded_answer,
)
from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.asking import (
    ASSERTIONS,
    AnswerAssertion,
    AskedCall,
    CallPair,
    agreement_of_sides,
    digest_answer,
    is_by_assertions_alone,
    is_right,
    parse_assertions,
    tell_why_wrong,
    value_of_answer,
)
from preflights_es.features.calls.domain.change import (
    SYSTEM,
    CallsChange,
    WordsChange,
    changed_body,
    is_pointer,
    system_texts,
    unchanged_body,
)
from preflights_es.features.calls.domain.dialects import (
    ReadAnswer,
    answers_agree,
    ordered_json,
    turns_of_request,
    without_fields,
    words_of_turns,
)
from preflights_es.features.calls.kept_answers import (
    KeptAnswer,
    digest_of_request,
    keep_answers_of_run,
    newest_by_key,
)
from preflights_es.features.calls.recorded_calls import CallReader
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Event
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import decode_plain_json, is_too_deep
from preflights_es.kernel.text import count_in_words, one_line, shortened
from preflights_es.projections.usage import sum_costs
from preflights_es.providers.capabilities import MAX_TOKENS, OPENAI_LIKE
from preflights_es.redaction.masking import redact
from preflights_es.redaction.patterns import KINDS, SECRETS
from preflights_es.system import clock_ids
from preflights_es.system.files import Unreadable, open_folder_below
from preflights_es.use.prompt_changes import read_prompt_file
from preflights_es.use.request import Request
from preflights_es.use.usage import price
from preflights_es.words.pairs import (
    ChangeKind,
    Drift,
    PairsAsked,
    PairSide,
    PairsPlan,
    SessionPair,
)

FILE_MAX: Final = 1_000_000  # bytes of assertions
TITLE_MAX: Final = 200  # characters
UNTOUCHED: Final = "the change alters nothing in their requests"
NO_MODEL: Final = "no model is recorded: name one by --from-model"
FROZEN: Final = (
    "Each call was asked with the turns that were recorded: what an agent would do next, after "
    "another answer, is not seen."
)
JUDGE_HERE: Final = (
    "until then they count as worse. A person judges them (`calls judge`); then give --resume."
)
JUDGE_THERE: Final = (
    "until then they count as worse. Judge them where their log is, export them again, and give "
    "--resume."
)
FORM: Final = "both answers count as right."
NOT_ASKED: Final = "No model was asked: --live does, and says first what it takes."
GONE: Final = (
    "Where the recorded model is gone, name another by --from-model, or give --recorded to compare "
    "with the recording."
)
RECORDED: Final = (
    "The recorded answers are the unchanged side: what the model would answer today is not known."
)
REPEATED: Final = "another recording of the same questions is compared"
BEGUN_BEFORE: Final = "their conversations began in an earlier session of the run"
REDACTED: Final = "Both sides were asked the texts of the log, with what was redacted there."

ReadCalls = Callable[[str, Sequence[Event]], Iterable[AskedCall]]
"""The calls of a session: takes its id and its events."""


class CallToAsk(NamedTuple):
    """Both sides of a call."""

    unchanged: BodyToAsk
    changed: BodyToAsk


class AskedPair(NamedTuple):
    """The calls of a pair that are asked."""

    taken: int
    """Of which session."""
    calls: list[CallToAsk]
    version: int
    """Of the session: a file may hold an older state of it than the log, or another file."""

    @property
    def name(self) -> tuple[str, int]:
        """Its session, and the first call of its conversation."""
        call = self.calls[0].unchanged.call
        return call.session_id, call.conversation

    @property
    def judged(self) -> int:
        """Calls of which a person said something."""
        calls = (both.unchanged.call for both in self.calls)
        return sum(call.expected is not None or bool(call.judged) for call in calls)


class CallPairs:
    """The pairs of one run: see `words.pairs.SessionPairs`."""

    def __init__(
        self, request: Request, asked: PairsAsked, read_calls: ReadCalls | None = None
    ) -> None:
        """Raises:
        Refused: a file of the change, or the assertions, cannot be read.
        """
        root = request.process.settings.root
        self._leads = request.leads
        self._finder = request.reading.finder
        self._advice = JUDGE_HERE if request.process.store.lasts else JUDGE_THERE
        self._asked = asked
        self._ignored: Sequence[str] = request.process.settings.of(WORKFLOW).ignore
        self._read_calls = read_calls or CallReader(self._ignored).read
        self._change = read_change(asked)
        self._assertions = read_assertions(root)
        self.changes = tuple(_describe_changes(asked))
        self._now = clock_ids.now()
        run = repr((str(root), asked.from_model, self.changes, self._change))
        self._kept = keep_answers_of_run(request.process, run, self._now / 1_000_000)
        self._asker = BodyAsker(request.leads, self._kept, asked)
        self._prices = [price(table) for table in request.process.settings.prices]
        self._pairs: list[AskedPair] = []
        self._sessions = self._found = 0
        self._answers: dict[str, AskedAnswer] = {}
        """By the key of what was asked."""
        self._taken_up: list[KeptAnswer] = []
        """Of earlier runs."""
        self._left_out: Counter[str] = Counter()
        """Calls, by why they are not asked."""
        self._system: set[str] = set()
        self._undecided = self._disputed = self._by_assertions = 0
        self._wrong: list[str] = []
        """Why the unchanged side of a pair is wrong, of each that is."""
        self._unchanged: Counter[str] = Counter()
        """Calls of the unchanged side that were asked, and of these the unanswered."""

    # 1. What is asked --------------------------------------------------------------------------

    def take(self, session_id: str, events: Sequence[Event]) -> str:
        """See `SessionPairs`."""
        found: dict[int, list[CallToAsk]] = {}
        left_out = UNTOUCHED
        for call in self._read_calls(session_id, events):
            if why := _why_left_out(call):
                self._left_out[why] += 1
                left_out = why
                continue
            body = unchanged_body(call.request, self._asked.from_model or call.model)
            if call.dialect == "anthropic":
                body.setdefault("max_tokens", MAX_TOKENS)  # some sources do not hold it
            changed = changed_body(body, self._change)
            if changed is None or not body.get("model"):
                left_out = UNTOUCHED if changed is None else NO_MODEL
                self._left_out[left_out] += 1
            else:
                self._system |= {*system_texts(body)}
                self._disputed += call.disputed
                sides = (self._side(call, body), self._side(call, changed, is_changed=True))
                found.setdefault(call.conversation, []).append(CallToAsk(*sides))
        if not found:
            return left_out
        version = len(events)
        self._pairs += [AskedPair(self._sessions, calls, version) for calls in found.values()]
        self._sessions += 1
        return ""

    def _side(
        self, call: AskedCall, body: dict[str, Any], *, is_changed: bool = False
    ) -> BodyToAsk:
        wanted = (call.route, self._leads.settings.provider)
        provider = next((one for one in wanted if one in OPENAI_LIKE), OPENAI_LIKE[0])
        provider = "anthropic" if call.dialect == "anthropic" else provider
        where = f"{call.session_id} {call.call} {self._leads.address_for(None, provider)}"
        key = digest_of_request(where, body)
        return BodyToAsk(call, body, provider, key=key, is_changed=is_changed)

    def plan(self) -> PairsPlan:
        """See `SessionPairs`.

        Raises:
            Refused: the system texts differ, and one text was to take the place of all.
            SettingsError: a provider lacks something.
        """
        if any(not words.old for words in self._change.words) and len(self._system) > 1:
            raise Refused(
                f"--prompt {SYSTEM}=FILE: found {len(self._system):,} different system texts, "
                "expected one: give OLD=NEW, where OLD is a file with the words to replace"
            )
        self._leave_repeated_out()
        self._draw_sample()
        known = newest_by_key(self._kept.read()) if self._asked.resumes else {}
        for one in self._to_ask():
            if one.key in known:
                self._answers[one.key] = answer_of_kept(one.call, known[one.key])
                self._taken_up.append(known[one.key])
        waiting = list(self._to_ask())
        if self._asked.is_live:
            self._asker.ready(waiting)
        costs = [(one, self._cost(one, recorded_answer(one.call).answer)) for one in waiting]
        priced = [cost for _, cost in costs if cost is not None]
        unpriced = {one.body["model"] for one, _ in costs}
        unpriced -= {one.body["model"] for one, cost in costs if cost is not None}
        most = self._asked.calls_max
        calls = len(waiting) if most is None else min(len(waiting), most)
        return PairsPlan(
            pairs=len(self._pairs),
            sessions=len({pair.taken for pair in self._pairs}),
            calls=calls,
            cost=sum(priced) / len(priced) * calls if priced and not unpriced else None,
            is_anew=self._asked.resumes and not known,
        )

    def _leave_repeated_out(self) -> None:
        """Of a session's states, and of recorded conversations that begin alike, keep that with
        more judgements, or the newer.

        Source: docs/specs/verdict.md, section 2.1.
        """
        kept: dict[object, AskedPair] = {}
        for pair in sorted(self._pairs, key=lambda one: (one.name[0], one.version)):
            request = without_fields(pair.calls[0].unchanged.call.request, self._ignored)
            key = ordered_json(request) if pair.name[1] else pair.name
            kept[key] = max(pair, kept.get(key, pair), key=lambda one: one.judged)
        found, self._pairs = self._pairs, [*kept.values()]
        left = sum(len(one.calls) for one in found) - sum(len(one.calls) for one in self._pairs)
        self._left_out += Counter({REPEATED: left})

    def _draw_sample(self) -> None:
        """Leave as many pairs as are asked for, by digests: a larger sample holds a smaller one."""
        self._found, most = len(self._pairs), self._asked.sample
        if most is None or self._found <= most:
            return
        drawn = sorted(self._pairs, key=lambda pair: sha256(repr(pair.name).encode()).digest())
        kept = {pair.name for pair in drawn[:most]}
        self._pairs = [pair for pair in self._pairs if pair.name in kept]

    def _to_ask(self) -> Iterator[BodyToAsk]:
        for both in chain.from_iterable(pair.calls for pair in self._pairs):
            for one in both[1:] if self._asked.is_recorded else both:
                if one.key not in self._answers:
                    yield one

    def _cost(self, side: BodyToAsk, answer: ReadAnswer | None) -> float | None:
        """Of an answer, by today's price; None where there is none, or its tokens are unknown."""
        if answer is None or not answer.tokens_in:
            return None
        tokens = {"input_tokens": answer.tokens_in, "output_tokens": answer.tokens_out}
        asked = {"provider": side.provider, "model": side.body.get("model", ""), "at": self._now}
        costs = sum_costs([asked | tokens], self._prices)
        return float(costs[0].amount) if costs else None

    # 2. What came of it ------------------------------------------------------------------------

    def judged(self, update: Callable[[int], object]) -> Iterator[SessionPair]:
        """See `SessionPairs`."""
        if self._asked.is_live:
            self._drop_answers()
            for kept in self._taken_up:
                if kept.resuming != self._asked.resuming:
                    run = {"margin": self._asked.margin, "resuming": self._asked.resuming}
                    self._kept.keep(replace(kept, **run))
            waiting = Counter(
                (one.call.session_id, one.call.conversation) for one in self._to_ask()
            )

            def done(one: BodyToAsk, answer: AskedAnswer) -> None:
                pair = (one.call.session_id, one.call.conversation)
                self._answers[one.key] = answer
                waiting[pair] -= 1
                update(not waiting[pair])

            try:
                self._asker.ask_all(list(self._to_ask()), done)
            finally:
                self._drop_answers()
        return map(self._pair, self._pairs)

    def _drop_answers(self) -> None:
        """Of this command those that are compared no more, which a person would judge, too, and
        all of sessions that were erased, be it while models were asked.
        """
        calls = chain.from_iterable(pair.calls for pair in self._pairs)
        compared = {side.key for both in calls for side in both}
        resuming, is_erased = self._asked.resuming, cache(self._finder.is_session_erased)
        self._kept.drop(
            lambda one: (
                (one.resuming == resuming and one.key not in compared) or is_erased(one.session)
            )
        )

    def _pair(self, asked: AskedPair) -> SessionPair:
        before = [self._answer(both.unchanged, is_unchanged=True) for both in asked.calls]
        after = [self._answer(both.changed) for both in asked.calls]
        pairs = [
            CallPair(both.unchanged.call, one.answer, other.answer)
            for both, one, other in zip(asked.calls, before, after, strict=True)
        ]
        agrees = agreement_of_sides(pairs, self._assertions)
        self._wrong += [*self._why_wrong(pairs)][:1]
        differing = [pair for pair in pairs if None not in pair and not pair.agree]
        self._unchanged["asked"] += sum(one.asked for one in before)
        self._unchanged["unanswered"] += sum(one.unanswered for one in before)
        self._undecided += agrees.is_undecided and bool(differing)
        by_assertions = any(is_by_assertions_alone(pair, self._assertions) for pair in differing)
        self._by_assertions += by_assertions and agrees == (True, True)
        return SessionPair(
            taken=asked.taken,
            call=asked.name[1],
            unchanged=self._pair_side(
                [both.unchanged for both in asked.calls],
                before,
                agrees.unchanged,
                differing={str(pair.call.call): _shown(pair.unchanged) for pair in differing},
            ),
            changed=self._pair_side(
                [both.changed for both in asked.calls],
                after,
                agrees.changed,
                differing={str(pair.call.call): _shown(pair.changed) for pair in differing},
            ),
            is_undecided=agrees.is_undecided,
            drift="" if self._asked.is_recorded else _drift_of(pairs),
            title=_title_of(differing[0].call) if differing else "",
            calls_needed=sum(one == AskedAnswer(None) for one in (*before, *after)),
        )

    def _why_wrong(self, pairs: Iterable[CallPair]) -> Iterator[str]:
        for call, answer, _ in pairs:
            if answer is not None and is_right(call, answer, self._assertions) is False:
                why = tell_why_wrong(call, answer, self._assertions)
                yield f"call {call.call} of {short_session(call.session_id)}: {why}"

    def _pair_side(
        self,
        sides: Sequence[BodyToAsk],
        answers: Sequence[AskedAnswer],
        agrees: bool | None,
        differing: dict[str, Any],
    ) -> PairSide:
        both = zip(sides, answers, strict=True)
        found = [(side, one.answer) for side, one in both if one.answer is not None]
        tokens = [one.tokens_in + one.tokens_out for _, one in found]
        costs = [cost for one in found if (cost := self._cost(*one)) is not None]
        digests = ordered_json([digest_answer(one) for _, one in found])
        is_whole = len(found) == len(answers)
        return PairSide(
            agrees=agrees,
            result=digest_answer(ReadAnswer(text=digests)) if is_whole else None,
            differing=differing,
            calls=len(answers),
            tokens=sum(tokens) if all(tokens) else None,
            cost=sum(costs) if costs and len(costs) == len(found) else None,
            asked=sum(one.asked for one in answers),
            unanswered=sum(one.unanswered for one in answers),
            failure=next((one.failure for one in answers if one.failure), ""),
        )

    def _answer(self, side: BodyToAsk, *, is_unchanged: bool = False) -> AskedAnswer:
        if is_unchanged and self._asked.is_recorded:
            return recorded_answer(side.call)
        return self._answers.get(side.key, AskedAnswer(None))

    def notes(self) -> tuple[str, ...]:
        """See `SessionPairs`."""
        asked, unanswered = self._unchanged["asked"], self._unchanged["unanswered"]
        found = [
            f"{count_in_words(n, 'call')} left out: {why}." for why, n in self._left_out.items()
        ]
        if len(self._pairs) < self._found:
            found.append(f"A sample of {len(self._pairs):,} of {self._found:,} pairs.")
        if self._disputed:
            times = count_in_words(self._disputed, "time")
            found.append(f"People judged an answer differently {times}: the newer word counts.")
        if not self._asked.is_live:
            return (*found, NOT_ASKED)
        if self._undecided:
            found.append(
                f"{count_in_words(self._undecided, 'pair')} with answers that differ, and no "
                f"right value, assertion or judgement to decide: {self._advice}"
            )
        if self._wrong:
            pairs = count_in_words(len(self._wrong), "pair")
            found.append(f"The unchanged side is wrong in {pairs}, first in {self._wrong[0]}.")
        if self._by_assertions:
            were = "pair that differs was" if self._by_assertions == 1 else "pairs that differ were"
            found.append(f"{self._by_assertions:,} {were} decided by assertions alone: {FORM}")
        if asked and asked == unanswered:
            found.append(GONE)
        if self._asked.is_recorded:
            found.append(RECORDED)
        return (*found, REDACTED, FROZEN)

    def end(self, *, is_decided: bool) -> None:
        """See `SessionPairs`."""
        if is_decided:
            self._kept.forget()
            self._advice = "they count as worse."


def _why_left_out(call: AskedCall) -> str:
    if call.goes_on:
        return BEGUN_BEFORE
    if call.dialect == "other":
        return "they are of no dialect that is asked again"
    if not 200 <= call.status <= 299:
        return "they failed when they were recorded"
    if is_too_deep(ordered_json(call.request).encode()):
        return "their requests nest too deep"
    return ""


def _shown(answer: ReadAnswer | None) -> Any:
    return None if answer is None else value_of_answer(answer)


def _drift_of(pairs: Sequence[CallPair]) -> Drift:
    """Which sides differ from the recording, of those that answered."""

    def differs(answers: Iterable[ReadAnswer | None]) -> bool:
        recorded = (recorded_answer(pair.call).answer for pair in pairs)
        both = zip(answers, recorded, strict=True)
        return any(one and other and not answers_agree(one, other) for one, other in both)

    unchanged = differs(pair.unchanged for pair in pairs)
    changed = differs(pair.changed for pair in pairs)
    if unchanged:
        return "both" if changed else "unchanged"
    return "changed" if changed else ""


def _title_of(call: AskedCall) -> str:
    """The last words of the user, which stand before what tools gave to an agent."""
    turns = words_of_turns(turns_of_request(call.request))
    said = [words for role, words in turns if role == "user" and not words.startswith("[result: ")]
    return shortened(one_line(said[-1]), TITLE_MAX) if said else ""


# The change -----------------------------------------------------------------------------------


def read_change(asked: PairsAsked) -> CallsChange:
    """The change, with the words of its files as they are, and as a log may hold them: redacted.

    Raises:
        Refused: a file cannot be read, or a pointer is invalid.
    """
    words: dict[WordsChange, None] = {}
    for old, new in asked.prompts:
        texts = ("" if old == SYSTEM else _read_words(old), _read_words(new))
        for kinds in ((), SECRETS, KINDS) if texts[0] else (KINDS,):
            words[WordsChange(*(redact(text, kinds).text for text in texts))] = None
    return CallsChange(
        model=asked.model,
        words=tuple(words),
        values=tuple((pointer, _value_at(pointer, text)) for pointer, text in asked.values),
    )


def _describe_changes(asked: PairsAsked) -> Iterator[tuple[ChangeKind, str]]:
    for old, new in asked.prompts:
        yield "prompt", f"prompt {old}={new}"
    if asked.model:
        yield "model", f"model {asked.model}"
    for pointer, text in asked.values:
        yield "parameter", redact(f"parameter {pointer}={text}").text


def _read_words(path: str) -> str:
    return read_prompt_file(path, "utf-8-sig").replace("\r\n", "\n").strip()


def _value_at(pointer: str, text: str) -> Any:
    """JSON, else the text as it is."""
    if not is_pointer(pointer):
        raise Refused(
            f"--set: found {pointer!r}, expected a JSON Pointer into a request, such as "
            "/temperature; answers are asked for whole, so `stream` cannot be set"
        )
    try:
        return decode_plain_json(text.encode())
    except (ValueError, RecursionError):
        return text


def read_assertions(root: Path) -> tuple[AnswerAssertion, ...]:
    """The assertions of the repository; none where it has no file of them.

    Raises:
        Refused: the file cannot be read.
    """
    folder_name, _, name = ASSERTIONS.partition("/")
    try:
        with open_folder_below(root, [folder_name]) as folder:
            return parse_assertions(folder.content(name, FILE_MAX))
    except FileNotFoundError:
        return ()
    except (Unreadable, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{ASSERTIONS} cannot be read: {why}") from error
