"""Endpoint of apps: the data of their charts."""

from itertools import zip_longest
from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from lakehold.api.http.dependencies import get_platform, read_transaction
from lakehold.api.http.models import IdText, NameText, PlainText, ResponseModel
from lakehold.api.http.routing import WORKER_CALL, make_router
from lakehold.api.iceberg_rest import get_lake
from lakehold.api.lake.queries import ResultFieldJson
from lakehold.kit.errors import InvalidInputError
from lakehold.lake import row_formats
from lakehold.workspaces.spaces.apps import app_data
from lakehold.workspaces.spaces.apps.app_data import ChartData
from lakehold.workspaces.spaces.apps.settings import ChartType, FilterControl

routes = make_router("/api/v1/apps", "Apps")
_MAX_GIVEN = 100


class AppFilterJson(ResponseModel):
    """A filter that an app has."""

    title: str = Field(examples=["Region"])
    control: FilterControl


class ChartErrorJson(ResponseModel):
    """Why a chart has no rows."""

    code: str = Field(examples=["column_missing"])
    detail: str = Field(examples=["A column that it needs is gone."])
    hint: str = Field(examples=["Ask the owner of the app."])


class ChartDataJson(ResponseModel):
    """The rows of a chart: its groups, then its series."""

    title: str = Field(examples=["Sales by region"])
    type: ChartType
    fields: list[ResultFieldJson]
    rows: list[list[object]] = Field(examples=[[["North", 120]]])
    complete: bool = Field(description="False if there are more groups than the chart's limit.")
    unfiltered: list[str] = Field(examples=[[]], description="Filters that are set, and do not act on this chart.")
    error: ChartErrorJson | None = Field(description="Null if its rows could be read.")


class AppDataJson(ResponseModel):
    """The data of an app."""

    filters: list[AppFilterJson]
    charts: list[ChartDataJson]


@routes.get("/{app}/data", **WORKER_CALL)
def get_app_data(
    request: Request,
    app: IdText,
    filter_: Annotated[
        list[NameText] | None,
        Query(alias="filter", max_length=_MAX_GIVEN, description="Titles of filters.", examples=[["Region"]]),
    ] = None,
    value: Annotated[
        list[PlainText] | None,
        Query(
            max_length=_MAX_GIVEN,
            description="One for each filter; a range is `low..high`. A choice can be given several times.",
            examples=[["North"]],
        ),
    ] = None,
) -> AppDataJson:
    """Get the rows of all charts of an app, for whom it is shared with.

    They are read with the right of the app's owner to consume the data.
    """
    given = _pairs(filter_ or [], value or [])
    reading = read_transaction(request).run(lambda ctx: app_data.open_app(ctx, get_lake(request), app, given))
    found = reading.read_charts(get_platform(request))
    return AppDataJson.model_validate(
        {"filters": list(reading.settings.filters), "charts": [_chart_json(each) for each in found]}
    )


def _pairs(filters: list[str], values: list[str]) -> list[tuple[str, str]]:
    if len(values) > len(filters):
        raise InvalidInputError("A value needs a filter.", "Name the filter that it is of.", field="filter")
    return [(name, value or "") for name, value in zip_longest(filters, values)]


def _chart_json(data: ChartData) -> ChartDataJson:
    wrong = data.error
    error = ChartErrorJson(code=wrong.code, detail=wrong.message, hint=wrong.hint) if wrong else None
    fields = row_formats.describe_fields(data.schema) if data.schema else []
    return ChartDataJson(
        title=data.chart.title,
        type=data.chart.type,
        fields=[ResultFieldJson(**each) for each in fields],
        rows=list(row_formats.rows_as_lists(data.batches)),
        complete=data.complete,
        unfiltered=list(data.unfiltered),
        error=error,
    )
