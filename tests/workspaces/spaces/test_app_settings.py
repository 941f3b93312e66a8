"""Settings of apps, the SQL of their charts, and the shapes that are drawn."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.spaces.apps.app_data import ChartData, parse_filters
from lakehold.workspaces.spaces.apps.chart_query import ChartSource, FilterValue, MissingColumnError, chart_sql
from lakehold.workspaces.spaces.apps.settings import AppSettings
from lakehold.workspaces.spaces.pages import chart_layout, treemap
from lakehold.workspaces.spaces.settings import APP

SOURCE = {"task": "t", "dataset": "d"}
TABLE = ChartSource("lake.`s`.d", {"Region": "string", "amount": "int", "at": "timestamp", "odd`name": "string"})
SUM = {"how": "sum", "column": "amount"}
CHART = {"title": "One", "type": "bar", "source": SOURCE, "group_by": ["region"], "series": [SUM]}


def app(*filters: tuple[str, str, str], **chart: object) -> AppSettings:
    """An app of one chart, with filters given by title, column and control."""
    some = [{"title": title, "column": column, "control": how, "source": SOURCE} for title, column, how in filters]
    return APP.parse({"charts": [{**CHART, **chart}], "filters": some})


def sql(settings: AppSettings, **values: str) -> str:
    """The query of the chart with these values of filters."""
    return chart_sql(settings.charts[0], TABLE, parse_filters(settings, values.items()))


@pytest.mark.parametrize(
    ("chart", "field"),
    [
        ({"type": "pie"}, "charts.0.type"),
        ({"type": "number"}, "charts.0.group_by"),
        ({"type": "scatter"}, "charts.0.series"),
        ({"type": "treemap", "series": []}, "charts.0.series"),
        ({"type": "table", "group_by": [], "series": []}, "charts.0.group_by"),
        ({"type": "number", "group_by": [], "period": "day"}, "charts.0.period"),
        ({"type": "table", "series": [], "sort": "value"}, "charts.0.sort"),
        ({"series": [SUM, SUM]}, "charts.0.series"),
        ({"series": [{"how": "sum"}]}, "charts.0.series.0.column"),
        ({"series": [{"how": "median", "column": "x"}]}, "charts.0.series.0.how"),
        ({"series": [{**SUM, "name": "REGION"}]}, "charts.0.series"),
        ({"limit": 1001}, "charts.0.limit"),
        ({"limit": 0}, "charts.0.limit"),
        ({"title": " "}, "charts.0.title"),
        ({"source": {"task": "t", "dataset": "No"}}, "charts.0.source.dataset"),
        ({"colour": "red"}, "charts.0.colour"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(chart: dict[str, object], field: str) -> None:
    (problem, *_) = APP.problems({"charts": [{**CHART, **chart}]})
    assert problem.field == field


def test_titles_and_columns_are_unique() -> None:
    by_region = {"title": "R", "column": "region", "control": "choice", "source": SOURCE}
    for settings, field in (
        ({"charts": [CHART, {**CHART, "title": "ONE"}]}, "charts"),
        ({"filters": [by_region, {**by_region, "column": "x"}]}, "filters"),
        ({"filters": [by_region, {**by_region, "title": "x"}]}, "filters"),
    ):
        assert [each.field for each in APP.problems(settings)] == [field]


def test_the_edge_follows_each_task_once() -> None:
    other = {**CHART, "title": "Two", "source": {"task": "u", "dataset": "d"}}
    settings = {"charts": [CHART, {**CHART, "title": "Three"}, other]}
    assert APP.edges(settings) == {"uses": ["t", "u"]}
    assert [each.field for each in APP.references(settings)] == ["charts.0.source.task", "charts.2.source.task"]


def test_names_are_quoted_as_the_dataset_writes_them() -> None:
    found = sql(app(group_by=["REGION", "odd`name"], type="table", limit=5, sort="value", descending=True))
    assert found == (
        "SELECT `Region` AS `REGION`, `odd``name` AS `odd``name`, sum(`amount`) AS `sum of amount`\n"
        "FROM lake.`s`.d\nGROUP BY `Region`, `odd``name`\n"
        "ORDER BY `sum of amount` DESC NULLS LAST, `REGION`, `odd``name`\nLIMIT 6"
    )


def test_values_of_filters_are_literals() -> None:
    filters = (("R", "region", "choice"), ("A", "amount", "range"), ("T", "at", "range"), ("X", "other", "text"))
    found = sql(app(*filters), R="x') OR ('1", A="1..", T="..2026-01-31", X="ignored")
    assert (
        "WHERE `Region` IN ('x\\') OR (\\'1') AND `amount` >= 1 AND `at` < TIMESTAMP_NTZ '2026-02-01T00:00:00'" in found
    )


@pytest.mark.parametrize("value", ["1; DROP TABLE x..2", "..1e999999", "x..", "1", "..' OR 1=1"])
def test_a_range_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(InvalidInputError):
        sql(app(("A", "amount", "range")), A=value)


@pytest.mark.parametrize(
    "chart",
    [{"group_by": ["gone"]}, {"series": [{"how": "sum", "column": "region"}]}, {"period": "day"},
     {"series": [{"how": "least", "column": "`amount`"}]}],
)  # fmt: skip
def test_a_column_that_does_not_fit_is_an_error_of_the_chart(chart: dict[str, object]) -> None:
    with pytest.raises(MissingColumnError):
        sql(app(**chart))


def test_too_many_values_are_refused() -> None:
    (each,) = app(("R", "region", "choice")).filters
    with pytest.raises(InvalidInputError, match="too long"):
        FilterValue(each, ["x"] * 101)


def draw(kind: str, rows: list[tuple[object, ...]], series: int = 1) -> chart_layout.ChartPicture | None:
    named = [{**SUM, "name": f"s{n}"} for n in range(series)]
    (chart,) = app(type=kind, series=named).charts
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, [str(n) for n in range(len(columns))])
    return chart_layout.draw_chart(ChartData(chart, batch.schema, [batch]))


def test_bars_stand_side_by_side_and_hang_below_zero() -> None:
    picture = draw("bar", [("a", 10, -5), ("b", None, 5)], 2)
    assert picture
    assert [box.series for box in picture.boxes] == [0, 1, 1]
    up, down, _ = picture.boxes
    assert picture.base is not None
    assert up.y + up.height == pytest.approx(picture.base)
    assert down.y == pytest.approx(picture.base)
    assert up.x + up.width == pytest.approx(down.x)
    assert up.tooltip == "a: s0 10"


def test_a_line_goes_by_the_distance_of_its_values() -> None:
    picture = draw("line", [(0, 1), (1, 2), (10, 3)])
    assert picture
    first, second, last = [dot.x for dot in picture.dots]
    assert (last - first) == pytest.approx(10 * (second - first))
    assert draw("line", [("a", "x"), ("b", "y")]) is None


def test_a_tree_map_fills_its_rectangle() -> None:
    boxes = treemap.squarify([50, 30, 10, 5, 4, 1], 500, 300)
    assert sum(box.width * box.height for box in boxes) == pytest.approx(500 * 300)
    assert [round(box.width * box.height / 1500) for box in boxes] == [50, 30, 10, 5, 4, 1]
    assert all(-1e-6 <= box.x <= 500 and box.x + box.width <= 500 + 1e-6 for box in boxes)
    for one in boxes:
        for other in boxes:
            apart = (one.x + one.width <= other.x + 1e-6 or one.y + one.height <= other.y + 1e-6
                     or other.x + other.width <= one.x + 1e-6 or other.y + other.height <= one.y + 1e-6)  # fmt: skip
            assert one is other or apart
