"""`replay` and `diff`: recorded sessions decided again, or compared with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import click

from preflights_cli import EXIT_ENVIRONMENT, EXIT_REFUSED
from preflights_cli.common import Voice, bar, reading_command, text_option
from preflights_cli.names import SESSION
from preflights_cli.options import keyed, mode_of, parse_name_value_pairs
from preflights_cli.recordings import BAR_BYTES, session_file
from preflights_cli.rendering import shown_of
from preflights_es.history.alignment import EventPair, aligned
from preflights_es.history.child import ABSENT_TEXT, Divergence
from preflights_es.history.replayer import Rerun
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import count_in_words, escaped_text, shortened
from preflights_es.runtime.finder import LAST
from preflights_es.use.archives import SessionFile
from preflights_es.use.replays import Again, Replayed, SessionDiff, compare_sessions, replays, rerun
from preflights_es.use.request import Request
from preflights_es.use.results import Drawn
from preflights_es.words.event_names import event_in_words, value_of_pointer

VALUE_MAX: Final = 400  # characters of a line that differs
LINES_MAX: Final = 20  # of a value that differs
AROUND: Final = 60  # characters in front of the first difference of long values


def say_divergence(voice: Voice, id_: str, divergence: Divergence) -> None:
    """The place, the reason and both values."""
    name = escaped_text(event_in_words(divergence.type))
    where = escaped_text(divergence.place)
    voice.say(f"{id_} differs at event {divergence.version}, {name}: {where}")
    if divergence.cause:
        voice.say(f"  cause:    {escaped_text(divergence.cause)}")
    values = (divergence.recorded, divergence.computed)
    _say_both(voice, ("  recorded:", "  computed:"), divergence.pointer, values)


def format_replay_value(found: Any) -> str:
    """A JSON value on one line, for people."""
    text = found if found == ABSENT_TEXT else canonical_json(found).decode()
    return shortened(escaped_text(text), VALUE_MAX)


def _say_both(voice: Voice, labels: Sequence[str], pointer: str, values: Sequence[Any]) -> None:
    """Two values in words, each behind its label: the lines in which they differ."""
    from preflights_es.projections.json_words import list_value_lines, read_answer_value

    found = [value_of_pointer(pointer, one) for one in values]
    read = [(isinstance(one, str) and read_answer_value(one)) or one for one in found]
    lines = [*map(list_value_lines, read)]
    if lines[0] == lines[1]:  # they differ in what is empty, or as a number and its text
        lines = [[canonical_json(one).decode()] for one in values]
    pairs = [(one, other) for one, other in aligned(lines[0], lines[1], (str,)) if one != other]
    sides = [[line for line in side if line is not None] for side in zip(*pairs, strict=True)]
    first = [side[0] if side else "" for side in sides]
    pairs_of_marks = enumerate(zip(*first, strict=False))
    same = next((n for n, (one, other) in pairs_of_marks if one != other), min(map(len, first)))
    begin = max(same - AROUND, 0) if max(map(len, first)) > VALUE_MAX else 0
    for label, side in zip(labels, sides, strict=True):
        shown = [f"{'…' if begin else ''}{line[begin:]}" for line in side[:1] or ["(nothing)"]]
        shown += side[1:LINES_MAX]
        if (rest := len(side) - LINES_MAX) > 0:
            shown.append(f"… {count_in_words(rest, 'more line')}")
        for number, line in enumerate(shown):
            named = " " * len(label) if number else label
            text = line if line.rstrip() == line != "" else f'"{line}"'  # blanks are seen
            voice.say(f"{named}  {escaped_text(shortened(text, VALUE_MAX))}")


TITLES = {"drift": "drift", "simulate": "simulated", "whatif": "what if"}


def run_again(
    app: Request,
    voice: Voice,
    named: Sequence[str | SessionFile],
    mode: str,
    asked: Mapping[str, Any],
    *,
    everything: bool,
    drawn: Drawn,
) -> int:
    """Every session again, and what came of it."""
    again, out = _again(mode, asked), asked["out"]
    found = rerun(app, named, again, out=out, everything=everything, drawn=drawn)
    voice.json(found)
    for result in found.sessions:
        _say_again(voice, result, everything=everything)
    for result in found.sessions if out is not None else ():
        id_ = short_session(str(result.child_session_id))
        voice.say(escaped_text(f"Kept as session {id_} in {out}."))
    return 0 if all(map(is_well, found.sessions)) else EXIT_REFUSED


def is_well(result: Rerun) -> bool:
    """Whether it came out as it should: a what-if when it ran to its end, the others identical."""
    if result.otherwise or result.mode == "whatif":
        return result.status in ("identical", "different")
    return result.status == "identical"


def _again(mode: str, asked: Mapping[str, Any]) -> Again:
    return Again(
        mode=cast("Any", mode),
        seed=asked["seed_"],
        faults=asked["faults_"],
        provider=asked["provider_"],
        model=asked["model_"],
        answers=keyed(asked["answered"]),
        prompts=parse_name_value_pairs("--prompt", asked["prompts"], "clarify=new.md"),
        start=asked["start"] or "",
        live=asked["live"],
    )


def _say_again(voice: Voice, result: Rerun, *, everything: bool) -> None:
    id_ = short_session(result.session_id)
    title = ", ".join((TITLES[result.mode], *map(escaped_text, result.otherwise)))
    ran = f"{result.child_events} events"
    if result.kept:
        ran += f", {result.kept} of them recorded"
    if result.mode == "drift":
        ran = f"{result.exact} of {result.exact + len(result.matches)} responses by digest"
    voice.say(f"{id_} {title}: {result.status}: {ran}")
    _say_run(voice, result)
    for change in result.changes:
        both = (change.recorded, change.child)
        said = [format_replay_value(value_of_pointer(change.pointer, one)) for one in both]
        voice.say(f"  {escaped_text(change.place)}: {' -> '.join(said)}")
    if result.otherwise and result.differences and not result.changes:
        voice.say("  it comes to the same: only events differ, which --all shows")
    if not result.otherwise or everything:
        for divergence in result.divergences if everything else result.divergences[:1]:
            say_divergence(voice, id_, divergence)
        if result.differences > 1 and not everything:
            voice.hint(f"{result.differences - 1} more with --all.")


def _say_run(voice: Voice, result: Rerun) -> None:
    """What was met on the way."""
    for match in result.matches:
        causes = ", ".join(match.causes)
        voice.say(escaped_text(f"  {match.call} had the response of {match.recorded}: {causes}"))
    if result.stopped:
        voice.say(escaped_text(f"  it ends there: {result.stopped}"))
    if result.fault is not None:
        fault = result.fault
        why = f"{fault.error}: {escaped_text(fault.message)} ({fault.file}, line {fault.line})"
        voice.say(f"  raises in today's code at version {fault.version}: {why}")
    for left in result.left:
        which = f"the Input at event {left.version}" if left.version else "an answer"
        name = event_in_words(left.type)
        voice.say(escaped_text(f"  {which} ({name}) does not count: {left.reason}"))
    if result.asks and result.status != "identical":
        voice.say(escaped_text(f"  it waits for an answer to {', '.join(result.asks)}"))


@click.command()
@click.argument("session", type=SESSION, nargs=-1, metavar="[SESSION|FILE.jsonl]...")
@click.option(
    "--all", "everything", is_flag=True, help="Show every difference, not only the first."
)
@click.option("--drift", is_flag=True, help="Run today's code with the recorded responses.")
@click.option(
    "--simulate", is_flag=True, help="Run again with the simulator (see --seed, --faults)."
)
@text_option("--provider", "provider_", metavar="NAME", help="What if: another provider.")
@text_option("--model", "model_", metavar="MODEL", help="What if: another model.")
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="NAME=FILE",
    help="What if: another prompt, such as clarify=new.md.",
)
@click.option("--seed", "seed_", type=int, metavar="N", help="Seed of the simulator.")
@text_option("--faults", "faults_", metavar="FAULTS", help="Faults of the simulator.")
@click.option(
    "--answer", "answered", multiple=True, metavar="KEY=VALUE", help="What if: another answer."
)
@text_option("--from", "start", metavar="STEP", help="Step or event where the what-if begins.")
@click.option("--live", is_flag=True, help="Let a what-if ask a model; this costs money.")
@text_option("--out", metavar="FILE.jsonl", help="Write the new run to a new file.")
@reading_command
def replay_command(
    session: tuple[str, ...], everything: bool, app: Request, voice: Voice, **asked: Any
) -> int:
    """Re-run recorded sessions and compare every decision; no model is asked.

    `preflights regress` replays all sessions. FILE is an export of `admin export`; - is stdin. With
    --drift, --simulate or a what-if (--provider to --answer) a session runs again outside the log;
    the run is not recorded.

    \b
    Examples:
      preflights replay
      preflights replay replays/*/*.jsonl
      preflights replay last --drift
      preflights replay last --simulate --seed 7
      preflights replay last --provider sim --from clarify-1
    """
    mode = mode_of(asked)
    named = [session_or_file(typed) for typed in session or (LAST,)]
    drawn = bar(voice, "Reading", least=2 * BAR_BYTES)
    if mode != "strict":
        return run_again(app, voice, named, mode, asked=asked, everything=everything, drawn=drawn)
    found, unknown = replays(app, named, everything=everything, drawn=drawn)
    voice.json(found)
    for result in found.sessions:
        _say_replay(voice, result)
    for result in found.sessions:
        if hint := shown_of(result.workflow).replayed(app, result.session_id):
            voice.hint(hint)
    for one in unknown:
        voice.warn(f"session {short_session(one.session_id)} is not replayed: {one.why}")
    if any(result.status != "identical" for result in found.sessions):
        return EXIT_REFUSED
    return EXIT_ENVIRONMENT if unknown else 0


def session_or_file(typed: str) -> str | SessionFile:
    """A session of the log, or a file."""
    if typed == "-" or typed.endswith(".jsonl") or _is_file(typed):
        return session_file(typed)
    return typed


def _is_file(typed: str) -> bool:
    """Whether it names a file; what is too long for a name does not."""
    try:
        return typed != LAST and Path(typed).is_file()
    except OSError:
        return False


def _say_replay(voice: Voice, result: Replayed) -> None:
    id_ = short_session(result.session_id)
    if result.status == "erased":
        voice.say(f"{id_} was erased: its payloads are gone and cannot be replayed")
        return
    if result.status == "identical":
        voice.say(f"{id_} identical: {count_in_words(result.events, 'event')}")
        if result.undecided:
            voice.hint(f"Its last Input is undecided: preflights resume {id_} decides it.")
        if result.generation:
            then = "its responses were not computed again."
            voice.hint(f"{escaped_text(result.generation)} answered, which is not today's: {then}")
        return
    if result.fault is not None:
        fault = result.fault
        what = "raises again" if fault.recorded else "raises in today's code"
        why = f"{escaped_text(fault.message)} ({fault.file}, line {fault.line})"
        voice.say(f"{id_} {what} at version {fault.version}: {fault.error}: {why}")
    for divergence in result.divergences:
        say_divergence(voice, id_, divergence)
    if rest := result.differences - len(result.divergences):
        voice.hint(f"{rest} more with --all.")


@click.command()
@click.argument("a", type=SESSION, metavar="SESSION|FILE.jsonl")
@click.argument("b", type=SESSION, metavar="SESSION|FILE.jsonl")
@click.option(
    "--all", "everything", is_flag=True, help="Show every difference, not only the first event's."
)
@reading_command
def diff_command(a: str, b: str, everything: bool, app: Request, voice: Voice) -> int:
    """Compare two recorded sessions of one workflow: what was said and decided in each.

    Exit code 0: they are the same, but for time and their own ids; 1: they differ; 2: they are of
    two workflows. Of an erased session the types and the order of the events are compared.

    \b
    Examples:
      preflights diff 3f9a12c4 5f4439e9
      preflights diff last child.jsonl --all --json
    """
    found = compare_sessions(app, session_or_file(a), session_or_file(b))
    voice.json(found)
    differ = [pair for pair in found.events if pair.differences]
    names = f"{short_session(found.a)} and {short_session(found.b)}"
    if found.types_only:
        voice.say("Payloads were erased: only the types and the order of events are compared.")
    if not differ:
        voice.say(f"{names} are the same: {count_in_words(found.same, 'event')}.")
        return 0
    events = count_in_words(len(differ), "event")
    voice.say(f"{names} differ in {events}; {found.same:,} are the same.")
    for pair in differ if everything else differ[:1]:
        _say_pair(voice, found, pair)
    if (rest := len(differ) - 1) and not everything:
        voice.hint(f"{count_in_words(rest, 'more event')} with --all.")
    return EXIT_REFUSED


def _say_pair(voice: Voice, found: SessionDiff, pair: EventPair) -> None:
    """One event of both, and each value that differs."""
    one, two = short_session(found.a), short_session(found.b)
    name = escaped_text(event_in_words(pair.type))
    if pair.a is None or pair.b is None:
        alone = one if pair.b is None else two
        voice.say(f"{name}: only {alone} has it, as event {pair.a or pair.b}")
        return
    voice.say(f"{name}: event {pair.a} of {one}, event {pair.b} of {two}")
    if pair.cause:
        voice.say(f"  cause: {escaped_text(pair.cause)}")
    for each in pair.differences:
        voice.say(f"  {escaped_text(each.place)}")
        _say_both(voice, (f"    {one}:", f"    {two}:"), each.pointer, (each.a, each.b))
