"""The table of forgeries: what an attacker does to a signed session, and what is said of it."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from tests.cli.signing import FILE
from tests.signing.forging import EVE, HARDWARE, SIGNER, Scene, canonical
from tests.signing.house import ADA, REPOSITORY, Signing, name_repository
from tests.signing.keys import PLAIN, Key, armoured, text

Forged = Callable[[Scene], object]
Edit = Callable[[Any], object]

TYPO: Final = {"category": "Authentication", "fields": [["Strategy", "OAuti"]]}
OTHER: Final = {"category": "Authentication", "fields": [["Strategy", "Magic Link"]]}
WIDE: Final = {"paths": ["**"], "hold": "tell", "by": "user"}
MILD: Final = {"paths": ["src/**"], "hold": "tell", "by": "user"}
EVES: Final = {"kind": "user", "name": "Eve"}
ELSEWHERE: Final = "01981233-0000-7abc-8def-0123456789ab"
"""The id of an older repository."""
NUL: Final = "01981234-5678-7abc-8def-0123456789ab"
YEAR: Final = 31_536_000_000_000  # microseconds
PLAN: Final = '{"title":"Eve"}'
QUESTION: Final = {"id": "k", "question": "Eve?", "type": "free_text"}
SEEN: Final = {"variables": [], "terminal": True, "client": ""}
ADAS: Final = f"{ADA} {SIGNER.public}\n"
LARGE: Final = 100_000_000  # bytes


# 1. Words of an attacker ---------------------------------------------------------------------


def both(*works: Forged) -> Forged:
    return lambda scene: [work(scene) for work in works]


def say(**fields: Any) -> Forged:
    """Other fields of the acceptance."""
    return lambda scene: scene.say(**fields)


def agrees(scene: Scene) -> None:
    """The proposal says what the acceptance says."""
    scene.agrees()


def before(type_: str, **fields: Any) -> Forged:
    """Other fields of an earlier event."""
    return lambda scene: scene.change(type_, lambda data: data.update(fields))


def later(by: int) -> Forged:
    """Another time."""
    return lambda scene: scene.say(at=scene.data(scene.act)["at"] + by)


def dated(at: int) -> Forged:
    """A time that no file of signers knows; Ada's key even signed it."""
    return both(say(at=at), signed())


def choice(edit: Edit) -> Forged:
    """Another choice about the older decision."""
    return lambda scene: scene.change("acknowledged.v1", lambda data: edit(data["resolved"][0]))


def chosen(**fields: Any) -> Forged:
    return choice(lambda one: one.update(fields))


def kept(**fields: Any) -> Forged:
    return choice(lambda one: one["finding"]["related"].update(fields))


def read(**fields: Any) -> Forged:
    return choice(lambda one: one["finding"]["source"].update(fields))


def behind(place: int, type_: str, **data: Any) -> Forged:
    """A Decision that the program never made, behind the acceptance."""
    return lambda scene: scene.insert(scene.act + place, type_, **data)


def reasoned_as_before(scene: Scene) -> None:
    """An answer drops the reasons of another value; these are there again."""
    was = scene.data(scene.place("rationale_noted.v1"))
    scene.insert(scene.act + 3, "rationale_noted", **was)


def recorded_at(place: int) -> Forged:
    return behind(place, "decision_recorded", status="accepted", kind="adr", number=2)


def reasoned_at(place: int) -> Forged:
    data: dict[str, Any] = {"because": "Eve", "consequences": [], "alternatives": []}
    return behind(place, "rationale_noted", **data, replaces=True)


def answered_at(place: int) -> Forged:
    """Another answer, of which nothing follows."""
    data: dict[str, Any] = {"key": "auth_strategy", "field": "Strategy", "source": "chosen"}
    return behind(place, "answer_accepted", **data, answer="Magic Link", value="Magic Link")


def again(*ends: str, **fields: Any) -> Forged:
    """One more acceptance behind the first, and what is said to follow from it."""

    def work(scene: Scene) -> None:
        first, new = scene.act, scene.data(scene.act)
        more = [replace(scene.events[first], input_id=NUL)]
        more += [replace(scene.events[first + 1], type=f"{scene.made_by}.{end}.v1") for end in ends]
        scene.events += more
        scene.chain()
        scene.put(scene.act, {**new, **fields})
        if "change_refused" in ends:
            refused = {"change": "acknowledgement", "reason": "already_accepted"}
            scene.put(scene.act + 1 + ends.index("change_refused"), refused)

    return work


