"""Merges that anybody suggests who sees the entities; curators accept or reject them."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.workspaces.products.curation.act_log import in_batches
from lakehold.workspaces.products.curation.curated_product import CuratedProduct, need_members
from lakehold.workspaces.products.curation.entity_edits import merge, need_several, need_text
from lakehold.workspaces.products.curation.tables import suggestion_table

MAX_OPEN = 100
"""The most open suggestions that a member has in a data product."""


class SuggestionState(StrEnum):
    """The state of a suggestion. One whose merge is undone is open again."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class MergeSuggestion:
    """A suggested merge."""

    number: int
    entities: tuple[str, ...]
    """Of these the first one goes on."""
    note: str
    state: SuggestionState
    by: str
    at: Moment
    decided_by: str
    """Empty while it is open."""
    decided_at: Moment
    reason: str
    """Why it is rejected."""
    act: int
    """The merge, once it is accepted; else 0."""


def suggest(product: CuratedProduct, entities: Sequence[str], note: str = "") -> MergeSuggestion:
    """Suggest to merge entities. The same suggestion of the same member is kept once while it is open."""
    ctx = product.ctx
    ctx.need_writable()
    product.need("suggest_merge")
    need_several(entities)
    lookup = product.open_entities()
    for each in entities:
        need_members(lookup, each, "entities")
    text = need_text(note, "note", optional=True)
    mine = _load(ctx, product.uid, _c.made_by == ctx.caller.member, _c.state == SuggestionState.OPEN.value)
    if same := next((each for each in mine if {*each.entities} == {*entities}), None):
        return same
    if len(mine) >= MAX_OPEN:
        raise ConflictError(f"You have {MAX_OPEN} open suggestions.", "Wait until some of them are decided.")
    return _insert(product, entities, text)


def list_suggestions(
    product: CuratedProduct, state: SuggestionState | None, before: int | None, limit: int
) -> list[MergeSuggestion]:
    """Return suggestions, newest first: all for those who curate, else one's own."""
    product.need("suggest_merge")
    ctx = product.ctx
    curates = ctx.session.check(ctx.principal, "curate", product.uid)
    which = (
        sa.true() if curates else _c.made_by == ctx.caller.member,
        sa.true() if state is None else _c.state == state.value,
        sa.true() if before is None else _c.number < before,
    )
    return _load(ctx, product.uid, *which, limit=limit)


def accept(product: CuratedProduct, number: int) -> MergeSuggestion:
    """Accept a suggestion: merge its entities."""
    found = _need_open(product, number)
    act = merge(product, found.entities)
    return _decide(product, number, SuggestionState.ACCEPTED, act=act.number)


def reject(product: CuratedProduct, number: int, reason: str = "") -> MergeSuggestion:
    """Reject a suggestion."""
    _need_open(product, number)
    text = need_text(reason, "reason", optional=True)
    return _decide(product, number, SuggestionState.REJECTED, reason=text)


def reopen(ctx: RequestContext, product: str, acts: Collection[int]) -> None:
    """Open the suggestions again whose merge was undone."""
    for some in in_batches(acts):
        here = (_c.resource_id == ctx.view.resource(product), _c.act.in_(some))
        ctx.rows(suggestion_table).update(
            *here, state=SuggestionState.OPEN.value, decided_by="", decided_at=0, reason="", act=0
        )


_c = suggestion_table.c


def _need_open(product: CuratedProduct, number: int) -> MergeSuggestion:
    product.ctx.need_writable()
    product.need("curate")
    found = next(iter(_load(product.ctx, product.uid, _c.number == number)), None)
    if found is None:
        raise NotFoundError(f"The data product has no suggestion {number}.", "List its suggestions for the numbers.")
    if found.state is not SuggestionState.OPEN:
        raise ConflictError(f"Suggestion {number} is {found.state} already.", "Suggest the merge again.")
    return found


def _insert(product: CuratedProduct, entities: Sequence[str], note: str) -> MergeSuggestion:
    ctx, here = product.ctx, product.ctx.view.resource(product.uid)
    rows = ctx.rows(suggestion_table)
    number = (rows.select(_c.resource_id == here, columns=(sa.func.max(_c.number),)).scalar() or 0) + 1
    rows.insert(
        resource_id=here,
        number=number,
        entities=json.dumps(list(entities)),
        note=note,
        state=SuggestionState.OPEN.value,
        made_by=ctx.caller.member,
        made_at=ctx.at,
        decided_by="",
        decided_at=0,
        reason="",
        act=0,
    )
    ctx.note("suggest merge", product.uid, after={"suggestion": number, "entities": list(entities)})
    return _load(ctx, product.uid, _c.number == number)[0]


def _decide(
    product: CuratedProduct, number: int, state: SuggestionState, *, reason: str = "", act: int = 0
) -> MergeSuggestion:
    ctx = product.ctx
    here = (_c.resource_id == ctx.view.resource(product.uid), _c.number == number)
    decided = {"decided_by": ctx.caller.member, "decided_at": ctx.at, "reason": reason, "act": act}
    ctx.rows(suggestion_table).update(*here, state=state.value, **decided)
    ctx.note(f"{state} merge suggestion", product.uid, after={"suggestion": number})
    return _load(ctx, product.uid, _c.number == number)[0]


def _load(
    ctx: RequestContext, product: str, *which: sa.ColumnElement[bool], limit: int | None = None
) -> list[MergeSuggestion]:
    here = _c.resource_id == ctx.view.resource(product)
    rows = ctx.rows(suggestion_table).select(here, *which, order_by=(_c.number.desc(),), limit=limit)
    return [_suggestion(row) for row in rows]


def _suggestion(row: Any) -> MergeSuggestion:  # noqa: ANN401 - a row
    begun = (
        row.number,
        tuple(json.loads(row.entities)),
        row.note,
        SuggestionState(row.state),
        row.made_by,
        row.made_at,
    )
    return MergeSuggestion(*begun, row.decided_by, row.decided_at, row.reason, row.act)
