"""Exported pages in a real browser: what they verify, how one changed byte shows, for everyone."""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace
from selenium.webdriver import Keys

from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from preflights_es.words.signing import bears_signature
from tests.browser import Browser
from tests.cli.program import Project
from tests.records.test_render_hostile import HOSTILE
from tests.surfaces.view import sshsig
from tests.surfaces.view.given_sessions import resealed, told
from tests.surfaces.view.test_export import exported

pytestmark = pytest.mark.needs("chromium")

GOLDENS: Final = Path(__file__).parents[3] / "replays" / "clarification"
VERDICT: Final = "return document.getElementById('proof').dataset.verdict ?? ''"
SAID: Final = "return document.querySelector('#proof ul').innerText"
CHECK: Final = """
const button = document.querySelector("#proof button"); // its script may not have run yet
button.onclick?.();
return Boolean(button.onclick);
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


class _Host(ThreadingHTTPServer):
    request_queue_size = 64  # of the usual 5, a browser fills all: the next one waits for 44 s


@pytest.fixture
def address(shop: Project) -> Iterator[str]:
    """Of the site, as a host serves it."""
    handler = partial(_Quiet, directory=str(shop.folder / "site"))
    with _Host(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def site(shop: Project) -> tuple[Path, str]:
    """A site, and the name of its one decision."""
    row = shop.decided("Add OAuth login", "--because", "The shop has no passwords")
    return exported(shop), f"decisions/{row['uid']}.html"


def verdict(browser: Browser, page: str) -> str:
    """What the page says of itself; a list is asked to."""
    browser.visit(page)
    if browser.run("return 'asks' in document.getElementById('proof').dataset"):
        browser.until(CHECK)
    found = browser.until(VERDICT)
    assert isinstance(found, str)
    return found


def holds(browser: Browser, page: str) -> str:
    """What a page says of itself, nothing of which says that it was changed."""
    found, said = verdict(browser, page), browser.run(SAID)
    assert found in ("good", "doubt"), said
    assert "does not hold" not in said, said
    assert isinstance(said, str)
    return said


# 1. What holds -------------------------------------------------------------------------------


def test_a_page_holds_served_and_in_a_folder_but_for_its_file(
    browser: Browser, site: tuple[Path, str], address: str
) -> None:
    said = holds(browser, address + site[1])
    assert "The file of this page is as it was exported" in said
    assert "The chain of" in said
    assert browser.errors() == []
    assert all(one.startswith(address) for one in browser.requests())
    folder, page = site
    said = holds(browser, (folder / page).as_uri())
    assert "a browser lets no page of a folder read it" in said
    assert "texts of this page stand in them" in said
    assert browser.errors() == []
    browser.visit(address)
    assert browser.run(VERDICT) == ""
    browser.until(CHECK)
    assert browser.until(VERDICT) != "bad"
    assert "texts of these pages stand in them" in browser.run(SAID)
    assert browser.errors() == []


@pytest.mark.slow("whole runs")
def test_no_page_of_any_recorded_session_raises_a_false_alarm(
    shop: Project, browser: Browser, address: str
) -> None:
    shop.folder.joinpath("all.jsonl").write_bytes(
        b"".join(jsonl.encode_event_file(one) for one in goldens())
    )
    assert shop.call("admin", "import", "all.jsonl", env=PROJECT).code == 0
    done = shop.call("view", "--export", "site", "--all", "--yes", env=PROJECT)
    assert done.code == 0, done.err
    pages = sorted(shop.folder.glob("site/*/*.html"))
    assert len(pages) > 100
    for page in pages:
        holds(browser, f"{address}{page.parent.name}/{page.name}")
    assert browser.errors() == []


PROJECT: Final = {"PREFLIGHTS_PROJECT": "golden"}


def goldens() -> Iterator[tuple[Stored, ...]]:
    """Each recorded session by an id of its own, but those whose signature is made up."""
    number = 0
    for path in sorted(GOLDENS.glob("*.jsonl")):
        with path.open("rb") as file:
            stored = tuple(jsonl.stored(jsonl.lines_in(file, path.name), path.name))
        ids = dict.fromkeys(one.session_id for one in stored)
        for former in ids:
            number += 1
            own = [one for one in stored if one.session_id == former]
            if any(map(bears_signature, own)):
                continue
            yield copied(own, f"01a0c450-6c00-7000-8000-{number:012x}", number)


def copied(events: list[Stored], session: str, number: int = 0) -> tuple[Stored, ...]:
    """The events as another session's."""
    uids = (decision_uid(one).encode() for one in (events[0].session_id, session))
    former, uid = uids
    return resealed(
        replace(
            one,
            session_id=session,
            project="golden",
            data=(one.data or b"").replace(former, uid),
            input_id=f"{session}/{one.version}" if one.input_id else None,
        )
        for one in events
    )


