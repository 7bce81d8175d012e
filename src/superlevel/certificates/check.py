"""Check a certificate of superlevel. This file needs Python 3.11 and numpy, and nothing of superlevel.

    python check.py claim.json [HEAD]      prints "proved: ..." (exit code 0) or "not proved: ..." (exit code 1)

docs/certificate.md has the format, the formulas and what "proved" means. HEAD is a digest of the log that you know.

k, phi   kernel and features, phi(x)'phi(y) = k(x, y) up to the residuals        h, tau   misspecification, tolerance
w, y     sum of 1 / sigma^2 at a measured point, and mean of its values less the problem's mean, in these weights
v, s, g  direction of a challenge, side on which it is to be shown, and how far from its level it was thought to be
"""

import base64
import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

Array = Any
Json = dict[str, Any]
EQUAL = 1e-6  # of the largest end: how far stated intervals may be from those that are computed here
OPEN, MEASURED, FAILED, WITHDRAWN = range(4)
KINDS = ("created", "asked", "told", "corrected", "withdrawn", "program", "closed")
KNOWN = (  # fields of entries
    "format version points names goal kernel problem fit method confidence rule permanent batch seed lease study key "
    "seen purpose phase samples labels forecast checks audit weights undecided completes design tickets values noise "
    "late reasons worker ticket value reason signature scales ids id_name reference program challenge"
)
ROADS = {"posterior": "by_posterior", "rkhs": "by_posterior", "ridge": "by_ridge", "rips": "by_rips"}
HINTS = {"posterior": set(), "rkhs": {"rank"}, "ridge": {"pivots"}, "rips": {"pivots"}}
LEVELS = {"threshold": ["value"], "band": ["low", "high"], "levels": ["values"], "fraction of max": []}
NUGGET, LEAST_NOISE, HUGE, ALARM, ROUNDING, LEAST_KEPT, DIGITS = 1e-10, 1e-5, 1e100, 1e-3, 1e-15, 1e-6, 1e-12
GAMMAS, OMEGAS, AXES = 10.0 ** np.arange(7), np.array([2.0, 4.0, 6.0, 4.0, 2.0, 1.0, 1.0]) / 20.0, np.arange(8) / 7.0
TAUS = np.array([1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1.0])
FEATURES = ((1e-10, 256), (1e-8, 1500))  # what features of the ridge confidence may miss, and how many there may be
EVEN, KAPPA, SPREAD, FLAT = 16, 0.5, 0.5, 1e-9
ROOM = {"scaled": 1.0, "paper": 1.0, "experiments": 0.25, "tight": 1.0}
STAKES = np.concatenate([[1.0], 1.0 - ((np.arange(32) + 0.5) / 32) ** 2])
LOG_SHARES = np.log(np.concatenate([[1 / 3], np.full(32, 2 / 96)]))  # of the capital, for each stake


class NotProvedError(Exception):
    """Why a certificate is not accepted."""


def need(holds: Any, reason: str) -> None:
    """Refuse the certificate for this reason unless the condition holds."""
    if not holds:
        raise NotProvedError(reason)


def parse(text: str) -> Any:
    """Read strict JSON: no NaN, and no name twice."""

    def once(pairs: list[tuple[str, Any]]) -> Json:
        need(len(dict(pairs)) == len(pairs), "a name occurs twice in the file")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once, parse_constant=lambda name: need(False, f"{name} is no number"))


def real(value: Any) -> float:
    """Return a number, NaN for none."""
    need(value is None or type(value) in (int, float), f"{value!r} stands for a number")
    return math.nan if value is None else float(value)


def whole(value: Any) -> int:
    """Return a whole number from 0 on."""
    need(type(value) is int and value >= 0, f"{value!r} stands for a whole number")
    return int(value)


def dense(thin: Json, n: int) -> Array:
    """(n,) weights with the zeros."""
    found, at, values = np.zeros(n), np.array(thin["at"][0], dtype=np.int64), np.array(thin["values"], dtype=float)
    need(thin["shape"] == [n] and (at >= 0).all() and (values >= 0).all(), "a design has weights that are none")
    found[at] = values
    return found


def kernel_of(x: Array, described: Any) -> Callable[[Array, Array], Array]:
    """Return k on numbers of points that are broadcast against each other: (p, 1) and (q,), or (n,) and (n,)."""
    if described is None:  # <x, y>
        return lambda a, b: (x[a] * x[b]).sum(axis=-1) if a.shape == b.shape else x[a.ravel()] @ x[b].T
    name = described["kernel"]
    if name in ("Sum", "Product"):
        need(described["k1"] is not None and described["k2"] is not None, "the kernel cannot be read")
        one, other = kernel_of(x, described["k1"]), kernel_of(x, described["k2"])
        return lambda a, b: one(a, b) + other(a, b) if name == "Sum" else one(a, b) * other(a, b)
    if name == "ConstantKernel":
        size = real(described["constant_value"])
        return lambda a, b: np.full(np.broadcast_shapes(a.shape, b.shape), size)
    nu: Any = "inf" if name == "RBF" else described.get("nu")
    need(name in ("RBF", "Matern") and nu in ("inf", 0.5, 1.5, 2.5), f"this verifier does not know {name} with nu {nu}")
    scaled = x / np.asarray(described["length_scale"], dtype=float)
    need(scaled.shape == x.shape and np.isfinite(scaled).all(), "the lengths of the kernel do not fit the points")

    def stationary(a: Array, b: Array) -> Array:
        squares = sum(np.square(column[a] - column[b]) for column in scaled.T)  # the product form loses digits
        d = np.sqrt(squares if nu == "inf" else 2.0 * nu * squares)
        factor = {"inf": 1.0, 0.5: 1.0, 1.5: 1.0 + d, 2.5: 1.0 + d + d**2 / 3.0}[nu]
        return factor * np.exp(-0.5 * squares if nu == "inf" else -d)

    return stationary


