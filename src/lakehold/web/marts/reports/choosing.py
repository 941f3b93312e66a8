"""What a report can be made of: marts and destinations that the caller may use, and the columns of a mart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web.connections import delivery_form
from lakehold.workspaces.marts import joins, mart_kinds
from lakehold.workspaces.marts.joins import ReportColumn

_MOST = 300


@dataclass(frozen=True, slots=True)
class Mart:
    """A data mart that can be reported on."""

    uid: str
    name: str
    description: str
    published: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """Those of a mart; or why they are not known."""

    columns: Sequence[ReportColumn] = ()
    unknown: LakeholdError | None = None

    def type_of(self, name: str) -> str:
        """Empty if there is no such column."""
        return next((each.type for each in self.columns if each.name == name), "")

    def label_of(self, name: str) -> str:
        """What people call it."""
        return next((each.label for each in self.columns if each.name == name), name)


def marts(ctx: RequestContext, within: str | None, *, limit: int = _MOST) -> list[Mart]:
    """Those that the caller may report on, by name."""
    found = ctx.session.list(ctx.asker, "use", mart_kinds.DATA_MART_KIND, within=within, limit=limit).items
    told = resource_metadata.load_many(ctx, [item.id for item in found])
    return [
        Mart(
            item.uid,
            item.name,
            told[item.id].description if item.id in told else "",
            item.id in told and told[item.id].settings.get("published") is True,
        )
        for item in found
    ]


def goals(ctx: RequestContext, within: str, found: ResourceView | None) -> list[tuple[str, str]]:
    """Destinations that the caller may use, with how they send. That a report has one that they may not use stays."""
    usable = ctx.session.list(ctx.asker, "use", mart_kinds.DESTINATION_KIND, within=within, limit=_MOST).items
    told = resource_metadata.load_many(ctx, [item.id for item in usable])
    options = [(item.uid, _labelled(item.name, told.get(item.id))) for item in usable]
    if found is None:
        return [("", "–"), *options]
    now = {end.uid for end in found.edges.get("destination", ())}
    return options if now & {uid for uid, _ in options} else [("", "As it is"), *options]


def columns(ctx: RequestContext, lake: IcebergCatalog, mart: str) -> Columns:
    """What can be asked of a mart by the caller."""
    try:
        return Columns(joins.available_columns(ctx, lake, mart))
    except (ConflictError, InvalidInputError, DeniedError, HiddenError) as error:
        return Columns(unknown=error)


def _labelled(name: str, told: resource_metadata.ResourceMetadata | None) -> str:
    way = delivery_form.DELIVERY_LABELS.get(str(told.settings.get("to", "")) if told else "", "")
    return f"{name} ({way.lower()})" if way else name
