"""Writes rows to a table, whose schema is adapted when they have other fields.

Each write is one snapshot with its mark, so that a repeated write does nothing twice.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.kit.errors import InvalidInputError
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier, quote_literal
from lakehold.lake.spark.jvm import move_to_session
from lakehold.lake.spark.local_rows import empty_rows
from lakehold.lake.spark.scd2 import any_null
from lakehold.lake.spark.tables import Tables, table_definition
from lakehold.lake.table_metadata import IcebergSnapshot


class SchemaEvolution(StrEnum):
    """The schema evolution of a write: how rows with other fields than the table has are handled."""

    MERGE = "merge"
    """New fields are added, types are widened where nothing is lost; a missing field is empty."""
    STRICT = "strict"
    """Any difference is refused."""
    OVERWRITE = "overwrite"
    """The table gets the fields of what arrives; only where all rows are replaced."""
    KEEP = "keep"
    """The table keeps its fields: new ones are left out, a missing one is empty, wider values must fit its types."""


_WIDER: dict[type[t.DataType], tuple[type[t.DataType], ...]] = {
    t.ByteType: (t.IntegerType, t.LongType),
    t.ShortType: (t.IntegerType, t.LongType),
    t.IntegerType: (t.LongType,),
    t.FloatType: (t.DoubleType,),
}
# Iceberg keeps small whole numbers as int.
_STORED_AS: dict[type[t.DataType], t.DataType] = {t.ByteType: t.IntegerType(), t.ShortType: t.IntegerType()}


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Values of a field from one bound up to, not including, another; an empty bound is open."""

    field: str
    since: str
    until: str

    def sql(self, rows: DataFrame) -> str:
        """Return the SQL condition for rows of the table in this span."""
        found = next(each for each in rows.schema.fields if each.name.lower() == self.field.lower())
        column, kind = f"t.{quote_identifier(found.name)}", found.dataType.simpleString()
        bounds = ((">=", self.since), ("<", self.until))
        parts = (f"{column} {sign} CAST({quote_literal(text)} AS {kind})" for sign, text in bounds if text)
        return " AND ".join(parts)


def _replace_span(session: SparkSession, place: TableIdentifier, ready: DataFrame, span: ValueSpan) -> None:
    """Replace the rows of a span in one write: concurrent readers see it as it was or as it will be."""
    ready.createOrReplaceTempView("arriving")
    name = next(quote_identifier(each) for each in ready.columns if each.lower() == span.field.lower())
    # No row of one is the same as one of the other; said so that Spark can still join the two by a key.
    never = f"t.{name} = s.{name} AND t.{name} IS NULL"
    session.sql(
        f"MERGE INTO {place.sql} t USING arriving s ON {never} WHEN NOT MATCHED THEN INSERT *"
        f" WHEN NOT MATCHED BY SOURCE AND {span.sql(ready)} THEN DELETE"
    )


_EXAMPLES = 3


class WriteMode(StrEnum):
    """The write mode: how the existing rows of the table are treated."""

    APPEND = "append"
    """They stay."""
    OVERWRITE = "overwrite"
    """They go."""
    MERGE = "merge"
    """Those with the same key are replaced."""
    MIRROR = "mirror"
    """The same, and those whose key does not arrive go."""


@dataclass(frozen=True, slots=True)
class TableWriteOptions:
    """Options of a write."""

    mode: WriteMode
    mark: str
    """Names this write: of the same name there is one."""
    keys: Sequence[str] = ()
    evolution: SchemaEvolution = SchemaEvolution.MERGE
    partitioned_by: Sequence[str] = ()
    span: ValueSpan | None = None
    """What is added takes the place of what lies in this part."""


@dataclass(frozen=True, slots=True)
class TableWriteResult:
    """The result of a write."""

    snapshot: int | None
    """None if there was nothing to do."""
    added: int = 0
    removed: int = 0
    size: int = 0
    total: int = 0
    again: bool = False
    """Whether it had been done before."""


def write_rows(tables: Tables, place: TableIdentifier, rows: DataFrame, how: TableWriteOptions) -> TableWriteResult:
    """Write rows of any session into a table, which is created if it does not exist."""
    refuse_duplicate_fields(rows.schema)
    if not tables.exists(place):
        tables.create(place, rows.schema, partitioned_by=how.partitioned_by)
    return write_once(tables, place, how.mark, lambda session: _write_mode(tables, session, place, rows, how))


def write_once(
    tables: Tables, place: TableIdentifier, mark: str, write: Callable[[SparkSession], None]
) -> TableWriteResult:
    """Make a write in a session that marks its snapshot, unless it was made before."""
    if done := tables.writable_metadata(place).snapshot_of_write(mark):
        return _result_of_snapshot(done, again=True)
    with tables.write_session(mark) as session:
        write(session)
    snapshot = tables.current_metadata(place).snapshot_of_write(mark)
    return TableWriteResult(None) if snapshot is None else _result_of_snapshot(snapshot)


