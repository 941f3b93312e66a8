"""Rows as cells and as drawings, without a page around them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from lakehold.web import lineage_page, table_pages
from lakehold.web.lineage_page import GraphBox
from lakehold.web.table_pages import GridCell
from lakehold.workspaces.lakehouse.pages.sql import query_result
from lakehold.workspaces.lakehouse.pages.sql.query_result import ChartSeries, EditorResult


@pytest.mark.parametrize(
    ("type_name", "label"),
    [
        ("long", "bigint"),
        ("decimal(10, 2)", "decimal(10, 2)"),
        ("timestamptz", "timestamp"),
        ("timestamp", "timestamp_ntz"),
        ("struct<long: list<long>, at: timestamptz>", "struct<long: array<bigint>, at: timestamp>"),
        ("map<string, list<int>>", "map<string, array<int>>"),
    ],
)
def test_a_field_has_the_type_that_sql_calls_it(type_name: str, label: str) -> None:
    assert table_pages.sql_field_type(type_name) == label


def test_a_grid_says_what_each_value_is() -> None:
    rows = pa.table(
        {
            "n": pa.array([1, None], pa.int64()),
            "amount": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "at": pa.array([datetime(2026, 1, 2, 3, 4, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
            "day": [date(2026, 1, 2), None],
            "yes": [True, None],
            "tags": [["a", "ü"], None],
            "parts": pa.array([{"x": 1}, None], pa.struct([("x", pa.int32())])),
            "word": ["", None],
        }
    )
    grid = table_pages.build_grid(rows.schema, rows.to_batches())
    assert [column.type for column in grid.columns] == [
        *("bigint", "decimal(10, 2)", "timestamp", "date", "boolean", "array<string>", "struct<x: int>", "string")
    ]
    assert [column.is_number for column in grid.columns] == [True, True, *[False] * 6]
    assert [cell.text for cell in grid.rows[0]] == [
        *("1", "1.50", "2026-01-02 03:04:00+00:00", "2026-01-02", "true", '["a", "ü"]', '{"x": 1}', "")
    ]
    assert set(grid.rows[1]) == {GridCell("", is_null=True)}
    assert not grid.rows[0][7].is_null


def test_a_value_that_is_too_long_to_look_at_is_cut() -> None:
    assert len(table_pages.format_cell("x" * 10_000).text) < 500


def test_what_has_no_numbers_is_not_drawn() -> None:
    words = pa.table({"word": ["a"], "tags": [["b"]]})
    assert query_result.chart_series(table_pages.build_grid(words.schema, words.to_batches())) == []


def test_a_chart_has_round_numbers_beside_it_and_zero_among_them() -> None:
    columns = [ChartSeries("city", False, ["a", "b", "c"]), ChartSeries("n", True, [12.0, -7.0, None])]
    drawn = query_result.build_chart(columns)
    assert [tick.label for tick in drawn.ticks] == ["-10", "-5", "0", "5", "10", "15"]
    above, below = drawn.marks
    assert above.y + above.height == pytest.approx(drawn.base)
    assert below.y == pytest.approx(drawn.base)
    assert (drawn.x, drawn.y) == (0, 1)


@pytest.mark.parametrize("values", [[], [0.0], [None, None], [5.0], [-3.0], [1e-9, 2e-9], [1e300]])
def test_a_chart_of_few_or_strange_numbers_stays_within_its_frame(values: list[float | None]) -> None:
    columns = [ChartSeries("x", False, ["a"] * len(values)), ChartSeries("n", True, values)]
    for kind in ("bars", "line"):
        drawn = query_result.build_chart(columns, kind)
        assert all(
            0 <= mark.y <= query_result.HEIGHT and mark.y + mark.height <= query_result.HEIGHT for mark in drawn.marks
        )
        assert 2 <= len(drawn.ticks) <= 12


def test_what_is_drawn_again_is_what_was_shown() -> None:
    columns = [ChartSeries("city", False, ["ä", None]), ChartSeries("n", True, [1.5, None])]
    assert query_result.unpack_series(EditorResult("", series=tuple(columns)).packed) == columns


def test_boxes_stand_in_their_columns_without_lying_on_each_other() -> None:
    nodes = {
        name: (column, GraphBox("Table", name, "table-2")) for name, column in (("a", 0), ("b", 0), ("c", 1), ("d", 2))
    }
    drawing = lineage_page.layout_graph(nodes, [("a", "c"), ("b", "c"), ("c", "d")], "c")
    at = {each.box.label: each for each in drawing.boxes}
    assert at["a"].x == at["b"].x < at["c"].x < at["d"].x
    assert abs(at["a"].y - at["b"].y) >= lineage_page.HEIGHT
    assert [label for label, each in at.items() if each.is_here] == ["c"]
    assert len(drawing.lines) == 3
    assert all(
        each.x + lineage_page.WIDTH <= drawing.width and each.y + lineage_page.HEIGHT <= drawing.height
        for each in at.values()
    )