# 2. What does not ----------------------------------------------------------------------------


@pytest.mark.slow("whole runs")
def test_each_changed_byte_is_found(browser: Browser, site: tuple[Path, str], address: str) -> None:
    folder, page = site
    whole = (folder / page).read_bytes()
    frame = whole.index(b'id="proof"')  # what is cut out of a page cannot say anything
    begin = whole.index(b"<main")
    for at in range(begin, frame - 100, 61):
        changed = bytearray(whole)
        changed[at] ^= 1
        (folder / page).write_bytes(bytes(changed))
        browser.visit(address + page)
        found = browser.until(VERDICT)
        assert found == "bad", (at, whole[at - 40 : at + 40])


def test_a_changed_value_is_found_in_a_folder_too(browser: Browser, site: tuple[Path, str]) -> None:
    folder, page = site
    text = (folder / page).read_text("utf-8")
    for said in (">OAuth</b>", "The shop has no passwords</span>", ">Ada Lovelace</span>"):
        assert said in text
        wrong = said.replace("OAuth", "0Auth").replace("no", "new").replace("Ada", "Eve")
        (folder / page).write_text(text.replace(said, wrong), "utf-8")
        assert verdict(browser, (folder / page).as_uri()) == "bad"
        assert "does not say what this page shows" in browser.run(SAID)
        assert browser.run("return document.querySelectorAll('.differs').length") > 0


def test_a_changed_record_is_found(browser: Browser, site: tuple[Path, str]) -> None:
    folder, page = site
    text = (folder / page).read_text("utf-8")
    (folder / page).write_text(text.replace("Chosen option", "Dropped option"), "utf-8")
    assert verdict(browser, (folder / page).as_uri()) == "bad"


def test_a_page_in_the_place_of_another_is_found(
    browser: Browser, site: tuple[Path, str], shop: Project, address: str
) -> None:
    folder, page = site
    row = shop.decided("Use PostgreSQL", key="db_type=PostgreSQL")
    exported(shop)
    shutil.copy(folder / f"decisions/{row['uid']}.html", folder / page)
    assert verdict(browser, address + page) == "bad"
    assert "another name" in browser.run(SAID)


def test_a_changed_proof_is_found(
    browser: Browser, site: tuple[Path, str], shop: Project, address: str
) -> None:
    folder, page = site
    (proof,) = (one for one in (folder / "proof").iterdir() if one.name[0] == "0")
    whole = proof.read_text("utf-8")
    for before, after in (
        ("The shop has no passwords", "The shop has new passwords"),
        ('"version":2', '"version":3'),
        ('"hash":"', '"hash":"0'),
        ('"actor_kind":"script"', '"actor_kind":"user"'),
        ('"clarification/', '"clarified/'),
        ("proof({", "proof ({ "),
    ):
        if before not in whole:
            continue
        proof.write_text(whole.replace(before, after, 1), "utf-8")
        found = verdict(browser, address + page) == "bad"
        assert found is (before != "proof({"), before
    proof.write_text("proof({", "utf-8")
    assert verdict(browser, address + page) == "bad"
    assert "its proof is not here" in browser.run(SAID)
    proof.unlink()
    assert verdict(browser, address + page) == "bad"


def test_a_page_whose_scripts_do_not_run_says_that_nothing_was_verified(
    browser: Browser, site: tuple[Path, str], address: str
) -> None:
    folder, page = site
    (folder / "static" / "proof.js").write_text("proof(", "utf-8")
    browser.visit(address + page)
    assert "Nothing was verified yet" in browser.run(SAID)
    assert browser.run(VERDICT) == ""


def test_a_page_without_the_signers_of_its_site_is_found(
    browser: Browser, site: tuple[Path, str], address: str
) -> None:
    folder, page = site
    (folder / "proof" / "site.js").unlink()
    assert verdict(browser, address + page) == "bad"
    assert "The proof cannot be read" in browser.run(SAID)


