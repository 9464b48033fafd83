"""Golden notes: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from collections.abc import Callable

from preflights_es.features.extraction.domain import WORKFLOW
from preflights_es.features.extraction.domain.events import ITEMS_MAX, ItemAdded, TaskDecided
from preflights_es.features.extraction.use import Listed, Notes
from preflights_es.kernel.lead import Lead, Setup, StepRetried
from preflights_es.kernel.questions import Language
from preflights_es.runtime.runner import Handle
from tests.record_goldens import ADA, Recorder, inputs, sim

MOCK = Lead("mock", WORKFLOW.decider)


def notes(r: Recorder) -> Notes:
    """The notes of the project."""
    return Notes(inputs(r))


def take(r: Recorder, note: str, lead: Lead = MOCK, language: Language = "de") -> Handle:
    setup = Setup("0.1.0", WORKFLOW.decider, lead.provider, WORKFLOW.prompts, lead)
    step = notes(r).take(note, setup, language, "2026-11-22T09:30+01:00", "Europe/Berlin")
    r.order.append(step.handle.session_id)
    return step.handle


def answer(r: Recorder, handle: Handle, text: str, key: str = "start_time") -> Handle:
    return notes(r).answer(handle, [(key, (text,))]).handle


def listed(handle: Handle, number: int) -> Listed:
    return Listed(handle, handle.session.state.items[number - 1])


def a_note_holds_tasks_and_an_event(r: Recorder) -> None:
    take(r, "Email an Chef, Meeting 14 Uhr, Präsentation fertig")


def a_note_is_a_list_of_everything(r: Recorder) -> None:
    text = "- urgent: taxes, 30 min\n- call mom 2:30 pm\n- idea: a podcast\n- no rush: the cellar"
    take(r, text, language="en")


def the_one_question_is_answered(r: Recorder) -> None:
    handle = take(r, "Arzt, Milch kaufen")
    handle = answer(r, handle, "   ")
    handle = answer(r, handle, "14 Uhr", "wann")
    handle = answer(r, handle, "14 Uhr")
    answer(r, handle, "15 Uhr")


def a_second_reading_keeps_what_a_person_changed(r: Recorder) -> None:
    handle = take(r, "Arzt, Milch kaufen, Brot kaufen")
    handle = notes(r).closed(listed(handle, 2), "done").handle
    handle = notes(r).edited(listed(handle, 3), [("title", "Brot und Butter kaufen")]).handle
    answer(r, handle, "um 9:15")


def a_task_has_a_life(r: Recorder) -> None:
    handle = take(r, "Steuer, Meeting 9 Uhr")
    for fields in (
        [("duration_min", "60"), ("duration_max", "90"), ("importance", "high")],
        [("due", "2027-05-31"), ("energy", "admin")],
        [("due", "")],
        [("due", "soon")],
        [("start_time", "09:00")],
        [("due", "")],
    ):
        handle = notes(r).edited(listed(handle, 1), fields).handle
    handle = notes(r).closed(listed(handle, 2), "done").handle
    handle = notes(r).closed(listed(handle, 1), "cancelled").handle
    notes(r).closed(listed(handle, 1), "done")


def items_are_filed_by_hand(r: Recorder) -> None:
    step = notes(r).add("idea", "A podcast", [("content", "about logs")], "en", None)
    r.order.append(step.handle.session_id)
    handle = notes(r).add("task", "Write it", [("duration_min", "5")], "en", step.handle).handle
    notes(r).add("event", "Record it", [("start_time", "10:00")], "en", handle)


def what_does_not_fit_a_note_is_refused(r: Recorder) -> None:
    handle = take(r, "Keller")
    r.submitted(handle, StepRetried(at=r.runner.now(), actor=ADA))
    full = take(r, "\n".join(f"idea: {n}" for n in range(ITEMS_MAX)))
    for n in range(ITEMS_MAX + 1):
        added = ItemAdded(at=r.runner.now(), actor=ADA, type="idea", title=f"more {n}")
        full = r.submitted(full, added)


def a_model_varies_and_stays_within_the_contract(r: Recorder) -> None:
    for seed in range(6):
        take(r, "Zahnarzt 9 Uhr, 20 min joggen, Idee: ein Buch", sim(seed))


def a_model_is_asked_once_more(r: Recorder) -> None:
    take(r, "Milch kaufen, Brot kaufen", sim(5, "malformed=0.5"))


def a_note_that_no_model_could_read_is_filed_by_hand(r: Recorder) -> None:
    handle = take(r, "Steuer, Zahnarzt", sim(1, "malformed=1"))
    notes(r).add("task", "Steuer", (), "de", handle)


def another_model_reads_what_the_first_could_not(r: Recorder) -> None:
    handle = take(r, "Steuer, Milch", sim(1, "timeout=0.5,rate_limit=0.5"))
    notes(r).led_by(handle, MOCK, WORKFLOW.prompts)


def a_strict_note_waits_and_is_resumed(r: Recorder) -> None:
    handle = take(r, "Milch kaufen", sim(2, "error=1", strict=True))
    notes(r).resume(handle)


def a_secret_in_a_note_is_not_recorded(r: Recorder) -> None:
    take(r, "call the bank, my password: hunter2hunter2, mail ada@example.org")


def a_time_opens_what_follows(r: Recorder) -> None:
    take(r, "14 Uhr, Meeting mit Team, 15 Uhr, Arzt")
    take(r, "Workshop from 9am to noon, party from 8pm until midnight", language="en")
    handle = take(r, "Arzt, 14 Uhr Besprechung")
    answer(r, handle, "9 Uhr bis Mittag")


def appointments_have_dates_and_tasks_an_order(r: Recorder) -> None:
    handle = take(r, "Zahnarzt morgen 9-11 Uhr, Bericht schreiben, Folien")
    handle = notes(r).edited(listed(handle, 1), [("date", "2026-11-28")]).handle
    place = f"{handle.session_id}.3"
    notes(r).edited(listed(handle, 2), [("after", place)])
    handle = take(r, "Arzt, 28 November lunch with Bob at noon", language="en")
    answer(r, handle, "am Freitag um 9")


def a_task_leads_to_a_decision(r: Recorder) -> None:
    handle = take(r, "Login planen, Meeting 14 Uhr")
    for number, record in ((1, 7), (1, None), (2, 8), (9, 8)):
        said = {"number": number, "uid": "0123456789ab", "record": record, "session_id": "s"}
        handle = notes(r).submitted(handle, TaskDecided, said).handle
    notes(r).closed(listed(handle, 1), "done")


GOLDENS: tuple[Callable[[Recorder], None], ...] = (
    a_note_holds_tasks_and_an_event,
    a_note_is_a_list_of_everything,
    the_one_question_is_answered,
    a_second_reading_keeps_what_a_person_changed,
    a_task_has_a_life,
    items_are_filed_by_hand,
    what_does_not_fit_a_note_is_refused,
    a_model_varies_and_stays_within_the_contract,
    a_model_is_asked_once_more,
    a_note_that_no_model_could_read_is_filed_by_hand,
    another_model_reads_what_the_first_could_not,
    a_strict_note_waits_and_is_resumed,
    a_secret_in_a_note_is_not_recorded,
    a_time_opens_what_follows,
    a_task_leads_to_a_decision,
    appointments_have_dates_and_tasks_an_order,
)
