"""What is shown of an address: scheme, host, port and database, and nothing else wherever it stands."""

from __future__ import annotations

import logging
import string
import traceback
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel.errors import InputError, SuperlevelError
from superlevel.study.storage import open_storage
from superlevel.study.storage.address import parse
from superlevel.study.storage.sql import Sql
from tests.cli.study.terminal import GIVEN, Terminal, terminal, write_points  # noqa: F401

SECRET = "s3cret"
AWAY = "127.0.0.1:1"  # where nobody answers

SHOWN = {
    "postgresql://ada:s3cret@host/lab": "postgresql://***@host/lab",
    "postgresql://s3cret@host/lab": "postgresql://***@host/lab",
    "postgresql://:s3cret@host/lab": "postgresql://***@host/lab",
    "postgresql://ada:s3cret%40%2F@host/lab": "postgresql://***@host/lab",
    "postgresql://ada:s3cret:s3cret@host/lab": "postgresql://***@host/lab",
    "postgresql://ada:s3cret#s3cret@host/lab": "postgresql://***@host/lab",
    "postgres://ada:s3cret@host:5433/lab": "postgresql://***@host:5433/lab",
    "postgresql+psycopg://ada:s3cret@host/lab?sslmode=require": "postgresql://***@host/lab",
    "postgresql://ada:s3cret@[::1]:5432/lab": "postgresql://***@[::1]:5432/lab",
    "postgresql://host/lab?user=ada&password=s3cret": "postgresql://***@host/lab",
    "postgresql://host/lab?PASSWORD=s3cret": "postgresql://***@host/lab",
    "postgresql://host/lab?Password=s3cret": "postgresql://***@host/lab",
    "postgresql://host/lab?sslpassword=s3cret": "postgresql://***@host/lab",
    "postgresql://host/lab?oauth_client_secret=s3cret": "postgresql://***@host/lab",
    "postgresql://host/lab?passfile=/home/s3cret": "postgresql://***@host/lab",
    "postgresql://host/lab?options=-cmy.key%3Ds3cret": "postgresql://***@host/lab",
    "postgresql://host/lab?application_name=s3cret": "postgresql://***@host/lab",
    "postgresql://host/lab?s3cret=": "postgresql://***@host/lab",
    "postgresql://host/lab?s3cret=s3cret&host=s3cret'&port=7": "postgresql://***@host/lab?port=7",
    "postgresql://ada:s3cret@/lab?host=/var/run": "postgresql://***@/lab?host=/var/run",
    "postgresql://host/lab": "postgresql://host/lab",
    "postgresql://h1,h2/lab": "postgresql://h1,h2/lab",
    "sqlite:///campaigns.db": "sqlite:///campaigns.db",
    "sqlite:////var/lib/x@y.db": "sqlite:////var/lib/x@y.db",
}
REFUSED = [
    "postgresql://ada:s3cret@s3cret@host/lab",
    "postgresql://ada:p@s3cret@host/lab",
    "postgresql://ada:p@s3cret/x@host/lab",
    "postgresql://ada:p/s3cret@host/lab",
    "postgresql://ada:p?s3cret@host/lab",
    "postgresql://ada:s3cret@x@host:no/lab",
    "postgresql://ada:s3cret/lab",
    "postgresql://a/da:s3cret@host/lab",
    "postgresql://host:5432/lab?password=a@s3cret",
    "postgresql://host:5432/lab?password=a@s3cret/b",
    "postgresql://host/lab?password=a@s3cret/b",
    "postgresql://host/lab/s3cret",
    "postgresql://host/password=s3cret",
    "postgresql://host",
    "postgresql://***@host/lab",
    "postgresql:/ada:s3cret@host/lab",
    "postgresql:ada:s3cret@host/lab",
    "postgresql//ada:s3cret@host/lab",
    "postgresql:///ada:s3cret@host/lab",
    "POSTGRESQL://ada:s3cret@host/lab",
    "Postgresql ://ada:s3cret@host/lab",
    " postgresql://ada:s3cret@host/lab",
    "'postgresql://ada:s3cret@host/lab'",
    "--store=postgresql://ada:s3cret@host/lab",
    "psql postgresql://ada:s3cret@host/lab",
    "pg://ada:s3cret@host/lab",
    "s3cret://ada@host/lab",
    "mysql://ada:s3cret@host/lab",
    "postgresql+psycopg2://ada:s3cret@host/lab",
    "jdbc:postgresql://host/lab?user=ada&password=s3cret",
    "host=db.example dbname=lab user=ada password=s3cret",
    "password=s3cret",
    "ada:s3cret@host",
    "s3cret",
    "sqlite:///x.db?key=s3cret",
    "sqlite://ada:s3cret@host/x.db",
    "sqlite://s3cret/x.db",
    "sqlite+pysqlcipher://:s3cret@/x.db",
]


@pytest.mark.parametrize(("store", "shown"), SHOWN.items())
def test_scheme_host_port_and_database_are_shown_and_nothing_else(store: str, shown: str) -> None:
    storage = Sql(store)
    assert storage.url == shown
    assert SECRET not in f"{storage!r} {parse(store)!r} {vars(storage)} {storage._store._opened!r}"