def test_a_list_verifies_the_page_of_each_decision_and_names_the_one_that_does_not_hold(
    browser: Browser, site: tuple[Path, str], shop: Project, address: str
) -> None:
    folder, page = site
    title = "Use \u05d0\u05d1 <b>PostgreSQL</b>"
    shop.decided(title, key="db_type=PostgreSQL")
    exported(shop)
    assert verdict(browser, address) != "bad"
    assert browser.run(SAID).splitlines()[0].endswith("2 decisions hold, 0 signed, 0 broken")
    text = (folder / page).read_text("utf-8")
    (folder / page).write_text(text.replace(">OAuth</b>", ">0Auth</b>"), "utf-8")
    for path in ("", "sessions/index.html"):
        assert verdict(browser, address + path) == "bad"
        said = browser.run(SAID)
        assert said.splitlines()[0].endswith("1 decision holds, 0 signed, 1 broken"), said
        assert f"OAuth for authentication”: its page {page} was changed after the export" in said
        top = browser.run("return document.querySelector('main').firstElementChild.innerText")
        assert "This page does not hold" in top
        assert browser.run("return document.querySelectorAll('.badge.good').length") == 0
    assert verdict(browser, (folder / "index.html").as_uri()) == "doubt"
    assert "The pages of these decisions: a browser lets no page of a folder" in browser.run(SAID)


# 3. Signatures -------------------------------------------------------------------------------


class Signed(NamedTuple):
    """A decision that Ada signed."""

    folder: Path
    page: str
    session: str


@pytest.fixture
def signed(shop: Project, tmp_path: Path) -> Signed:
    key, public = sshsig.generated(tmp_path)
    others = sshsig.HardwareKey().line
    (tmp_path / "signers").write_text(f"ada@example.org {public}\neve@example.org {others}\n")
    own = tmp_path / "config" / "preflights" / "settings.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[sign]\nkey = "{key}"\nsigners = "{tmp_path / "signers"}"\n')
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    shop.started_session()
    shop.call("answer", "last", "OAuth", env=env)
    done = shop.call("accept", "last", "--sign", "--by", "Ada", "--json", env=env)
    assert done.code == 0, done.err
    exported_now = shop.call("view", "--export", "site", "--yes", env=env)
    assert "ada@example.org" in exported_now.out
    folder = shop.folder / "site"
    text = (folder / "proof" / "site.js").read_text()
    assert ("ada@example.org" in text, "eve@example.org" in text) == (True, False)
    return Signed(folder, f"decisions/{done.json['uid']}.html", done.json["session_id"])


@pytest.mark.needs("ssh-keygen")
def test_a_signed_acceptance_holds(browser: Browser, signed: Signed, address: str) -> None:
    said = holds(browser, address + signed.page)
    assert browser.run(VERDICT) == "good"
    assert "acceptance: signed by ada@example.org (SHA256:" in said
    site = signed.folder / "proof" / "site.js"
    site.write_text(site.read_text().replace("ada@example.org ssh", "# ada@example.org ssh"))
    said = holds(browser, address + signed.page)
    assert "unknown signer, the key is not among the published signers" in said


def test_a_proof_that_names_no_acceptance_proves_no_more_than_a_claim(
    browser: Browser, site: tuple[Path, str]
) -> None:
    folder, page = site
    (proof,) = folder.glob("proof/0*.js")
    proof.write_text(proof.read_text("utf-8").replace('"act"', '"acs"'), "utf-8")
    for path in (page, "index.html"):
        browser.visit((folder / path).as_uri())
        browser.until(CHECK)
        browser.shows("return /no acceptance/.test(document.body.innerText)", True)
        assert browser.run(VERDICT) == "doubt"


@pytest.mark.needs("ssh-keygen")
def test_a_chain_that_was_computed_anew_has_no_signature(browser: Browser, signed: Signed) -> None:
    page = (signed.folder / signed.page).as_uri()
    for path in (signed.folder / signed.page, *signed.folder.glob("sessions/*.html")):
        path.write_text(path.read_text().replace("OAuth", "SAML"))
    proof = signed.folder / "proof" / f"{signed.session}.js"
    forged = json.loads(proof.read_text().removeprefix("proof(").removesuffix(");\n"))
    for event in forged["events"]:
        if event["data"] is not None and '"sshsig"' not in event["data"]:
            event["data"] = event["data"].replace("OAuth", "SAML")
    proof.write_text(f"proof({json.dumps(recomputed(forged))});\n")
    assert verdict(browser, page) == "bad"
    said = browser.run(SAID)
    assert "The chain of" in said
    assert "acceptance: does not verify, another key made it, or for something else" in said


