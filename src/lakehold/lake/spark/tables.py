"""Iceberg tables as the platform itself reads and writes them: by number, without access checks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from queue import Empty, LifoQueue

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriterV2, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from lakehold.kit.errors import NotFoundError
from lakehold.lake import warehouse
from lakehold.lake.iceberg_catalog import CATALOG_NAME, IcebergCatalog, TableIdentifier
from lakehold.lake.row_formats import quote_identifier, quote_literal
from lakehold.lake.spark.local_rows import empty_rows
from lakehold.lake.table_metadata import MARK, IcebergMetadata, load_metadata

_MARK_PROPERTY = f"spark.sql.iceberg.snapshot-property.{MARK}"

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


def table_definition(place: TableIdentifier, rows: DataFrame, partitioned_by: Sequence[str]) -> DataFrameWriterV2:
    """Return a writer that creates or replaces a table, with the properties that all tables have."""
    writer = rows.writeTo(place.sql).using("iceberg")
    for name, value in PROPERTIES.items():
        writer = writer.tableProperty(name, value)
    return (
        writer.partitionedBy(*(f.col(quote_identifier(name)) for name in partitioned_by)) if partitioned_by else writer
    )


class Tables:
    """Iceberg tables of the platform, through sessions of its own."""

    def __init__(self, spark: SparkSession, lake: IcebergCatalog) -> None:
        self.lake = lake
        self._spark = spark
        self._settings = lake.spark_settings()
        self._idle_sessions: LifoQueue[SparkSession] = LifoQueue()

    @cached_property
    def session(self) -> SparkSession:
        """The platform's own session, which alone knows the catalog."""
        return self._create_session()

    @contextmanager
    def write_session(self, mark: str) -> Iterator[SparkSession]:
        """Borrow a session for one write: every snapshot made in it carries the mark."""
        try:
            session = self._idle_sessions.get_nowait()
        except Empty:
            # Each has connections of its own to the catalog, so they are kept.
            session = self._create_session()
        session.conf.set(_MARK_PROPERTY, mark)
        try:
            yield session
        finally:
            session.conf.unset(_MARK_PROPERTY)
            self._idle_sessions.put(session)

    def _create_session(self) -> SparkSession:
        session = self._spark.newSession()
        for name, value in self._settings.items():
            session.conf.set(name, value)
        return session

    def exists(self, place: TableIdentifier) -> bool:
        """Return whether the table exists."""
        return self.lake.metadata_location(place) is not None

    def current_metadata(self, place: TableIdentifier) -> IcebergMetadata:
        """Return the current metadata of a table, or refuse if it does not exist yet."""
        return load_metadata(self.lake.need_location(place))

    def writable_metadata(self, place: TableIdentifier) -> IcebergMetadata:
        """Return the current metadata of a table that is to be written; refused if it lies outside the warehouse."""
        self.lake.need_own_location(place)
        return self.current_metadata(place)

    def read(self, place: TableIdentifier, *, snapshot: int | None = None) -> DataFrame:
        """Return the rows, as they are now or as of a snapshot."""
        now = self.current_metadata(place)
        if snapshot is None:
            return self.session.table(place.sql)
        then = now.snapshot(snapshot).id
        return self.session.read.option("versionAsOf", str(then)).table(place.sql)

    def read_before_write(self, place: TableIdentifier, mark: str) -> DataFrame | None:
        """Return the rows as they were before the write of this mark, made or not; None if there were none."""
        now = self.current_metadata(place)
        snapshot = now.snapshot_of_write(mark)
        if snapshot is None:
            return self.read(place)
        return None if snapshot.parent is None else self.read(place, snapshot=snapshot.parent)

    def create(self, place: TableIdentifier, schema: StructType, *, partitioned_by: Sequence[str] = ()) -> None:
        """Create an empty table if it does not exist."""
        if self.exists(place):
            return
        self.lake.need_own_location(place)
        session = self.session
        self.lake.create_namespace(place)
        table_definition(place, empty_rows(session, schema), partitioned_by).create()

    def replace(self, place: TableIdentifier, schema: StructType) -> None:
        """Make the table anew, empty. Its files stay until upkeep expires its snapshots: who reads it goes on."""
        self.lake.need_own_location(place)
        table_definition(place, empty_rows(self.session, schema), ()).replace()

    def need_own_files(self, place: TableIdentifier) -> None:
        """Refuse to delete files of a table if any of its manifests names a file outside the warehouse."""
        self.lake.need_own_location(place)
        names = f"SELECT path FROM {place.sql}.all_manifests UNION SELECT file_path FROM {place.sql}.all_files"  # noqa: S608
        folder = "coalesce(nullif(regexp_extract(path, '^(.*/t[0-9]+/r[0-9]+)/', 1), ''), path)"
        found = self.session.sql(f"SELECT DISTINCT {folder} FROM ({names})").collect()  # noqa: S608 - from numbers
        warehouse.need_inside(self.lake.warehouse_url, (row[0] for row in found))

    def schema(self, place: TableIdentifier) -> StructType:
        """Return the fields as Spark types."""
        self.current_metadata(place)
        return self.session.table(place.sql).schema

    def describe(self, place: TableIdentifier, fields: Mapping[str, str]) -> None:
        """Set the descriptions of fields."""
        there = [field.name for field in self.writable_metadata(place).fields]
        for name, text in fields.items():
            if name not in there:
                raise NotFoundError(f"The table has no field {name!r}.", f"It has: {', '.join(there)}.")
            self.session.sql(
                f"ALTER TABLE {place.sql} ALTER COLUMN {quote_identifier(name)} COMMENT {quote_literal(text)}"
            )

    def rollback(self, place: TableIdentifier, snapshot: int) -> None:
        """Roll the table back to a snapshot. Later snapshots remain until they expire, and can be rolled back to."""
        then = self.writable_metadata(place).snapshot(snapshot).id
        table = f"{place.namespace}.{place.table}"
        self.session.sql(f"CALL {CATALOG_NAME}.system.set_current_snapshot(table => '{table}', snapshot_id => {then})")

    def drop(self, place: TableIdentifier) -> None:
        """Drop the table and delete its files."""
        how = "PURGE"
        try:
            if self.exists(place):
                self.need_own_files(place)
        except PySparkException:
            # Manifests are missing, so nobody knows what the others name: its own folder is swept afterwards.
            how = ""
        self.session.sql(f"DROP TABLE IF EXISTS {place.sql} {how}")
