"""Those who match made-up records: ours, equal names, and Splink with the settings of its quick start."""

from __future__ import annotations

import json
import logging
import resource
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

from benchmarks.made_up_parts import COMPANIES, PEOPLE
from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.matching.comparisons import MatchedAttribute
from lakehold.workspaces.products.matching.engine import MatchEngine
from lakehold.workspaces.products.matching.match_process import MatchSpec
from lakehold.workspaces.products.matching.match_run import run_match
from lakehold.workspaces.products.matching.options import MatchOptions

Pair = tuple[str, str]
Types = Mapping[str, AttributeType]
THRESHOLD = MatchOptions().threshold


@dataclass(frozen=True, slots=True)
class Quality:
    """How many of the pairs that are put together are right, and how many of the right ones are."""

    precision: float
    recall: float


def ours(table: pa.Table, types: Types) -> list[Pair]:
    """Match with the default configuration."""
    engine = MatchEngine([MatchedAttribute(name, kind) for name, kind in types.items()], MatchOptions())
    try:
        engine.load(table.drop_columns(["truth"]))
        engine.block(engine.plan_blocking())
        engine.score(engine.train())
        return engine.connection.execute(
            "select record_a, record_b from pairs where probability >= ?", [THRESHOLD]
        ).fetchall()
    finally:
        engine.close()


def equal_names(table: pa.Table, types: Types) -> list[Pair]:
    """Match records whose names are equal, and whose birth date or city is as well."""
    keys = ("given__key", "family__key", "birth__key") if "given" in types else ("name__key", "city__key")
    connection = duckdb.connect()
    connection.register("records", table)
    grouped = ", ".join(keys)
    known = " and ".join(f"{key} is not null" for key in keys)
    return connection.execute(
        "select first_record, record from (select record, min(record) over"
        f" (partition by {grouped}) as first_record from records where {known}) where record <> first_record"
    ).fetchall()


def quick_start(table: pa.Table, types: Types) -> list[Pair]:
    """Match as the first page of Splink's documentation shows it."""
    connection = duckdb.connect()
    connection.register("records", table)
    name = predict_quick_start(connection, "records", types)
    return connection.execute(f"select record_l, record_r from {name}").fetchall()


def predict_quick_start(connection: duckdb.DuckDBPyConnection, table: str, types: Types) -> str:
    """Train and predict by Splink's quick start; return the table of its pairs."""
    logging.getLogger("splink").setLevel(logging.ERROR)
    if "given" in types:
        comparisons: list[Any] = [
            cl.NameComparison("given__key"),
            cl.NameComparison("family__key"),
            cl.LevenshteinAtThresholds("birth__key", 1),
            cl.ExactMatch("city__key").configure(term_frequency_adjustments=True),
            cl.EmailComparison("email__key"),
        ]
        rules: list[Any] = [
            block_on("given__key", "family__key"),
            block_on("family__key", "birth__key"),
            block_on("email__key"),
        ]
        certain: list[Any] = [block_on("given__key", "family__key", "birth__key"), block_on("email__key")]
        training = [block_on("given__key", "family__key"), block_on("birth__key")]
    else:
        comparisons = [
            cl.NameComparison("name__key"),
            cl.ExactMatch("city__key").configure(term_frequency_adjustments=True),
            cl.LevenshteinAtThresholds("phone__key", 1),
            cl.EmailComparison("email__key"),
        ]
        rules = [block_on("name__key"), block_on("phone__key"), block_on("email__key")]
        certain = [block_on("name__key", "city__key"), block_on("email__key")]
        training = [block_on("name__key"), block_on("phone__key")]
    settings = SettingsCreator(
        link_type="dedupe_only",
        unique_id_column_name="record",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=rules,
        retain_matching_columns=False,
    )
    linker = Linker(DuckDBAPI(connection).register(table), settings, log_level=None)
    linker.training.estimate_probability_two_random_records_match(certain, recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=1_000_001, seed=1)
    for rule in training:
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    return str(linker.inference.predict(threshold_match_probability=THRESHOLD).physical_name)


def measure_quality(truth: Mapping[str, str], pairs: Iterable[Pair]) -> Quality:
    """Join pairs to clusters, and compare all pairs inside the clusters with the truth."""
    clusters: dict[str, Counter[str]] = defaultdict(Counter)
    root = _roots(truth, pairs)
    for record, entity in truth.items():
        clusters[root(record)][entity] += 1
    found = sum(_pairs(each.total()) for each in clusters.values())
    right = sum(_pairs(count) for each in clusters.values() for count in each.values())
    there = sum(_pairs(count) for count in Counter(truth.values()).values())
    return Quality(right / found if found else 1.0, right / there if there else 1.0)


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _roots(records: Iterable[str], pairs: Iterable[Pair]) -> Callable[[str], str]:
    parent = {record: record for record in records}

    def root(record: str) -> str:
        while parent[record] != record:
            parent[record] = parent[parent[record]]
            record = parent[record]
        return record

    for left, right in pairs:
        parent[root(left)] = root(right)
    return root


def _main(who: str, records: str, kind: str) -> None:
    """Match a Parquet file, and print how long it took and how much memory it needed."""
    types, start = (PEOPLE if kind == "people" else COMPANIES), time.monotonic()
    if who == "ours":
        attributes = tuple((name, each.value) for name, each in types.items())
        with tempfile.TemporaryDirectory(prefix="lakehold-bench-") as folder:
            options = MatchOptions(temporary=f"{folder}/spill")
            run_match(MatchSpec(records=records, output=folder, attributes=attributes, options=options), lambda _: None)
            report = json.loads((Path(folder) / "report.json").read_text())
        phases = {**report["seconds"], "pairs_compared": report["compared"], "pairs_found": report["pairs"]}
    else:
        connection = duckdb.connect(config={"threads": 2, "memory_limit": "4GB"})
        connection.execute("set enable_progress_bar = false")
        connection.execute(f"create table records as from read_parquet('{records}')")
        name = predict_quick_start(connection, "records", types)
        phases = {"pairs_found": connection.execute(f"select count(*) from {name}").fetchall()[0][0]}
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        json.dumps({"seconds": seconds, "peak": peak, "phases": phases, "records": pq.read_metadata(records).num_rows})
    )


if __name__ == "__main__":
    _main(*sys.argv[1:4])
