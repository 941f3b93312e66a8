"""The system tables `access`, `runs`, `audit` and `reads`: written when a query loads one, as far as its caller sees.

Members who may not ask about others find only themselves in `access`. Only a worker imports this.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import sqlalchemy as sa
from pyiceberg.catalog.memory import InMemoryCatalog

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.catalog_tokens import SYSTEM, system_folder
from lakehold.ledger.audit import DONE, AuditFilter, AuditLog
from lakehold.runs.run_table import run_step_table, run_table
from lakehold.runs.service import Run, Runs
from lakehold.runs.system_table_schemas import (
    ACCESS_SCHEMA,
    AUDIT_SCHEMA,
    RUNS_SCHEMA,
    SEE_AUDIT,
    text_fields,
    visible_resources,
)
from lakehold.worker.spark_session import SparkRuntime


def write_access(spark_runtime: SparkRuntime, ctx: RequestContext, folder: Path) -> list[str]:
    """Write who may do what with the resources that the caller may see."""
    if ctx.session.check(ctx.principal, "ask_about_others", ctx.caller.tenant):
        return _write_all_members(spark_runtime, ctx, folder)
    return _write_own(ctx, folder)


def _write_all_members(spark_runtime: SparkRuntime, ctx: RequestContext, folder: Path) -> list[str]:
    from lakehold.access.review.review import AccessReview  # noqa: PLC0415 - a worker that is asked nothing needs no Spark

    spark = spark_runtime.spark
    named_resources = pa.schema(text_fields(("resource", "resource_name", "workspace")))
    seen = pa.Table.from_pylist(list(_visible_resources(ctx)), named_resources)
    members = ctx.session.read_view(
        lambda view: [{"member": view.uid(each), "member_name": view.names.get(each)} for each in view.members]
    )
    named = spark.createDataFrame(pa.Table.from_pylist(members, pa.schema(text_fields(("member", "member_name")))))
    review = ctx.session.read_view(lambda view: AccessReview(spark, view))
    rows = review.rows().join(spark.createDataFrame(seen), "resource").join(named, "member")
    rows.select(*ACCESS_SCHEMA.names).write.parquet(str(folder / "parts"))
    files = [str(file) for file in sorted((folder / "parts").glob("*.parquet"))]
    return files or _write_rows(folder / "none.parquet", [], ACCESS_SCHEMA)


def _write_own(ctx: RequestContext, folder: Path) -> list[str]:
    view, member = ctx.view, ctx.caller.member
    own = {"member": member, "member_name": view.names.get(view.resource(member))}
    rows = [
        {**own, **seen, "kind": view.kind(view.resource(seen["resource"])), "action": action}
        for seen in _visible_resources(ctx)
        for action in ctx.session.actions(ctx.principal, seen["resource"])
    ]
    return _write_rows(folder / "own.parquet", rows, ACCESS_SCHEMA)


def _visible_resources(ctx: RequestContext) -> Iterator[dict[str, Any]]:
    view = ctx.view
    for uid in visible_resources(ctx):
        name = view.names.get(view.resource(uid)) or uid
        yield {"resource": uid, "resource_name": name, "workspace": _visible_workspace(ctx, uid)}


def _visible_workspace(ctx: RequestContext, uid: str) -> str | None:
    workspace = kinds.workspace_of(ctx.view, uid)
    return workspace if workspace and ctx.session.can_see(ctx.principal, workspace) else None


def _write_rows(file: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> list[str]:
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema), file)
    return [str(file)]


_MAX_AUDIT_ENTRIES = 1_000_000
_AUDIT_BATCH = 20_000
_CHANGES = ("before", "after")


def write_audit(ctx: RequestContext, folder: Path) -> list[str]:
    """Write the audit log of changes, up to a million of the newest entries."""
    return _write_log(ctx, ctx.audit, folder)


def write_reads(ctx: RequestContext, folder: Path) -> list[str]:
    """Write the audit log of reads, likewise."""
    return _write_log(ctx, ctx.reads, folder)


def _write_log(ctx: RequestContext, log: AuditLog, folder: Path) -> list[str]:
    ctx.need(SEE_AUDIT, ctx.caller.tenant)
    file = folder / "audit.parquet"
    newest = log.page(AuditFilter(), limit=1)
    lines = log.export(AuditFilter(), after=max(0, newest[0].n - _MAX_AUDIT_ENTRIES) if newest else 0)
    with pyarrow.parquet.ParquetWriter(file, AUDIT_SCHEMA) as writer:
        while some := [_audit_row(line) for line in islice(lines, _AUDIT_BATCH)]:
            writer.write_table(pa.Table.from_pylist(some, AUDIT_SCHEMA))
    return [str(file)]


def _audit_row(line: str) -> dict[str, Any]:
    entry = json.loads(line)
    changed = {name: json.dumps(entry[name], ensure_ascii=False) for name in _CHANGES if name in entry}
    plain = {name: entry.get(name) or None for name in AUDIT_SCHEMA.names if name not in _CHANGES}
    return {**plain, **changed, "outcome": entry.get("outcome", DONE)}


_MAX_RUNS = 100_000
_COUNTERS = ("rows", "size", "bad")
_RUN_FIELDS = (
    *("id", "resource", "kind", "state", "started_by", "error"),
    *("tries", "reload", "made_at", "started_at", "ended_at"),
)


def write_runs(runs: Runs, ctx: RequestContext, folder: Path) -> list[str]:
    """Write up to a hundred thousand of the newest runs that the caller may see."""
    counted = _step_totals(ctx)
    nothing = dict.fromkeys(_COUNTERS, 0)
    rows = [{**_run_row(ctx, run), **counted.get(run.id, nothing)} for run in runs.page(ctx, limit=_MAX_RUNS)]
    return _write_rows(folder / "runs.parquet", rows, RUNS_SCHEMA)


def _run_row(ctx: RequestContext, run: Run) -> dict[str, Any]:
    return {
        **{name: getattr(run, name) for name in _RUN_FIELDS},
        "cause": run.cause.text,
        "cause_kind": run.cause.kind,
        "name": ctx.view.names.get(ctx.view.resource(run.resource)),
        "workspace": _visible_workspace(ctx, run.resource),
    }


def _step_totals(ctx: RequestContext) -> dict[str, dict[str, int]]:
    """Return the totals of the steps of each run."""
    steps = run_step_table.c
    sums = [sa.func.sum(steps[name]).label(name) for name in _COUNTERS]
    query = (
        sa.select(run_table.c.id, *sums)
        .join(run_step_table, steps.run == run_table.c.n)
        .where(run_table.c.tenant_id == ctx.session.tenant)
        .group_by(run_table.c.id)
    )
    found = ctx.session.transaction.connection.execute(query).mappings()
    return {row["id"]: {name: int(row[name] or 0) for name in _COUNTERS} for row in found}


TableWriter = Callable[[RequestContext, Path], list[str]]
"""Writes what the caller may know as Parquet files into a folder; which ones."""


class SystemTables:
    """The system tables of a worker, whose Spark computes the larger ones."""

    def __init__(self, spark_runtime: SparkRuntime, runs: Runs) -> None:
        self._lock = Lock()
        self._writers: Mapping[str, TableWriter] = {
            "access": partial(write_access, spark_runtime),
            "runs": partial(write_runs, runs),
            "audit": write_audit,
            "reads": write_reads,
        }

    def load(self, ctx: RequestContext, ticket: str, name: str) -> str:
        """Return the metadata file of a table for the query with this token, which is written once for all of it."""
        writer = self._writers.get(name.lower())
        if writer is None:
            known = ", ".join(f"{SYSTEM}.{each}" for each in self._writers)
            raise NotFoundError(f"There is no table {quote(f'{SYSTEM}.{name}')}.", f"There are {known}.")
        folder = system_folder(ticket) / name.lower()
        with self._lock:
            location_file = folder / "location"
            if not location_file.exists():
                folder.mkdir()
                location = _create_iceberg_table(folder, writer(ctx, folder))
                location_file.write_text(location)
            return location_file.read_text()


def _create_iceberg_table(folder: Path, files: list[str]) -> str:
    """Create an Iceberg table of the files; return the location of its metadata."""
    catalog = InMemoryCatalog(SYSTEM, warehouse=folder.as_uri())
    try:
        catalog.create_namespace(SYSTEM)
        schema = pyarrow.parquet.read_schema(files[0])
        table = catalog.create_table((SYSTEM, "table"), schema, location=f"{folder.as_uri()}/table")
        table.add_files(files)
        return table.metadata_location
    finally:
        catalog.close()
