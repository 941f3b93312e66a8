"""The options of the report form: data marts, columns and destinations; operators and aggregates by column type."""

from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.access.query.listing import ListedResource
from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_metadata import ResourceMetadata
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.sql_expressions import UNARY_OPERATORS, is_numeric_type
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.pages.destination_pages import MartDestinationFormPage
from lakehold.workspaces.marts.reports import ReportColumn
from lakehold.workspaces.marts.settings import DATA_MART_KIND, DESTINATION_KIND

TEXT, NUMBER, TIME, YES_NO, OTHER = "text", "number", "time", "yes or no", "other"

OPERATORS = {
    "=": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
    "contains": "contains",
    "starts with": "starts with",
    "in": "is one of",
    "is empty": "is empty",
    "is not empty": "is not empty",
}
_TIME_OPERATORS = {"<": "is before", "<=": "is not after", ">": "is after", ">=": "is not before"}
AGGREGATES = {
    "count": "Count",
    "count distinct": "Count distinct",
    "sum": "Sum",
    "average": "Average",
    "least": "Minimum",
    "most": "Maximum",
}
_OPERATORS_BY_KIND = {
    TEXT: ("=", "!=", "contains", "starts with", "in"),
    NUMBER: ("=", "!=", "<", "<=", ">", ">=", "in"),
    TIME: (">=", ">", "<=", "<", "=", "!="),
    YES_NO: ("=",),
    OTHER: (),
}
"""Beside those without a value, which every column has."""
_AGGREGATES_BY_KIND = {
    NUMBER: ("sum", "average", "least", "most", "count", "count distinct"),
    TIME: ("least", "most", "count", "count distinct"),
    OTHER: ("count",),
}
_HINTS = {
    NUMBER: "A number, such as 12.5.",
    TIME: "A date such as 2026-11-30, or relative: today - 7, week, month - 1, year.",
    YES_NO: "true or false.",
}


def column_kind(type_name: str) -> str:
    """Return the kind of an Iceberg type."""
    if type_name == "string":
        return TEXT
    if is_numeric_type(type_name):
        return NUMBER
    if type_name in {"date", "timestamp", "timestamptz"}:
        return TIME
    return YES_NO if type_name == "boolean" else OTHER


def operator_options(type_name: str) -> list[tuple[str, str]]:
    """Return the operators for a type, with their labels."""
    operators = (*_OPERATORS_BY_KIND[column_kind(type_name)], *UNARY_OPERATORS)
    return [(each, operator_label(each, type_name)) for each in operators]


def operator_label(operator: str, type_name: str) -> str:
    """Return the label of an operator."""
    words = OPERATORS.get(operator, operator)
    return _TIME_OPERATORS.get(operator, words) if column_kind(type_name) == TIME else words


def aggregate_options(type_name: str) -> list[tuple[str, str]]:
    """Return the aggregates for a type, with their labels; without a type, rows are counted."""
    if not type_name:
        return [("count", AGGREGATES["count"])]
    known = _AGGREGATES_BY_KIND.get(column_kind(type_name), ("count", "count distinct"))
    return [(each, AGGREGATES[each]) for each in known]


def value_hint(type_name: str, operator: str) -> str:
    """Return the hint for a filter value."""
    words = _HINTS.get(column_kind(type_name), "")
    return f"{words} Comma-separated.".strip() if operator == "in" else words


_MAX_OPTIONS = 300


@dataclass(frozen=True, slots=True)
class MartOption:
    """A data mart that can be reported on."""

    uid: str
    name: str
    description: str
    published: bool


@dataclass(frozen=True, slots=True)
class MartColumns:
    """The columns of a data mart, or the error that keeps them unknown."""

    columns: Sequence[ReportColumn] = ()
    unknown: LakeholdError | None = None

    def type_of(self, name: str) -> str:
        """Return the type of a column, or an empty string."""
        return next((each.type for each in self.columns if each.name == name), "")

    def label_of(self, name: str) -> str:
        """Return the label of a column."""
        return next((each.label for each in self.columns if each.name == name), name)


def mart_options(ctx: RequestContext, within: str) -> list[MartOption]:
    """Return the data marts that the caller may report on, by name."""
    return [
        MartOption(item.uid, item.name, detail.description, detail.settings.get("published") is True)
        for item, detail in _usable(ctx, DATA_MART_KIND, within)
    ]


def destination_options(ctx: RequestContext, within: str, found: ResourceView | None) -> list[tuple[str, str]]:
    """Return the destinations that the caller may use. A present destination that they may not use can stay."""
    options = []
    for item, detail in _usable(ctx, DESTINATION_KIND, within):
        way = MartDestinationFormPage.design.types.get(str(detail.settings.get("to", "")))
        options.append((item.uid, f"{item.name} ({way.label.lower()})" if way else item.name))
    if found is None:
        return [("", "–"), *options]
    now = {end.uid for end in found.edges.get("destination", ())}
    return options if now & {uid for uid, _ in options} else [("", "Keep current"), *options]


def _usable(ctx: RequestContext, kind: str, within: str) -> list[tuple[ListedResource, ResourceMetadata]]:
    found = ctx.session.list(ctx.principal, "use", kind, within=within, limit=_MAX_OPTIONS).items
    details = resource_metadata.load_many(ctx, [item.id for item in found])
    return [(item, details.get(item.id, ResourceMetadata())) for item in found]


def mart_columns(ctx: RequestContext, lake: IcebergCatalog, mart: str) -> MartColumns:
    """Return the columns of a data mart that the caller may query."""
    try:
        return MartColumns(reports.available_columns(ctx, lake, mart))
    except (ConflictError, InvalidInputError, DeniedError, HiddenError) as error:
        return MartColumns(unknown=error)
