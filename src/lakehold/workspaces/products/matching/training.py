"""The training of a match model without labels, by expectation maximisation over patterns of agreement.

A pair of records is of one entity, of two unrelated entities, or of two rivals: entities that look alike for a reason,
such as members of a household (`comparisons`). The shares of levels among unrelated pairs (`u`) come from a random
sample, those among pairs of one entity (`m`) and of rivals from the pairs that blocking found. Each share starts with
what is expected for its type and keeps to it where the data say little, so that a comparison without evidence stays
at its default, and the same data always give the same model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lakehold.workspaces.products.matching.comparisons import NAMESAKE, Comparison, find_rivals

_PRIOR_PAIRS = 30.0
"""So many pairs of one entity weigh as much as what was expected before training."""
_RIVAL_PRIOR_PAIRS = 60.0
_UNRELATED_PAIRS = 2_000.0
"""So many pairs that differ are added to those that are chosen at random."""
_LABEL_PRIOR = 4.0
"""So many labels of one pattern weigh as much as the model's own judgement of it."""
_FEW = 20.0
MAX_ROUNDS = 200
_CHANGE = 1e-4
MIN_LABELS = 50
"""So many answers of curators are needed before they take part in training."""

Shares = list[NDArray[np.float64]]


@dataclass(slots=True)
class PatternCounts:
    """The count of each pattern of agreement: a column of levels for each comparison, -1 for a missing value."""

    levels: NDArray[np.int64]
    counts: NDArray[np.float64]

    @property
    def total(self) -> float:
        """The number of pairs."""
        return float(self.counts.sum())


@dataclass(slots=True)
class TrainingData:
    """The patterns that a model is trained on."""

    random: PatternCounts
    """Patterns of pairs of records chosen at random."""
    blocked: PatternCounts
    """Patterns of pairs that blocking found."""
    all_pairs: float
    """How many pairs of records there are."""
    blocked_pairs: float
    """How many of them blocking found; those in `blocked` may be a sample."""
    same: PatternCounts | None = None
    """Patterns of pairs that curators said are the same."""
    different: PatternCounts | None = None


@dataclass(slots=True)
class TrainedShares:
    """The learnt parameters: by comparison, the share of pairs at each level."""

    m: Shares
    u: Shares
    rivals: dict[str, Shares]
    prior: float
    """The probability that two records chosen at random are of one entity."""
    rival_priors: dict[str, float]
    notes: list[str] = field(default_factory=list)
    rounds: int = 0


def train(comparisons: Sequence[Comparison], data: TrainingData) -> TrainedShares:
    """Learn the shares of a model from patterns; what the data do not tell keeps its default."""
    return _Trainer(comparisons, data).train()


