"""Table maintenance: expires snapshots, compacts small files, deletes orphan files.

Nothing here changes the rows of a table. The caller holds the table's write lock: a file that a running write has
written and not yet committed looks just like one that a killed write has left.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.lake import warehouse
from lakehold.lake.iceberg_catalog import CATALOG_NAME, TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark.jvm import java_session, jvm_of
from lakehold.lake.spark.tables import Tables


@dataclass(frozen=True, slots=True)
class ExpireResult:
    """The result of `expire`: the numbers of what it removed."""

    snapshots: int
    files: int
    """Of any kind: data, deletes, lists of them."""


@dataclass(frozen=True, slots=True)
class CompactResult:
    """The result of `compact`: the numbers of files that it read and wrote."""

    rewritten: int
    written: int
    deletes_rewritten: int
    size: int
    """Of the data files that were rewritten, in bytes."""


def expire(tables: Tables, place: TableIdentifier, *, days: float, at_least: int, now: datetime) -> ExpireResult:
    """Expire snapshots older than so many days, except the last few, and delete the files that only they had."""
    if days < 0 or at_least < 1:
        raise InvalidInputError("At least one snapshot must be kept, and the days must not be negative.")
    before = len(tables.current_metadata(place).snapshots)
    until = (now - timedelta(days=days)).astimezone(UTC)
    counts = _call_procedure(
        tables,
        "expire_snapshots",
        place,
        f"older_than => TIMESTAMP '{until:%Y-%m-%d %H:%M:%S.%f}Z', retain_last => {at_least}, stream_results => true",
    )
    files = sum(int(value or 0) for name, value in counts.asDict().items() if name.startswith("deleted_"))
    return ExpireResult(before - len(tables.current_metadata(place).snapshots), files)


def compact(
    tables: Tables, place: TableIdentifier, *, files_at_least: int = 5, deletes_at_least: int = 3
) -> CompactResult:
    """Rewrite many small files into few, and files of which many rows have been deleted.

    At least so many small files have to lie together, or so many delete files at one data file.
    """
    data = _call_procedure(
        tables,
        "rewrite_data_files",
        place,
        f"options => map('min-input-files', '{files_at_least}', 'delete-file-threshold', '{deletes_at_least}',"
        " 'remove-dangling-deletes', 'true')",
    )
    deletes = _call_procedure(
        tables, "rewrite_position_delete_files", place, f"options => map('min-input-files', '{files_at_least}')"
    )
    return CompactResult(
        data.rewritten_data_files_count,
        data.added_data_files_count,
        deletes.rewritten_delete_files_count + data.removed_delete_files_count,
        data.rewritten_bytes_count,
    )


def drop_fields(tables: Tables, place: TableIdentifier, names: Sequence[str]) -> ExpireResult:
    """Drop fields, and the values of all that the table has dropped: no file and no snapshot that has them is left.

    The rows are written again without them, which takes as long as the table is large.
    """
    with _hide_details("Columns could not be dropped"):
        tables.need_own_files(place)
        for name in names:
            tables.session.sql(f"ALTER TABLE {place.sql} DROP COLUMN {quote_identifier(name)}")
    if not tables.current_metadata(place).holds_dropped_fields:
        return ExpireResult(0, 0)
    _call_procedure(
        tables, "rewrite_data_files", place, "options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true')"
    )
    now = tables.current_metadata(place).snapshots[-1].at + timedelta(seconds=1)
    return expire(tables, place, days=0, at_least=1, now=now)


ORPHAN_GRACE = timedelta(days=3)
"""How old a file that nothing names must be before it is deleted: its writer has had time to commit."""


def sweep(tables: Tables, place: TableIdentifier, *, grace: timedelta = ORPHAN_GRACE) -> int:
    """Delete the files of a table that no metadata names, which killed writes have left; return how many.

    If the table does not exist, because its creation or deletion was cut short, these are all files of its folder.
    """
    session = tables.session
    if not tables.exists(place):
        tables.lake.need_own_location(place)
        folder = f"{tables.lake.warehouse_url}/{place.namespace}/{place.table}"
        return 0 if _is_used_by_others(tables, place, folder) else _delete_folder(session, folder, grace)
    with _hide_details("Files that belong to no snapshot could not be deleted"):
        tables.need_own_files(place)
        folder = tables.lake.need_location(place).rpartition("/metadata/")[0]
        if _is_used_by_others(tables, place, folder):
            return 0
        jvm, java = jvm_of(session), java_session(session)
        table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(java, place.sql)
        until = jvm.java.lang.System.currentTimeMillis() - grace // timedelta(milliseconds=1)
        action = jvm.org.apache.iceberg.spark.actions.SparkActions.get(java).deleteOrphanFiles(table)
        # Iceberg's procedure would refuse anything younger than a day, since it cannot know of the lock.
        done = action.olderThan(until).option("stream-results", "true").execute()
        count: int = done.orphanFilesCount()
        return count


def _is_used_by_others(tables: Tables, place: TableIdentifier, folder: str) -> bool:
    """Return whether another table has files in this folder, as one that was restored under a new number may have."""
    own, locations = (place.namespace, place.table), tables.lake.all_locations()
    return any(name != own and warehouse.is_inside(location, folder) for name, location in locations.items())


def _delete_folder(session: SparkSession, location: str, grace: timedelta) -> int:
    """Delete the files of a folder that are old enough, and the folder if none is left."""
    with _hide_details("The orphan files of a table could not be deleted"):
        jvm = jvm_of(session)
        folder = jvm.org.apache.hadoop.fs.Path(location)
        system = folder.getFileSystem(java_session(session).sessionState().newHadoopConf())
        if not system.exists(folder):
            return 0
        until = jvm.java.lang.System.currentTimeMillis() - grace // timedelta(milliseconds=1)
        files, count, left = system.listFiles(folder, True), 0, False
        while files.hasNext():
            file = files.next()
            if file.getModificationTime() > until:
                left = True
            else:
                system.delete(file.getPath(), False)
                count += 1
        if not left:
            system.delete(folder, True)
        return count


def _call_procedure(tables: Tables, procedure: str, place: TableIdentifier, how: str) -> Row:
    table = f"{place.namespace}.{place.table}"
    tables.current_metadata(place)
    with _hide_details("The table maintenance failed"):
        tables.need_own_files(place)
        found: Any = tables.session.sql(f"CALL {CATALOG_NAME}.system.{procedure}(table => '{table}', {how})").first()
        return found if isinstance(found, Row) else Row()


@contextmanager
def _hide_details(what: str) -> Iterator[None]:
    """Replace Java's errors, which name files and hosts, by a plain message."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        hint = "No rows were changed. Try again; see the worker's log."
        raise UnavailableError(f"{what}.", hint) from error
