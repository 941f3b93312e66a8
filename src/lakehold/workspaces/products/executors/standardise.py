"""Makes the records of a data product from the rows of a source: the columns of its table `records`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lakehold.kit.ids import quote
from lakehold.lake.errors import DataError
from lakehold.lake.row_formats import quote_identifier
from lakehold.workspaces.products.attribute_types import PARTS, RAW, AttributeType, part_column
from lakehold.workspaces.products.executors.text_columns import find_columns, to_sorted_text, to_text
from lakehold.workspaces.products.settings import DataProductSettings, ProductAttribute, SourceMapping
from lakehold.workspaces.products.standardisation.standard_value import StandardValue
from lakehold.workspaces.products.standardisation.standardiser import standardise

RECORD_COLUMNS = ("record", "source", "source_key", "fingerprint", "recency")
"""The columns of a record beside those of its attributes."""
KEY_SEPARATOR = "\x1f"
_VALUE_SEPARATOR = "\x1e"
_HASH_DIGITS = 32
_EXAMPLES = 3


def record_columns(settings: DataProductSettings) -> tuple[str, ...]:
    """Return the names of all columns of the table `records`; each has texts."""
    return (*RECORD_COLUMNS, *(name for each in settings.attributes for name in attribute_columns(each)))


def attribute_columns(attribute: ProductAttribute) -> tuple[str, ...]:
    """Return the names of an attribute's columns: the standardised value, the raw one, and the parts."""
    parts = PARTS[attribute.type].parts
    return (attribute.name, *(part_column(attribute.name, part) for part in (RAW, *parts)))


def standardise_rows(
    rows: DataFrame,
    settings: DataProductSettings,
    mapping: SourceMapping,
    source: str,
    keys: Sequence[str],
    *,
    known: DataFrame | None = None,
) -> DataFrame:
    """Return the records of a source with the columns of the table `records`.

    Those that are known with the same fingerprint are taken as they are known. Rows without a key, and rows that share
    one, are refused: they would be the same record.
    """
    found_keys = find_columns(rows, keys, setting="keys")
    columns = find_columns(rows, list(mapping.columns.values()), setting="columns")
    texts = [(name, to_text(rows, columns[column])) for name, column in sorted(mapping.columns.items())]
    recency = f.lit(None).cast("string")
    if mapping.recency:
        recency = to_sorted_text(rows, find_columns(rows, [mapping.recency], setting="recency")[mapping.recency])
    key_texts = [to_text(rows, found_keys[key]) for key in keys]
    _need_keys(rows, keys, key_texts)
    key = f.concat_ws(KEY_SEPARATOR, *key_texts)
    records = rows.select(
        f.substring(f.sha2(f.concat_ws(KEY_SEPARATOR, f.lit(source), *key_texts), 256), 1, _HASH_DIGITS).alias(
            "record"
        ),
        f.lit(source).alias("source"),
        key.alias("source_key"),
        _fingerprint(settings, mapping, texts, recency).alias("fingerprint"),
        recency.alias("recency"),
        *(text.alias(part_column(name, RAW)) for name, text in texts),
    )
    _need_different_keys(records, keys)
    schema = ", ".join(f"{quote_identifier(name)} string" for name in record_columns(settings))
    standardiser = RecordStandardiser(settings.attributes, mapping.country)
    if known is None:
        return records.mapInArrow(standardiser, schema)
    same = ["record", "fingerprint"]
    kept = known.join(records.select(*same), same, "left_semi")
    return records.join(known.select(*same), same, "left_anti").mapInArrow(standardiser, schema).unionByName(kept)


