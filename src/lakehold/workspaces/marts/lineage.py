"""Lineage of data marts: storages, tables, joined marts, reports and destinations."""

from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.lake.lineage import Lineage
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.settings import (
    DATA_MART_KIND,
    DESTINATION_KIND,
    REPORT_KIND,
    STORAGE_KIND,
    LakeStorageSettings,
)


def _upstream_ids(ctx: RequestContext, uid: str) -> list[str]:
    """Return the next resources, visible or not."""
    kind = _kind(ctx, uid)
    if kind == DATA_MART_KIND:
        return [*edge_targets(ctx, uid, "joins"), *edge_targets(ctx, uid, "storage"), *_tables_read(ctx, uid)]
    if kind == REPORT_KIND:
        return edge_targets(ctx, uid, "data_mart")
    if kind == DESTINATION_KIND:
        return edge_sources(ctx, uid, "destination")
    return []


def _downstream_ids(ctx: RequestContext, uid: str) -> list[str]:
    kind = _kind(ctx, uid)
    if kind == DATA_MART_KIND:
        reports = [each for each in edge_sources(ctx, uid, "data_mart") if _kind(ctx, each) == REPORT_KIND]
        return [*edge_sources(ctx, uid, "joins"), *reports, *edge_sources(ctx, uid, "marts")]
    if kind == REPORT_KIND:
        return edge_targets(ctx, uid, "destination")
    return edge_sources(ctx, uid, "storage") if kind == STORAGE_KIND else []


def _tables_read(ctx: RequestContext, uid: str) -> list[str]:
    """Return the tables of a lakehouse that the data mart reads, as far as its definition says."""
    settings, storage_uid = resource_metadata.load(ctx, uid).settings, next(iter(edge_targets(ctx, uid, "storage")), "")
    if not storage_uid or not VisibleRefs(ctx).sees(storage_uid):
        return []
    reads = settings.get("reads")
    if isinstance(reads, list) and reads:
        # What it was seen to read when it was saved; some may be gone by now.
        return [uid for uid in map(str, reads) if ctx.view.ids.get(uid) is not None]
    try:
        storage = storages.storage_settings(ctx, storage_uid)
    except InvalidInputError:
        return []
    if settings.get("by") != "table" or not isinstance(storage, LakeStorageSettings):
        return []
    if not VisibleRefs(ctx).sees(storage.lakehouse):
        return []
    named = str(settings.get("table", "")).casefold()
    return [each.uid for each in storages.lake_tables(ctx, storage).tables if each.name.casefold() == named]


def _kind(ctx: RequestContext, uid: str) -> str:
    return ctx.session.read_view(lambda view: view.kind(view.resource(uid)))


LINEAGE = Lineage(
    upstream_ids=_upstream_ids,
    downstream_ids=_downstream_ids,
    no_upstream="No storage selected.",
    no_downstream="No reports or joined data marts.",
)
LINEAGE_BY_KIND = {DATA_MART_KIND: LINEAGE}
