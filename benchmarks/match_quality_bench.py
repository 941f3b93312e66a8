"""products: how well records are matched whose truth is known, and how long that takes, beside plain Splink."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import match_contenders as contenders
from benchmarks.figures import Figure, Result, measure
from benchmarks.made_up_parts import COMPANIES, PEOPLE, record_table, standardised_table
from benchmarks.made_up_records import DataShape, RecordMaker
from benchmarks.match_contenders import Pair, Quality, Types

SEED = 5_000
"""Seeds below 1,000 are for tuning."""
_SLOW = 20_000
"""More records get their parts by a shorter way than standardisation, which would take longer than matching them."""
PRECISION, RECALL = 0.97, 0.92
_NOTE = (
    "Quality: pairs inside clusters (connected components at the default threshold), beside records of equal names and"
    " birth date or city, and Splink's quick start. Shares of wrong and of missed pairs; the data have typing errors,"
    " nicknames, swapped names, missing values, moved addresses, household members and subsidiaries."
)
_SPEED_NOTE = "Speed: people; each in a process of its own, with 2 threads and a memory limit of 4 GB for DuckDB."
BASE = DataShape(records=10_000)
SHAPES = {
    "10,000 records": BASE,
    "1,000 records": replace(BASE, records=1_000),
    "100,000 records": replace(BASE, records=100_000),
    "twice the typing errors": replace(BASE, typing_errors=0.12),
    "a quarter of the values missing": replace(BASE, missing=0.25),
    "half have relatives": replace(BASE, relatives=0.5),
    "few duplicates": replace(BASE, copies=0.3),
    "many duplicates": replace(BASE, copies=3.0),
    "no e-mail": replace(BASE, without=frozenset({"email"})),
    "no phone": replace(BASE, without=frozenset({"phone"})),
    "no birth date, no VAT number": replace(BASE, without=frozenset({"birth", "vat"})),
}
SIZES = (100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class MadeUpData:
    """Records with their truth."""

    table: pa.Table
    types: Types

    @classmethod
    def make(cls, kind: str, seed: int, shape: DataShape) -> MadeUpData:
        """Make people or companies."""
        maker, types = RecordMaker(seed, shape), PEOPLE if kind == "people" else COMPANIES
        rows = maker.people() if kind == "people" else maker.companies()
        made = record_table if shape.records > _SLOW else standardised_table
        return cls(made(rows, types), types)

    def quality(self, match: Callable[[pa.Table, Types], list[Pair]]) -> Quality:
        """Return the quality of a contender."""
        truth = dict(zip(self.table["record"].to_pylist(), self.table["truth"].to_pylist(), strict=True))
        return contenders.measure_quality(truth, match(self.table, self.types))


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Measure the quality of matching, then its speed."""
    for kind in ("people", "companies"):
        results = []
        for place, (name, shape) in enumerate(SHAPES.items()):
            say(f"{kind}: {name}")
            data = MadeUpData.make(kind, SEED + place, shape)
            results += measure(_quality_figures(f"{kind}, {name}", data), lambda _: None, rounds=1)
        yield results
    yield measure(_speed_figures(say), say, rounds=1)


def _quality_figures(name: str, data: MadeUpData) -> Iterator[Figure]:
    found = data.quality(contenders.ours)
    peers = {"equal names": contenders.equal_names, "Splink quick start": contenders.quick_start}
    beside = {peer: data.quality(match) for peer, match in peers.items()}
    for measured, bar in (("precision", PRECISION), ("recall", RECALL)):

        def share(quality: Quality, attribute: str = measured) -> Callable[[], float]:
            return lambda: 100 * (1 - getattr(quality, attribute))

        label = "wrong pairs" if measured == "precision" else "missed pairs"
        others = {peer: share(quality) for peer, quality in beside.items()}
        most = round(100 * (1 - bar), 3)
        yield Figure(f"{name}: {label}", share(found), others, most=most, unit=" %", note=_NOTE)


def _speed_figures(say: Callable[[str], None]) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="lakehold-bench-") as folder:
        for size in SIZES:
            say(f"making {size:,} people")
            path = Path(folder) / f"{size}.parquet"
            pq.write_table(MadeUpData.make("people", SEED, replace(BASE, records=size)).table, path)
            said = {who: match_apart(who, path, "people") for who in ("ours", "splink")}
            say(json.dumps(said))
            name = f"matching {size:,} people"
            bars: tuple[dict[str, Any], ...] = {"times": 1 / 3, "unit": "s"}, {"most": 6 * 1024**3, "unit": "bytes"}
            for measured, bar in zip(("seconds", "peak"), bars, strict=True):
                ours, splink = (partial(found.__getitem__, measured) for found in (said["ours"], said["splink"]))
                yield Figure(f"{name}: {measured}", ours, {"Splink quick start": splink}, note=_SPEED_NOTE, **bar)


def match_apart(who: str, records: Path, kind: str) -> dict[str, float]:
    """Match in a process of its own; return its seconds and its peak memory."""
    command = [sys.executable, "-m", "benchmarks.match_contenders", who, str(records), kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
