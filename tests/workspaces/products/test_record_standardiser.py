"""Arrow batches of raw values become batches of records."""

from __future__ import annotations

import pyarrow as pa

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.executors.standardise import RECORD_COLUMNS, RecordStandardiser, record_columns
from lakehold.workspaces.products.settings import DataProductSettings, ProductAttribute

ATTRIBUTES = (
    ProductAttribute(name="name", type=AttributeType.FULL_NAME),
    ProductAttribute(name="phone", type=AttributeType.PHONE),
)


def batch(**columns: list[str | None]) -> pa.RecordBatch:
    size = max(map(len, columns.values()))
    fixed = {name: [f"{name}{n}" for n in range(size)] for name in RECORD_COLUMNS}
    return pa.RecordBatch.from_pydict({name: pa.array(each, pa.string()) for name, each in (fixed | columns).items()})


def test_a_batch_has_the_columns_of_records_in_their_order() -> None:
    (found,) = RecordStandardiser(ATTRIBUTES)([batch(name__raw=["Bob Smith"], phone__raw=[None])])
    assert tuple(found.schema.names) == record_columns(DataProductSettings(attributes=ATTRIBUTES))
    assert set(found.schema.types) == {pa.string()}


def test_equal_values_and_missing_ones_stay_in_their_rows() -> None:
    raw = ["Smith, Bob", None, "Smith, Bob", "??", "Ada Byron"]
    (found,) = RecordStandardiser(ATTRIBUTES, "DE")([batch(name__raw=raw)])
    assert found.column("name").to_pylist() == ["Bob Smith", None, "Bob Smith", None, "Ada Byron"]
    assert found.column("name__raw").to_pylist() == raw
    assert found.column("name__nick").to_pylist() == ["robert", None, "robert", None, "ada"]
    assert found.column("record").to_pylist() == [f"record{n}" for n in range(5)]


def test_an_attribute_that_is_not_mapped_is_null() -> None:
    (found,) = RecordStandardiser(ATTRIBUTES)([batch(name__raw=["a"])])
    assert found.column("phone__tail").null_count == 1
    assert found.column("phone__raw").null_count == 1


def test_other_kinds_of_arrow_texts_and_empty_batches_are_read() -> None:
    large = batch(name__raw=["Bob Smith"]).cast(
        pa.schema([(name, pa.large_string()) for name in (*RECORD_COLUMNS, "name__raw")])
    )
    (found,) = RecordStandardiser(ATTRIBUTES)([large])
    assert found.column("name__given").to_pylist() == ["bob"]
    (empty,) = RecordStandardiser(ATTRIBUTES)([large.slice(0, 0)])
    assert empty.num_rows == 0


def test_the_country_of_the_source_counts() -> None:
    (found,) = RecordStandardiser(ATTRIBUTES, "DE")([batch(phone__raw=["0221 123456"])])
    assert found.column("phone").to_pylist() == ["+49221123456"]