def roots(rises: Callable[[Array], Array], high: Array) -> Array:
    """Where increasing functions, not above zero at 0 and not below it at ``high`` (m,), change their sign."""
    low = np.zeros_like(high)
    for _ in range(100):
        middle = 0.5 * (low + high)
        above = rises(middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return high


def log_sum(powers: Array) -> Array:
    """(m,) log of the sum of the exponentials of each row (m, k)."""
    top = powers.max(axis=1)
    return np.asarray(top + np.log(np.exp(powers - top[:, None]).sum(axis=1)))


def log_normal(z: Array) -> Array:
    """Log of the normal distribution function at z >= 0."""
    return np.log([0.5 * math.erfc(-each / math.sqrt(2.0)) for each in z.tolist()])


def log_evidence(x: Array, q: Array, g: Array) -> Array:
    """Log of the mean of exp(mu X - mu^2 Q / 2), mu from N(g, g^2 / 4) given that mu > 0, for X >= 0."""
    precision = (SPREAD * g) ** -2.0
    z = (x + g * precision) / np.sqrt(q + precision)
    found = 0.5 * (z**2 - SPREAD**-2.0 - np.log1p(q / precision)) + log_normal(z)
    return np.asarray(found - math.log(0.5 * math.erfc(-1.0 / SPREAD / math.sqrt(2.0))))


class Challenge:
    """One-sided tests of directions v: a <- c a + <u, y>, m <- c m + Phi'u, q <- c^2 q + |u|^2, p <- c p."""

    def __init__(self, said: Json, phi: Array, misses: Array, share: float) -> None:
        self.point, others = np.array(said["points"]), np.array(said.get("others") or [-1] * len(said["points"]))
        self.single, shares = others < 0, np.where(others < 0, 0.0, share)
        self.side = np.array([{"+": 1.0, "-": -1.0}[sign] for sign in said["signs"]])
        self.gap, self.delta = (np.array(said[name], dtype=float) for name in ("gaps", "deltas"))
        self.v, self.missed = (
            phi[self.point] - shares[:, None] * phi[others],
            misses[self.point] + shares * misses[others],
        )
        self.m, (self.a, self.q, self.p, self.moved) = np.zeros_like(self.v), np.zeros((4, len(self.v)))

    def feed(self, rows: Array, y: Array, off: float, whitening: Array) -> None:
        """Take in a batch, over sigma. c and u minimise q + |v - m|^2 / kappa^2 in the coordinates of the metric."""
        turn, sizes, axes = np.linalg.svd(rows @ whitening, full_matrices=False)
        v, m = self.v @ whitening, self.m @ whitening
        seen, known, damped = v @ axes.T, m @ axes.T, sizes**2 / (sizes**2 + KAPPA**2)
        lengths, long, begun = np.square(v).sum(axis=1), np.square(m).sum(axis=1), self.q > 0
        across = (m * v).sum(axis=1) - (known * seen) @ damped
        along = np.maximum(long - np.square(known) @ damped, 0.0)
        best = np.maximum(across / np.where(begun, KAPPA**2 * self.q + along, 1.0), LEAST_KEPT)
        c = np.where(np.abs(across) > DIGITS * np.sqrt(long * lengths), best, 1.0) * begun
        u = (seen - c[:, None] * known) * (sizes / (sizes**2 + KAPPA**2))
        fresh, explained = np.square(u).sum(axis=1), ((u * sizes) * seen).sum(axis=1)
        total = c**2 * self.q + fresh
        reached, first = begun | (total > 1 / HUGE), total * lengths / np.where(explained > 0, explained, 1.0)
        self.p = np.where(begun, c * self.p, first) * reached
        self.a, self.q = (c * self.a + u @ (turn.T @ y)) * reached, total * reached
        self.m = (c[:, None] * self.m + u @ (turn.T @ rows)) * reached[:, None]
        self.moved = (c * self.moved + np.sqrt(fresh) * off) * reached

    def ends(self, inside: Callable[[Array], tuple[Array, Array]]) -> Array:
        """(m,) a + <theta, v - m> -+ (p B + what h may have moved), B the root of E(B, q / p^2) = 1 / delta."""
        q, wanted = self.q / np.where(self.q > 0, self.p, 1.0) ** 2, -np.log(self.delta)
        high = self.gap * q + (wanted + 1.0) / self.gap
        while (low := log_evidence(high, q, self.gap) < wanted).any():
            high = np.where(low, 2.0 * high, high)
        far = self.p * roots(lambda x: log_evidence(x, q, self.gap) - wanted, high) + self.moved + self.missed
        low, high = inside(self.v - self.m)
        found = self.a + np.where(self.side > 0, low, high) - self.side * far
        return np.where(self.q > 0, found, -math.inf * self.side)


class Log:
    """What the entries say, ticket by ticket."""

    def __init__(self, entries: list[Json]) -> None:
        self.digests = [""]
        self.plans: list[tuple[int, Json]] = []  # entry and contents
        self.rows: dict[int, list[Any]] = {}  # by ticket: point, plan, fate, value, noise, the entry that told it, and
        # the entry after which it was no longer open, with its fate then
        for seq, entry in enumerate(entries, start=1):
            need(set(entry) == {"seq", "kind", "at", "payload", "digest"} and entry["seq"] == seq, f"no entry {seq}")
            parts = [self.digests[-1], str(seq), entry["kind"], entry["at"], entry["payload"]]
            chained = b"".join(len(part.encode()).to_bytes(8, "big") + part.encode() for part in parts)
            self.digests.append(hashlib.blake2b(chained, digest_size=16).hexdigest())
            need(entry["digest"] == self.digests[-1], f"entry {seq} was changed")
            kind, said = entry["kind"], parse(entry["payload"])
            need(kind in KINDS and (kind == "created") == (seq == 1), f"entry {seq} is of no known kind")
            unknown = ", ".join(sorted(set(said) - set(KNOWN.split())))
            need(not unknown, f"entry {seq} has fields that this verifier does not know: {unknown}")
            self.take(seq, kind, said)
        columns = list(zip(*self.rows.values(), strict=True)) or [()] * 8
        self.point, self.plan, self.fate = (np.array(columns[k], dtype=np.int64) for k in (0, 1, 2))
        self.told, self.ended, self.first = (np.array(columns[k], dtype=np.int64) for k in (5, 6, 7))
        self.value, self.noise = (np.array(columns[k], dtype=float) for k in (3, 4))
        self.measured = np.flatnonzero(self.fate == MEASURED)
        need(((self.point >= 0) & (self.point < self.n)).all(), "a ticket is at no point")
        need(np.isfinite(self.value[self.measured]).all(), "a measurement is not a finite number")
        need(not ((self.noise < 0) | np.isinf(self.noise)).any(), "the noise of a measurement is no noise")
        self.each = np.where(np.isnan(self.noise), self.sigma[self.point], self.noise)

    def take(self, seq: int, kind: str, said: Json) -> None:
        """Read one entry."""
        if kind == "created":
            self.begin(said)
        self.plans += [(seq, said)] if kind == "asked" else []
        if kind == "asked" and said.get("challenge") is not None:
            self.announce(said["challenge"])
        for point in said.get("points", []) if kind in ("asked", "told") else []:
            plan = len(self.plans) - 1 if kind == "asked" else -1
            self.rows[len(self.rows) + 1] = [point, plan, OPEN, math.nan, math.nan, 0, 0, OPEN]
        if kind == "told":
            noise = said.get("noise") or [None] * len(said["tickets"])
            for ticket, value, own in zip(said["tickets"], said["values"], noise, strict=True):
                self.rows[ticket][2:6] = [FAILED if value is None else MEASURED, real(value), real(own), seq]
        if kind == "corrected":
            row = self.rows[said["ticket"]]
            row[3:5] = real(said["value"]), row[4] if said.get("noise") is None else real(said["noise"])
        for ticket in said["tickets"] if kind == "withdrawn" else []:
            self.rows[ticket][2] = WITHDRAWN
        for ticket in said["tickets"] if kind in ("told", "withdrawn") else []:
            row = self.rows[ticket]
            row[6:] = row[6:] if row[6] else [seq, row[2]]

    def announce(self, said: Json) -> None:
        """Read a challenge: for each direction a point, perhaps another one, a side, a gap and a share of delta."""
        unknown = set(said) - {"points", "others", "signs", "gaps", "deltas"}
        need(not unknown, f"a challenge has fields that this verifier does not know: {', '.join(sorted(unknown))}")
        count, points = len(said["points"]), [*said["points"], *(x for x in said.get("others", []) if x != -1)]
        sizes = {len(said[name]) for name in ("signs", "gaps", "deltas")} | {len(said.get("others") or said["points"])}
        need(count and sizes == {count}, "a challenge has more or fewer numbers than directions")
        need(all(whole(x) < self.n for x in points), "a challenge is of a point that is not there")
        need(set(said["signs"]) <= {"+", "-"}, "a challenge has a sign that is neither + nor -")
        numbers = [real(x) for x in (*said["gaps"], *said["deltas"])]
        need(all(0 < x < math.inf for x in numbers), "a challenge has a gap or a share of delta that is not above zero")

    def begin(self, said: Json) -> None:
        """Read the first entry."""
        need(said["format"] in (3, 4, 5, 6, 7), "the log has another format")
        self.created, self.problem, self.confidence, goal = said, said["problem"], said["confidence"], said["goal"]
        self.points = np.array(said["points"], dtype=float)
        need(self.points.ndim == 2 and self.points.size and np.isfinite(self.points).all(), "a point is not finite")
        self.n = len(self.points)
        self.blocks = np.array_split(np.arange(self.n), self.n // 4096 + 1)
        self.levels = np.array([x for name in LEVELS[goal["kind"]] for x in np.ravel(goal[name])], dtype=float)
        self.share = 1.0 - real(goal["epsilon"]) if goal["kind"] == "fraction of max" else 0.0
        need(np.isfinite(self.levels).all() and (len(self.levels) or 0 < self.share < 1), "no level is given")
        self.mean, self.h, self.tau = (self.number(name, 0.0) for name in ("mean", "misspecification", "tolerance"))
        self.delta, self.norm, self.bound = self.number("delta", 0.1), self.number("norm"), self.number("bound")
        need(0 < self.delta < 1 and self.h >= 0 and 0 <= self.tau < math.inf, "delta, h or tolerance is out of range")
        self.sigma = np.broadcast_to(np.asarray(self.problem["noise"], dtype=float), self.n)  # NaN if it is estimated
        need(not ((self.sigma < 0) | np.isinf(self.sigma)).any(), "the noise is not a finite number from 0 on")

    def number(self, name: str, default: Any = None) -> Any:
        """Return a field of the problem."""
        return default if self.problem.get(name) is None else real(self.problem[name])

    def summary(self, at: Array, least: float) -> tuple[Array, Array, Array, float]:
        """Points (m,), w (m,) and y (m,) of these tickets, and the scatter about y."""
        points, which = np.unique(self.point[at], return_inverse=True)
        each, values = np.maximum(self.each[at], least) ** -2.0, np.clip(self.value[at] - self.mean, -HUGE, HUGE)
        w = np.bincount(which, each, len(points))
        y = np.bincount(which, values * each, len(points)) / w
        return points, w, y, float((np.square(values - y[which]) * each).sum())

    def batches(self) -> Iterator[tuple[Array, int, bool]]:
        """Tickets that came together, their plan (-1 for none), and whether they are all of it; in order.

        What was once told as a whole stays so: a ticket that failed and was told later is not of its plan, and a plan
        whose measurements were withdrawn is empty.
        """
        seqs = [seq for seq, _ in self.plans]
        portion, ended = np.searchsorted(seqs, self.told), np.searchsorted(seqs, self.ended)
        ordered = self.measured[np.lexsort([array[self.measured] for array in (self.noise, self.value, self.point)])]
        wholes: list[tuple[int, int]] = []  # the entry that ended each, and its plan
        for place in range(len(self.plans)):
            own, since = self.plan == place, ended[(self.plan == place) & (self.first == MEASURED)]
            if len(since) and self.ended[own].all() and (since == ended[own].max()).all():
                wholes.append((int(self.ended[own].max()), place))
        among = np.isin(self.plan, [place for _, place in wholes]) & (self.first == MEASURED)
        for k in range(len(seqs) + 1):
            for _, place in sorted(each for each in wholes if np.searchsorted(seqs, each[0]) == k):
                yield ordered[among[ordered] & (self.plan[ordered] == place)], place, True
            rest = ordered[(portion[ordered] == k) & ~among[ordered]]
            for place in dict.fromkeys(self.plan[rest].tolist()):
                yield rest[self.plan[rest] == place], place, False

    def rounds(self) -> dict[int, tuple[Json, Array, Array]]:
        """Plan, tickets and undecided points of each round that was told as a whole; the last plan of each phase."""
        found: dict[int, tuple[Json, Array, Array]] = {}
        for place, (seq, asked) in enumerate(self.plans):
            parts = [place, *(k for k, (_, plan) in enumerate(self.plans) if plan.get("completes") == seq)]
            at = self.measured[np.isin(self.plan[self.measured], parts)]
            at, planned = at[np.argsort(self.point[at], kind="stable")], np.bincount(asked["points"], minlength=self.n)
            at = at[np.arange(len(at)) - np.searchsorted(self.point[at], self.point[at]) < planned[self.point[at]]]
            mask = (np.array(list(asked["labels"])).reshape(-1, self.n) == "?").any(axis=0)
            fingerprint = hashlib.blake2b(np.packbits(mask).tobytes(), digest_size=8).hexdigest()
            if asked["purpose"] == "round" and len(at) == planned.sum():
                need(fingerprint == asked["undecided"], "a round is of other points")
                found[whole(asked["phase"])] = (asked, at, mask)
        return dict(sorted(found.items()))


class Intervals(Log):
    """The interval of f at every point, by the confidence of the study."""

    kernel: Any
    diagonal: Array

    def features(self, pivots: Any, tiers: Any) -> tuple[Array, Array]:
        """phi (n, r), and residuals k(x, x) - |phi(x)|^2 (n,): phi(x) = L^-1 k(P, x) with L L' = K at the pivots P.

        Nobody may choose the pivots by what was measured. Each must have a large part of what those before it leave
        over, and the last must be needed: then features differ by what they miss, and their number hardly at all.
        ``tiers`` are what the features may miss of the largest k(x, x), and how many there may be.
        """
        if self.created.get("kernel") is None:
            need(pivots == [], "a linear kernel has no pivots")
            return self.points, np.zeros(self.n)
        at = np.array([whole(pivot) for pivot in pivots])
        try:
            factor, largest = np.linalg.cholesky(self.kernel(at[:, None], at)), float(self.diagonal.max())
        except np.linalg.LinAlgError:
            raise NotProvedError("a stated pivot adds nothing to those before it") from None
        inverse, phi, left = np.linalg.inv(factor), np.empty((self.n, len(at))), np.zeros(len(at) + 1)
        left[0] = largest
        for block in self.blocks:
            phi[block] = self.kernel(block[:, None], at) @ inverse.T
            rest = self.diagonal[block][:, None] - np.cumsum(np.square(phi[block]), axis=1)
            left[1:] = np.maximum(left[1:], rest.max(axis=0))
        missed, most = next(
            (tier for tier in tiers if len(at) <= tier[1] and left[-1] <= 2 * tier[0] * largest), tiers[-1]
        )
        stop = largest * max(missed, self.n * np.finfo(float).eps)
        need(left[-1] <= 2 * stop or len(at) == min(self.n, most), "the stated pivots leave out too much of the kernel")
        least = np.maximum(0.5 * stop, 0.05 * left[:-1])
        need((np.diag(factor) ** 2 >= least).all(), "a stated pivot is not where those before it leave out much")
        return phi, np.maximum(self.diagonal - np.square(phi).sum(axis=1), 0.0)

    def posterior(self, at: Array) -> tuple[Array, Array, float, float]:
        """mu (n,), s (n,), log det(I + W^1/2 K W^1/2) and the sum of w: L L' = K + 1 / w."""
        mu, variance = np.full(self.n, self.mean), self.diagonal.copy()
        support, w, y, _ = self.summary(at, math.sqrt(NUGGET * float(variance.max())))
        factor = np.linalg.cholesky(self.kernel(support[:, None], support) + np.diag(1.0 / w))
        inverse, limit = np.linalg.inv(factor), math.log(1e6)
        z = inverse @ y
        allowed = len(z) + 2 * math.sqrt(len(z) * limit) + 2 * limit
        need(z @ z <= allowed, "the measurements contradict kernel and noise")
        for block in self.blocks:
            rows = self.kernel(block[:, None], support) @ inverse.T
            mu[block] += rows @ z
            variance[block] -= np.square(rows).sum(axis=1)
        gain = 2.0 * float(np.log(np.diag(factor)).sum()) + float(np.log(w).sum())
        return mu, np.sqrt(np.maximum(variance, 0.0)), gain, float(w.sum())

    def deviations(self, mu: Array, s: Array) -> float:
        """beta^1/2 of the posterior confidence: given, or as large as the error rate asks for."""
        if self.confidence.get("error_rate") is None or self.share:
            return 3.0 if self.confidence.get("beta") is None else real(self.confidence["beta"])
        rate, tails = real(self.confidence["error_rate"]), []
        for level in self.levels:
            with np.errstate(divide="ignore", invalid="ignore"):
                distances = np.nan_to_num((np.abs(mu - level) + self.tau) / s, nan=0.0)
            wrong = np.sort([0.5 * math.erfc(d / math.sqrt(2.0)) for d in distances.tolist()])
            count = int(np.searchsorted(np.cumsum(wrong) / np.arange(1, self.n + 1), rate, side="right"))
            if 0 < count < self.n and wrong[count] == wrong[count - 1]:  # points that are alike go together
                count = int(np.searchsorted(wrong, wrong[count], side="left"))
            tails.append(min(max(wrong[count - 1] if count else 0.5 * wrong[0], 1e-6 * rate), 5.0 * rate))
        return -NormalDist().inv_cdf(float(min(tails)))

    def by_posterior(self, stated: Json, _ends: Array) -> tuple[Array, Array]:
        """mu +- (beta^1/2 s + h), for posterior and rkhs; intersected over the batches where that is asked for."""
        parts = [at for at, _, _ in self.batches() if len(at)]
        parts = parts if self.confidence.get("intersected") else [self.measured]
        lower, upper = np.full(self.n, -np.inf), np.full(self.n, np.inf)
        for k in range(len(parts)):
            at = np.concatenate(parts[: k + 1])
            mu, s, gain, information = self.posterior(at)
            if self.confidence["name"] == "rkhs":
                rank = min(whole(stated["rank"]), len(at))
                bound = rank * math.log1p(float(self.diagonal.max()) * information / rank)  # 2 Gamma
                need(bound >= gain - EQUAL * (1 + gain), "the stated rank is less than that of the measurements")
                half = (self.norm + math.sqrt(bound - 2.0 * math.log(self.delta))) * s
                half += self.h * (1.0 + math.sqrt(information) * s)
            else:
                half = self.deviations(mu, s) * s + self.h
            low, high = np.maximum(lower, mu - half), np.minimum(upper, mu + half)
            lower, upper = np.where(low > high, mu - half, low), np.where(low > high, mu + half, high)
        return lower, upper

    def by_ridge(self, stated: Json, _ends: Array) -> tuple[Array, Array]:
        """Ellipsoids, and challenges from plans that were told as a whole; both with their shares of delta."""
        phi, residuals = self.features(stated["pivots"], FEATURES)
        misses, bound = np.full(self.n, self.h), math.inf if self.bound is None else self.bound
        if self.created.get("kernel") is None:  # as few coordinates as the points span
            _, sizes, axes = np.linalg.svd(phi, full_matrices=False)
            rank = int((sizes > max(phi.shape) * np.finfo(float).eps * sizes[0]).sum())
            phi = phi @ axes[:rank].T if rank else phi
        if self.norm is not None:
            phi, residuals = phi * self.norm, residuals * self.norm**2
        else:  # |<theta, phi>| <= B + h at every point: its mean square is a ball in these coordinates
            left, sizes, _ = np.linalg.svd(phi, full_matrices=False)
            rank = max(1, int((sizes > NUGGET * sizes[0]).sum()))
            phi = left[:, :rank] * math.sqrt(self.n) * (bound + self.h) * (sizes[:rank] > 0)
            residuals = np.zeros(self.n)
        misses, reaches = misses + np.sqrt(residuals), np.square(phi).sum(axis=1) + residuals
        least = LEAST_NOISE * max(float(self.sigma.max()), math.sqrt(float(reaches.max()))) or 1.0
        single = float((reaches / np.maximum(self.sigma, least) ** 2).max()) or 1.0
        shares, planned = self.shares(phi.shape[1]), [seq for seq, _ in self.plans]
        if self.told[self.told > 0].min() < min(planned, default=math.inf):  # results came before there was any plan
            shares = [sum(shares), 0.0]
        told = self.summary(self.measured, least)
        inside = self.ellipsoids(phi, (misses, residuals), told, single, shares[0] * self.delta)
        ends = [inside(phi[block]) for block in self.blocks]
        lower, upper = (np.concatenate(each) for each in zip(*ends, strict=True))
        lower, upper = lower - misses, upper + misses
        fed = [(self.summary(at, least), self.plans[place][1]) for at, place, whole in self.batches() if whole]
        for challenge in self.challenges(phi, misses, fed, shares[1] * self.delta) if shares[1] else []:
            found, above, at = challenge.ends(inside), challenge.side > 0, challenge.point
            np.maximum.at(lower, at[challenge.single & above], found[challenge.single & above])
            np.minimum.at(upper, at[challenge.single & ~above], found[challenge.single & ~above])
        need((lower <= upper).all() and (lower <= bound).all() and (upper >= -bound).all(), "an interval is empty")
        point, values = self.point[self.measured], self.value[self.measured] - self.mean
        beyond = np.maximum(values - upper[point], lower[point] - values) / np.maximum(self.each[self.measured], least)
        allowed = math.sqrt(2.0 * math.log(2.0 * len(point) * (len(point) + 1.0) / ALARM))
        need((beyond <= allowed).all(), "a measurement is farther from f than the noise allows")
        return self.mean + np.clip(lower, -bound, bound), self.mean + np.clip(upper, -bound, bound)

    def shares(self, rank: int) -> list[float]:
        """Of delta, for ellipsoids and challenges: as given, or r^2 / (r^2 + 256), at most 0.8, for r features."""
        if (given := self.confidence.get("shares")) is None:
            challenged = min(0.8, rank**2 / (rank**2 + EVEN**2))
            return [1.0 - challenged, challenged]
        shares = [real(share) for share in given]
        need(len(shares) == 2 and min(shares) >= 0 and 0 < sum(shares) <= 1, "the shares of delta are no shares")
        return shares

    def ellipsoids(self, phi: Array, missed: Any, told: Any, single: float, delta: float) -> Any:
        """(1 - tau) |b - S theta|^2 / R^2 + tau |theta|^2 <= 1 for each pi, tau; a function of rows v: <theta, v>."""
        (support, w, y, scatter), (misses, residuals), gammas = told, missed, GAMMAS * single
        sizes, axes = np.linalg.eigh((phi[support].T * w) @ phi[support])
        sizes, b = np.maximum(sizes, 0.0), axes.T @ (phi[support].T @ (w * y))
        blur, t = (
            math.sqrt(w @ misses[support] ** 2) + ROUNDING * sizes.sum() / math.sqrt(single),
            w @ residuals[support],
        )
        share, rest, count, theta = (1.0 - TAUS)[:, None], TAUS[:, None], len(self.measured), b / (sizes + 1.0)
        logs = np.log(OMEGAS) - 0.5 * (np.log1p(sizes / gammas[:, None]).sum(axis=1) + t / gammas)
        largest = max(float(sizes.max()), FLAT * single)
        axis = largest * (max(min(float(sizes.min()), largest), FLAT * largest) / largest) ** AXES[:, None]
        slopes = axis / (axis + gammas)

        def made(failure: float) -> tuple[Array, Array, Array]:
            wanted = -math.log(failure)
            z = roots(lambda z: log_sum(logs + z[:, None] * slopes) - wanted, ((wanted - logs) / slopes).min(axis=1))
            log_pis = logs + z[:, None] * slopes
            log_pis -= log_sum(log_pis)[:, None]
            squares = 2.0 * ((np.exp(log_pis) * (log_pis - logs)).sum(axis=1) + wanted)
            scales = np.exp(log_pis) @ (1.0 / (sizes + gammas[:, None])) / (np.sqrt(squares) + blur)[:, None] ** 2
            weights = share * (sizes**2 * scales)[:, None] + rest
            centres = share * (sizes * b * scales)[:, None] / weights
            squared = 1.0 - (share * (b**2 * scales)[:, None] * rest / weights).sum(axis=-1)
            return weights.reshape(-1, len(sizes)), centres.reshape(-1, len(sizes)), squared.ravel()

        need(made(ALARM)[2].min() >= 0, "no function of that size explains the measurements")
        squares = scatter + float((w * np.square(y - phi[support] @ (axes @ theta))).sum()) + float(theta @ theta) - 1.0
        limit = math.log(count * (count + 1.0) / ALARM)
        allowed = (math.sqrt(count + 2.0 * math.sqrt(count * limit) + 2.0 * limit) + blur) ** 2
        need(squares <= allowed, "the measurements are farther from every allowed function than the noise explains")
        weights, centres, squared = made(delta) if delta else (np.ones((1, len(b))), np.zeros((1, len(b))), np.ones(1))

        def inside(rows: Array) -> tuple[Array, Array]:
            arms = rows @ axes
            half = np.copysign(np.sqrt(arms**2 @ (1.0 / weights).T * np.abs(squared)), squared)
            return (arms @ centres.T - half).max(axis=1), (arms @ centres.T + half).min(axis=1)

        return inside

    def challenges(self, phi: Array, misses: Array, fed: list[Any], delta: float) -> list[Challenge]:
        """Those that began, each with its plan and only if delta had room for it, fed with all plans from then on."""
        found: list[Challenge] = []
        planned, squared = (
            np.zeros((phi.shape[1],) * 2),
            -2.0 * math.log(delta),
        )  # what the metric 1 + planned / R^2 has
        for (support, w, y, _), plan in fed:
            if plan.get("challenge") is not None:
                fresh = Challenge(plan["challenge"], phi, misses, self.share)
                spent = sum(float(each.delta.sum()) for each in found)
                fits = fresh.delta.sum() <= max(0.0, delta - spent) * (1.0 + DIGITS)
                found += [fresh] if fits else []
            rows, factor = (
                phi[support] * np.sqrt(w)[:, None],
                np.linalg.cholesky(np.eye(len(planned)) + planned / squared),
            )
            off = math.sqrt(float(w @ misses[support] ** 2) + ROUNDING**2 * float(np.square(rows).sum()))
            for each in found if len(support) else []:
                each.feed(rows, np.sqrt(w) * y, off, np.linalg.inv(factor).T)
            planned, squared = planned + rows.T @ rows, 2.0 * (float(np.log(np.diag(factor)).sum()) - math.log(delta))
        return found

    def by_rips(self, stated: Json, ends: Array) -> tuple[Array, Array]:
        """W +- 2 precision of the last round for which a point was undecided; W is Catoni's mean of v' A^-1 phi y."""
        name, gamma = self.confidence.get("schedule", "scaled"), self.number("ridge", 1e-7 * float(self.diagonal.max()))
        need(self.confidence.get("estimator", "Catoni") == "Catoni", "this verifier knows Catoni's mean only")
        missed = min(0.0025 * gamma / float(self.diagonal.max() or 1.0), 1e-3)
        phi, residuals = self.features(stated["pivots"], [(missed, self.n)])
        known, middles = self.rounds(), ends.mean(axis=0)
        zero, moment = ~phi.any(axis=1), self.bound**2 + float(self.sigma.max()) ** 2
        lower, upper = np.where(zero, self.mean - self.h, -np.inf), np.where(zero, self.mean + self.h, np.inf)
        last = np.zeros(self.n, dtype=int)
        for phase, (_, _, mask) in known.items():
            last[mask & ~zero] = phase
        for phase, (asked, at, mask) in known.items():
            count, precision = len(at), (1.0 if name == "paper" else self.bound) * 2.0**-phase
            weights, room = dense(asked["weights"], self.n), ROOM[name] * precision
            need(abs(weights.sum() - 1) < EQUAL, "the weights of a round are no distribution")
            inverse = np.linalg.inv((phi.T * weights) @ phi + gamma * np.eye(phi.shape[1]))
            sides = phi @ inverse
            squares = (sides * phi).sum(axis=1)
            price = 2 * math.log(4 * phase**2 * (int(mask.sum()) if name == "tight" else self.n**2) / self.delta)
            off = np.sqrt(moment * squares * price / max(count - price, 1 / HUGE))  # Catoni's deviation
            need(1.001 * off[mask].max() + room <= 2 * precision * (1 + EQUAL), f"round {phase} is too short")
            error = self.h + (self.norm or 0.0) * math.sqrt(float(residuals.max()))
            bias = math.sqrt(float(squares[mask].max())) * (math.sqrt(gamma) * (self.norm or 0.0) + error) + error
            need(self.norm is None or bias <= room * (1 + EQUAL), f"ridge or h hides what round {phase} resolves")
            where, which, counts = np.unique(self.point[at], return_inverse=True, return_counts=True)
            values, allowed = self.value[at] - self.mean, self.sigma[where] * np.sqrt(len(where) / (ALARM * counts))
            excess = np.abs(np.bincount(which, values) / counts) - allowed
            need((excess <= self.bound * (1 + EQUAL) + EQUAL * abs(self.mean)).all(), "the bound on f does not hold")
            need((self.each[at] <= self.sigma[self.point[at]]).all(), "a measurement is noisier than is assumed")
            if asked.get("design"):
                self.check_design(asked["design"], phi, inverse, squares, gamma)
            chosen, size = np.flatnonzero(last == phase), max(1, 2**16 // count)  # fits a cache
            alphas = np.sqrt(price * (count - price) / (moment * squares)) / count
            for part in np.array_split(chosen, len(chosen) // size + 1):
                samples = (sides[part] @ phi[where].T)[:, which] * values
                for sign in (-1.0, 1.0):  # the sum of psi is zero at the stated W, up to a thousandth of its deviation
                    near = middles[part] - self.mean + sign * 1.001e-3 * off[part]
                    u = alphas[part][:, None] * (samples - near[:, None])
                    total = sign * (np.sign(u) * np.log1p(np.abs(u) + u**2 / 2)).sum(axis=1)
                    need((total <= EQUAL).all(), f"a stated interval is not that of round {phase}")
            lower[chosen], upper[chosen] = middles[chosen] - 2 * precision, middles[chosen] + 2 * precision
        return lower, upper

    def check_design(self, design: Json, phi: Array, inverse: Array, squares: Array, gamma: float) -> None:
        """Lower bound T^2 / (max g + gamma R) of a design: T = tr(A^-1 M), R = tr(A^-2 M), M of the dual."""
        dual = dense(design["dual"], self.n)
        middle = inverse @ ((phi.T * (dual / dual.sum())) @ phi) @ inverse  # A^-1 M A^-1
        largest = float(((phi @ middle) * phi).sum(axis=1).max()) + gamma * float(np.trace(middle))
        proved = float(dual @ squares / dual.sum()) ** 2 / largest
        need(real(design["lower_bound"]) <= proved * (1 + 1e-3), "the bound of a design is not what its dual proves")
        need(real(design["value"]) >= squares[dual > 0].max() * (1 - 1e-3), "the value of a design is too small")


class Proof(Intervals):
    """What the statements of a certificate say, each proved by itself."""

    def labels(self, stated: Json) -> str:
        """Recompute the interval of f at every point, and the labels that follow from the stated ones."""
        name, estimated = self.confidence["name"], self.created.get("fit") or any(a.get("fit") for _, a in self.plans)
        need(not estimated, "kernel, noise or mean were estimated from the measurements: only an audit proves labels")
        need(not self.created.get("scales"), "this verifier does not know kernels on scaled coordinates")
        need(set(stated) == {"kind", "labels", "lower", "upper", *HINTS[name]}, "the statement has other fields")
        data = [base64.b64decode(stated[end], validate=True) for end in ("lower", "upper")]
        ends = np.array([np.frombuffer(each, dtype="<f8") for each in data])
        need(ends.shape == (2, self.n), "there are more or fewer intervals than points")
        need(len(self.measured), "nothing was measured")
        with np.errstate(all="raise", under="ignore"):
            self.kernel, everything = kernel_of(self.points, self.created.get("kernel")), np.arange(self.n)
            self.diagonal = np.asarray(self.kernel(everything, everything), dtype=float)
            found = np.array(getattr(self, ROADS[name])(stated, ends))
        room = EQUAL * float(np.abs(found[np.isfinite(found)]).max(initial=0.0))
        with np.errstate(invalid="ignore"):
            same = (ends == found) | (np.abs(ends - found) <= room)
        need(same.all(), "a stated interval does not follow from the log")
        labels = self.read(ends[0], ends[1], 0.0 if name == "rips" else self.tau)
        text = "".join({1: "+", 0: "?", -1: "-"}[label] for label in labels.ravel().tolist())
        need(labels.any() and stated["labels"] == text, "the stated labels do not follow from the intervals")
        counts = [f"{(row > 0).sum()} above, {(row < 0).sum()} below, {(row == 0).sum()} undecided" for row in labels]
        names = [f"level {level:g}" for level in self.levels] or [f"{self.share:g} times the maximum"]
        return f"{'; '.join(f'{a}: {b}' for a, b in zip(names, counts, strict=True))}; {self.promise(name)}"

    def read(self, lower: Array, upper: Array, tau: float) -> Array:
        """(k, n) +1, 0, -1: an interval that the tolerance leaves nothing of is on the side of its middle."""
        if self.share:
            below, above = upper - tau <= self.share * lower.max(), lower + tau >= self.share * upper.max()
            high = lower + upper > self.share * (lower + upper).max()  # the middle
            return (1 * (above & (high | ~below)) - 1 * (below & ~(above & high)))[None]
        low, high = lower - self.levels[:, None], upper - self.levels[:, None]
        sides = np.where(low + tau > 0, 1, np.where(high - tau < 0, -1, 0))
        return np.where(low + tau >= high - tau, np.where(low > -high, 1, -1), sides)

    def promise(self, name: str) -> str:
        """Say in which sense the labels are right, and what that rests on."""
        wide = f", except within {self.tau:g} of the level" if self.tau else ""
        if name == "posterior":
            rate, beta = self.confidence.get("error_rate"), self.confidence.get("beta") or 3.0
            sense = f"wrong at a rate of {rate:g}" if rate and not self.share else f"{beta:g} deviations from the level"
            return f"the labels are {sense}{wide}, if f is a draw from the kernel's Gaussian process, in Gaussian noise"
        limits = {"||f|| <= ": self.norm, f"|f - {self.mean:g}| <= ": self.bound, "h = ": self.h or None}
        given = [f"{limit}{value:g}" for limit, value in limits.items() if value is not None]
        rips = ["noise of the given variance", "rounds drawn from their designs"]
        given += rips if name == "rips" else ["sub-Gaussian noise of the given sigma"]
        given += ["f in the span of the features"] * (
            name == "ridge" and self.norm is None and self.created.get("kernel") is not None
        )
        given += ["a ridge that hides less than a round resolves"] * (name == "rips" and self.norm is None)
        return f"all labels are right with probability {1 - self.delta:g}{wide}, given {', '.join(given)}"

    def audit(self, stated: Json) -> str:
        """Recompute draws, contradictions and the bound of an audit: a bet against every share of wrong labels."""
        number, row = whole(stated["audit"]), whole(stated["level"])
        audits = [(k, asked) for k, (_, asked) in enumerate(self.plans) if asked.get("audit")]
        fields = {"kind", "audit", "level", "draws", "contradictions", "bound"}
        need(set(stated) == fields and 0 < number <= len(audits) and row < len(self.levels), "there is no such audit")
        (place, asked), level = audits[number - 1], float(self.levels[row])
        plan, drawn = asked["audit"], np.array(asked["points"], dtype=np.int64)
        tau, delta = real(plan["tolerance"]), real(plan["delta"]) / len(self.levels)
        steps = np.array(["0123456789abcdefghijklmnopqrstuvwxyz".find(letter) for letter in plan["doubt"]])
        guess = np.array([{"+": 1, "-": -1}[sign] for sign in plan["guess"]]).reshape(-1, self.n)[row]
        need(len(steps) == self.n and (steps >= 0).any() and tau >= 0 and 0 < delta < 1, "the audit covers no point")
        size, roots = int((steps >= 0).sum()), np.sqrt(np.maximum(steps, 0) / 72.0)
        uniform = (steps >= 0) / size
        chances = 0.8 * uniform + 0.2 * roots / roots.sum() if roots.any() else uniform
        heaps, rng = np.cumsum(chances / chances.sum()), np.random.default_rng([self.created["seed"], number, 4])
        same = np.searchsorted(heaps / heaps[-1], rng.random(len(drawn)), side="right") == drawn
        need(same.all(), "the draws of the audit are not those of the seed")
        estimated = "noise" in self.created.get("fit", []) or self.problem.get("noise") is None
        sigma, margin, kappa = math.inf if estimated else float(self.sigma.max()), 0.0, 0.5
        if tau > 0 and 0.5 * tau >= math.sqrt(2 * math.log(2)) * sigma:
            margin = min(0.5 * tau, 3 * sigma)
            kappa = max(0.5, -math.expm1(-0.5 * (margin / sigma) ** 2)) if sigma else 1.0
        fates, values = self.fate[self.plan == place], self.value[self.plan == place]
        end = int(np.argmax([*((fates == OPEN) | (fates == WITHDRAWN)), True]))  # results count up to the first gap
        hits = ((fates == FAILED) | (guess[drawn] * (level - values) > tau - margin))[:end]
        weights = np.divide(1.0 / size, chances, out=np.zeros(self.n), where=chances > 0)
        top = max(1.0, float(weights.max()))
        gaps, counts = np.unique(top - weights[drawn[:end]] * hits, return_counts=True)
        low, high = 0.0, float(gaps @ counts) / max(end, 1)
        for _ in range(50 * (high > 0)):
            middle = 0.5 * (low + high)
            with np.errstate(divide="ignore"):
                capital = LOG_SHARES + np.log(1.0 - STAKES[:, None] + STAKES[:, None] * gaps / middle) @ counts
            low, high = (middle, high) if np.logaddexp.reduce(capital) >= -math.log(delta) else (low, middle)
        bound, noise = min(1.0, (top - low) / kappa), f"sub-Gaussian noise (sigma {sigma:g})" if margin else "noise"
        most, found = math.floor(bound * size * (1 + 1e-12)), [end, int(hits.sum())]
        same = [stated["draws"], stated["contradictions"]] == found and abs(real(stated["bound"]) - bound) <= EQUAL
        need(same and most < size, f"audit {number} has other draws or another bound, or it bounds nothing")
        said = f"at most {most} of the {size} labels that audit {number} covers are wrong at level {level:g}"
        wide = f" by more than {tau:g}" if tau else ""
        draws = f"{end} draws, {found[1]} contradictions"
        return f"{said}{wide}, with probability {1 - delta:g}, given {noise} of median zero ({draws})"


def prove(document: Any, head: str = "") -> str:
    """Say what the certificate proves, or raise what is wrong with it."""
    fields = {"format", "head", "assumptions", "entries", "statements"}
    need(set(document) == fields and whole(document["format"]) == 1, "the certificate has another format")
    log, statements = Proof(document["entries"]), document["statements"]
    known = {"entries": len(log.digests) - 1, "digest": log.digests[-1]}
    need(log.digests[1:] and document["head"] == known, "the head is not that of the log")
    need(not head or head in log.digests, f"the log does not contain {head}, which you know: it is another log")
    given = {name: log.created.get(name) for name in ("study", "goal", "kernel", "problem", "confidence", "fit")}
    need(document["assumptions"] == given, "the assumptions are not those of the log")
    need(isinstance(statements, list) and statements, "the certificate states nothing")
    keys = {(each["kind"], each.get("audit"), each.get("level")) for each in statements}
    need(len(keys) == len(statements), "the certificate states something twice")
    proved = [{"audit": log.audit, "labels": log.labels}[each["kind"]](each) for each in statements]
    study = f"study {log.created.get('study', '')!r}, {log.n} points, {len(log.measured)} measurements"
    return f"{'; '.join(proved)} [{study}, log of {known['entries']} entries with head {known['digest']}]"


def check(text: str, head: str = "") -> tuple[bool, str]:
    """Whether everything that a certificate states is proved, and a sentence: what is proved, or why it is not."""
    try:
        return True, prove(parse(text), head)
    except NotProvedError as reason:
        return False, str(reason)
    except Exception as error:  # a certificate may hold anything, and nothing of it is proved then
        return False, f"the certificate cannot be read ({type(error).__name__}: {error})"


def main(path: str = "", head: str = "") -> int:
    """Check a file, print the answer, and return the exit code."""
    try:
        proved, sentence = check(Path(path).read_text(encoding="utf-8"), head)
    except (OSError, ValueError) as error:
        proved, sentence = False, f"the file cannot be read ({error}): python check.py claim.json [HEAD]"
    sys.stdout.write(f"{'proved' if proved else 'not proved'}: {sentence}\n")
    return 0 if proved else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