def unsigned(scene: Scene) -> None:
    scene.change(scene.tag, lambda data: data.pop("signature"))


def by_eve(scene: Scene) -> None:
    scene.say(actor=EVES)


def drafted_at(place: int, **fields: Any) -> Forged:
    """Another plan; 0 is the end, and `id=None` the id of the one that was approved."""

    def work(scene: Scene) -> None:
        made = scene.data(scene.place("plan_drafted.v1"))
        new = {**made, "payload": PLAN, **({"id": NUL} if "id" not in fields else {})}
        scene.insert(scene.act + place if place else len(scene.events), "plan_drafted", **new)

    return work


def failed_at(place: int) -> Forged:
    data = {"id": NUL, "payload": "{}", "category": "api_error", "created_at": 1}
    return behind(place, "failure_reported", **data)


def revised(scene: Scene) -> None:
    """Another answer, another patch, and the old signature behind them."""
    scene.change("answers_given.v1", lambda d: d["answers"][0].update(values=["Magic Link"]))
    scene.change("accepted.v1", lambda d: d.update(answer="Magic Link", value="Magic Link"))
    scene.change("proposed.v1", lambda d: d.update(patch=OTHER))
    scene.say(patch=OTHER)


def moved(scene: Scene) -> None:
    """A pair of events more before the acceptance."""
    given, noted = (scene.place(f"rationale_{what}.v1") for what in ("given", "noted"))
    more = [replace(scene.events[given], input_id=NUL), scene.events[noted]]
    scene.events[scene.act : scene.act] = more
    scene.chain()


def without(type_: str) -> Forged:
    def work(scene: Scene) -> None:
        del scene.events[scene.place(type_)]
        scene.chain()

    return work


def counts(scene: Scene) -> None:
    """A proposal that is said to be accepted."""
    scene.change("recorded.v1", lambda data: data.update(status="accepted"))


def a_person_did(scene: Scene) -> None:
    """It was an agent, with a name of its own."""
    scene.say(actor={"kind": "user", "name": scene.data(scene.act)["actor"]["name"]})


def and_said_so(scene: Scene) -> None:
    was = scene.signature["proposal"]
    assert '"by":"agent"' in was
    scene.sign(proposal=was.replace('"by":"agent"', '"by":"user"'))


# 2. Words of who knows OpenSSH ---------------------------------------------------------------


def told(**parts: Any) -> Forged:
    """Other parts of the proposal."""
    return lambda scene: scene.sign(
        proposal=canonical({**json.loads(scene.signature["proposal"]), **parts})
    )


def spelled(edit: Callable[[str], str]) -> Forged:
    """Another text of the proposal, which Ada's key even signed."""

    def work(scene: Scene) -> None:
        was = scene.signature["proposal"]
        scene.sign(proposal=edit(was))
        assert scene.signature["proposal"] != was
        scene.by(SIGNER)

    return work


def unordered(proposal: str) -> str:
    parts = dict(reversed(json.loads(proposal).items()))
    return json.dumps(parts, separators=(",", ":"))


def signed(key: Key = SIGNER, **options: Any) -> Forged:
    """Signed anew, by whatever key."""
    return lambda scene: scene.by(key, **options)


def hardware(**options: Any) -> Forged:
    """By a key of hardware that is Ada's."""
    return both(signed(HARDWARE, **options), listed(key=HARDWARE))


def of_repository(id_: str) -> Forged:
    """Made for that repository."""
    return lambda scene: scene.sign(repository=id_)


def said_to_be_here(scene: Scene) -> None:
    both(of_repository(ELSEWHERE), signed())(scene)
    scene.sign(repository=REPOSITORY)


def transplanted(scene: Scene) -> None:
    """The whole signature of the other decision."""
    scene.sign(**Scene(scene.older, ()).signature)


def named(key: Key) -> Forged:
    """A key in the field beside the signature."""
    return lambda scene: scene.sign(key=b64encode(key.blob).decode())


def raw(edit: Callable[[bytes], bytes]) -> Forged:
    """Other bytes of the signature."""

    def work(scene: Scene) -> None:
        was = scene.signature["sshsig"]
        scene.raw(edit)
        assert scene.signature["sshsig"] != was

    return work


def swapped(old: bytes, new: bytes) -> Forged:
    return raw(lambda made: made.replace(old, new))