def recomputed(proof: dict[str, Any]) -> dict[str, Any]:
    """The proof with digests and hashes that fit, as its writer can make them."""
    previous, session = bytes(32), proof["session"]
    text = sshsig.field
    for event in proof["events"]:
        digest = bytes.fromhex(event["digest"])
        if event["data"] is not None:
            digest = sha256(bytes.fromhex(event["salt"]) + event["data"].encode()).digest()
        absent = b"\xff" * 4
        envelope = (
            *(text("preflights.event/1"), text(session["session_id"]), text(session["project"])),
            *(text(session["workflow"]), struct.pack(">Q", event["version"]), text(event["type"])),
            struct.pack(">q", int(event["recorded_at"])),
            *(
                absent if event[name] is None else text(event[name])
                for name in ("input_id", "actor_kind", "decider")
            ),
        )
        previous = sha256(previous + b"".join(envelope) + digest).digest()
        event |= {"digest": digest.hex(), "hash": previous.hex()}
    return proof


# 4. For everyone -----------------------------------------------------------------------------


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, shop: Project, address: str, scheme: str) -> None:
    row = shop.decided("Add OAuth login", "--because", "The shop has no passwords")
    exported(shop, "--all", "--sessions")
    own = (f"decisions/{row['uid']}.html", f"sessions/{row['session_id']}.html")
    for page in ("", "sessions/index.html", *own):
        browser.visit(address + page, scheme)
        browser.until(CHECK)
        assert browser.until(VERDICT) != "bad"
        assert browser.errors() == []
        # axe tells no colour behind the text of a picture, nor of a single character.
        told = [
            one
            for one in browser.complaints()
            if not one.startswith(("color-contrast: <text", "color-contrast: <dd>"))
        ]
        assert told == []


def test_a_list_is_searched_as_one_types(
    browser: Browser, site: tuple[Path, str], shop: Project
) -> None:
    shop.decided("Use PostgreSQL", key="db_type=PostgreSQL")
    folder = exported(shop)
    browser.visit((folder / "index.html").as_uri())
    browser.run("document.getElementById('q').focus()")
    browser.press(*"OAUTH passw")
    matches = (
        "return [...document.querySelectorAll('main > ul a')].map((one) => one.pathname.slice(-22))"
    )
    browser.shows(matches, [f"/{site[1]}"[-22:]])
    assert browser.run("return document.getElementById('found').hidden")
    browser.press(*"zzz")
    browser.shows(matches, [])
    assert "Decisions that match: 0" in browser.run("return document.body.innerText")
    browser.press(Keys.ENTER, *[Keys.BACKSPACE] * 14)
    browser.shows("return document.getElementById('found').hidden", False)
    assert browser.errors() == []


def test_a_list_is_narrowed_by_topic_and_goes_back_by_day(browser: Browser, shop: Project) -> None:
    for number, intention in enumerate(("Use Redis for caching", "Use Memcached for caching")):
        ready = shop.call("start", intention, "--json").json["session_id"]
        more = ("--supersedes", "ADR-0001") if number else ()
        assert shop.call("accept", ready, "--by", "Ada", *more).code == 0
    shop.decided("Use PostgreSQL", key="db_type=PostgreSQL")
    folder = exported(shop, "--all")
    index = folder / "proof" / "search.js"
    rows = json.loads(index.read_text("utf-8").removeprefix("searchable(").removesuffix(");\n"))
    days = ("2026-01-01", "2026-01-03", "2026-01-03")
    assert [(row[4], bool(row[5]), bool(row[6])) for row in rows] == [
        ("Caching", True, True),
        ("Caching", True, False),
        ("Database", True, False),
    ]
    told = [
        [*row[:5], day, "2026-01-03" if row[6] else ""] for row, day in zip(rows, days, strict=True)
    ]
    index.write_text(f"searchable({json.dumps(told)});\n")
    page = folder / "all.html"
    text = re.sub(r'max="\d+" value="\d+" data-first="[^"]*"', DAYS, page.read_text("utf-8"))
    page.write_text(text)
    browser.visit(page.as_uri())
    browser.shows("return document.querySelector('.days').hidden", False)
    _narrowed(browser, "topic", "Caching", ["Use Redis for caching", "Use Memcached for caching"])
    _narrowed(browser, "topic", "", [])
    browser.run("document.getElementById('day').focus()")
    browser.press(Keys.ARROW_LEFT)
    browser.shows(NARROWED, ["Use Memcached for caching", "Use PostgreSQL for the database"])
    browser.press(Keys.ARROW_LEFT)
    browser.shows(NARROWED, ["Use Redis for caching"])
    assert browser.run("return document.querySelector('output').value") == "2026-01-02"
    assert browser.run("return document.getElementById('day').ariaValueText") == "2026-01-02"
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    browser.shows("return document.getElementById('found').hidden", False)
    assert browser.errors() == []


