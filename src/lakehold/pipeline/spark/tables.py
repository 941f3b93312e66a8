"""Tables on Iceberg, as the platform itself sees them: by number, with no question of who may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from queue import Empty, LifoQueue

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.pipeline.lake import NAME, Lake, Place
from lakehold.pipeline.metadata import MARK, Metadata
from lakehold.pipeline.quoting import literal, quoted

_MARKING = f"spark.sql.iceberg.snapshot-property.{MARK}"

PROPERTIES = {
    "format-version": "2",
    "write.parquet.compression-codec": "zstd",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "50",
    # Changed rows are written beside the others, so that a small merge costs what it changes.
    "write.delete.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
}


class Tables:
    """The tables of an installation, through a session of the platform's own."""

    def __init__(self, spark: SparkSession, lake: Lake) -> None:
        self.lake = lake
        self._spark = spark
        self._settings = lake.spark_settings()
        self._lent: LifoQueue[SparkSession] = LifoQueue()

    @cached_property
    def session(self) -> SparkSession:
        """The platform's own session, which alone knows the catalog."""
        return self._new()

    @contextmanager
    def marking(self, mark: str) -> Iterator[SparkSession]:
        """A session for one write: every snapshot that is made in it carries the mark."""
        try:
            session = self._lent.get_nowait()
        except Empty:
            # Each has connections of its own to the catalog, so they are kept.
            session = self._new()
        session.conf.set(_MARKING, mark)
        try:
            yield session
        finally:
            session.conf.unset(_MARKING)
            self._lent.put(session)

    def _new(self) -> SparkSession:
        made = self._spark.newSession()
        for name, value in self._settings.items():
            made.conf.set(name, value)
        return made

    def exists(self, place: Place) -> bool:
        """Whether the table has been made."""
        return self.lake.metadata_of(place) is not None

    def now(self, place: Place) -> Metadata:
        """What the table is now, or a refusal if it has not been made yet."""
        found = self.lake.now(place)
        if found is None:
            raise ConflictError("The table has no data yet.", "Run what fills it.")
        return found

    def read(self, place: Place, *, snapshot: int | None = None, at: datetime | None = None) -> DataFrame:
        """The rows, as they are now or as they were."""
        now = self.now(place)
        if at is not None:
            snapshot = now.as_of(at).id
        if snapshot is None:
            return self.session.table(place.sql)
        then = now.snapshot(snapshot).id
        return self.session.read.option("versionAsOf", str(then)).table(place.sql)

    def before(self, place: Place, mark: str) -> DataFrame | None:
        """The rows as they were before the write of this mark, which may not have been made yet; None without any."""
        now = self.now(place)
        made = now.made_by(mark)
        if made is None:
            return self.read(place)
        return None if made.parent is None else self.read(place, snapshot=made.parent)

    def create(self, place: Place, schema: StructType, *, partitioned_by: Sequence[str] = ()) -> None:
        """Make an empty table, if it is not there."""
        if self.exists(place):
            return
        session = self.session
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAME}.{place.namespace}")
        writer = session.createDataFrame([], schema).writeTo(place.sql).using("iceberg")
        for name, value in PROPERTIES.items():
            writer = writer.tableProperty(name, value)
        if partitioned_by:
            writer = writer.partitionedBy(*(f.col(quoted(name)) for name in partitioned_by))
        writer.create()

    def schema(self, place: Place) -> StructType:
        """The fields, as Spark sees them."""
        self.now(place)
        return self.session.table(place.sql).schema

    def describe(self, place: Place, fields: Mapping[str, str]) -> None:
        """Set the descriptions of fields."""
        there = [field.name for field in self.now(place).fields]
        for name, text in fields.items():
            if name not in there:
                raise NotFoundError(f"The table has no field {name!r}.", f"It has: {', '.join(there)}.")
            self.session.sql(f"ALTER TABLE {place.sql} ALTER COLUMN {quoted(name)} COMMENT {literal(text)}")

    def rollback(self, place: Place, snapshot: int) -> None:
        """Let the table be as it was then. What came after stays until it expires, and can be rolled back to."""
        then = self.now(place).snapshot(snapshot).id
        table = f"{place.namespace}.{place.table}"
        self.session.sql(f"CALL {NAME}.system.set_current_snapshot(table => '{table}', snapshot_id => {then})")

    # Its end

    def drop(self, place: Place) -> None:
        """End the table and its files."""
        self.session.sql(f"DROP TABLE IF EXISTS {place.sql} PURGE")
