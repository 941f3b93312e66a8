"""Where the rows of a data mart come from and where they go: storages, tables, joined marts, reports, destinations.

As far as the caller sees: behind what they may not see nothing is looked for.
"""

from __future__ import annotations

from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.ends import ends, starts
from lakehold.workspaces.lakehouse.lineage import FARTHEST, Side, walk
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import In
from lakehold.workspaces.marts.nouns import DATA_MART, DESTINATION, REPORT, STORAGE

KINDS = frozenset({DATA_MART, REPORT, DESTINATION, STORAGE})


def up(ctx: RequestContext, uid: str, *, most: int = FARTHEST) -> Side:
    """What it is made from."""
    return walk(ctx, uid, lambda here: _above(ctx, here), most=most)


def down(ctx: RequestContext, uid: str, *, most: int = FARTHEST) -> Side:
    """What is made from it."""
    return walk(ctx, uid, lambda here: _below(ctx, here), most=most)


def _above(ctx: RequestContext, uid: str) -> list[str]:
    """The next ones, seen or not."""
    kind = _kind(ctx, uid)
    if kind == DATA_MART:
        return [*ends(ctx, uid, "joins"), *ends(ctx, uid, "storage"), *_tables(ctx, uid)]
    if kind == REPORT:
        return ends(ctx, uid, "data_mart")
    if kind == DESTINATION:
        return starts(ctx, uid, "destination")
    return []


def _below(ctx: RequestContext, uid: str) -> list[str]:
    kind = _kind(ctx, uid)
    if kind == DATA_MART:
        reports = [each for each in starts(ctx, uid, "data_mart") if _kind(ctx, each) == REPORT]
        return [*starts(ctx, uid, "joins"), *reports]
    if kind == REPORT:
        return ends(ctx, uid, "destination")
    return starts(ctx, uid, "storage") if kind == STORAGE else []


def _tables(ctx: RequestContext, uid: str) -> list[str]:
    """The tables of a lakehouse that it reads, as far as its definition tells."""
    told, drawn = resource_metadata.load(ctx, uid).settings, next(iter(ends(ctx, uid, "storage")), "")
    if not drawn or not VisibleRefs(ctx).sees(drawn):
        return []
    reads = told.get("reads")
    if isinstance(reads, list) and reads:
        # What it was seen to read when it was saved; some may be gone by now.
        return [uid for uid in map(str, reads) if ctx.view.ids.get(uid) is not None]
    storage = storages.told_of(ctx, drawn)
    lakehouse = str(storage.all.get("lakehouse", ""))
    if storage.all.get("kind") != In.LAKE or told.get("by") != "table" or not VisibleRefs(ctx).sees(lakehouse):
        return []
    named = str(told.get("table", "")).casefold()
    return [each.uid for each in storages.lake_tables(ctx, storage).tables if each.name.casefold() == named]


def _kind(ctx: RequestContext, uid: str) -> str:
    return ctx.session.read_view(lambda view: view.kind(view.resource(uid)))
