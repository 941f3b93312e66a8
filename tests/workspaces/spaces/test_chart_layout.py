"""Pictures of charts whose data has the least and the greatest values that there are."""

from __future__ import annotations

from datetime import UTC, date, datetime
from math import isfinite

import pyarrow as pa
import pytest

from lakehold.web.chart_scale import ChartScale
from lakehold.workspaces.spaces.apps.app_data import ChartData
from lakehold.workspaces.spaces.apps.settings import AppChart, AppSeries, ChartType
from lakehold.workspaces.spaces.pages.chart_layout import draw_chart
from lakehold.workspaces.spaces.pages.treemap import squarify
from lakehold.workspaces.spaces.tasks.base import DatasetReference

EXTREMES = (
    *([1e17], [2.0**53 + 2, 2.0**53 + 4], [-1.7e308, 1.7e308], [1.79e308], [5e-324], [1e-320, 3e-320]),
    *([0.0], [-5.0], [1e16, 1e16 + 2], [1.0, 1e-180, 1e-180], [1e308, 1e308]),
)
TIMES = (
    *([datetime.min, datetime(2026, 1, 1)], [datetime(2026, 1, 1), datetime.max], [date.min, date.max]),  # noqa: DTZ001, DTZ901
    [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)],
)


def chart(kind: ChartType, groups: list[object], *series: list[float]) -> ChartData:
    columns = [AppSeries(how="sum", column=f"c{n}") for n in range(len(series))]
    source = DatasetReference(task="t", dataset="d")
    settings = AppChart(title="Extreme", type=kind, source=source, group_by=("g",), series=tuple(columns))
    batch = pa.RecordBatch.from_arrays(
        [pa.array(each) for each in (groups, *series)], names=["g", *(each.title for each in columns)]
    )
    return ChartData(settings, batch.schema, [batch])


@pytest.mark.parametrize("values", EXTREMES)
@pytest.mark.parametrize("from_zero", [True, False])
def test_a_scale_has_a_few_ticks_whatever_the_values_are(values: list[float], from_zero: bool) -> None:
    scale = ChartScale.of_values(values, from_zero=from_zero)
    assert 1 < len(scale.steps()) < 20
    assert all(map(isfinite, (*scale, *map(scale.share, values))))


@pytest.mark.parametrize("kind", ["bar", "line", "area", "scatter", "treemap"])
@pytest.mark.parametrize("values", EXTREMES)
def test_every_value_is_drawn(kind: ChartType, values: list[float]) -> None:
    series = [values] * (2 if kind == "scatter" else 1)
    assert draw_chart(chart(kind, list(map(str, values)), *series)) is not None


@pytest.mark.parametrize("groups", TIMES)
def test_the_first_and_last_days_there_are_lie_at_both_ends(groups: list[object]) -> None:
    picture = draw_chart(chart("line", groups, [1.0, 2.0]))
    assert picture is not None
    assert picture.dots[0].x < picture.dots[1].x


@pytest.mark.parametrize("values", [[1.0, 1e-180, 1e-180], [1e308, 1e308], [9.0, 5.0, 1.0]])
def test_the_parts_of_a_tree_map_have_an_area(values: list[float]) -> None:
    assert all(box.width >= 0 and box.height >= 0 for box in squarify(values, 10, 10))
