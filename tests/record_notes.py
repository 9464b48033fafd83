"""Golden notes: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from typing import Final

from preflights_es.features.extraction.domain import WORKFLOW
from preflights_es.features.extraction.domain.events import ITEMS_MAX, ItemAdded, TaskDecided
from preflights_es.features.extraction.use import ListedItem, Notes
from preflights_es.kernel.lead import Lead, Setup, StepRetried
from preflights_es.runtime.runner import Handle
from preflights_es.words.questions import Language
from tests.record_goldens import ADA, Recorder, inputs, sim

ASKING: Final = 1  # a seed of the simulator that asks for the time


def notes(r: Recorder) -> Notes:
    """The notes of the project."""
    return Notes(inputs(r))


def take(r: Recorder, note: str, lead: Lead | None = None, language: Language = "de") -> Handle:
    prompts = WORKFLOW.led.prompts if lead else ()
    provider = lead.provider if lead else "mock"
    setup = Setup("0.1.0", WORKFLOW.decider.version, provider, prompts, lead)
    step = notes(r).take(note, setup, language, "2026-11-22T09:30+01:00", "Europe/Berlin")
    r.order.append(step.handle.session_id)
    return step.handle


def answer(r: Recorder, handle: Handle, text: str, key: str = "date") -> Handle:
    return notes(r).answer(handle, [(key, (text,))]).handle


def listed(handle: Handle, number: int) -> ListedItem:
    return ListedItem(handle, handle.session.state.items[number - 1])


def a_note_holds_tasks_and_an_event(r: Recorder) -> None:
    take(r, "Email an Chef ~10m\nMeeting @2026-11-23T14:00-15:30\nPräsentation fertig !high")


def a_note_is_a_list_of_everything(r: Recorder) -> None:
    text = "- [ ] taxes ~1.5h due:fri !high\ncall mom @tomorrow-14:30 ~30m\nidea: a podcast"
    take(r, text, language="en")


def the_one_question_is_answered(r: Recorder) -> None:
    handle = take(r, "Arzt @14:00\nMilch kaufen")
    handle = answer(r, handle, "   ")
    handle = answer(r, handle, "morgen", "wann")
    handle = answer(r, handle, "demnächst")
    handle = answer(r, handle, "morgen")
    answer(r, handle, "fr")


def a_task_has_a_life(r: Recorder) -> None:
    handle = take(r, "Steuer\nMeeting @2026-11-23T09:00")
    handle = notes(r).closed(listed(handle, 2), "done").handle
    handle = notes(r).closed(listed(handle, 2), "cancelled").handle
    handle = notes(r).closed(listed(handle, 1), "done").handle
    notes(r).closed(listed(handle, 1), "cancelled")


def items_are_filed_by_hand(r: Recorder) -> None:
    step = notes(r).add("idea", "A podcast", [("content", "about logs")], "en", None)
    r.order.append(step.handle.session_id)
    task = [("duration_min", "5"), ("energy", "creative"), ("due", "2026-12-01")]
    handle = notes(r).add("task", "Write it", task, "en", step.handle).handle
    event = [("start_time", "10:00"), ("date", "2026-12-01")]
    handle = notes(r).add("event", "Record it", event, "en", handle).handle
    for fields in ([("start_time", "10:00")], [("due", "soon")], [("date", "soon")]):
        handle = notes(r).add("event", "Cut it", fields, "en", handle).handle


def what_does_not_fit_a_note_is_refused(r: Recorder) -> None:
    handle = take(r, "Keller")
    r.submitted(handle, StepRetried(at=r.runner.now(), actor=ADA))
    full = take(r, "\n".join(f"idea: {n}" for n in range(ITEMS_MAX)))
    for n in range(ITEMS_MAX + 1):
        added = ItemAdded(at=r.runner.now(), actor=ADA, type="idea", title=f"more {n}")
        full = r.submitted(full, added)


def a_model_varies_and_stays_within_the_contract(r: Recorder) -> None:
    for seed in range(6):
        take(r, "Zahnarzt @2026-11-23T09:00\njoggen ~20m due:fri\nIdee: ein Buch", sim(seed))


def a_model_is_asked_once_more(r: Recorder) -> None:
    take(r, "Milch kaufen\nBrot kaufen", sim(3, "malformed=0.5"))


def a_note_that_no_model_could_read_is_filed_by_hand(r: Recorder) -> None:
    handle = take(r, "Steuer, Zahnarzt", sim(1, "malformed=1"))
    notes(r).add("task", "Steuer", (), "de", handle)


def another_model_reads_what_the_first_could_not(r: Recorder) -> None:
    handle = take(r, "Steuer, Milch", sim(1, "timeout=0.5,rate_limit=0.5"))
    notes(r).led_by(handle, sim(1), WORKFLOW.led.prompts)


def a_strict_note_waits_and_is_resumed(r: Recorder) -> None:
    handle = take(r, "Milch kaufen", sim(2, "error=1", strict=True))
    notes(r).resume(handle)


def a_secret_in_a_note_is_not_recorded(r: Recorder) -> None:
    handle = take(r, "call the bank, my password: hunter2hunter2, mail ada@example.org")
    notes(r).add("task", "my password: hunter2hunter2", (), "de", handle)


def a_model_asks_and_reads_again(r: Recorder) -> None:
    handle = take(r, "Arzt @2026-11-23T14:00\nMilch", sim(ASKING))
    handle = notes(r).closed(listed(handle, 2), "done").handle
    answer(r, handle, "14 Uhr", "start_time")


def a_task_leads_to_a_decision(r: Recorder) -> None:
    handle = take(r, "Login planen\nMeeting @2026-11-23T14:00")
    for number, record in ((1, 7), (1, None), (2, 8), (9, 8)):
        said = {"number": number, "uid": "0123456789ab", "record": record, "session_id": "s"}
        handle = notes(r).submitted(handle, TaskDecided, said).handle
    notes(r).closed(listed(handle, 1), "done")
