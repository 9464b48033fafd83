"""No command shows a password that stands in the address of a log."""

from __future__ import annotations

from sqlalchemy.engine import URL, make_url

from preflights_es.store.urls import parse_log_address, shown_url, without_secrets
from tests.cli.program import Project
from tests.each import each
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

SERVER = "postgresql://ada@127.0.0.1:1/log"
ADDRESSES = FILED["ADDRESSES"]


WORDS = ("admin db status -v --json", "admin db backup copy.db -v", "start x -v", "show --debug")


@each(
    ("address", "words"),
    [*((one, "sessions -v") for one in ADDRESSES), *((ADDRESSES[0], one) for one in WORDS)],
)
def test_a_password_in_an_address_is_never_shown(house: Project, address: str, words: str) -> None:
    by_option = house.call(*words.split(), "--db", address)
    by_variable = house.call(*words.split(), env={"PREFLIGHTS_DATABASE_URL": address})
    for done in (by_option, by_variable):
        assert done.code in (2, 5), done
        assert "tU" not in done.out + done.err
        # the log, the settings, what is wrong, and the same as JSON
        assert len(done.err.strip().splitlines()) <= 3 + ("--json" in words)


def test_an_address_is_shown_without_its_password_and_one_with_an_at_sign_is_refused(
    house: Project,
) -> None:
    done = house.call("sessions", "-v", "--db", f"{SERVER}?password=tUlip&sslmode=disable")
    assert done.err.startswith("log postgresql://ada@127.0.0.1:1/log?")
    assert "sslmode=disable" in done.err
    assert "password=%2A%2A%2A" in done.err or "password=***" in done.err
    done = house.call("sessions", "-v", "--db", "postgresql://ada:one@two@db.example.org/log")
    assert (done.code, done.out) == (2, "")
    assert "write %40" in done.err
    assert "two" not in done.err.replace("has two @", "")
    assert make_url("postgresql://ada:one%40two@h/log").password == "one@two"


@each(
    ("address", "said"),
    [
        ("postgresql://ada:tU%2Flip@h/log", "tU/lip"),
        ("postgresql://ada:tU%2Flip@h/log", "tU%2Flip"),
        ("postgresql://h/log?password=tU+lip", "tU lip"),
        ("postgresql://h/log?password=tU+lip", "tU+lip"),
        ("postgresql://h/log?sslpassword=Rose&sslpassword=tUlip", "tUlip"),
    ],
)
def test_what_a_driver_says_is_repeated_without_the_password(address: str, said: str) -> None:
    url = parse_log_address(address)
    assert isinstance(url, URL)
    assert without_secrets(url, f"cannot connect with {said}!") == "cannot connect with ***!"
    assert "tU" not in shown_url(url)


@each(
    "address",
    [
        "postgresql:/ada:tUlip@h/log",
        "postgres//ada:tUlip@h/log",
        "ada:tUlip@h/log",
        "host=h password=tUlip dbname=log",
        "postgresql://h/log?pwd=tUlip",
        "postgresql://h/log?options=password%3DtUlip",
        "sqlite:///x.db?key=tUlip",
    ],
)
def test_what_is_half_an_address_is_not_repeated(house: Project, address: str) -> None:
    done = house.call("sessions", "-v", "--db", address)
    assert done.code in (2, 5)
    assert "tUlip" not in done.out + done.err
