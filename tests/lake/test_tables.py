"""Tables on Iceberg: written once however often it is tried, evolved, looked at as they were, rolled back, ended."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark.table_writer import SchemaEvolution, TableWriteOptions, TableWriteResult, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables


def rows(spark: SparkSession, text: str, *values: str) -> DataFrame:
    """`rows(spark, "id int, name string", "1, 'ann'")`."""
    columns = ", ".join(part.split()[0] for part in text.split(", "))
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in (part.split() for part in text.split(", ")))
    found = ", ".join(f"({value})" for value in values)
    return spark.sql(f"SELECT {casts} FROM VALUES {found} AS t({columns})")


def there(tables: Tables, place: TableIdentifier) -> list[tuple[object, ...]]:
    found = tables.read(place)
    return sorted((tuple(row) for row in found.collect()), key=str)


def test_a_write_makes_the_table_and_is_told(
    spark: SparkSession, tables: Tables, lake: IcebergCatalog, place: TableIdentifier
) -> None:
    assert lake.metadata_location(place) is None
    done = write_rows(
        tables,
        place,
        rows(spark, "id int, name string", "1, 'ann'", "2, 'bob'"),
        TableWriteOptions(WriteMode.APPEND, "w1"),
    )
    assert (done.added, done.total, done.again) == (2, 2, False)
    assert there(tables, place) == [(1, "ann"), (2, "bob")]
    assert lake.metadata_location(place).endswith(".metadata.json")  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", list(WriteMode))
def test_the_same_write_is_made_once(
    spark: SparkSession, tables: Tables, place: TableIdentifier, mode: WriteMode
) -> None:
    how = TableWriteOptions(mode, "w1", keys=["id"])
    write_rows(tables, place, rows(spark, "id int, name string", "1, 'ann'"), how)
    again = write_rows(tables, place, rows(spark, "id int, name string", "1, 'ann'"), how)
    assert again.again
    assert there(tables, place) == [(1, "ann")]


def test_overwriting_leaves_what_arrives(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    write_rows(tables, place, rows(spark, "id int", "1", "2"), TableWriteOptions(WriteMode.OVERWRITE, "w1"))
    write_rows(tables, place, rows(spark, "id int", "3"), TableWriteOptions(WriteMode.OVERWRITE, "w2"))
    assert there(tables, place) == [(3,)]


def test_merging_replaces_by_key_and_keeps_the_rest(
    spark: SparkSession, tables: Tables, place: TableIdentifier
) -> None:
    write_rows(
        tables,
        place,
        rows(spark, "id int, n int", "1, 1", "2, 2"),
        TableWriteOptions(WriteMode.MERGE, "w1", keys=["id"]),
    )
    write_rows(
        tables,
        place,
        rows(spark, "ID int, n int", "2, 22", "3, 3"),
        TableWriteOptions(WriteMode.MERGE, "w2", keys=["Id"]),
    )
    assert there(tables, place) == [(1, 1), (2, 22), (3, 3)]


def test_mirroring_ends_what_does_not_arrive(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    write_rows(
        tables,
        place,
        rows(spark, "id int, n int", "1, 1", "2, 2"),
        TableWriteOptions(WriteMode.MIRROR, "w1", keys=["id"]),
    )
    write_rows(
        tables, place, rows(spark, "id int, n int", "2, 22"), TableWriteOptions(WriteMode.MIRROR, "w2", keys=["id"])
    )
    assert there(tables, place) == [(2, 22)]


def test_a_merge_that_changes_nothing_makes_no_snapshot(
    spark: SparkSession, tables: Tables, place: TableIdentifier
) -> None:
    write_rows(
        tables, place, rows(spark, "id int, n int", "1, 1"), TableWriteOptions(WriteMode.MERGE, "w1", keys=["id"])
    )
    before = len(tables.current_metadata(place).snapshots)
    done = write_rows(
        tables, place, rows(spark, "id int, n int", "1, 1"), TableWriteOptions(WriteMode.MERGE, "w2", keys=["id"])
    )
    assert (done.added, done.removed) == (0, 0)
    assert len(tables.current_metadata(place).snapshots) - before <= 1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (("1, 1", "1, 2"), "1 keys appear more than once, such as 1"),
        (("NULL, 1",), "1 rows have no id"),
    ],
)
def test_a_key_that_tells_nothing_apart_is_refused(
    spark: SparkSession, tables: Tables, place: TableIdentifier, values: tuple[str, ...], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        write_rows(
            tables, place, rows(spark, "id int, n int", *values), TableWriteOptions(WriteMode.MERGE, "w1", keys=["id"])
        )
    assert there(tables, place) == []


def test_merging_without_a_key_or_by_a_field_that_is_not_there_is_refused(
    spark: SparkSession, tables: Tables, place: TableIdentifier
) -> None:
    with pytest.raises(InvalidInputError, match="needs a key"):
        write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.MERGE, "w1"))
    with pytest.raises(DataError, match="'nr' is not a field"):
        write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.MERGE, "w1", keys=["nr"]))


def test_new_and_wider_fields_are_merged_and_missing_ones_empty(
    spark: SparkSession, tables: Tables, place: TableIdentifier
) -> None:
    write_rows(
        tables, place, rows(spark, "id int, n int, x string", "1, 1, 'a'"), TableWriteOptions(WriteMode.APPEND, "w1")
    )
    write_rows(
        tables,
        place,
        rows(spark, "id int, n bigint, y string", "2, 5000000000, 'b'"),
        TableWriteOptions(WriteMode.APPEND, "w2"),
    )
    assert there(tables, place) == [(1, 1, "a", None), (2, 5_000_000_000, None, "b")]


@pytest.mark.parametrize(
    ("schema", "value", "evolution", "said"),
    [
        ("id string", "'a'", SchemaEvolution.MERGE, "cannot turn id of type string into the table's int"),
        ("id int, y int", "1, 1", SchemaEvolution.STRICT, "y is new"),
        ("y int", "1", SchemaEvolution.STRICT, "y is new; id is missing"),
    ],
)
def test_fields_that_do_not_fit_are_refused_by_name(
    spark: SparkSession,
    tables: Tables,
    place: TableIdentifier,
    *,
    schema: str,
    value: str,
    evolution: SchemaEvolution,
    said: str,
) -> None:
    write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.APPEND, "w1"))
    with pytest.raises(DataError, match=said):
        write_rows(
            tables, place, rows(spark, schema, value), TableWriteOptions(WriteMode.APPEND, "w2", evolution=evolution)
        )
    assert there(tables, place) == [(1,)]


def test_a_name_within_a_new_field_is_only_a_name(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.APPEND, "w1"))
    names = ("a: int>, z array<string", "back`tick", "two words")
    parts = ", ".join(f"'{name}', {n}" for n, name in enumerate(names))
    more = spark.sql(f"SELECT 2 AS id, array(map('k', named_struct({parts}))) AS s")
    write_rows(tables, place, more, TableWriteOptions(WriteMode.APPEND, "w2"))
    assert tables.schema(place).fieldNames() == ["id", "s"]
    (row,) = tables.read(place).filter("id = 2").collect()
    assert row["s"][0]["k"].asDict() == {name: n for n, name in enumerate(names)}


def test_two_fields_that_are_one_to_sql_are_refused(
    spark: SparkSession, tables: Tables, place: TableIdentifier
) -> None:
    with pytest.raises(DataError, match="'id' and 'ID'"):
        write_rows(
            tables, place, spark.range(1).selectExpr("id", "id AS ID"), TableWriteOptions(WriteMode.APPEND, "w1")
        )


def test_overwriting_the_fields_too_is_one_step(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.OVERWRITE, "w1"))
    how = TableWriteOptions(WriteMode.OVERWRITE, "w2", evolution=SchemaEvolution.OVERWRITE)
    write_rows(tables, place, rows(spark, "id string, y int", "'a', 1"), how)
    assert there(tables, place) == [("a", 1)]
    assert write_rows(tables, place, rows(spark, "id string, y int", "'a', 1"), how).again


def test_it_can_be_read_as_it_was_and_rolled_back(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    first = write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.OVERWRITE, "w1"))
    write_rows(tables, place, rows(spark, "id int", "2"), TableWriteOptions(WriteMode.OVERWRITE, "w2"))
    assert first.snapshot is not None
    assert tables.read(place, snapshot=first.snapshot).collect() == [(1,)]
    tables.rollback(place, first.snapshot)
    assert there(tables, place) == [(1,)]
    with pytest.raises(NotFoundError, match="no snapshot 7"):
        tables.rollback(place, 7)


def test_fields_are_described(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.APPEND, "w1"))
    tables.describe(place, {"id": 'The number\\ that\'s on the "bill"'})
    assert tables.current_metadata(place).fields[0].description == 'The number\\ that\'s on the "bill"'
    with pytest.raises(NotFoundError, match="no field 'nr'"):
        tables.describe(place, {"nr": ""})


def test_a_table_that_is_not_there_is_told_of(tables: Tables, lake: IcebergCatalog, place: TableIdentifier) -> None:
    with pytest.raises(ConflictError, match="no data yet"):
        tables.read(place)
    assert lake.metadata_locations([place]) == {}


def test_a_dropped_table_leaves_no_file(
    spark: SparkSession, tables: Tables, lake: IcebergCatalog, place: TableIdentifier
) -> None:
    write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.APPEND, "w1"))
    tables.drop(place)
    tables.drop(place)
    assert lake.metadata_location(place) is None
    assert not tables.exists(place)


def test_nobody_elses_session_knows_the_catalog(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    write_rows(tables, place, rows(spark, "id int", "1"), TableWriteOptions(WriteMode.APPEND, "w1"))
    for session in (spark, spark.newSession()):
        with pytest.raises(Exception, match=r"lakehold"):
            session.sql(f"SELECT * FROM {place.sql}").collect()


def test_nothing_arriving_is_no_error(spark: SparkSession, tables: Tables, place: TableIdentifier) -> None:
    done = write_rows(tables, place, rows(spark, "id int", "1").limit(0), TableWriteOptions(WriteMode.APPEND, "w1"))
    assert (done.added, done.total) == (0, 0)
    assert isinstance(done, TableWriteResult)
    assert there(tables, place) == []


def test_the_first_tables_of_a_tenant_are_made_at_once(spark: SparkSession, tables: Tables) -> None:
    _ = tables.session
    for tenant in range(900, 905):
        together = Barrier(4)

        def make(number: int, tenant: int = tenant, together: Barrier = together) -> None:
            together.wait()
            tables.create(TableIdentifier(tenant, number), spark.range(1).schema)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(make, range(4)))
        assert len(tables.lake.list_tables(tenant)) == 4