def flipped(made: bytes) -> bytes:
    return made[:-9] + bytes([made[-9] ^ 1]) + made[-8:]


def based(edit: Callable[[str], str]) -> Forged:
    """Other base64."""
    return lambda scene: scene.sign(sshsig=edit(scene.signature["sshsig"]))


def extra_bits(base64: str) -> str:
    """The same bytes, with other bits behind the last one."""
    assert base64.endswith("="), "there are such bits"
    last = base64.rstrip("=")[-1]
    other = chr(ord(last) + 1)
    return base64.replace(f"{last}=", f"{other}=")


# 3. Words of who changes the signers ---------------------------------------------------------


def listed(option: str = "", key: Key = SIGNER, name: str = ADA) -> Forged:
    """A file of one signer."""
    line = f"{name} {f'{option} ' if option else ''}{key.public}\n"
    return lambda scene: setattr(scene, "signers", line)


def house(*works: Callable[[Signing], object]) -> Forged:
    """What else is done to the house of who looks."""
    return lambda scene: setattr(scene, "prepare", lambda one: [work(one) for work in works])


def brought() -> Forged:
    """Ada is a signer by the repository alone."""
    return both(listed(key=EVE, name="bob@example.org"), house(bring))


def bring(one: Signing) -> None:
    (one.folder / FILE).parent.mkdir(exist_ok=True)
    (one.folder / FILE).write_text(ADAS)


def unnamed(one: Signing) -> None:
    (one.folder / ".preflights" / "repository").unlink()


def merged(one: Signing) -> None:
    name_repository(one, f"{REPOSITORY}\n{ELSEWHERE}")


def instead(work: Callable[[Path], object]) -> Forged:
    """Something else in the place of the user's own file."""

    def prepare(one: Signing) -> None:
        one.signers.unlink()
        work(one.signers)

    return house(prepare)


def large(path: Path) -> None:
    path.write_text(ADAS)
    os.truncate(path, LARGE)


# 4. The tables -------------------------------------------------------------------------------

NO: Final = "does_not_verify"
UNKNOWN: Final = "unknown_signer"
UNCHECKED: Final = "not_checked"
DAMAGED: Final = "damaged"
"""The session cannot even be read."""