def _write_mode(
    tables: Tables, session: SparkSession, place: TableIdentifier, rows: DataFrame, how: TableWriteOptions
) -> None:
    replaces_fields = how.mode is WriteMode.OVERWRITE and how.evolution is SchemaEvolution.OVERWRITE
    if replaces_fields and rows.schema != tables.schema(place):
        table_definition(place, move_to_session(session, rows), how.partitioned_by).replace()
        return
    ready = move_to_session(session, conform_rows(tables, place, rows, how.evolution))
    match how.mode:
        case WriteMode.OVERWRITE:
            ready.writeTo(place.sql).overwrite(f.lit(True))
        case WriteMode.APPEND if how.span is not None:
            _replace_span(session, place, ready, how.span)
        case WriteMode.APPEND:
            ready.writeTo(place.sql).append()
        case WriteMode.MERGE | WriteMode.MIRROR:
            _merge(session, place, ready, how)


def refuse_duplicate_keys(rows: DataFrame, keys: Sequence[str]) -> None:
    """Refuse rows with duplicate or missing keys."""
    if not keys:
        raise InvalidInputError("To merge, the table needs a key.", "Name the key fields.")
    names = {name.lower(): name for name in rows.columns}
    for key in keys:
        if key.lower() not in names:
            raise DataError(f"The key {key!r} is not a field of the rows.", f"They have: {', '.join(rows.columns)}.")
    columns = [f.col(quote_identifier(names[key.lower()])) for key in keys]
    empty = rows.filter(any_null(columns))
    if not empty.isEmpty():
        raise DataError(f"{empty.count():,} rows have no {' and '.join(keys)}.", "Every row needs a key.")
    doubles = rows.groupBy(*columns).count().filter(f.col("count") > 1)
    some = doubles.limit(_EXAMPLES).collect()
    if some:
        examples = "; ".join(", ".join(str(value) for value in row[:-1]) for row in some)
        message = f"{doubles.count():,} keys appear more than once, such as {examples}."
        hint = f"Choose a unique key, or keep one row for each {' and '.join(keys)}."
        raise DataError(message, hint, foreign=examples)


def _merge(session: SparkSession, place: TableIdentifier, ready: DataFrame, how: TableWriteOptions) -> None:
    refuse_duplicate_keys(ready, how.keys)
    ready.createOrReplaceTempView("arriving")
    names = {name.lower(): name for name in ready.columns}
    same = " AND ".join(
        f"t.{quote_identifier(names[key.lower()])} = s.{quote_identifier(names[key.lower()])}" for key in how.keys
    )
    others = [quote_identifier(name) for name in ready.columns if name.lower() not in {key.lower() for key in how.keys}]
    # A row that arrives as it is there is not written anew.
    changed = " OR ".join(f"NOT (t.{name} <=> s.{name})" for name in others)
    update = f"WHEN MATCHED AND ({changed}) THEN UPDATE SET *" if others else ""
    gone = "WHEN NOT MATCHED BY SOURCE THEN DELETE" if how.mode is WriteMode.MIRROR else ""
    session.sql(f"MERGE INTO {place.sql} t USING arriving s ON {same} {update} WHEN NOT MATCHED THEN INSERT * {gone}")


def _result_of_snapshot(snapshot: IcebergSnapshot, *, again: bool = False) -> TableWriteResult:
    return TableWriteResult(
        snapshot.id,
        snapshot.count("added-records"),
        snapshot.count("deleted-records") + snapshot.count("added-position-deletes"),
        snapshot.count("added-files-size"),
        snapshot.count("total-records"),
        again,
    )


def conform_rows(tables: Tables, place: TableIdentifier, rows: DataFrame, evolution: SchemaEvolution) -> DataFrame:
    """Return the rows with the fields of the table, which is extended where needed; or refuse and name the field."""
    has, comes = tables.schema(place), rows.schema
    refuse_duplicate_fields(comes)
    differences = list(_differences(has, comes))
    if differences and evolution is SchemaEvolution.STRICT:
        message = f"The fields do not fit the table: {'; '.join(text for text, _ in differences)}."
        raise DataError(message, "Allow merging, or correct them.")
    refused = [text for text, merges in differences if not merges]
    if refused:
        raise DataError(f"The fields do not fit the table: {'; '.join(refused)}.", "Convert them before they arrive.")
    if differences and evolution is not SchemaEvolution.KEEP:
        _alter_table(tables, place, has, comes)
        has = tables.schema(place)
    by_name = {field.name.lower(): field.name for field in comes.fields}
    return rows.select(
        *(
            f.col(quote_identifier(by_name[field.name.lower()])).cast(field.dataType).alias(field.name)
            if field.name.lower() in by_name
            else f.lit(None).cast(field.dataType).alias(field.name)
            for field in has.fields
        )
    )