DAYS: Final = 'max="3" value="3" data-first="2026-01-01"'
NARROWED: Final = (
    "return [...document.querySelectorAll('main > ul a')].map((one) => one.textContent)"
)


def _narrowed(browser: Browser, name: str, value: str, titles: list[str]) -> None:
    """What a list shows once a field has a value."""
    browser.run(
        f"const one = document.getElementById({name!r}); one.value = {value!r};"
        "one.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    if titles:
        browser.shows(NARROWED, titles)
    browser.shows("return document.getElementById('found').hidden", bool(titles))


@pytest.mark.slow("whole runs")
def test_hostile_words_stand_as_text(browser: Browser, shop: Project, address: str) -> None:
    with (GOLDENS / "a_model_leads.jsonl").open("rb") as file:
        stored = list(jsonl.stored(jsonl.lines_in(file, "golden"), "golden"))
    first = [one for one in stored if one.session_id == stored[0].session_id]
    values = {value for one in first for _, value in fields(one)}
    with (shop.folder / "evil.jsonl").open("wb") as out:
        for number, word in enumerate((*EVIL, *HOSTILE), 1):
            evil = told(first, partial(worded, values, word))
            session = f"01a0c450-6c00-7000-8000-{number:012x}"
            out.write(jsonl.encode_event_file(copied(list(evil), session)))
    done = shop.call("admin", "import", "evil.jsonl", env=PROJECT)
    assert done.code == 0, done.err
    done = shop.call("view", "--export", "site", "--all", "--yes", env=PROJECT)
    assert done.code == 0, done.err
    pages = sorted(shop.folder.glob("site/*/[0-9a-f]*.html"))
    assert len(pages) > 30
    for page in pages:
        holds(browser, f"{address}{page.parent.name}/{page.name}")
        assert browser.run("return [window.evil ?? 0, document.scripts.length]") == [0, 5]
    assert browser.errors() == []
    assert all(one.startswith(address) for one in browser.requests())


def _longer(size: int, text: str) -> str:
    """A text of words with so many characters more."""
    return f"{text}{'&' * size}" if " " in text else text


@pytest.mark.slow("sizes")
def test_no_page_is_too_large_for_browsers(shop: Project, browser: Browser, address: str) -> None:
    with (GOLDENS / "a_model_leads.jsonl").open("rb") as file:
        stored = list(jsonl.stored(jsonl.lines_in(file, "golden"), "golden"))
    first = [one for one in stored if one.session_id == stored[0].session_id]
    sizes = {1: 5_000, 2: 200_000}
    with (shop.folder / "large.jsonl").open("wb") as out:
        for number, size in sizes.items():
            large = told(first, partial(_longer, size))
            out.write(
                jsonl.encode_event_file(
                    copied(list(large), f"01a0c450-6c00-7000-8000-{number:012x}")
                )
            )
    assert shop.call("admin", "import", "large.jsonl", env=PROJECT).code == 0
    done = shop.call("view", "--export", "site", "--all", "--yes", env=PROJECT)
    assert done.code == 0, done.err
    assert "left out: session 01a0c450-6c00-7000-8000-000000000002 has a page of" in done.err
    pages = sorted(shop.folder.glob("site/*/[0-9a-f]*.html"))
    assert len(pages) == 2
    for page in pages:
        assert page.stat().st_size < 2_000_000
        holds(browser, f"{address}{page.parent.name}/{page.name}")


def fields(event: Stored) -> list[tuple[str, str]]:
    """What a patch decides."""
    found: list[tuple[str, str]] = (
        json.loads(event.data or b"{}").get("patch", {}).get("fields", [])
    )
    return found


def worded(values: set[str], word: str, text: str) -> str:
    """A text of a person or a model with a hostile word behind it; a name of ours as it is."""
    return f"{text}{word}" if " " in text or text in values else text


EVIL: Final = (
    "<script>evil = 1</script>",
    '"><img src=x onerror="evil = 1">',
    "</pre></main><section id=proof data-verdict=good>",
    "' data-said='1' onload='evil = 1",
    "\u2028\u2029</script><!--",
    "\x1b[31mred\x07\x1c\x85",
    "\u202eltr\u2066\ufeff",
    "javascript:evil = 1",
    "…",
)
