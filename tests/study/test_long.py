"""Long entries: points beside the first entry, and packed texts. They come back as they were given, or are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import Matern

import superlevel as sl
from superlevel.study import Study, long, snapshots
from superlevel.study.backups import backup, restore
from superlevel.study.events import DamagedError
from superlevel.study.long import Places, length_of, packed, unpacked
from superlevel.study.rescue import rescue
from superlevel.study.storage import open_storage
from superlevel.study.storage.memory import Memory
from superlevel.study.storage.sql import Sql


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that every study is a large one."""
    monkeypatch.setattr(long, "LONG", 20)


def problem(shift: float = 0.0) -> sl.Problem:
    axis = np.linspace(0, 1, 6)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2) + shift
    return sl.Problem(sl.Domain(points, kernel=Matern(0.4, nu=1.5)), goal=sl.Threshold(0.4), noise=0.05)


def surveyed(store: str | Memory, name: str = "sea", shift: float = 0.0) -> Study:
    study = Study.create(store, name, problem(shift), batch=5)
    for _ in range(3):
        tickets = study.ask()
        study.tell(tickets.measured(np.sin(4 * tickets.points[:, 0])))
    return study


@given(text=st.text(alphabet="+-?", max_size=60))
def test_a_packed_text_is_the_text(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long, "LONG", 10)
        stored = packed(text)
    assert unpacked(stored) == text
    assert length_of(stored) == len(text)
    assert stored == text or len(text) >= 10


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-6], lambda text: text.replace("z40:", "z41:"), lambda _: "z40:*"]
)
@pytest.mark.usefixtures("short")
def test_a_damaged_text_is_noticed(damage: object) -> None:
    stored = packed("+-" * 20)
    assert stored.startswith("z40:")
    with pytest.raises(ValueError, match=r"a text is|Incorrect padding|Non-base64|Only base64"):
        unpacked(damage(stored))  # type: ignore[operator]


@pytest.mark.usefixtures("short")
def test_a_text_never_unpacks_to_more_than_it_says() -> None:
    bomb = packed("+" * 10**6).replace("z1000000:", "z30:")
    with pytest.raises(ValueError, match="longer or shorter"):
        unpacked(bomb)


@pytest.mark.parametrize("store", ["memory:", "sqlite"])
def test_a_large_study_says_what_a_small_one_says(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = surveyed("memory:")
    monkeypatch.setattr(long, "LONG", 20)
    url = f"sqlite:///{tmp_path}/a.db" if store == "sqlite" else store
    large = surveyed(url)
    first = json.loads(large.log()[0].payload)
    assert first["points"].keys() == {"rows", "columns", "digest"}
    assert large.log()[0].attached == np.ascontiguousarray(problem().domain.places).tobytes()
    assert all(not entry.attached for entry in large.log()[1:])
    np.testing.assert_array_equal(large.labels, small.labels)
    np.testing.assert_array_equal(large.ledger.point, small.ledger.point)
    np.testing.assert_array_equal(large.ledger.places, small.ledger.places)
    assert large.campaign().progress == small.campaign().progress
    if store == "sqlite":
        again = Study.open(url, "sea")
        np.testing.assert_array_equal(again.labels, small.labels)
        assert again.verify().claim == small.verify().claim
        assert not [check for check in again.verify().checks if check.verdict == "contradicted"]


@pytest.mark.usefixtures("short")
def test_points_of_another_study_are_refused(tmp_path: Path) -> None:
    storage = open_storage(f"sqlite:///{tmp_path}/a.db")
    surveyed(storage)  # type: ignore[arg-type]
    surveyed(storage, "other", shift=1.0)  # type: ignore[arg-type]
    assert isinstance(storage, Sql)
    with storage.store.writing() as connection:
        rows = connection.exec_driver_sql("SELECT study_id, data FROM attachments ORDER BY study_id").all()
        connection.exec_driver_sql("UPDATE attachments SET data = ? WHERE study_id = ?", (rows[1][1], rows[0][0]))
    with pytest.raises(DamagedError, match="entry 1: the points beside the entry are not those that it names"):
        Study.open(storage, "sea")
    with storage.store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE attachments")
    with pytest.raises(DamagedError, match="entry 1: the points beside the entry"):
        Study.open(storage, "other")


@pytest.mark.usefixtures("short")
def test_a_backup_and_a_rescue_have_the_points(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    labels = surveyed(url).labels
    backup(url, tmp_path / "b.db")
    np.testing.assert_array_equal(Study.open(f"sqlite:///{tmp_path}/b.db", "sea").labels, labels)
    backup(url, tmp_path / "c.db", name="sea")
    restore(tmp_path / "c.db", f"sqlite:///{tmp_path}/d.db")
    np.testing.assert_array_equal(Study.open(f"sqlite:///{tmp_path}/d.db", "sea").labels, labels)
    rescue(Sql(url), Sql(f"sqlite:///{tmp_path}/e.db"))
    np.testing.assert_array_equal(Study.open(f"sqlite:///{tmp_path}/e.db", "sea").labels, labels)


@pytest.mark.usefixtures("short")
def test_a_damaged_file_is_read_page_by_page_with_its_points(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    surveyed(f"sqlite:///{path}")
    Sql(f"sqlite:///{path}").close()
    data = bytearray(path.read_bytes())
    data[100:1000] = bytes(900)  # the schema
    path.write_bytes(bytes(data))
    (found,) = rescue(Sql(f"sqlite:///{path}"), Sql(f"sqlite:///{tmp_path}/b.db"))
    assert found.entries >= 1
    assert len(Study.open(f"sqlite:///{tmp_path}/b.db", found.name).ledger.places) == 36


@pytest.mark.usefixtures("short")
def test_a_snapshot_of_a_large_study_has_its_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SPACING", 2)
    url = f"sqlite:///{tmp_path}/a.db"
    labels = surveyed(url).labels
    Study.open(url, "sea")  # makes the snapshot
    storage = open_storage(url)
    kept = storage.snapshot("sea")
    assert kept is not None
    restored = snapshots.restored(kept)
    assert restored is not None
    np.testing.assert_array_equal(restored.places, problem().domain.places)
    np.testing.assert_array_equal(Study.open(url, "sea").labels, labels)
    assert not snapshots.wrong(storage, "sea", storage.read("sea"))


@pytest.mark.usefixtures("short")
def test_a_certificate_of_very_many_points_is_refused_in_a_sentence() -> None:
    with pytest.raises(sl.InputError, match="as many as 36 points"):
        surveyed("memory:").certificate()


@pytest.mark.usefixtures("short")
def test_an_audit_of_a_large_study() -> None:
    study = surveyed("memory:")
    tickets = study.audit(10)
    study.tell(tickets.measured(np.sin(4 * tickets.points[:, 0])))
    (found,) = study.accuracy()
    assert found.result.draws == 10
    assert not [check for check in study.verify().checks if check.verdict == "contradicted"]


@pytest.mark.usefixtures("short")
def test_places_are_equal_if_their_numbers_are() -> None:
    one, other = Places.of(np.zeros((20, 2))), Places.of(np.zeros((20, 2)))
    assert one == other
    assert one != Places.of(np.ones((20, 2)))
    assert Places.of(np.zeros((2, 2))) == Places(np.zeros((2, 2)))
    assert len(one) == 20
