"""Fills the table of pairs: matching runs in a process of its own, over Parquet files of the records.

A full run trains a model; later ones use it, and compare what is new or has changed since with everything.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from contextlib import suppress
from dataclasses import asdict
from threading import Thread
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as f

from lakehold.lake.errors import StoppedError
from lakehold.lake.spark.table_writer import WriteMode
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces.products import match_states
from lakehold.workspaces.products.attribute_types import PARTS, part_column
from lakehold.workspaces.products.curation import act_log
from lakehold.workspaces.products.curation.acts import ActKind
from lakehold.workspaces.products.curation.constraints import decided_pairs
from lakehold.workspaces.products.executors.product_run import ProductRun
from lakehold.workspaces.products.match_states import MatchState
from lakehold.workspaces.products.matching.match_process import (
    MODEL,
    PAIRS,
    REPORT,
    MatchSpec,
    follow_process,
    start_process,
)
from lakehold.workspaces.products.matching.options import MatchOptions
from lakehold.workspaces.products.product_tables import ProductTable

if TYPE_CHECKING:
    from pathlib import Path

    from lakehold.workspaces.products.settings import DataProductSettings
    from lakehold.workspaces.products.steps import MatchRecords

_CHECK_SECONDS = 1.0


def fill_pairs(step: MatchRecords, step_ctx: StepContext) -> StepResult:
    """Find the pairs of records that may be the same."""
    here = ProductRun(step, step_ctx)
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        state = match_states.load(ctx, step.product)
    output = step_ctx.folder / "matched"
    spec = _write_inputs(here, state, step_ctx.folder, output, full=step.full)
    _run_process(step_ctx, spec, step_ctx.folder)
    rows = here.tables.session.read.parquet(str(output / PAIRS))
    written = here.write(ProductTable.PAIRS, rows, WriteMode.OVERWRITE)
    report = (output / REPORT).read_text(encoding="utf-8")
    saved = MatchState(
        step_ctx.mark,
        _digest(here.settings),
        here.snapshot(ProductTable.RECORDS),
        here.snapshot(ProductTable.PAIRS),
        (output / MODEL).read_text(encoding="utf-8"),
        report,
    )
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        match_states.save(ctx, step.product, saved)
    return StepResult(written.total, written.size, state={"compared": json.loads(report)["compared"]})


def _write_inputs(here: ProductRun, state: MatchState | None, folder: Path, output: Path, *, full: bool) -> MatchSpec:
    """Write what the process reads, and return its specification."""
    matched = [each for each in here.settings.attributes if each.matched]
    columns = [part_column(each.name, part) for each in matched for part in PARTS[each.type].parts]
    records = here.read(ProductTable.RECORDS)
    records.select("record", *columns).write.parquet(str(folder / "records"))
    match, platform = here.settings.match, here.step_ctx.platform.settings
    options = MatchOptions(
        threshold=match.threshold,
        review=match.review,
        blocking=match.blocking,
        max_pairs=match.max_pairs,
        memory_limit=platform.match_memory,
        temporary=str(folder / "spill"),
    )
    given = {"labels": _write_labels(here, folder)}
    if state is not None and not full and state.digest == _digest(here.settings):
        given |= _write_changes(here, state, folder)
    return MatchSpec(
        records=f"{folder / 'records'}/*.parquet",
        output=str(output),
        attributes=tuple((each.name, each.type.value) for each in matched),
        options=options,
        **given,
    )


def _write_changes(here: ProductRun, state: MatchState, folder: Path) -> dict[str, str]:
    """Write what has changed since the last matching, and what that has found; nothing if it is not there any more."""
    places, tables = here.places, here.tables
    kept = {
        table: {each.id for each in tables.current_metadata(places[table]).snapshots}
        for table in (ProductTable.RECORDS, ProductTable.PAIRS)
        if tables.exists(places[table])
    }
    if state.records_snapshot not in kept[ProductTable.RECORDS] or state.pairs_snapshot not in kept.get(
        ProductTable.PAIRS, ()
    ):
        return {}
    old = tables.read(places[ProductTable.RECORDS], snapshot=state.records_snapshot).select("record", "fingerprint")
    new = here.read(ProductTable.RECORDS).select("record", f.col("fingerprint").alias("now"))
    changed = old.join(new, "record", "full").where("NOT (fingerprint <=> now)").select("record")
    changed.coalesce(1).write.parquet(str(folder / "changed"))
    previous = tables.read(places[ProductTable.PAIRS], snapshot=state.pairs_snapshot)
    previous.write.parquet(str(folder / "previous"))
    (folder / "model.json").write_text(state.model, encoding="utf-8")
    return {
        "changed": f"{folder / 'changed'}/*.parquet",
        "previous": f"{folder / 'previous'}/*.parquet",
        "model": str(folder / "model.json"),
    }


def _write_labels(here: ProductRun, folder: Path) -> str:
    """Write the answers of curators, and return the file; empty if there are none."""
    with here.step_ctx.platform.read(here.step_ctx.caller) as ctx:
        decided = decided_pairs(act_log.load_in_force(ctx, here.step.product))
    said = {pair: kind is ActKind.SAME for pair, (kind, _) in decided.items() if kind is not ActKind.SKIP}
    if not said:
        return ""
    table = pa.table(
        {
            "record_a": [pair[0] for pair in said],
            "record_b": [pair[1] for pair in said],
            "same": list(said.values()),
        }
    )
    pq.write_table(table, folder / "labels.parquet")
    return str(folder / "labels.parquet")


def _digest(settings: DataProductSettings) -> str:
    """Return a digest of what decides which pairs there are, besides the records."""
    matched = [(each.name, each.type.value) for each in settings.attributes if each.matched]
    match = asdict(settings.match)
    # Which of the pairs are the same is decided later.
    match.pop("threshold")
    return hashlib.sha256(json.dumps([matched, match], sort_keys=True).encode()).hexdigest()


def _run_process(step_ctx: StepContext, spec: MatchSpec, folder: Path) -> None:
    """Run the process, and end it when the run is stopped."""
    file = folder / "match.json"
    file.write_text(spec.to_json(), encoding="utf-8")
    process = start_process(file)
    watch = Thread(target=_end_when_stopped, args=(step_ctx, process), daemon=True)
    watch.start()
    try:
        follow_process(process, step_ctx.log)
    finally:
        process.kill()
        watch.join()
        step_ctx.check_stopped()


def _end_when_stopped(step_ctx: StepContext, process: subprocess.Popen[str]) -> None:
    while process.poll() is None:
        try:
            step_ctx.check_stopped()
        except StoppedError:
            process.kill()
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(_CHECK_SECONDS)
