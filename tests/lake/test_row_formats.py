"""Rows of a query as CSV: a spreadsheet that opens them runs nothing."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from lakehold.lake import row_formats


def test_a_text_is_no_formula_and_a_number_stays_one() -> None:
    batch = pa.RecordBatch.from_pydict(
        {
            "=name": pa.array(["=HYPERLINK(1)", "+1", "-1", "@x", "\tx", "plain", None]),
            "raw": pa.array([b"\xfb\xef", *[None] * 6]),
            "price": pa.array([Decimal("-1.50"), *[None] * 6]),
            "n": pa.array([-7, *[None] * 6]),
            "low": pa.array([float("-inf"), -1.5, *[None] * 5]),
        }
    )
    lines = b"".join(row_formats.as_csv(batch.schema, [batch])).decode().splitlines()
    assert lines == [
        "'=name,raw,price,n,low",
        "'=HYPERLINK(1),'++8=,-1.50,-7,-inf",
        "'+1,,,,-1.5",
        "'-1,,,,",
        "'@x,,,,",
        "'\tx,,,,",
        "plain,,,,",
        ",,,,",
    ]
