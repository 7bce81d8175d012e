"""A campaign: ask for tickets, measure, tell, and say what is known, over weeks, crashes and colleagues.

    study = Study.create("sqlite:///survey.db", "harbour", problem, method="melk", seed=0)
    tickets = study.ask()                              # where to measure; kept for this worker for a while
    study.tell(tickets.measured(values))               # all or nothing; the same again changes nothing
    study.labels                                       # (n,) +1 above, 0 undecided, -1 below

Everything is in an append-only log; the object holds nothing that the log does not. It is a snapshot: `refresh`, `ask`,
`tell` and every other call that writes bring it up to date, and all else speaks of the entries that it has read. If a
backup was restored meanwhile, they raise a ReplacedError, and `reopen` begins anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from superlevel.arrays import as_count, as_number
from superlevel.errors import InputError
from superlevel.problem import Problem
from superlevel.study import configuration, signatures, snapshots, turns
from superlevel.study.beside import check_claimed
from superlevel.study.checks import check_name, check_reason, checked_worker, fate_of
from superlevel.study.events import Closed, Corrected, Payload, Withdrawn
from superlevel.study.ledger import Fate, Ledger, fold, opened, shut
from superlevel.study.reader import Reader
from superlevel.study.results import Receipt, Result, Ticket, Tickets, results_at
from superlevel.study.storage import open_storage
from superlevel.study.storage.protocol import Lease, Storage
from superlevel.study.telling import LARGEST, as_list, resolve
from superlevel.study.turns import CLOSED

if TYPE_CHECKING:  # methods, scipy and scikit-learn take seconds to import, and most commands need none of them
    from superlevel.study.signatures import Signer


class Study(Reader):
    """One campaign in a store. Any number of them may be open on the same log at once, in any number of processes."""

    def __init__(
        self, storage: Storage, name: str, ledger: Ledger, worker: str | None = None, signer: Signer | None = None
    ) -> None:
        """Use `create` or `open`."""
        super().__init__(storage, name, ledger)
        self._worker = checked_worker(worker)
        self._signer = signer

    # ------------------------------------------------------------------------------------- open

    @classmethod
    def create(
        cls,
        store: str | Storage,
        name: str,
        problem: Problem,
        *,
        method: str = "melk",
        seed: int = 0,
        batch: int | None = None,
        confidence: Any = None,
        rule: Any = None,
        objective: str | None = None,
        permanent: bool | None = None,
        lease: float = configuration.LEASE,
        worker: str | None = None,
        sign: str | Path | None = None,
    ) -> Study:
        """A new campaign.

        Args:
            store: "sqlite:///file.db", "postgresql://user@host/database", "memory:", or a storage.
            name: of the campaign, new in the store.
            problem: points, goal, and what is assumed. What it leaves open (``fit``, or a noise that is not given) is
                estimated: first from a pilot that is spread out, then again whenever results come. Labels may be
                revised then.
            method: any of ``methods.NAMES``.
            seed: everything random comes from it.
            batch: measurements that are planned at once, 10 by default. With the ridge confidence later batches grow.
            confidence: as for `methods.make`, with the same default: ridge where a norm is given and nothing
                is to be estimated, otherwise posterior.
            rule: as for `methods.make`. A rule from outside the package is stored by its import path and parameters.
            objective: as for `methods.make`: "label" or "declare". The study stores the rule of that name.
            permanent: as for `methods.make`.
            lease: seconds for which a ticket is reserved for the worker who asked for it; a day by default.
            worker: who asks and tells, by default this process. The same worker gets the same open tickets again.
            sign: a key file of `superlevel study key`, with which every entry is signed; see docs/verification.md.
        """
        signer = signatures.signer_of(sign)
        given = configuration.created(
            problem,
            method=method,
            confidence=confidence,
            rule=rule,
            objective=objective,
            permanent=permanent,
            batch=batch,
            seed=seed,
            lease=lease,
        )
        check_name(name)
        made = turns.checked(given)
        storage = open_storage(store)
        given = given.model_copy(update={"study": name, "key": "" if signer is None else signer.public})
        entry = given.entry(seq=1, before="", sign=signer)
        study = cls(
            storage, name, fold([entry]), worker, signer
        )  # before anything is stored: what cannot be read back is not
        storage.create(name, entry)
        study._makers = made
        return study

    @classmethod
    def open(
        cls, store: str | Storage, name: str, *, worker: str | None = None, sign: str | Path | None = None
    ) -> Study:
        """A campaign that is there, its log checked entry by entry from the last snapshot on.

        Whoever writes to a signed one needs its key.
        """
        signer, storage = signatures.signer_of(sign), open_storage(store)
        ledger = snapshots.opened(storage, name)
        signatures.check_signer(ledger.created, signer)
        return cls(storage, name, ledger, worker, signer)

    @property
    def worker(self) -> str:
        """Who asks and tells here."""
        return self._worker

    # -------------------------------------------------------------------------------- ask and tell

    def ask(self, n: int | None = None, *, lease: float | None = None) -> Tickets:
        """Where to measure: tickets that nobody else gets while the lease lasts.

        First those that this worker has open already, then others that are free, then new ones: a batch is planned when
        there are none, or fewer than ``n``. Without n, one batch, or all of a pilot or a round.
        """
        wanted = None if n is None else as_count("n", n)
        seconds = configuration.as_lease(self._ledger.created.lease if lease is None else lease)
        self.refresh()
        while True:
            ledger = self._ledger
            if ledger.closed is not None:
                return Tickets((), CLOSED, len(ledger.created.names))
            claimed = self._claim(ledger, wanted, seconds)
            if claimed and (wanted is None or len(claimed) >= wanted):
                return claimed
            reason = self._plan(0 if wanted is None else wanted - len(claimed))
            if reason is not None:
                return claimed if claimed else Tickets((), reason, len(ledger.created.names))

    def _claim(self, ledger: Ledger, wanted: int | None, seconds: float) -> Tickets:
        now = time.time()
        plans = [item for item in ledger.askings if not item.audits]
        phase = plans[-1].phase if plans else None
        whole = sum(item.count for item in plans if item.phase == phase)  # a round and its rest
        count = wanted or max(ledger.created.batch, whole)
        numbers = self._storage.claim(self._name, count, worker=self._worker, now=now, until=now + seconds)
        known = ledger
        if numbers:
            ledger = self.refresh().ledger  # somebody else may have planned them, or restored a backup
        check_claimed(known, ledger, numbers)
        made = (self._ticket(ledger, number, now + seconds) for number in numbers)
        return Tickets(tuple(made), dimension=len(ledger.created.names))

    def _ticket(self, ledger: Ledger, number: int, until: float) -> Ticket:
        point = int(ledger.point[number - 1])
        coordinates, name = tuple(ledger.everywhere[point].tolist()), ledger.id_of(point)
        return Ticket(number=number, point=point, coordinates=coordinates, id=name, until=until)

    def _plan(self, missing: int) -> str | None:
        """Plan what is missing, at least a batch; or say why nothing can be planned."""
        from superlevel.study import planning  # noqa: PLC0415  slow to import

        known = self.knowledge
        if known.stop is not None:
            return known.stop.value
        count = max(missing, known.ledger.created.batch) if missing else None
        plan = planning.next_plan(known, count)
        if isinstance(plan, planning.Waiting):
            return plan.reason
        askings = len(known.ledger.askings)
        # Results that came in meanwhile do not matter, but another plan does: its tickets are taken instead.
        self._write(lambda ledger: plan if len(ledger.askings) == askings and ledger.closed is None else None)
        return None

    def audit(
        self,
        size: int | None = None,
        *,
        declared: bool = False,
        delta: float = 0.05,
        bound: float = 0.05,
        tolerance: float | None = None,
    ) -> Tickets:
        """Freeze the labels and draw places at random, whose measurements judge them without any model.

        Args:
            size: how many draws; by default as many as prove the bound if none of them contradicts the map.
            declared: audit the declared points only, instead of the likelier side of every point.
            delta: probability with which the statement may fail.
            bound: share of wrong labels that is to be proved, where no size is given.
            tolerance: how far beyond the level a label must be wrong to count; by default the problem's.

        Tell the results like any others, in any order. `accuracy` says what they prove, at any moment.
        """
        from superlevel.study import auditing  # noqa: PLC0415  slow to import

        plan_of = partial(auditing.planned, size=size, declared=declared, delta=delta, bound=bound, tolerance=tolerance)
        self.refresh()
        while True:
            known = self.knowledge
            plan = plan_of(known)
            if self._write(partial(turns.unchanged, known.ledger, plan)) is not None:
                break
        ledger, until = self._ledger, time.time() + self._ledger.created.lease
        made = (self._ticket(ledger, number, until) for number in ledger.askings[-1].tickets)
        return Tickets(tuple(made), dimension=len(ledger.created.names))

    def refine(self, count: int = 512) -> int:
        """Add points of the box where the boundary is thought to be; how many were added.

        The study goes on with them: they are asked for, labelled and shown like the others. It needs limits of the
        coordinates, as `Domain.box` and `Domain.grid` give them, and an estimate of the function.
        """
        from superlevel.study import refining  # noqa: PLC0415  slow to import

        wanted = as_count("count", count)
        self.refresh()
        while True:
            known = self.knowledge
            added = refining.refined(known, wanted)
            if self._write(partial(turns.unchanged, known.ledger, added)) is not None:
                return len(added.points)

    def tell(
        self,
        results: Iterable[Result] = (),
        *,
        at: ArrayLike | None = None,
        values: ArrayLike = (),
        noise: ArrayLike | None = None,
        replicates: bool = False,
    ) -> Receipt:
        """Store results, all or none. A ResultsError names every mistake, and nothing is stored then.

        Results may be at any places, with or without a list of results: ``at`` (N, d) coordinates, ``values`` (N,) and
        their own deviations ``noise``, (N,), one or none. What is not at a point tells of the points all the same.

        The same results again are a success and change nothing. A result without a ticket whose point has that very
        value already, or had it until it was corrected or withdrawn, is taken for the same, unless ``replicates`` says
        that it was measured again.
        """
        listed = [*as_list(results), *results_at(() if at is None else at, values, noise)]
        leases = self._leases
        if any(result.at is not None for result in listed):
            self.check(listed, replicates=replicates)
        receipts: list[Receipt] = []

        def told(ledger: Ledger) -> Sequence[Payload]:
            entries, receipt = self._resolved(ledger, listed, leases, replicates)
            receipts.append(receipt)
            return entries

        written = self._write_all(told)
        return replace(receipts[-1], entry=written)

    def check(self, results: Iterable[Result], *, replicates: bool = False) -> Receipt:
        """What `tell` would do; nothing is stored."""
        ledger = self.refresh().ledger
        entries, receipt = self._resolved(ledger, as_list(results), self._leases, replicates)
        if receipt.elsewhere:
            turns.check_places(self._methods, ledger, entries)
        return receipt

    def _resolved(
        self, ledger: Ledger, results: list[Result], leases: Mapping[int, Lease | None], replicates: bool
    ) -> tuple[Sequence[Payload], Receipt]:
        return resolve(ledger, results, leases=leases, worker=self._worker, now=time.time(), replicates=replicates)

    def correct(self, ticket: int, value: float, *, noise: float | None = None, reason: str = "") -> None:
        """Replace the value of a ticket that was told wrongly. The log keeps both."""
        value = as_number("value", value, above=-LARGEST, below=LARGEST)
        deviation = None if noise is None else as_number("noise", noise, at_least=0, below=LARGEST)
        check_reason(reason)

        def corrected(ledger: Ledger) -> Corrected:
            fate = fate_of(ledger, ticket)
            if fate is not Fate.MEASURED:
                raise InputError("ticket", f"{ticket}, which is {fate.name.lower()}", "correct one that has a value")
            ledger.scale.check("value", value)
            return Corrected(ticket=int(ticket), value=value, noise=deviation, reason=reason)

        self._write(corrected)

    def withdraw(self, tickets: int | Iterable[int], *, reason: str = "") -> None:
        """Measurements that do not count any more, or that need not be made. The log keeps them."""
        given = list(tickets) if isinstance(tickets, Iterable) else [tickets]
        if not given:
            raise InputError("tickets", "empty", "name at least one")
        check_reason(reason)

        def withdrawn(ledger: Ledger) -> Withdrawn:
            for ticket in given:
                if fate_of(ledger, ticket) is Fate.WITHDRAWN:
                    raise InputError("tickets", f"{ticket}, which is withdrawn already", "leave it out")
            return Withdrawn(tickets=sorted({int(ticket) for ticket in given}), reason=reason)

        self._write(withdrawn)

    def answer_by(self, program: str, *, changed: bool = False) -> None:
        """Note in the log what answers the tickets: a command, or the name of a function.

        An InputError if another program did so far, unless ``changed`` says that this is meant.
        """
        noted = program.encode(errors="backslashreplace").decode()
        self._write(partial(turns.programmed, self.name, noted, changed=changed))

    def close(self, *, reason: str = "") -> None:
        """End the campaign with the labels of now. Nothing is suggested any more; late results are still taken."""
        from superlevel.study.signs import as_text  # noqa: PLC0415

        check_reason(reason)
        self.refresh()
        while True:
            known = self.knowledge
            closed = Closed(samples=known.ledger.samples, labels=as_text(known.labels), reason=reason)
            if self._write(partial(turns.closing, known.ledger, closed)) is not None:
                return

    def _write(self, make: Callable[[Ledger], Payload | None]) -> int | None:
        """Append what follows from the log as it is now, with nobody in between; the number of the entry, if any."""

        def one(ledger: Ledger) -> list[Payload]:
            payload = make(ledger)
            return [] if payload is None else [payload]

        return self._write_all(one)

    def _write_all(self, make: Callable[[Ledger], Sequence[Payload]]) -> int | None:
        """The same for several entries, all or none of which are stored; the number of the last, if any."""
        with self._storage.turn(self._name, after=self._ledger.length, head=self._ledger.head) as turn:
            ledger = fold(turn.entries, self._ledger)
            payloads = make(ledger)
            for payload in payloads:
                signer = signatures.allowed(ledger.created, self._signer)
                entry = payload.entry(seq=ledger.length + 1, before=ledger.head, sign=signer)
                before, ledger = ledger, fold([entry], ledger)  # first: what cannot be read back is not stored
                turn.append(entry, opened=opened(before, ledger), closed=shut(before, ledger))
        self._ledger = ledger
        return ledger.length if payloads else None
