"""The reading half of a study: the entries that were read, what they let one say, and how that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from superlevel.arrays import Labels
from superlevel.blocks import LARGE
from superlevel.files import file_name, replacing
from superlevel.study import signatures, status
from superlevel.study.beside import sound
from superlevel.study.ledger import Ledger, fold
from superlevel.study.matching import locate, point_of
from superlevel.study.status import Reading, Status
from superlevel.study.storage.protocol import Entry, Lease, Note, Storage, StorageError

if TYPE_CHECKING:  # methods, scipy and scikit-learn take seconds to import, and most commands need none of them
    import pandas as pd

    from superlevel.report.campaign import Campaign, Reason
    from superlevel.study.auditing import Accuracy
    from superlevel.study.kept_blocks import KeptBlocks
    from superlevel.study.replay import Knowledge, Methods
    from superlevel.study.verification import Verification
    from superlevel.study.view import StudyView


class Reader:
    """What a store says of one campaign. It writes nothing but caches and reports."""

    def __init__(self, storage: Storage, name: str, ledger: Ledger) -> None:
        self._storage = storage
        self._name = name
        self._ledger = ledger
        self._known: Knowledge | None = None
        self._makers: Methods | None = None
        self._blocks: KeptBlocks | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def url(self) -> str:
        """Of the store, without a password."""
        return self._storage.url

    @property
    def ledger(self) -> Ledger:
        """Every ticket with what became of it, as of the last entry that was read."""
        return self._ledger

    def refresh(self) -> Self:
        """Read what others have written since. ReplacedError if the log was restored or replaced: `reopen` then."""
        self._ledger = fold(self._read_on(), self._ledger)
        return self

    def reopen(self) -> Self:
        """Read the log from its beginning, after a backup was restored. Then tell again what is not in it."""
        self._ledger = fold(self._storage.read(self._name))
        self._known = self._makers = None
        return self

    def _read_on(self) -> list[Entry]:
        """What others have written since, if the log still begins with the entries that were read."""
        return self._storage.read(self._name, after=self._ledger.length, head=self._ledger.head)

    def log(self) -> list[Entry]:
        """Every entry, as it is stored."""
        return self._storage.read(self._name)

    def locate(self, coordinates: ArrayLike) -> int:
        """The number of the point with these coordinates (d,), as `Result.point` takes it."""
        return locate(self._ledger.places, coordinates)

    def point_of(self, id: str) -> int:  # noqa: A002  it is called so in the domain
        """The number of the point with this id, as `Result.point` takes it."""
        return point_of(self._ledger.ids, id)

    @property
    def knowledge(self) -> Knowledge:
        """What the entries that were read let one say; computed when something came in since the last time."""
        from superlevel.study import replay  # noqa: PLC0415  slow to import

        ledger = self._ledger
        if self._known is None or self._known.ledger.changed != ledger.changed:
            with self._kept_blocks.used():
                self._known = replay.know(ledger, self._methods)
            self._note(status.reading(self._known))
        elif self._known.ledger is not ledger:
            self._known = replay.continued(self._known, ledger)
        return self._known

    def _note(self, reading: Reading) -> None:
        """Store the labels beside the log, for `status` to show at once."""
        with suppress(StorageError):  # it is a cache: whoever may only read gets the same labels more slowly
            self._storage.note(self._name, Note(reading.entries, reading.model_dump_json()), head=reading.head)

    @property
    def _kept_blocks(self) -> KeptBlocks:
        if self._blocks is None:
            from superlevel.study.kept_blocks import KeptBlocks  # noqa: PLC0415  slow to import

            self._blocks = KeptBlocks(self._storage, self._name)
        return self._blocks

    @property
    def _methods(self) -> Methods:
        if self._makers is None:
            from superlevel.study.replay import Methods  # noqa: PLC0415

            self._makers = Methods()
        return self._makers

    @property
    def labels(self) -> Labels:
        """(n,) +1 above, 0 undecided, -1 below, from everything that was read; (k, n) where the goal has k levels."""
        return self.knowledge.labels

    def status(self, *, fresh: bool = True) -> Status:
        """How the campaign stands. Not ``fresh``: labels may be of an earlier moment, which it says, and come at once.

        After a correction or a withdrawal earlier labels are not shown.
        """
        self._read_on()
        reading = None if fresh else self.cached()
        found = status.reading(self.knowledge) if reading is None else reading
        return status.of(self._name, self._ledger, self._leases, found)

    def cached(self) -> Reading | None:
        """The latest labels that were computed before; None where there are none, or something was corrected since."""
        return status.earlier(self._ledger, self._storage.noted(self._name))

    def accuracy(self) -> tuple[Accuracy, ...]:
        """What every audit proves of its map so far, whatever the kernel."""
        from superlevel.study.auditing import accuracy  # noqa: PLC0415

        self._read_on()
        return accuracy(self._ledger)

    @property
    def _leases(self) -> dict[int, Lease | None]:
        return sound(self._storage.leases(self._name))

    def view(self) -> StudyView:
        """Everything that a status, a report or a web page shows, as one record that JSON can hold."""
        from superlevel.study.view import view  # noqa: PLC0415

        self._read_on()
        return view(self._name, self.knowledge, self._leases)

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with a line for every point: id, coordinates, label, interval, probability of being above."""
        return self.view().to_frame()

    def reasons(self) -> tuple[Reason, ...]:
        """For each open ticket, the undecided points that a measurement there serves most."""
        from superlevel.study.picture import reasons  # noqa: PLC0415

        self._read_on()
        return reasons(self.knowledge)

    def campaign(self, *, unit: str = "") -> Campaign:
        """Everything that a picture or a page shows; ``unit`` is that of the measured values, as people write it."""
        from superlevel.study.picture import campaign  # noqa: PLC0415

        self._read_on()
        return campaign(self._name, self.knowledge, unit)

    def report(self, path: str | Path | None = None, *, unit: str = "") -> Path:
        """Write one self-contained HTML page, NAME.html: map, decisions, next batch and why, and what is claimed.

        Of a large domain the labels of earlier plans are not computed again, as `verify` would.
        """
        from superlevel.report.page import page  # noqa: PLC0415

        written = Path(f"{file_name(self._name)}.html" if path is None else path)
        self.refresh().labels.any()  # they are cached, and verified below
        statement = self._verified(plans=self._ledger.n <= LARGE).statement
        text = page(self.campaign(unit=unit), statement)
        with replacing("path", written) as beside:
            beside.write_text(text, encoding="utf-8")
        return written

    def certificate(self) -> dict[str, Any]:
        """What this study proves, as data that a stranger can check without this library (docs/certificate.md)."""
        from superlevel.study.certificate import certificate  # noqa: PLC0415

        known = self.knowledge
        return certificate(self.log()[: known.ledger.length], known)

    def verify(self, *, watch: Any = None, witnesses: Sequence[str] = (), key: str | None = None) -> Verification:
        """Recompute every label and every design's bound from the log, and hold the assumptions against the data.

        Each witness is a file with a head that was written down earlier, or a head itself; key is the public key.
        """
        from superlevel.study.witnesses import witness  # noqa: PLC0415

        given, public = [witness(each) for each in witnesses], None if key is None else signatures.as_public(key)
        self.refresh()
        return self._verified(watch=watch, witnesses=given, key=public)

    def _verified(self, **options: Any) -> Verification:
        from superlevel.study.verification import verify  # noqa: PLC0415

        return verify(self._name, self._storage, makers=self._methods, **options)

    def __repr__(self) -> str:
        counts = f"{self._ledger.samples:,} measurements, {len(self._ledger.open):,} tickets open"
        return f"{type(self).__name__}({self._name!r} in {self.url}: {counts})"
