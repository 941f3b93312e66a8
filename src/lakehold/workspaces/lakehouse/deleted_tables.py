"""Deleted tables: their list, their restoration, and those whose rows go in the end.

The rows of a deleted table are retained for some days. Members who could delete it then, and may create one in its
layer now, may restore it. It comes back as itself: with its id, rows, snapshots, description and query, the grants on
it, and what reads and writes it. What a pipeline that was edited meanwhile reads and writes stays as it was edited.
"""

from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.access.facts import deletions, tables
from lakehold.access.facts.deletions import Deletion, EndedFact

# past the access filter: deleted tables are in no list; who could delete one is decided by the facts of then
from lakehold.access.facts.tables import resource
from lakehold.access.facts.view import EdgeRow
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, FOREVER, Moment
from lakehold.kit.database import TenantRows
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.ids import quote, valid_table_name
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND
from lakehold.workspaces.registry import readable_kinds

_MAX_LISTED, _MAX_CANDIDATES = 50, 1_000
"""The tables that are listed, and those that are examined: for each, who could delete it then is computed."""
_MIN_DAYS = 3
"""The rows go no sooner, so that their files are older than the grace in which no sweep deletes any."""


class LayerDeletedError(ConflictError):
    """The layer of a deleted table does not exist any more either."""

    code = "layer_deleted"


class FormerGrant(NamedTuple):
    """A level that somebody held on a table."""

    subject: str
    role: str


_DeletedRow = sa.Row[tuple[object, ...]]
"""The number, id and name of a deleted resource, and when it was deleted."""


@dataclass(frozen=True, slots=True)
class RestorableTable:
    """A deleted table whose rows are retained."""

    number: int
    uid: str
    name: str
    layer: str
    dropped_at: Moment
    held: tuple[FormerGrant, ...] = ()
    """The grants on the table itself, of subjects that still exist."""


@dataclass(frozen=True, slots=True)
class RestoredTable:
    """A table that exists again."""

    uid: str
    name: str
    edited: tuple[ResourceRef, ...] = ()
    """What was connected with it and has been edited since, and so is not connected again; as the caller may see."""


def list_restorable(ctx: RequestContext, lake: IcebergCatalog, within: str = "") -> list[RestorableTable]:
    """Return the tables that the caller may restore, newest first: of all lakehouses, or of one."""
    rows = [row for row in _deleted_resources(ctx, lake) if _is_retained(lake, row, ctx.at)]
    found = (_restorable(ctx, row) for row in rows[:_MAX_CANDIDATES])
    seen = (each for each in found if each is not None)
    inside = (each for each in seen if not within or kinds.workspace_of(ctx.view, each.layer) == within)
    return list(islice(inside, _MAX_LISTED))


def restore_table(
    ctx: RequestContext, lake: IcebergCatalog, uid: str, name: str = "", layer: str = ""
) -> RestoredTable:
    """Let the table exist again as it was, under another name or in another layer if its own are gone."""
    ctx.need_writable()
    readable_tables.refuse_impersonation(ctx)
    row = next((each for each in _deleted_resources(ctx, lake) if each.uid == uid), None)
    own = None if row is None or not _is_retained(lake, row, ctx.at) else _layer_then(ctx, row)
    if own is None:
        raise _missing(uid)
    place = _need_layer(ctx, uid, own, layer)
    deletion = deletions.load_deletion(ctx.session.transaction, ctx.session.tenant, uid, ctx.at)
    edited = _edited_meanwhile(ctx, deletion)
    facts = [*_in_layer(ctx, deletion, place), *_without_edited(deletion, edited)]
    ctx.restore_unchecked(deletion, valid_table_name(name) if name else deletion.name, facts)
    resource_metadata.save(ctx, uid)
    refs = VisibleRefs(ctx).refs(ctx.view.uid(number) for number in sorted(edited))
    return RestoredTable(uid, name or deletion.name, tuple(refs))


def _missing(uid: str) -> NotFoundError:
    return NotFoundError(f"There is no deleted table {quote(uid)}.", "Its rows may have been deleted; check the list.")


def _need_layer(ctx: RequestContext, uid: str, own: ResourceRef, layer: str) -> str:
    """Return the layer into which the table is restored: its own, unless another one is named."""
    if not _may_create_in(ctx, own.uid):
        # Into another layer neither: its rows are those of its own one.
        raise _missing(uid)
    if layer:
        need_kind(ctx, layer, "create_table", (LAYER_KIND,), refusal="A {} holds no tables.", hint="Choose a layer.")
        return layer
    if ctx.view.ids.get(own.uid) is None:
        raise LayerDeletedError(
            f"The layer {quote(own.name)}, in which the table was, has been deleted.",
            "Name another layer to restore it in.",
            field="layer",
        )
    return own.uid


def _in_layer(ctx: RequestContext, deletion: Deletion, layer: str) -> list[EndedFact]:
    edge = EdgeRow("layer", deletion.number, ctx.view.resource(layer))
    return [EndedFact(edge, ctx.at, FOREVER)]