class _Trainer:
    def __init__(self, comparisons: Sequence[Comparison], data: TrainingData) -> None:
        self._comparisons, self._data = comparisons, data
        self._rivals = find_rivals(comparisons)
        self._scale = data.blocked_pairs / max(data.blocked.total, 1.0)
        self._pull = _label_pull(data)
        m = [np.array([level.m for level in each.levels]) for each in comparisons]
        self._m0 = [share / share.sum() for share in m]
        self._r0 = {rival: [_expected(each, rival) for each in comparisons] for rival in self._rivals}
        u = self._shares(data.random, np.ones(len(data.random.counts)), self._floor(), 1.0)
        start = min(0.3 * data.blocked_pairs, 0.3 * np.sqrt(2 * data.all_pairs)) / max(data.all_pairs, 1.0)
        # Where blocking found no pair, equal records are still judged.
        start = float(max(start, 0.5 / (data.all_pairs + 1)))
        priors = dict.fromkeys(self._rivals, start / 5)
        rivals = {rival: _tie(self._r0[rival], u) for rival in self._rivals}
        self._now = TrainedShares(self._m0, u, rivals, start, priors)

    def train(self) -> TrainedShares:
        if self._data.blocked.total:
            for number in range(1, MAX_ROUNDS + 1):
                before = self._now
                self._now = self._round()
                self._now.rounds = number
                if _largest_change(before, self._now) < _CHANGE:
                    break
            else:
                self._now.notes.append(f"Training did not settle in {MAX_ROUNDS} rounds; its last values are used.")
        self._now.notes += self._untrained()
        return self._now

    def _round(self) -> TrainedShares:
        blocked, random = self._data.blocked, self._data.random
        found = self._responsibilities(blocked)
        found = {**found, "": self._with_labels(found[""])}
        chance = self._responsibilities(random)
        unrelated = np.clip(1 - sum(chance.values()), 0, 1)
        m = self._shares(blocked, found[""], self._m0, _PRIOR_PAIRS)
        u = self._shares(random, unrelated, self._floor(), 1.0)
        rivals, priors = {}, {}
        for rival in self._rivals:
            # Namesakes differ from a person who moved in little but their number, which alone is learnt of them.
            strength = np.inf if rival == NAMESAKE else _RIVAL_PRIOR_PAIRS
            expected = self._r0[rival]
            learnt = self._shares(blocked, found[rival], expected, strength)
            rivals[rival] = _tie([None if at is None else share for at, share in zip(expected, learnt, strict=True)], u)
            priors[rival] = self._prior(found[rival])
        return TrainedShares(m, u, rivals, self._prior(found[""]), priors)

    def _prior(self, responsibility: NDArray[np.float64]) -> float:
        expected = float((responsibility * self._data.blocked.counts).sum()) * self._scale
        return min((expected + 0.5) / (self._data.all_pairs + 1.0), 0.5)

    def _responsibilities(self, patterns: PatternCounts) -> dict[str, NDArray[np.float64]]:
        """Return, for each pattern, the probability that it is of one entity (under "") and of each rival."""
        now = self._now
        odds = {"": now.prior * _likelihood(now.m, now.u, patterns.levels)}
        for rival in self._rivals:
            odds[rival] = now.rival_priors[rival] * _likelihood(now.rivals[rival], now.u, patterns.levels)
        total = 1 + sum(odds.values())
        return {name: value / total for name, value in odds.items()}

    def _with_labels(self, responsibility: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._pull is None:
            return responsibility
        same, different = self._pull
        pulled: NDArray[np.float64] = (_LABEL_PRIOR * responsibility + same) / (_LABEL_PRIOR + same + different)
        return pulled

    def _shares(
        self,
        patterns: PatternCounts,
        weight: NDArray[np.float64],
        prior: Sequence[NDArray[np.float64] | None],
        strength: float,
    ) -> Shares:
        weights, shares = weight * patterns.counts, []
        for place, comparison in enumerate(self._comparisons):
            size, levels, expected = len(comparison.levels), patterns.levels[:, place], prior[place]
            known = levels >= 0
            counts = np.bincount(levels[known], weights=weights[known], minlength=size)
            base = np.full(size, 1 / size) if expected is None else expected
            if np.isinf(strength):
                shares.append(base)
                continue
            shares.append((counts + strength * base) / (counts.sum() + strength))
        return shares

    def _floor(self) -> Shares:
        """Return what is added to counts of unrelated pairs: nothing is impossible among them, and most differ.

        So a few records, of which many are of one entity, do not make agreement look like chance.
        """
        floor = [np.full(len(each.levels), 0.5 / len(each.levels)) for each in self._comparisons]
        for levels in floor:
            levels[-1] += _UNRELATED_PAIRS
        return floor

    def _untrained(self) -> list[str]:
        found = self._responsibilities(self._data.blocked)[""] * self._data.blocked.counts
        notes = []
        for place, comparison in enumerate(self._comparisons):
            if found[self._data.blocked.levels[:, place] >= 0].sum() < _FEW:
                notes.append(f"{comparison.name}: too few matching pairs to learn from; its defaults are used.")
        return notes


def _likelihood(shares: Shares, u: Shares, levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many times as likely each pattern is by these shares as among unrelated pairs."""
    total = np.zeros(len(levels))
    for place, (share, base) in enumerate(zip(shares, u, strict=True)):
        ratio = np.append(np.log(share) - np.log(base), 0.0)
        total += ratio[levels[:, place]]
    likelihood: NDArray[np.float64] = np.exp(np.minimum(total, 500))
    return likelihood


def _expected(comparison: Comparison, rival: str) -> NDArray[np.float64] | None:
    if rival not in comparison.rivals():
        return None
    shares = np.array([level.rivals.get(rival, 0.001) for level in comparison.levels])
    expected: NDArray[np.float64] = shares / shares.sum()
    return expected


def _tie(shares: Sequence[NDArray[np.float64] | None], u: Shares) -> Shares:
    return [base if share is None else share for share, base in zip(shares, u, strict=True)]


def _largest_change(before: TrainedShares, after: TrainedShares) -> float:
    pairs = [*zip(before.m, after.m, strict=True), *zip(before.u, after.u, strict=True)]
    change = max((float(np.abs(a - b).max()) for a, b in pairs), default=0.0)
    return max(change, abs(math.log(after.prior / before.prior)) / 10)


def _label_pull(data: TrainingData) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return how many labels each blocked pattern has; None where there are too few."""
    labels = [each.total if each else 0.0 for each in (data.same, data.different)]
    if sum(labels) < MIN_LABELS:
        return None
    places = {tuple(levels): place for place, levels in enumerate(data.blocked.levels.tolist())}
    same, different = (np.zeros(len(data.blocked.counts)) for _ in labels)
    for counts, into in ((data.same, same), (data.different, different)):
        if counts:
            for levels, count in zip(counts.levels.tolist(), counts.counts, strict=True):
                if (place := places.get(tuple(levels))) is not None:
                    into[place] += count
    return same, different


def describe_shares(shares: TrainedShares, comparisons: Sequence[Comparison]) -> Mapping[str, list[str]]:
    """Return one line for each level: how much it speaks for or against one entity, in bits."""
    return {
        comparison.name: [
            f"{level.label}: {np.log2(m / u):+.1f}" for level, m, u in zip(comparison.levels, ms, us, strict=True)
        ]
        for comparison, ms, us in zip(comparisons, shares.m, shares.u, strict=True)
    }
