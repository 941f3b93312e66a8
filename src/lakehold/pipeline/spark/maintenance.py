"""The upkeep of tables: old snapshots expire, small files become few, files of nobody go.

Nothing here changes what a table says. The caller holds the table's write lock: a file that a running write has laid
down and not yet told of looks just like one that a killed write has left.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.pipeline.lake import NAME, Place
from lakehold.pipeline.spark.jvm import java_of, jvm_of
from lakehold.pipeline.spark.tables import Tables


@dataclass(frozen=True, slots=True)
class Expired:
    """What went with old snapshots."""

    snapshots: int
    files: int
    """Of any kind: data, deletes, lists of them."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a table's files became."""

    rewritten: int
    made: int
    deletes_rewritten: int
    deletes_made: int
    size: int
    """Of the data files that were rewritten, in bytes."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What was nobody's."""

    files: int


def expire(tables: Tables, place: Place, *, days: float, at_least: int, now: datetime) -> Expired:
    """Let go of snapshots that are older than so many days, but for the last so many, and of what only they had."""
    if days < 0 or at_least < 1:
        raise InvalidInputError("A table keeps at least one snapshot, for no less than no time.")
    before = len(tables.now(place).snapshots)
    until = (now - timedelta(days=days)).astimezone(UTC)
    told = _call(
        tables,
        "expire_snapshots",
        place,
        f"older_than => TIMESTAMP '{until:%Y-%m-%d %H:%M:%S.%f}Z', retain_last => {at_least}, stream_results => true",
    )
    files = sum(int(value or 0) for name, value in told.asDict().items() if name.startswith("deleted_"))
    return Expired(before - len(tables.now(place).snapshots), files)


def compact(tables: Tables, place: Place, *, files_at_least: int = 5, deletes_at_least: int = 3) -> Compacted:
    """Make few files of many small ones, and write out rows anew of which many have been deleted.

    So many small files have to lie together, or so many delete files at one data file, for it to be worth it.
    """
    data = _call(
        tables,
        "rewrite_data_files",
        place,
        f"options => map('min-input-files', '{files_at_least}', 'delete-file-threshold', '{deletes_at_least}',"
        " 'remove-dangling-deletes', 'true')",
    )
    deletes = _call(
        tables, "rewrite_position_delete_files", place, f"options => map('min-input-files', '{files_at_least}')"
    )
    return Compacted(
        data.rewritten_data_files_count,
        data.added_data_files_count,
        deletes.rewritten_delete_files_count + data.removed_delete_files_count,
        deletes.added_delete_files_count,
        data.rewritten_bytes_count,
    )


def sweep(tables: Tables, place: Place, *, grace: timedelta = timedelta(0)) -> Swept:
    """Delete the files in the table's folder that no snapshot knows: what killed writes have left.

    Of a table that is not there, whose making or whose end was cut short, these are all.
    """
    session = tables.session
    if not tables.exists(place):
        return Swept(_removed(session, place))
    with _plainly("Files that belong to no snapshot could not be deleted"):
        jvm, java = jvm_of(session), java_of(session)
        table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(java, place.sql)
        until = jvm.java.lang.System.currentTimeMillis() - grace // timedelta(milliseconds=1)
        action = jvm.org.apache.iceberg.spark.actions.SparkActions.get(java).deleteOrphanFiles(table)
        # Iceberg's procedure would refuse anything younger than a day, since it cannot know of the lock.
        done = action.olderThan(until).option("stream-results", "true").execute()
        return Swept(done.orphanFilesCount())


def _removed(session: SparkSession, place: Place) -> int:
    with _plainly("What a table has left behind could not be deleted"):
        warehouse = session.conf.get(f"spark.sql.catalog.{NAME}.warehouse")
        folder = jvm_of(session).org.apache.hadoop.fs.Path(f"{warehouse}/{place.namespace}/{place.table}")
        system = folder.getFileSystem(java_of(session).sessionState().newHadoopConf())
        if not system.exists(folder):
            return 0
        count: int = system.getContentSummary(folder).getFileCount()
        system.delete(folder, True)
        return count


def _call(tables: Tables, procedure: str, place: Place, how: str) -> Row:
    table = f"{place.namespace}.{place.table}"
    tables.now(place)
    with _plainly("The upkeep of the table failed"):
        found: Any = tables.session.sql(f"CALL {NAME}.system.{procedure}(table => '{table}', {how})").first()
        return found if isinstance(found, Row) else Row()


@contextmanager
def _plainly(what: str) -> Iterator[None]:
    """What Java says is for the log: it names files and hosts."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise UnavailableError(
            f"{what}.", "The rows are as they were. Try again; the worker's log says more."
        ) from error