FORGERIES: Final[list[tuple[str, Forged, str | None]]] = [
    # Where it stands
    ("another session", lambda scene: scene.renamed(NUL), NO),
    ("another version", moved, NO),
    ("an event before it is gone", without("reach_noted.v1"), NO),
    ("another intention", before("declared.v1", intention="Add LDAP login"), NO),
    ("an intention by another", before("declared.v1", actor=EVES), NO),
    ("other options", before("asked.v1", turn=2), NO),
    ("another reason", before("rationale_noted.v1", because="Eve"), NO),
    ("another time of an answer", before("answers_given.v1", at=1), NO),
    ("the signature of another decision", transplanted, NO),
    ("another repository", both(of_repository(ELSEWHERE), signed()), None),
    ("another repository, and said to be this one", said_to_be_here, NO),
    ("no repository", both(of_repository(""), signed()), None),
    ("a repository without an id", house(unnamed), None),
    ("two ids of which the older is another", house(merged), None),
    ("an old signature on a revised decision", revised, NO),
    ("the same, and the proposal agrees", both(revised, agrees), NO),
    # What the acceptance says
    ("a patch changed by one byte", say(patch=TYPO), NO),
    ("the same, and the proposal agrees", both(say(patch=TYPO), agrees), NO),
    ("the same where it was proposed", before("proposed.v1", patch=TYPO), NO),
    ("no patch", say(patch=None), NO),
    ("another name", say(actor=EVES), NO),
    ("no name", say(actor={"kind": "user", "name": ""}), NO),
    ("a script", say(actor={"kind": "script", "name": "Ada"}), None),
    ("a microsecond later", later(1), NO),
    ("a year earlier", later(-YEAR), NO),
    ("a scope", say(scope="the old app"), NO),
    ("other paths", say(reach=WIDE), NO),
    ("the same, and the proposal agrees", both(say(reach=WIDE), agrees), NO),
    ("a milder hold", say(reach=MILD), NO),
    ("a task", both(say(mark="task"), agrees), NO),
    ("nothing of other decisions", say(resolved=[]), NO),
    ("another choice", chosen(choice="supersedes"), NO),
    ("another reason to keep one", chosen(reason="Eve"), NO),
    ("another session is kept", kept(session_id=NUL), NO),
    ("one of another title is kept", kept(title="Use LDAP"), NO),
    ("one of another uid is kept", kept(uid="0123456789ab"), NO),
    ("one was read at another version", read(version=3), NO),
    ("one had another hash", read(hash="0" * 64), NO),
    ("another passed it on", say(relayed_by={"kind": "agent", "name": "claude-code"}), NO),
    ("none passed it on", say(relayed_by=None), NO),
    ("a terminal was seen", say(evidence=SEEN), NO),
    ("it came from a page", say(evidence={**SEEN, "terminal": False, "way": "browser"}), NO),
    # What is said to follow from it
    ("another patch, recorded", behind(1, "patch_proposed", patch=OTHER, hint="adr"), NO),
    (
        "another patch behind its record",
        both(behind(2, "patch_proposed", patch=OTHER, hint="adr"), recorded_at(3)),
        NO,
    ),
    ("other paths", behind(1, "reach_noted", reach=WIDE), NO),
    ("other paths behind its record", behind(2, "reach_noted", reach=WIDE), NO),
    ("another reason", reasoned_at(1), NO),
    ("another reason behind its record", reasoned_at(2), NO),
    ("a scope", both(behind(2, "scope_noted", scope="x"), recorded_at(3)), NO),
    ("another answer behind its record", both(answered_at(2), reasoned_as_before), NO),
    (
        "an acceptance by another behind it",
        both(again("decision_recorded", actor=EVES), unsigned),
        None,
    ),
    (
        "the same, refused as well",
        both(again("change_refused", "decision_recorded", actor=EVES), unsigned),
        None,
    ),
    (
        "it was refused, and counts",
        behind(1, "change_refused", change="acknowledgement", reason="patch_changed"),
        None,
    ),
    # The text of the proposal
    ("another title", told(title="Use OAuth everywhere"), NO),
    ("a part more", told(more=1), NO),
    ("a part more that was signed", both(told(more=1), signed()), NO),
    ("a script's", told(by="script"), NO),
    ("white space", spelled(lambda was: was.replace(",", ", ", 1)), NO),
    ("another order", spelled(unordered), NO),
    ("a name twice", spelled(lambda was: was.replace('{"alt', '{"hold":"tell","alt', 1)), NO),
    ("escaped letters", spelled(lambda was: was.replace("OAuth", "\\u004fAuth", 1)), NO),
    ("no JSON", spelled(lambda was: was[1:]), NO),
    ("a list", spelled(lambda was: f"[{was}]"), NO),
    ("brackets without an end", spelled(lambda _: '{"a":' + "[" * 100_000), NO),
    ("a number beyond all", spelled(lambda was: was.replace("{", '{"a":1e999,', 1)), NO),
    ("half a character", spelled(lambda was: was.replace("OAuth", "\\ud800", 1)), NO),
    # The bytes of the signature
    ("another key beside it", named(EVE), NO),
    ("another key in it", swapped(SIGNER.blob, EVE.blob), NO),
    ("another key in both places", both(swapped(SIGNER.blob, EVE.blob), named(EVE)), NO),
    ("another signer's under Ada's key", both(signed(EVE), named(SIGNER)), NO),
    ("another signer's that names Ada's key", signed(EVE, named=SIGNER.blob), NO),
    ("a stranger's", both(signed(EVE), listed()), UNKNOWN),
    ("for an erasure", signed(namespace="preflights-erasure"), NO),
    ("for git", signed(namespace="git"), NO),
    (
        "for something else, written over",
        both(signed(namespace="preflights-approval!!"), swapped(b"approval!!", b"acceptance")),
        NO,
    ),
    ("of version 2", signed(version=2), NO),
    ("another algorithm", swapped(b"sha512", b"sha256"), NO),
    ("cut by a byte", raw(lambda made: made[:-1]), NO),
    ("cut to its key", raw(lambda made: made[:70]), NO),
    ("a byte more", raw(lambda made: made + b"\0"), NO),
    ("a bit turned", raw(flipped), NO),
    ("a length beyond its end", swapped(text(SIGNER.blob)[:4], b"\xff" * 4), NO),
    ("a line more", based(lambda was: f"{was}\n"), DAMAGED),
    ("bits that no byte has", based(extra_bits), NO),
    ("no base64", based(lambda was: "!" + was[1:]), DAMAGED),
    ("almost nothing", based(lambda was: was[:8]), DAMAGED),
    ("armour within", raw(lambda made: armoured(made).encode()), NO),
    ("armour around it", based(lambda was: f"-----BEGIN SSH SIGNATURE-----\n{was}"), DAMAGED),
    # Hardware
    ("a touch that was not", hardware(flags=0, said_flags=1), NO),
    ("of another application", hardware(application="ssh:other"), NO),
    ("an ordinary key's as hardware's", swapped(text(PLAIN), text(f"sk-{PLAIN}")), NO),
    # Who counts, and when
    ("a signer whose time is over", listed('valid-before="20200101"'), UNKNOWN),
    ("a signer whose time is to come", listed('valid-after="20900101"'), UNKNOWN),
    ("a signer with an option that is unknown", listed('times="all"'), UNKNOWN),
    ("a signer of commits", listed('namespaces="git,file"'), UNKNOWN),
    ("a signer of erasures", listed('namespaces="preflights-erasure"'), UNKNOWN),
    ("a signer who was removed", listed(key=EVE), UNKNOWN),
    ("a signer behind a #", listed(name=f"# {ADA}"), UNKNOWN),
    ("an authority, without a certificate", listed("cert-authority"), UNKNOWN),
    ("before 1970", dated(-1), UNKNOWN),
    ("beyond all years", dated(2**53), UNKNOWN),
    ("a repository's signers", brought(), UNKNOWN),
    ("signers that are a folder", instead(Path.mkdir), UNCHECKED),
    ("signers that are a pipe", instead(os.mkfifo), UNCHECKED),
    ("signers of 100 MB", instead(large), UNCHECKED),
    ("signers that are gone", instead(lambda _: None), UNCHECKED),
]
"""What is forged, how, and what is said of the acceptance then; None where nothing counts."""

