"""The form of a report, the settings that are saved, and its validation by the query that would be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.sql_expressions import UNARY_OPERATORS
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.form_values import errors_by_field, list_setting, row_settings, split_names
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.report_settings import REPORT, ReportSettings, aggregate_title

DESIGN, _WORD = load_design(page_frame.FORMS, "report", {"report": ReportSettings}), "report"
_DEFAULTS: Mapping[str, object] = {"zone": "UTC", "send": "always"}
"""Settings that are left out if they say no more than this, as empty lists are."""
_MAX_ROWS = 50
FormRow = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReportForm:
    """The values of the report form: the texts of its fields, and its columns and rows, which are texts by name."""

    filled: ResourceForm
    columns: Sequence[str] = ()
    sums: Sequence[FormRow] = ()
    """`column` (none counts rows), `how`, `name`."""
    where: Sequence[FormRow] = ()
    """`column`, `is`, `value`."""
    sort: Sequence[FormRow] = ()
    """`column`, `way`."""

    def text(self, name: str) -> str:
        """Return the text of a field."""
        return self.filled.text(name)

    @property
    def result_columns(self) -> list[str]:
        """The columns of the result by which it can be sorted, if not all columns."""
        titles = (aggregate_title(each["how"] or "count", each["column"], each["name"]) for each in self.sums)
        return [*self.columns, *titles]

    def settings(self) -> dict[str, object]:
        """Return the settings to save, without the destination. Those that the form does not have stay unchanged."""
        settings: dict[str, object] = {
            **self.filled.settings(),
            "columns": list(self.columns),
            "sums": [
                {name: value for name, value in {**each, "how": each["how"] or "count"}.items() if value}
                for each in self.sums
            ],
            "where": [_condition_settings(each) for each in self.where],
            "sort": [{"column": each["column"], "descending": each["way"] == "down"} for each in self.sort],
        }
        return {name: value for name, value in settings.items() if value != [] and value != _DEFAULTS.get(name)}

    def with_row(self, do: str, form: FormData) -> ReportForm:
        """Return the form with a row added or removed, as a button says: `where`, `sum`, `where-drop-2`."""
        what, _, number = do.partition("-drop-")
        name = {"where": "where", "sum": "sums", "sort": "sort"}.get(what, "")
        if not name:
            return self
        rows: list[FormRow] = list(getattr(self, name))
        if number:
            rows = [row for n, row in enumerate(rows) if str(n) != number]
        elif name == "where" and (column := str(form.get("where_new", ""))):
            rows.append({"column": column, "is": "", "value": ""})
        elif name == "sums":
            rows.append({"column": str(form.get("sum_new", "")), "how": "", "name": ""})
        return replace(self, **{name: rows[:_MAX_ROWS]})  # type: ignore[arg-type]


def blank_report_form() -> ReportForm:
    """Return an empty form."""
    return ReportForm(DESIGN.blank(_WORD))


def parse_report_form(form: FormData, before: Mapping[str, object] | None) -> ReportForm:
    """Parse a submitted form for a report with these settings."""
    return ReportForm(
        DESIGN.parse(form, before, _WORD),
        columns=[str(each) for each in form.getlist("columns") if each],
        sums=_parse_rows(form, "sum", ("column", "how", "name")),
        where=[each for each in _parse_rows(form, "where", ("column", "is", "value")) if each["column"]],
        sort=[each for each in _parse_rows(form, "sort", ("column", "way")) if each["column"]],
    )


def report_form_from_resource(found: ResourceView, settings: Mapping[str, object]) -> ReportForm:
    """Return the form for an existing report."""
    return ReportForm(
        DESIGN.from_resource(replace(found, settings=settings), _WORD),
        columns=[str(each) for each in list_setting(settings, "columns")],
        sums=[
            {part: str(each.get(part, "")) for part in ("column", "how", "name")}
            for each in row_settings(settings, "sums")
        ],
        where=[_condition_row(each) for each in row_settings(settings, "where")],
        sort=[
            {"column": str(each.get("column", "")), "way": "down" if each.get("descending") is True else "up"}
            for each in row_settings(settings, "sort")
        ],
    )


def _parse_rows(form: FormData, prefix: str, names: Sequence[str]) -> list[FormRow]:
    columns = [[str(each).strip() for each in form.getlist(f"{prefix}_{name}")] for name in names]
    rows = islice(zip_longest(*columns, fillvalue=""), _MAX_ROWS)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _condition_row(each: Mapping[str, object]) -> FormRow:
    values = each.get("values")
    value = ", ".join(map(str, values)) if isinstance(values, list) else str(each.get("value", ""))
    return {"column": str(each.get("column", "")), "is": str(each.get("is", "=")), "value": value}


def _condition_settings(each: FormRow) -> dict[str, object]:
    settings: dict[str, object] = {"column": each["column"], "is": each["is"] or "="}
    if each["is"] in UNARY_OPERATORS:
        return settings
    many = each["is"] == "in"
    return settings | ({"values": split_names(each["value"])} if many else {"value": each["value"]})


def report_errors(
    ctx: RequestContext, lake: IcebergCatalog, mart: str, said: ReportForm, *, has_goal: bool
) -> dict[str, str]:
    """Return all errors of the form by field."""
    found = said.filled.errors(has_secret=False)
    if has_goal:
        found.pop("destination", None)
    parameters = said.text("parameters")
    if parameters and ":" not in parameters:
        found["parameters"] = "Enter name: value on each line."
    return {**found, **_query_errors(ctx, lake, mart, said)}


def _query_errors(ctx: RequestContext, lake: IcebergCatalog, mart: str, said: ReportForm) -> dict[str, str]:
    """Check each part of the query by itself, so that an error is shown at its field."""
    settings = said.settings()
    whole_of: dict[str, object] = {name: settings[name] for name in ("zone", "parameters") if name in settings}
    parts: dict[str, dict[str, object]] = {
        **{f"where-{n}": {"where": [each]} for n, each in enumerate(list_setting(settings, "where"))},
        **{f"sum-{n}": {"sums": [each]} for n, each in enumerate(list_setting(settings, "sums"))},
        "columns": {"columns": settings.get("columns", [])},
        "sort": {name: settings[name] for name in ("columns", "sums", "sort") if name in settings},
    }
    found: dict[str, str] = {}
    for place, part_settings in parts.items():
        if place == "sort" and found:
            break
        try:
            reports.report_statement(ctx, lake, REPORT.parse({**whole_of, **part_settings}), mart)
        except InvalidInputError as error:
            found |= errors_by_field(error, {"zone": "zone"}, place)
        except LakeholdError:
            # The mart cannot be queried at present: the form says so by itself.
            return {}
    if not found:
        try:
            reports.check_message(ctx, lake, settings, mart)
        except InvalidInputError as error:
            found["message"] = str(error)
    return found
