"""Pipelines that write a table: its rows before, and the expected rows after one run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lakehold.catalog import resources
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.history import HistoryOptions, update_history
from lakehold.lake.spark.maintenance import sweep
from lakehold.lake.spark.tables import PROPERTIES
from tests.lake.crashes import table_files
from tests.lake.crashes.environment import CrashEnvironment
from tests.lake.crashes.table_files import Rows
from tests.lake.shop import ED, TENANT
from tests.workspaces.lakehouse.inline_runs import InlineRuns

OLD: Rows = [(1, "a"), (2, "b")]
NEW: Rows = [(2, "B"), (3, "c")]
BOTH: Rows = sorted([*OLD, *NEW], key=str)
MERGED: Rows = [(1, "a"), (2, "B"), (3, "c")]
NEWS = "news"
"""A table with the new rows, and the file with the same."""
FIELDS = [{"name": "id", "type": "bigint"}, {"name": "word", "type": "string"}]
MODES: dict[str, Rows] = {
    "full": list(NEW),
    "append": list(BOTH),
    "merge": list(MERGED),
    "mirror": list(NEW),
    "incremental": [*OLD, (3, "c")],
    "overwrite": list(NEW),
}


@dataclass(frozen=True)
class IntoTable:
    """A stream of a source, a query or a history."""

    kind: str
    mode: str
    point: str
    file: str = "news.csv"
    filled: bool = True

    @property
    def uid(self) -> str:
        return "_".join((self.kind, self.mode, *self.point.split()))

    @property
    def fields(self) -> tuple[str, ...]:
        return ("id", "word", "is_current") if self.kind == "history" else ("id", "word")

    @property
    def before(self) -> Rows | None:
        if not self.filled:
            return None
        return [(*row, True) for row in OLD] if self.kind == "history" else list(OLD)

    @property
    def after(self) -> Rows:
        if self.kind == "history":
            return [(1, "a", False), (2, "B", True), (2, "b", False), (3, "c", True)]
        return MODES[self.mode] if self.filled else list(NEW)

    def between(self, seen: object) -> bool:
        """Whether it may be seen after the crash: all or nothing."""
        # A table that was made and not filled has no rows.
        return seen in ([] if not self.filled else self.before, self.before, self.after)

    def make(self, world: CrashEnvironment) -> None:
        """The table, with what is in it before, and the pipeline."""
        here = world.here
        with here.shop.platform.access.write(TENANT) as session:
            session.store.create("lakehouse.table", self.uid, uid=f"{self.uid}_table", edges={"layer": "raw"})
        if self.filled:
            self._fill(here)
        if self.kind == "ingest":
            self._source(here)
            return
        settings: dict[str, object] = (
            {"keys": ["id"]} if self.kind == "history" else {"mode": self.mode, "keys": ["id"]}
        )
        if self.kind == "query":
            settings |= {"sql": f"SELECT id, word FROM raw.{NEWS}"}
        with here.shop.platform.write(ED) as ctx:
            edges = {"lakehouse": "shop", "reads": [NEWS], "writes": [f"{self.uid}_table"]}
            kind = f"lakehouse.{self.kind}"
            resources.create(ctx, kind, self.uid, uid=self.uid, edges=edges, settings=settings)

    def _fill(self, here: InlineRuns) -> None:
        tables, place = here.shop.tables, self.place(here)
        rows = tables.session.sql(f"SELECT id, word FROM VALUES {', '.join(map(str, OLD))} AS old (id, word)")
        rows = rows.selectExpr("CAST(id AS bigint) AS id", "word")
        if self.kind == "history":
            update_history(
                tables, rows, place, HistoryOptions(["id"]), mark="first", moment=datetime(2026, 1, 1, tzinfo=UTC)
            )
            return
        # In one step, since there are many.
        writer = rows.writeTo(place.sql).using("iceberg")
        for name, value in PROPERTIES.items():
            writer = writer.tableProperty(name, value)
        writer.create()

    def _source(self, here: InlineRuns) -> None:
        here.source(self.uid, {"connector": "files", "volume": "raw_files"})
        settings: dict[str, object] = {"stream": self.file, "mode": self.mode, "cursor": "id"}
        if self.mode in {"merge", "mirror"}:
            settings |= {"keys": ["id"]}
        if self.file == "bad.csv":
            settings |= {"format": {"kind": "separated", "fields": FIELDS}}
        with here.shop.platform.write(ED) as ctx:
            edges = {"source": self.uid, "writes": [f"{self.uid}_table"]}
            resources.create(ctx, "lakehouse.stream", "rows", uid=f"{self.uid}_rows", edges=edges, settings=settings)

    def place(self, here: InlineRuns) -> TableIdentifier:
        return here.shop.place(f"{self.uid}_table")

    def seen(self, world: CrashEnvironment) -> Rows | None:
        return table_files.rows(world.here.shop.tables.lake, self.place(world.here), *self.fields)

    def left(self, world: CrashEnvironment) -> list[str]:
        """Files that no snapshot knows, after upkeep."""
        place, tables = self.place(world.here), world.here.shop.tables
        sweep(tables, place, grace=timedelta(0))
        return sorted(table_files.files_on_disk(self.folder(world)) - table_files.referenced_files(tables.lake, place))

    def folder(self, world: CrashEnvironment) -> Path:
        place = self.place(world.here)
        return Path(world.here.shop.platform.settings.warehouse_url) / place.namespace / place.table
