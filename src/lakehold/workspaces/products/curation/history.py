"""The acts on an entity and its records, with who made them and when; undone ones are marked.

It is for everybody who sees the entity. Ids of records and comments, which may quote records, are left out for those
who may not view records. Nobody reads it who views as somebody else.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.workspaces.products.curation import act_log
from lakehold.workspaces.products.curation.acts import ActKind, CurationAct
from lakehold.workspaces.products.curation.curated_product import CuratedProduct


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """An act, and the undo that has undone it, if any."""

    act: CurationAct
    undo: CurationAct | None


def load_history(product: CuratedProduct, entity: str) -> list[HistoryEntry]:
    """Return the acts on an entity, newest first; also those on entities that curators have merged into it.

    An entity that is retired or gone has those acts that named it.
    """
    product.need("view_360")
    members = product.open_entities().members(entity)
    found = act_log.load_about(product.ctx, product.uid, [entity, *members])
    merged = {each for act in found if act.kind is ActKind.MERGE and act.in_force for each in act.content.entities}
    if merged - {entity}:
        found = act_log.load_about(product.ctx, product.uid, [entity, *members, *merged])
    return _entries(product, reversed(found))


def load_acts(product: CuratedProduct, before: int | None, limit: int) -> list[HistoryEntry]:
    """Return all acts of a data product, newest first, for those who view its records."""
    product.need("view_records")
    return _entries(product, act_log.load_page(product.ctx, product.uid, before, limit))


def _entries(product: CuratedProduct, acts: Iterable[CurationAct]) -> list[HistoryEntry]:
    ctx = product.ctx
    # Values of entities are rows.
    readable_tables.refuse_impersonation(ctx)
    views_records = ctx.session.check(ctx.principal, "view_records", product.uid)
    listed = [act for act in acts if views_records or act.kind is not ActKind.COMMENT]
    undos = _load_undos(ctx, product.uid, listed)
    return [HistoryEntry(act if views_records else _without_records(act), undos.get(act.undone_by)) for act in listed]


def _load_undos(ctx: RequestContext, product: str, acts: Iterable[CurationAct]) -> dict[int, CurationAct]:
    numbers = {act.undone_by for act in acts} - {0}
    return {act.number: act for act in act_log.load_acts(ctx, product, numbers)}


def _without_records(act: CurationAct) -> CurationAct:
    return replace(act, content=replace(act.content, groups=()))
