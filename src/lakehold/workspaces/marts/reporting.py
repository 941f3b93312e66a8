"""What a report asks, as SQL for the caller: of a mart that they may use, as it is at this moment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.workspaces.marts import joining
from lakehold.workspaces.marts.questions import Question
from lakehold.workspaces.told import SettingsReader

WORD = "report"


def told_of(ctx: RequestContext, uid: str) -> SettingsReader:
    """The settings of a report."""
    return SettingsReader(resource_metadata.load(ctx, uid).settings, WORD)


def text(
    ctx: RequestContext,
    lake: IcebergCatalog,
    told: SettingsReader,
    mart: str,
    parameters: Mapping[str, str] | None = None,
) -> str:
    """One SELECT. Parameters that are given go before those of the report."""
    return _question(ctx, told, parameters).text(joining.source(ctx, lake, mart))


def columns(ctx: RequestContext, lake: IcebergCatalog, told: SettingsReader, mart: str) -> tuple[str, ...]:
    """What the columns of its rows are called."""
    return _question(ctx, told, None).columns(joining.source(ctx, lake, mart))


def today(ctx: RequestContext, told: SettingsReader) -> str:
    """The day, where the report is read."""
    return _now(ctx, told).date().isoformat()


def _question(ctx: RequestContext, told: SettingsReader, parameters: Mapping[str, str] | None) -> Question:
    return Question(told, _now(ctx, told), {**told.pairs("parameters"), **(parameters or {})})


def _now(ctx: RequestContext, told: SettingsReader) -> datetime:
    zone = told.text("zone", "UTC")
    try:
        return datetime.fromtimestamp(ctx.at / SECOND, UTC).astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInputError(f"There is no time zone {quote(zone)}.", "Write Europe/Berlin.") from None
