"""What is wrong with the form of a report, by field: asked of the same question that is sent."""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web.lakehouse.forms import whole
from lakehold.web.marts.reports.filled import Report
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.message_template import MessageTemplate
from lakehold.workspaces.settings_reader import SettingsReader


def wrong(ctx: RequestContext, lake: IcebergCatalog, mart: str, said: Report, *, has_goal: bool) -> dict[str, str]:
    """Everything at once."""
    found: dict[str, str] = {} if said.name else {"name": "Give it a name."}
    if not said.destination and not has_goal:
        found["destination"] = "Choose where it goes."
    if said.limit and not whole(said.limit):
        found["limit"] = "Write a number from one on."
    if ":" not in said.parameters and said.parameters:
        found["parameters"] = "Write a name, a colon and a value on each line."
    return {**found, **_asked(ctx, lake, mart, said)}


def _asked(ctx: RequestContext, lake: IcebergCatalog, mart: str, said: Report) -> dict[str, str]:
    """Each part by itself first, so that it is told at its place."""
    settings = said.settings()
    whole_of: dict[str, object] = {name: settings[name] for name in ("zone", "parameters") if name in settings}
    parts: dict[str, dict[str, object]] = {
        **{f"where-{n}": {"where": [each]} for n, each in enumerate(_list(settings.get("where")))},
        **{f"sum-{n}": {"sums": [each]} for n, each in enumerate(_list(settings.get("sums")))},
        "columns": {"columns": settings.get("columns", [])},
        "sort": {name: settings[name] for name in ("columns", "sums", "sort") if name in settings},
    }
    found: dict[str, str] = {}
    for place, told in parts.items():
        if place == "sort" and found:
            break
        try:
            reports.report_sql(ctx, lake, SettingsReader({**whole_of, **told}, reports.REPORT_LABEL), mart)
        except InvalidInputError as error:
            found["zone" if "time zone" in error.message else place] = str(error)
        except LakeholdError:
            # Nothing can be asked of the mart at present: the form says so by itself.
            return {}
    return found or _message(ctx, lake, mart, said)


def _message(ctx: RequestContext, lake: IcebergCatalog, mart: str, said: Report) -> dict[str, str]:
    if not said.message:
        return {}
    try:
        MessageTemplate(said.message).check(
            reports.report_columns(ctx, lake, SettingsReader(said.settings(), reports.REPORT_LABEL), mart)
        )
    except InvalidInputError as error:
        return {"message": str(error)}
    return {}


def _list(told: object) -> list[object]:
    return told if isinstance(told, list) else []