def _edited_meanwhile(ctx: RequestContext, deletion: Deletion) -> set[int]:
    """Return what was connected with the table and was edited since: its edges are those that it was given then."""
    found: set[int] = set()
    for fact in deletion.facts:
        match fact.row:
            case EdgeRow(_, source, target) if target == deletion.number and ctx.view.uids.get(source):
                author = resource_metadata.load_author(ctx, ctx.view.uid(source))
                is_edited = author is not None and author.at > deletion.at
                if is_edited or deletions.has_new_edge(
                    ctx.session.transaction, ctx.view.kind(source), fact.row, deletion.at
                ):
                    found.add(source)
    return found


def _without_edited(deletion: Deletion, edited: Collection[int]) -> list[EndedFact]:
    """Return the facts but for the layer, and for the edges of what was edited meanwhile."""
    return [
        fact
        for fact in deletion.facts
        if not isinstance(fact.row, EdgeRow)
        or (fact.row.source not in edited and (fact.row.source, fact.row.name) != (deletion.number, "layer"))
    ]


def expired_places(platform: Platform) -> list[TableIdentifier]:
    """Return the places of tables and data marts of all tenants that were deleted so long ago that rows may go too."""
    found = list[TableIdentifier]()
    with closing(IcebergCatalog(platform.settings)) as lake:
        for tenant in tenants.list_all(platform):
            with platform.read(Caller(tenant.uid, "", address="worker")) as ctx:
                rows = _deleted_resources(ctx, lake, readable_kinds())
                until = platform.clock() - max(lake.dropped_days, _MIN_DAYS) * DAY
                old = (row for row in rows if row.until < until)
                found += [TableIdentifier(ctx.session.tenant, row.id) for row in old]
    return found


def clear_settings(platform: Platform, place: TableIdentifier) -> None:
    """Clear the settings of a deleted table that cannot be restored any more."""
    with platform.database.write() as transaction:
        resource_metadata.clear(TenantRows(transaction, place.tenant, resource_metadata.detail_table), place.number)


def _is_retained(lake: IcebergCatalog, row: _DeletedRow, at: Moment) -> bool:
    """Return whether the rows are still kept: a restoration and their deletion exclude each other."""
    return bool(row.until >= at - lake.dropped_days * DAY)


def _deleted_resources(
    ctx: RequestContext, lake: IcebergCatalog, kind_ids: Collection[str] = (TABLE_KIND,)
) -> list[_DeletedRow]:
    """Return the deleted resources of these kinds whose rows exist, newest first."""
    uids = ctx.view.uids
    numbers = [place.number for place in lake.list_tables(ctx.session.tenant) if uids.get(place.number) is None]
    c = resource.c
    found: list[_DeletedRow] = []
    for start in range(0, len(numbers), 500):
        some = sa.and_(c.tenant_id == ctx.session.tenant, c.id.in_(numbers[start : start + 500]), c.until < FOREVER)
        query = sa.select(c.id, c.uid, c.name, c.until).where(some, c.kind.in_(kind_ids))
        found += ctx.session.transaction.connection.execute(query)
    return sorted(found, key=lambda row: -row.until)


def _layer_then(ctx: RequestContext, row: _DeletedRow) -> ResourceRef | None:
    """Return the layer in which the table was, if the caller could delete it there then."""
    then = ctx.session.as_of(row.until - 1)
    if not then.check(ctx.principal, "delete", row.uid):
        return None
    view = then.current_view()
    layers = view.edges_out["layer"].get(row.id) or ()
    return next((make_ref(view, view.uid(layer)) for layer in layers), None)


def _restorable(ctx: RequestContext, row: _DeletedRow) -> RestorableTable | None:
    """Return the table if the caller could delete it then and may create one in its layer now."""
    layer = _layer_then(ctx, row)
    if layer is None or ctx.view.ids.get(layer.uid) is None or not _may_create_in(ctx, layer.uid):
        return None
    return RestorableTable(row.id, row.uid, row.name, layer.uid, row.until, _former_grants(ctx, row))


def _may_create_in(ctx: RequestContext, layer: str) -> bool:
    """Return whether the caller may create tables in the layer, or could until it was deleted."""
    if ctx.view.ids.get(layer) is not None:
        return ctx.session.check(ctx.principal, "create_table", layer)
    gone = deletions.load_deletion(ctx.session.transaction, ctx.session.tenant, layer, ctx.at)
    return ctx.session.as_of(gone.at - 1).check(ctx.principal, "create_table", layer)


def _former_grants(ctx: RequestContext, row: _DeletedRow) -> tuple[FormerGrant, ...]:
    found = tables.grants_on(ctx.session.transaction, ctx.session.tenant, row.id, row.until - 1)
    there = [(ctx.view.uids.get(each.subject), each.role) for each in found if each.since < row.until]
    return tuple(sorted(FormerGrant(subject, role) for subject, role in there if subject is not None))