def apply_types_if_empty(tables: Tables, place: TableIdentifier, rows: DataFrame) -> DataFrame:
    """Return the rows; if there are none, with the types of the table, as an empty result says nothing of its types."""
    if not tables.exists(place):
        return rows
    kinds = {field.name.lower(): field.dataType for field in tables.schema(place).fields}
    typed = t.StructType(
        [t.StructField(field.name, kinds.get(field.name.lower(), field.dataType)) for field in rows.schema.fields]
    )
    same = [field.dataType for field in typed.fields] == [field.dataType for field in rows.schema.fields]
    return rows if same or not rows.isEmpty() else empty_rows(tables.session, typed)


def refuse_duplicate_fields(schema: t.StructType) -> None:
    """Refuse two fields whose names differ by case alone, because they are the same name in SQL."""
    seen: dict[str, str] = {}
    for field in schema.fields:
        other = seen.setdefault(field.name.lower(), field.name)
        if other is not field.name:
            raise DataError(f"Two fields are called {other!r} and {field.name!r}.", "Rename one of them.")


def _differences(has: t.StructType, comes: t.StructType) -> Iterator[tuple[str, bool]]:
    """Yield the differences as messages, each with whether it can be merged."""
    there = {field.name.lower(): field for field in has.fields}
    for field in comes.fields:
        old = there.get(field.name.lower())
        if old is None:
            yield f"{field.name} is new", True
        elif not _fits(field.dataType, old.dataType):
            if _is_widening(old.dataType, field.dataType):
                yield f"{field.name} is {field.dataType.simpleString()} and was {old.dataType.simpleString()}", True
            else:
                kinds = f"{field.dataType.simpleString()} into the table's {old.dataType.simpleString()}"
                yield f"cannot turn {field.name} of type {kinds}", False
    arriving = {field.name.lower() for field in comes.fields}
    for name, field in there.items():
        if name not in arriving:
            yield f"{field.name} is missing", True


def _fits(comes: t.DataType, has: t.DataType) -> bool:
    """Return whether every value of the incoming type is a value of the table's type."""
    if comes == has or comes.simpleString() in {"void", has.simpleString()} or type(has) in _WIDER.get(type(comes), ()):
        return True
    if isinstance(comes, t.DecimalType) and isinstance(has, t.DecimalType):
        return comes.scale <= has.scale and comes.precision - comes.scale <= has.precision - has.scale
    return isinstance(comes, t.DateType) and isinstance(has, t.TimestampNTZType)


def _is_widening(has: t.DataType, comes: t.DataType) -> bool:
    """Return whether Iceberg can widen the type without rewriting files."""
    if isinstance(has, t.DecimalType) and isinstance(comes, t.DecimalType):
        return comes.scale == has.scale and comes.precision > has.precision
    return type(comes) in _WIDER.get(type(has), ())


def _alter_table(tables: Tables, place: TableIdentifier, has: t.StructType, comes: t.StructType) -> None:
    session = tables.session
    tables.lake.need_own_location(place)
    there = {field.name.lower(): field for field in has.fields}
    for field in comes.fields:
        old = there.get(field.name.lower())
        if old is None:
            session.sql(f"ALTER TABLE {place.sql} ADD COLUMN {quote_identifier(field.name)} {column_type(field)}")
        elif _is_widening(old.dataType, field.dataType):
            column, new_type = quote_identifier(old.name), _type_sql(field.dataType)
            session.sql(f"ALTER TABLE {place.sql} ALTER COLUMN {column} TYPE {new_type}")


def column_type(field: t.StructField) -> str:
    """Return the type of a table's column for such a field in SQL, with the names of struct fields quoted."""
    if field.dataType.simpleString() == "void":
        return "string"
    return _type_sql(_STORED_AS.get(type(field.dataType), field.dataType))


def _type_sql(kind: t.DataType) -> str:
    """Return a type in SQL, with the names of struct fields quoted, which come from outside."""
    match kind:
        case t.ArrayType():
            return f"array<{_type_sql(kind.elementType)}>"
        case t.MapType():
            return f"map<{_type_sql(kind.keyType)}, {_type_sql(kind.valueType)}>"
        case t.StructType():
            return f"struct<{', '.join(f'{quote_identifier(e.name)}: {_type_sql(e.dataType)}' for e in kind.fields)}>"
    return kind.simpleString()