OF_AN_AGENT: Final[list[tuple[str, Forged, str | None]]] = [
    ("as it was", both(), None),
    ("it counts", counts, None),
    ("a person's", both(a_person_did, counts), NO),
    ("a person's by its text, too", both(a_person_did, and_said_so, counts), NO),
]
"""The same of a proposal that an agent signed with Ada's key while she looked away."""

OF_A_PLAN: Final[list[tuple[str, Forged, str | None]]] = [
    ("another plan behind it", drafted_at(1), NO),
    ("another plan behind its standing", drafted_at(2), NO),
    ("another plan of the same id", drafted_at(1, id=None), NO),
    ("another plan at the end", drafted_at(0), NO),
    ("another plan before it", before("plan_drafted.v1", payload=PLAN), NO),
    ("another digest", say(sha256="0" * 64), NO),
    ("another id", say(id=NUL), NO),
    ("a report behind it", failed_at(1), NO),
    ("an answer behind it", behind(1, "answer_accepted", key="k", answer="Eve"), NO),
    ("a question behind it", behind(2, "question_asked", question=QUESTION), NO),
    ("it was refused, and counts", behind(1, "change_refused", reason="other_payload"), None),
    ("it counts, and was refused", behind(2, "change_refused", reason="other_payload"), None),
    ("an approval by another behind it", both(again("standing_changed"), unsigned, by_eve), None),
    ("for an acceptance", signed(namespace="preflights-acceptance"), NO),
    ("for a rejection", signed(namespace="preflights-rejection"), NO),
    ("a stranger's", both(signed(EVE), listed()), UNKNOWN),
    ("another passed it on", say(relayed_by={"kind": "agent", "name": "claude-code"}), NO),
    ("a terminal was seen", say(evidence=SEEN), NO),
    ("a script's", say(actor={"kind": "script", "name": "Ada"}), None),
]
"""The same of an approval that Ada signed."""

HONEST: Final[list[tuple[str, Forged]]] = [
    ("as it was", both()),
    ("signed anew", signed()),
    ("by hardware", hardware()),
    ("by hardware without a touch", hardware(flags=0)),
    ("a renumbered record", say(number=77)),
    ("another folder", say(folder="elsewhere")),
    ("another title by a later program", both(told(title="OAuth it is"), signed())),
    ("a signer for a time", listed('valid-after="20200101",valid-before="20900101"')),
    ("a signer of acceptances", listed('namespaces="git,preflights-acceptance"')),
]
"""What changes nothing of what Ada signed; without it the table above would prove nothing."""
