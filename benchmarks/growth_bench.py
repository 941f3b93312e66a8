"""Scaling from 10,000 to 1,000,000 resources, drawn into docs/access/growth.svg."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter_ns

from benchmarks.figures import ROUNDS, Figure, median_of, p50
from benchmarks.plot import Axes, draw
from lakehold.access.decisions.evaluator import DecisionEvaluator
from lakehold.access.facts.index import FactIndex
from lakehold.access.facts.loader import TimedRow
from lakehold.access.facts.view import ALL_MEMBERS, EdgeRow, FactRow, FactView, GrantRow, ModelRow, ResourceRow
from lakehold.workspaces import models

SIZES = (10_000, 31_600, 100_000, 316_000, 1_000_000)
FLAT = 2.5
"""Nothing takes longer for a hundred times as many resources, but that the processor's caches hold less of them."""
_PLOT = Path(__file__).parents[1] / "docs" / "access" / "growth.svg"
_AXES = Axes("resources, with three grants each", "µs, median", (10_000, 100_000, 1_000_000), "µs", 1e6)
_QUESTIONS = 2_000
_MEMBERS, _GROUPS, _IN_LAYER = 1_000, 100, 1_000

SIMPLE, UNION, CHANGE = "check, simple path", "check, full union", "take up one change"


@dataclass(frozen=True, slots=True)
class _SizedIndex:
    """An index of some size, and the checks to run on it."""

    index: FactIndex
    simple: Sequence[tuple[str, str, str]]
    union: Sequence[tuple[str, str, str]]
    changes: Sequence[GrantRow]


def figures(say: Callable[[str], None]) -> Iterator[Figure]:
    """Return the ratios of the largest size to the smallest."""
    taken = _measure_sizes(say)
    draw(_PLOT, taken, _AXES)
    for name, by_size in taken.items():
        grown = by_size[SIZES[-1]] / by_size[SIZES[0]]
        yield Figure(
            f"{name}, 1,000,000 resources over 10,000",
            partial(float, grown),
            most=FLAT,
            unit="×",
            note=f"Growth: drawn in {_PLOT.relative_to(_PLOT.parents[2])}.",
        )


def _measure_sizes(say: Callable[[str], None]) -> Mapping[str, Mapping[int, float]]:
    taken: dict[str, dict[int, float]] = {SIMPLE: {}, UNION: {}, CHANGE: {}}
    for size in SIZES:
        say(f"growing to {size:,} resources")
        grown = _build_index(size)
        gc.collect()
        gc.freeze()
        decisions = DecisionEvaluator(grown.index)
        for _ in range(ROUNDS):
            for name, sample in (
                (SIMPLE, p50(decisions.check, grown.simple)),
                (UNION, p50(decisions.check, grown.union)),
                (CHANGE, _change(grown)),
            ):
                taken[name][size] = min(sample, taken[name].get(size, sample))
        gc.unfreeze()
    return taken


def _change(grown: _SizedIndex) -> float:
    """Time applying one change to the index. Reading it from the database does not depend on the size."""
    taken: list[int] = []
    for row in grown.changes:
        start = perf_counter_ns()
        grown.index.open(row)
        grown.index.touch()
        taken.append(perf_counter_ns() - start)
        grown.index.close(row)
        grown.index.touch()
    return median_of(taken)


def _build_index(size: int) -> _SizedIndex:
    chance = Random(size)

    def opened(view: FactView) -> Sequence[TimedRow]:
        for row in _rows(size, chance):
            view.open(row)
        return ()

    index = FactIndex(1, 1, 0, opened)
    members = [f"m{number}" for number in range(_MEMBERS)]
    tables = [(f"t{number}", number) for number in (chance.randrange(size) for _ in range(_QUESTIONS))]
    return _SizedIndex(
        index,
        [(f"m{_holder(number, 0)}", "read", uid) for uid, number in tables],
        [(chance.choice(members), "delete", uid) for uid, _ in tables],
        [GrantRow(_member(chance.randrange(_MEMBERS)), "editor", _table(number)) for _, number in tables[:200]],
    )


def _group(number: int) -> int:
    return 3 + number


def _member(number: int) -> int:
    return _group(_GROUPS) + number


def _layer(number: int) -> int:
    return _member(_MEMBERS) + 1 + number


def _table(number: int) -> int:
    return 1_000_000 + number


def _holder(number: int, which: int) -> int:
    """Return a member who holds Viewer on a table."""
    return (number * 7 + which * 331) % _MEMBERS


def _rows(size: int, chance: Random) -> Iterator[FactRow]:
    yield from (ModelRow(model.name, model.source) for model in models())
    yield ResourceRow(1, "acme", "tenant.tenant", "Acme")
    yield ResourceRow(2, "all", ALL_MEMBERS, "All")
    for number in range(_GROUPS):
        yield ResourceRow(_group(number), f"g{number}", "tenant.group", f"g{number}")
    for number in range(_MEMBERS):
        yield ResourceRow(_member(number), f"m{number}", "tenant.member", f"m{number}")
        yield EdgeRow("tenant", _member(number), 1)
        yield from (EdgeRow("member_of", _member(number), _group(g)) for g in chance.sample(range(_GROUPS), 4))
    lake = _member(_MEMBERS)
    yield ResourceRow(lake, "lake", "lakehouse.lakehouse", "Lake")
    yield EdgeRow("tenant", lake, 1)
    for number in range(size // _IN_LAYER + 1):
        yield ResourceRow(_layer(number), f"layer-{number}", "lakehouse.layer", f"layer-{number}")
        yield EdgeRow("lakehouse", _layer(number), lake)
        yield from (GrantRow(_group(g), "editor", _layer(number)) for g in chance.sample(range(_GROUPS), 2))
    for number in range(size):
        yield ResourceRow(_table(number), f"t{number}", "lakehouse.table", f"t{number}")
        yield EdgeRow("layer", _table(number), _layer(number // _IN_LAYER))
        yield from (GrantRow(_member(_holder(number, which)), "viewer", _table(number)) for which in range(3))