@dataclass(frozen=True, slots=True)
class RecordStandardiser:
    """Standardises the raw values of Arrow batches. Values that are equal in a batch are standardised once."""

    attributes: tuple[ProductAttribute, ...]
    country: str = ""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a batch of records for each batch of raw values."""
        for batch in batches:
            columns = {name: _as_texts(batch.column(name)) for name in RECORD_COLUMNS}
            for attribute in self.attributes:
                columns |= self._attribute(batch, attribute)
            yield pa.RecordBatch.from_pydict(columns)

    def _attribute(self, batch: pa.RecordBatch, attribute: ProductAttribute) -> dict[str, pa.Array]:
        raw_name = part_column(attribute.name, RAW)
        if raw_name not in batch.schema.names:
            return {name: pa.nulls(batch.num_rows, pa.string()) for name in attribute_columns(attribute)}
        raw = _as_texts(batch.column(raw_name))
        encoded = pc.dictionary_encode(raw)
        values = [standardise(attribute.type, text, self.country) for text in encoded.dictionary.to_pylist()]
        found = {attribute.name: _take(encoded, [each.value if each else None for each in values]), raw_name: raw}
        for part in PARTS[attribute.type].parts:
            found[part_column(attribute.name, part)] = _take(encoded, [_part(each, part) for each in values])
        return found


def _part(value: StandardValue | None, part: str) -> str | None:
    return value.parts.get(part) if value else None


def _take(encoded: pa.DictionaryArray, values: list[str | None]) -> pa.Array:
    return pc.take(pa.array(values, pa.string()), encoded.indices)


def _as_texts(column: pa.Array) -> pa.Array:
    return column if column.type == pa.string() else column.cast(pa.string())


def _fingerprint(
    settings: DataProductSettings, mapping: SourceMapping, texts: Sequence[tuple[str, Column]], recency: Column
) -> Column:
    """Return a hash over the raw values and the recency, and over how they are standardised.

    So a record counts as changed when its attributes get another type, or its source another country.
    """
    types: dict[str, AttributeType] = {each.name: each.type for each in settings.attributes}
    labels = [f"{name} {types[name].value} {mapping.country}" for name, _ in texts]
    values = [f.concat_ws(KEY_SEPARATOR, f.lit(label), text) for label, (_, text) in zip(labels, texts, strict=True)]
    return f.substring(f.sha2(f.concat_ws(_VALUE_SEPARATOR, *values, recency), 256), 1, _HASH_DIGITS)


def _need_keys(rows: DataFrame, keys: Sequence[str], texts: Sequence[Column]) -> None:
    """Refuse rows in which a key column has no value."""
    aliases = [f"missing{n}" for n in range(len(keys))]
    counts = rows.agg(*(f.count_if(text.isNull()).alias(alias) for alias, text in zip(aliases, texts, strict=True)))
    found = counts.first()
    assert found is not None  # noqa: S101 - an aggregate has a row
    for key, text, alias in zip(keys, texts, aliases, strict=True):
        if found[alias]:
            examples = _examples(rows.where(text.isNull()).select(*_scalars(rows)).limit(_EXAMPLES))
            message = f"{_rows(found[alias])} of the source have no value in the key column {quote(key)}: {examples}."
            hint = "Fill it at the source, leave these rows out, or name another key."
            raise DataError(message, hint, field="keys", foreign=examples)


def _need_different_keys(records: DataFrame, keys: Sequence[str]) -> None:
    """Refuse rows that share a key."""
    shared = records.groupBy("source_key").count().where(f.col("count") > 1)
    first = shared.orderBy(f.desc("count"), "source_key").limit(_EXAMPLES).collect()
    if not first:
        return
    counts = shared.agg(f.count("*").alias("keys"), f.sum("count").alias("rows")).first()
    assert counts is not None  # noqa: S101 - an aggregate has a row
    examples = ", ".join(f"{quote(_readable(row['source_key']))} ({row['count']:,} times)" for row in first)
    message = (
        f"{counts['keys']:,} {'key is' if counts['keys'] == 1 else 'keys are'} not unique in the source, "
        f"in {_rows(counts['rows'])}: {examples}."
    )
    hint = f"The key is {', '.join(keys)}. Name the columns that together identify a row, or leave out the others."
    raise DataError(message, hint, field="keys", foreign=examples)


def _scalars(rows: DataFrame) -> list[Column]:
    """Return the first columns of the rows, as short texts."""
    return [f.substring(f.col(quote_identifier(name)).cast("string"), 1, 40).alias(name) for name in rows.columns[:3]]


def _examples(rows: DataFrame) -> str:
    return "; ".join(
        ", ".join(f"{name} {quote(value)}" for name, value in row.asDict().items() if value is not None)
        or "an empty row"
        for row in rows.collect()
    )


def _readable(key: str) -> str:
    return key.replace(KEY_SEPARATOR, " / ")


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
