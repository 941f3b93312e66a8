"""The form of a report, the settings that are saved, and its validation by the query that would be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web.form_values import (
    errors_by_field,
    list_setting,
    mapping_setting,
    parse_integer,
    row_settings,
    split_names,
)
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.pages.reports.form_options import UNARY_OPERATORS
from lakehold.workspaces.marts.settings import REPORT

_FORM_SETTINGS = frozenset(
    {"columns", "sums", "where", "sort", "limit", "parameters", "zone", "send", "message", "delivery"}
)
"""What the form knows; anything else stays as it was."""
_MAX_ROWS = 50
FormRow = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReportForm:
    """The values of the report form. Rows are texts by name."""

    name: str = ""
    description: str = ""
    destination: str = ""
    columns: Sequence[str] = ()
    sums: Sequence[FormRow] = ()
    """`column` (none counts rows), `how`, `name`."""
    where: Sequence[FormRow] = ()
    """`column`, `is`, `value`."""
    sort: Sequence[FormRow] = ()
    """`column`, `way`."""
    limit: str = ""
    parameters: str = ""
    zone: str = "UTC"
    send: str = "always"
    message: str = ""
    file: str = ""
    subject: str = ""
    kind: str = ""
    version: str = ""

    @property
    def result_columns(self) -> list[str]:
        """The columns of the result by which it can be sorted, if not all columns."""
        return [*self.columns, *(aggregate_name(each) for each in self.sums)]

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the settings to save, without the destination. Empty values are left out."""
        stays = {name: value for name, value in (before or {}).items() if name not in _FORM_SETTINGS}
        settings: dict[str, object] = {
            "columns": list(self.columns),
            "sums": [
                {name: value for name, value in {**each, "how": each["how"] or "count"}.items() if value}
                for each in self.sums
            ],
            "where": [_condition_settings(each) for each in self.where],
            "sort": [{"column": each["column"], "descending": each["way"] == "down"} for each in self.sort],
            "limit": parse_integer(self.limit),
            "parameters": parse_parameters(self.parameters),
            "zone": self.zone if self.zone != "UTC" else "",
            "send": self.send if self.send != "always" else "",
            "message": self.message,
            "delivery": self._delivery(before or {}),
        }
        return {**stays, **{name: value for name, value in settings.items() if value not in ("", [], {}, None)}}

    def _delivery(self, before: Mapping[str, object]) -> dict[str, object]:
        """Return the delivery settings. A body from before messages existed stays."""
        body = mapping_setting(before, "delivery").get("body", "")
        delivery = {"name": self.file, "subject": self.subject, "kind": self.kind, "body": body}
        return {name: value for name, value in delivery.items() if value}

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


def aggregate_name(each: FormRow) -> str:
    """Return the name of an aggregate in the result."""
    how, column = each.get("how") or "count", each.get("column", "")
    return each.get("name") or (f"{how} of {column}" if column else how)


def parse_report_form(form: FormData) -> ReportForm:
    """Parse a submitted form."""

    def text(name: str) -> str:
        return str(form.get(name, "")).replace("\r\n", "\n").strip()

    texts = ("name", "description", "destination", "limit", "parameters", "message", "file", "subject", "kind")
    return ReportForm(
        **{name: text(name) for name in texts},
        version=text("version"),
        zone=text("zone") or "UTC",
        send=text("send") or "always",
        columns=[str(each) for each in form.getlist("columns") if each],
        sums=_parse_rows(form, "sum", ("column", "how", "name")),
        where=[each for each in _parse_rows(form, "where", ("column", "is", "value")) if each["column"]],
        sort=[each for each in _parse_rows(form, "sort", ("column", "way")) if each["column"]],
    )


def report_form_from_resource(found: ResourceView, settings: Mapping[str, object]) -> ReportForm:
    """Return the form for an existing report."""
    said, parameters = mapping_setting(settings, "delivery"), mapping_setting(settings, "parameters")
    limit, ends = settings.get("limit"), found.edges.get("destination", ())
    return ReportForm(
        name=found.name,
        description=found.description,
        destination=ends[0].uid if ends else "",
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
        limit=str(limit) if isinstance(limit, int) else "",
        parameters="\n".join(f"{name}: {value}" for name, value in parameters.items()),
        zone=str(settings.get("zone", "UTC")),
        send=str(settings.get("send", "always")),
        message=str(settings.get("message", "")),
        file=str(said.get("name", "")),
        subject=str(said.get("subject", "")),
        kind=str(said.get("kind", "")),
        version=str(found.version),
    )


def parse_parameters(text: str) -> dict[str, str]:
    """Parse one parameter per line: `since: today - 7`."""
    lines = (line.partition(":") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in lines if name.strip()}


def _parse_rows(form: FormData, of: str, names: Sequence[str]) -> list[FormRow]:
    columns = {name: [str(each).strip() for each in form.getlist(f"{of}_{name}")] for name in names}
    count = min(max((len(column) for column in columns.values()), default=0), _MAX_ROWS)
    return [{name: column[n] if n < len(column) else "" for name, column in columns.items()} for n in range(count)]


def _condition_row(each: Mapping[str, object]) -> FormRow:
    values = each.get("values")
    value = ", ".join(map(str, values)) if isinstance(values, list) else str(each.get("value", ""))
    return {"column": str(each.get("column", "")), "is": str(each.get("is", "=")), "value": value}


def _condition_settings(each: FormRow) -> dict[str, object]:
    settings: dict[str, object] = {"column": each["column"], "is": each["is"] or "="}
    if each["is"] in UNARY_OPERATORS:
        return settings
    return (
        {**settings, "values": split_names(each["value"])}
        if each["is"] == "in"
        else {**settings, "value": each["value"]}
    )


def report_errors(
    ctx: RequestContext, lake: IcebergCatalog, mart: str, said: ReportForm, *, has_goal: bool
) -> dict[str, str]:
    """Return all errors of the form by field."""
    found: dict[str, str] = {} if said.name else {"name": "Enter a name."}
    if not said.destination and not has_goal:
        found["destination"] = "Select a destination."
    if said.limit and not parse_integer(said.limit):
        found["limit"] = "Enter a number of 1 or more."
    if ":" not in said.parameters and said.parameters:
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
            reports.report_sql(ctx, lake, REPORT.parse({**whole_of, **part_settings}), mart)
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