@pytest.mark.parametrize("store", REFUSED)
def test_of_an_address_that_cannot_be_used_only_its_scheme_is_shown(store: str) -> None:
    with pytest.raises(InputError) as refused:
        open_storage(store)
    assert SECRET not in everything(refused.value)
    assert "\n" not in str(refused.value)


def test_what_stands_for_a_secret_is_not_taken_for_one() -> None:
    with pytest.raises(InputError, match="write the user there, and the password if it needs one"):
        open_storage(Sql("postgresql://ada:s3cret@host/lab").url)


@pytest.mark.parametrize(
    "command",
    [
        ("doctor",),
        pytest.param(("study", "status", "harbour"), marks=pytest.mark.slow),
        pytest.param(("study", "list", "--json"), marks=pytest.mark.slow),
    ],
)
def test_no_command_and_no_log_shows_it(
    terminal: Terminal,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
    command: tuple[str, ...],
) -> None:
    caplog.set_level(logging.DEBUG)
    for store in (*SHOWN, *REFUSED):
        if not any(part in store for part in ("[::1]", "/var/", "campaigns.db")):  # the others cannot be reached
            address = store.replace("@host", f"@{AWAY}").replace("//host", f"//{AWAY}").replace("h1,h2", AWAY)
            ran = terminal(*command, "--store", address)
            assert ran.code != 0
            assert SECRET not in ran.out + ran.err + caplog.text


def test_a_study_on_a_server_shows_it_nowhere(postgres_url: str, terminal: Terminal) -> None:  # noqa: F811
    write_points(terminal.folder / "points.csv")
    address = postgres_url.replace("postgres@", f"postgres:{SECRET}@") + f"&application_name={SECRET}"
    said = terminal.study("create", "harbour", "--points", "points.csv", *GIVEN, "--store", address)
    for command in (
        ("study", "suggest", "harbour", "--csv", "sheet.csv"),
        ("study", "status", "harbour"),
        ("study", "report", "harbour"),
        ("study", "export", "harbour", "--what", "log", "--out", "log.jsonl"),
        ("study", "verify", "harbour"),
        ("study", "list"),
        ("doctor",),
    ):
        ran = terminal(*command, "--store", address)
        assert ran.code == 0, ran.err
        said += ran.out + ran.err
    assert "postgresql://***@/postgres?host=" in said
    assert SECRET not in said
    for file in terminal.folder.iterdir():
        assert SECRET not in file.read_text(encoding="utf-8")


# --- wherever it stands

_LETTERS = st.text(string.ascii_letters + string.digits + string.punctuation + " é", min_size=5, max_size=20)
_PLACES = [
    "postgresql://ada:{}@127.0.0.1:1/lab",
    "postgresql://{}@127.0.0.1:1/lab",
    "postgresql://{}:{}@127.0.0.1:1/lab",
    "postgresql://127.0.0.1:1/lab?password={}",
    "postgresql://127.0.0.1:1/lab?user=ada&PASSWORD={}",
    "postgresql://127.0.0.1:1/lab?sslmode={}",
    "postgresql://127.0.0.1:1/lab?connect_timeout={}",
    "postgresql://127.0.0.1:1/lab?{}=1",
    "postgresql://ada:{}@127.0.0.1:1/lab?sslpassword={}&oauth_client_secret={}",
    "postgresql:/ada:{}@127.0.0.1:1/lab",
    "postgresql//ada:{}@127.0.0.1:1/lab",
    "postgres ://ada:{}@127.0.0.1:1/lab",
    "mysql://ada:{}@127.0.0.1:1/lab",
    "host=127.0.0.1 port=1 password={}",
    "host=127.0.0.1 port=1 password='{}' dbname=lab",
    "ada:{}@127.0.0.1:1",
    "sqlite://ada:{}@x/y.db",
    "sqlite:///x.db?key={}",
]


@settings(max_examples=300, deadline=None)
@given(place=st.sampled_from(_PLACES), secret=_LETTERS, escaped=st.booleans())
def test_a_secret_never_shows(place: str, secret: str, escaped: bool) -> None:
    marked = f"Zq{secret}qZ"  # or it might be a word of the sentence
    written = quote(marked, safe="") if escaped else marked
    shown = ""
    try:
        storage = open_storage(place.replace("{}", written))
        shown = f"{storage.url} {storage!r}"
        storage.names()
    except SuperlevelError as error:
        shown += everything(error)
    else:
        pytest.fail("nobody is there")
    assert marked not in shown
    assert written not in shown
    for part in ("Zq" + secret[:3], secret[-3:] + "qZ"):
        assert part not in shown


def everything(error: BaseException) -> str:
    """Whatever somebody sees of an error."""
    return "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))


def test_a_folder_of_nobody_is_a_sentence() -> None:
    for store in ("sqlite:///~nosuchuser/x.db", "sqlite:///~nosuchuser"):
        with pytest.raises(InputError, match="its ~ stands for no folder: give the whole path"):
            open_storage(store)


def test_a_new_database_is_for_its_owner_only(tmp_path: Path) -> None:
    from superlevel.testing.logs import study

    study(Sql(f"sqlite:///{tmp_path}/store.db"))
    assert (tmp_path / "store.db").stat().st_mode & 0o777 == 0o600
