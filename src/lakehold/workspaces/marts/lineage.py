"""Where the rows of a data mart come from and where they go: storages, tables, joined marts, reports, destinations.

As far as the caller sees: behind what they may not see nothing is looked for.
"""

from __future__ import annotations

from lakehold.catalog import details
from lakehold.catalog.shapes import Eyes
from lakehold.directory.work import Work
from lakehold.workspaces.ends import ends, starts
from lakehold.workspaces.lakehouse.lineage import FARTHEST, Side, walk
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import In
from lakehold.workspaces.marts.nouns import DATA_MART, DESTINATION, REPORT, STORAGE

KINDS = frozenset({DATA_MART, REPORT, DESTINATION, STORAGE})


def up(work: Work, uid: str, *, most: int = FARTHEST) -> Side:
    """What it is made from."""
    return walk(work, uid, lambda here: _above(work, here), most=most)


def down(work: Work, uid: str, *, most: int = FARTHEST) -> Side:
    """What is made from it."""
    return walk(work, uid, lambda here: _below(work, here), most=most)


def _above(work: Work, uid: str) -> list[str]:
    """The next ones, seen or not."""
    kind = _kind(work, uid)
    if kind == DATA_MART:
        return [*ends(work, uid, "joins"), *ends(work, uid, "storage"), *_tables(work, uid)]
    if kind == REPORT:
        return ends(work, uid, "data_mart")
    if kind == DESTINATION:
        return starts(work, uid, "destination")
    return []


def _below(work: Work, uid: str) -> list[str]:
    kind = _kind(work, uid)
    if kind == DATA_MART:
        reports = [each for each in starts(work, uid, "data_mart") if _kind(work, each) == REPORT]
        return [*starts(work, uid, "joins"), *reports]
    if kind == REPORT:
        return ends(work, uid, "destination")
    return starts(work, uid, "storage") if kind == STORAGE else []


def _tables(work: Work, uid: str) -> list[str]:
    """The tables of a lakehouse that it reads, as far as its definition tells."""
    told, drawn = details.read(work, uid).settings, next(iter(ends(work, uid, "storage")), "")
    if not drawn or not Eyes(work).sees(drawn):
        return []
    reads = told.get("reads")
    if isinstance(reads, list) and reads:
        # What it was seen to read when it was saved; some may be gone by now.
        return [uid for uid in map(str, reads) if work.view.ids.get(uid) is not None]
    storage = storages.told_of(work, drawn)
    lakehouse = str(storage.all.get("lakehouse", ""))
    if storage.all.get("kind") != In.LAKE or told.get("by") != "table" or not Eyes(work).sees(lakehouse):
        return []
    named = str(told.get("table", "")).casefold()
    return [each.uid for each in storages.lake_tables(work, storage).tables if each.name.casefold() == named]


def _kind(work: Work, uid: str) -> str:
    return work.session.asking(lambda view: view.kind(view.resource(uid)))
