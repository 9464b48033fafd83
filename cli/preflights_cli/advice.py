"""What is said when something fails: advice that names a command, by the code of an error, a
warning or a finding, and whose bug an exception is that no code expects: ours, or another
package's. It must load where nothing else does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import preflights_cli
from preflights_es.kernel.errors import WorkflowBug
from preflights_es.kernel.ids import short_session

if TYPE_CHECKING:
    from preflights_es.kernel.errors import PreflightsError


_REBUILD: Final = "`preflights admin projections rebuild`"

ADVICE: Final[dict[str, str]] = {
    # 1. Errors -------------------------------------------------------------------------------
    "agent_at_work": ": run it in a terminal of your own",
    "agent_cannot_accept": ", with `preflights accept {session}` in a terminal of their own; "
    "without --by it is proposed",
    "ambiguous_number": ", and give each its own by `preflights admin renumber`",
    "number_clash": ": `preflights admin renumber` gives the younger one another number",
    "ambiguous_artifact": ": type more of the id",
    "begun_not_signed": "; session {session} waits: `preflights accept {session} --sign`",
    "call_held": ": look at it with `preflights show {session}`, and try again when it is done",
    "commit_unknown": ": look with `preflights show SESSION`, or with `preflights sessions "
    "--all-workflows`, before you do it again",
    "faulted_input": ": `preflights abandon {session} --force` sets that Input aside",
    "model_asked": ": `preflights resume` first, then change it",
    "no_catalogue": ": name its folder by --catalog",
    "no_decision": ": `preflights decisions --all` lists what is decided here",
    "no_decision_to_trail": ": name it by --session",
    "contradicts": ". `preflights start INTENTION --accept --supersedes {session} --supersedes "
    "{path}` replaces both; `preflights start INTENTION --accept --supersedes {session} --keep "
    "{path}=REASON` keeps both",
    "document_missing": ": `preflights init --plans` writes starters of the documents",
    "no_item_id": ": `preflights note list` lists them",
    "no_log": ": look at --db, PREFLIGHTS_DATABASE_URL and the settings file, or create it with "
    "`preflights admin db upgrade`",
    "unreadable_event": ": install the version of {package} that recorded it, or let its code "
    "take such an event",
    "unknown_artifact": ": `preflights artifacts --all` lists those of this project; "
    "`preflights accept` is for decisions",
    "unknown_session": ": `preflights sessions --all-workflows` lists those of this project",
    "no_session_to_accept": ": `preflights sessions --all` lists those of this project; "
    "`preflights approve` is for plans",
    "not_related": " (`preflights accept {session}` without it says which decisions are)",
    "person_chooses": ": name the person by --by, or leave the choice out",
    "nothing_waits": ": `preflights inbox` lists what waits; `preflights approve` is for plans",
    "not_accepted_yet": " (`preflights accept {session}`)",
    "nothing_selected": ": `preflights sessions --all --all-workflows` lists what there is",
    "other_database": ": name it by --on",
    "other_session_missing": ": export both together (`preflights admin export --all`)",
    "plan_waits": (
        ": `preflights resume {session}` asks it again, `preflights abandon {session}` gives the "
        "plan up"
    ),
    "person_needed": ": run it at a terminal, or let a script name the person by --by",
    "plan_missing": ": `preflights plan {name}`, then `preflights approve`",
    "plan_not_approved": ": read it with `preflights artifacts show {name}`, then "
    "`preflights approve {name}`",
    "plan_not_locked": ": `preflights lock tests` locks it",
    "projection_damaged": ": `preflights admin projections rebuild {name}` rebuilds it from the "
    "log",
    "record_without_session": "; `preflights show {session}` shows it",
    "session_accepted": ", also where that was a mistake: replace it with `preflights start "
    "INTENTION --supersedes {session}`, or take out what must not stay with `preflights admin "
    "erase {session}`",
    "session_moved": ": look at it again with `preflights show {session}`",
    "session_superseded": ": `preflights show {session}` names the newer one",
    "successor_erased": ": start without --supersedes, or replace a decision that is in force "
    "(`preflights decisions`)",
    "sync_first": ": run `preflights sync` first",
    "text_not_enough": ": `preflights --help` lists its commands",
    "too_many_wait": " (`preflights sessions --all --all-workflows`)",
    "upgrade_waits": ", or run `preflights admin db upgrade`",
    # 2. Warnings -----------------------------------------------------------------------------
    "agent_proposes": ": accept it in a terminal of your own, with `preflights accept {session}`",
    "calls_private": "; `preflights calls erase` removes them",
    "asked_earlier": "; a new `preflights ask` counts from today",
    "asking_elsewhere": ": see the result with `preflights show {session}`",
    "file_beyond": "; `preflights sync` takes it over",
    "file_erases": "; `preflights admin erase {session}` erases it here",
    "files_not_imported": ": a person takes them over, with `preflights sync`",
    "only_in_file": ": `preflights sync` takes it over",
    "projection_differs": ": `preflights audit verify` looks into it",
    "projections_behind": ": a role that writes folds them, by `preflights sessions`",
    "session_files_erased": ": `git filter-repo --invert-paths --path FILE` purges it, if every "
    "clone is made anew",
    "session_file_left": ": `preflights sync` says more",
    "no_reader": ": PREFLIGHTS_READER_URL, or `reader_url` in your settings, names a reader",
    "stand_in_left": ": a person takes it over, with `preflights sync`",
    "stand_in_waits": ": `preflights sync` takes it over",
    # 3. Findings of `audit verify` -----------------------------------------------------------
    "call_of_other_project": f": delete the row, {_REBUILD} puts it back",
    "call_without_row": f": {_REBUILD} puts it back",
    "claim_too_long": f": once no process asks for it, delete the row, {_REBUILD} puts it back",
    "newer_projection_row": f", then run {_REBUILD}",
    "number_not_given": ": put its row of 'numbers' back from a copy",
    "stray_marks": f": {_REBUILD} removes it",
    "stray_outbox": f"; {_REBUILD} removes the row",
}


def advised(text: str, code: str, fields: Mapping[str, Any]) -> str:
    """A text, and the command that helps, where one does."""
    if code in ("extra_missing", "no_extra"):
        from preflights_es.use.installed_source import command_with

        return f"{text}: `{command_with(fields['extra'])}`"
    return text + ADVICE[code].format(**fields) if code in ADVICE else text


def error_with_advice(error: PreflightsError) -> str:
    """An error, and the command that helps."""
    fields = error.fields
    if error.code == "unreadable_event":
        from preflights_es.runtime.features import FEATURES

        fields = {**fields, "package": FEATURES.installed_package(fields["workflow"])}
    return advised(str(error), error.code, fields)


OURS = "of ours"


def cure_absent_record(session_id: str) -> str:
    """What brings a record of a decision in force back."""
    render = f"`preflights admin render {short_session(session_id)}`"
    return f"{render} and `preflights sync` write it, where no other branch has it"


def bug_of(error: BaseException, workflow: str = "") -> tuple[str, str]:
    """Whose it is, as `of ours`, and in brackets the file and line that raised it.

    Args:
        workflow: the one that was decided or folded: its package is to blame wherever its code
            stands in the traceback.
    """
    from preflights_es.runtime.features import FEATURES

    places = list(_raising_places(error))
    for path, line in places:
        if package := FEATURES.package_of(path, workflow):
            return f"of the package {package}", _format_code_place(path, line)
        if not workflow and _is_ours(path):
            break
    return OURS, _format_code_place(*places[0]) if places else ""


def _raising_places(error: BaseException) -> Iterator[tuple[str, int]]:
    """Files and lines, that which raised it first."""
    if isinstance(error, WorkflowBug) and error.place[1]:
        yield error.place
    import traceback  # only a bug needs it

    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        yield frame.filename, frame.lineno or 0


def _is_ours(path: str) -> bool:
    from preflights_es.runtime.features import FOLDER

    folders = os.path.dirname(preflights_cli.__file__ or ""), os.path.dirname(FOLDER)
    return any(path.startswith(folder + os.sep) for folder in folders)


def _format_code_place(path: str, line: int) -> str:
    return f" ({path}, line {line})"
