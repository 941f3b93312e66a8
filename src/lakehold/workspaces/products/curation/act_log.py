"""Saves and loads the acts of a data product."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.workspaces.products.curation.acts import ActContent, ActKind, CurationAct, from_payload, to_payload
from lakehold.workspaces.products.curation.tables import act_table, subject_table

T = TypeVar("T")
_AT_ONCE = 500


def append(ctx: RequestContext, product: str, content: ActContent) -> CurationAct:
    """Save an act. The right to it has been checked before."""
    number = ctx.view.resource(product)
    rows, c = ctx.rows(act_table), act_table.c
    last = rows.select(c.resource_id == number, columns=(sa.func.max(c.number),)).scalar() or 0
    act = CurationAct(last + 1, content, ctx.caller.member, ctx.at)
    rows.insert(
        resource_id=number,
        number=act.number,
        kind=act.kind.value,
        payload=json.dumps(to_payload(content), ensure_ascii=False),
        made_by=act.by,
        made_at=act.at,
        undone_by=0,
    )
    key = {"tenant_id": ctx.session.tenant, "resource_id": number, "number": act.number}
    subjects = [{**key, "subject": each} for each in content.subjects]
    if subjects:
        ctx.session.transaction.connection.execute(subject_table.insert(), subjects)
    return act


def load_in_force(ctx: RequestContext, product: str, kinds: Collection[ActKind] = tuple(ActKind)) -> list[CurationAct]:
    """Return the acts that are in force, or those of some kinds, oldest first. For the platform's own use."""
    c = act_table.c
    here = (c.resource_id == ctx.view.resource(product), c.undone_by == 0, c.kind.in_(kinds))
    return [_act(row) for row in ctx.rows(act_table).select(*here, order_by=(c.number,))]


def load_page(ctx: RequestContext, product: str, before: int | None, limit: int) -> list[CurationAct]:
    """Return acts of a data product, newest first, from before a number on."""
    c = act_table.c
    older = sa.true() if before is None else c.number < before
    here = c.resource_id == ctx.view.resource(product)
    return [_act(row) for row in ctx.rows(act_table).select(here, older, order_by=(c.number.desc(),), limit=limit)]


def need_act(ctx: RequestContext, product: str, number: int) -> CurationAct:
    """Return an act, or refuse if there is none of this number."""
    c = act_table.c
    found = ctx.rows(act_table).select(c.resource_id == ctx.view.resource(product), c.number == number).first()
    if found is None:
        raise NotFoundError(f"The data product has no act {number}.", "Read its history for the numbers.")
    return _act(found)


def load_about(ctx: RequestContext, product: str, subjects: Iterable[str]) -> list[CurationAct]:
    """Return the acts that speak of any of these records and entities, oldest first, undone ones too."""
    here, c = ctx.view.resource(product), subject_table.c
    numbers: set[int] = set()
    for some in in_batches(dict.fromkeys(subjects)):
        numbers.update(
            ctx.rows(subject_table).select(c.resource_id == here, c.subject.in_(some), columns=(c.number,)).scalars()
        )
    return load_acts(ctx, product, numbers)


def load_acts(ctx: RequestContext, product: str, numbers: Collection[int]) -> list[CurationAct]:
    """Return the acts of these numbers, oldest first."""
    here, c = act_table.c.resource_id == ctx.view.resource(product), act_table.c
    found: list[CurationAct] = []
    for some in in_batches(numbers):
        rows = ctx.rows(act_table).select(here, c.number.in_(some), order_by=(c.number,))
        found += [_act(row) for row in rows]
    return found


def mark_undone(ctx: RequestContext, product: str, numbers: Collection[int], by: int) -> None:
    """Mark acts as undone by another act."""
    c = act_table.c
    for some in in_batches(numbers):
        here = c.resource_id == ctx.view.resource(product)
        ctx.rows(act_table).update(here, c.number.in_(some), undone_by=by)


def in_batches(values: Iterable[T]) -> Iterator[Sequence[T]]:
    """Yield the values in batches that fit into one statement."""
    listed = list(values)
    for start in range(0, len(listed), _AT_ONCE):
        yield listed[start : start + _AT_ONCE]


def _act(row: Any) -> CurationAct:  # noqa: ANN401 - a row
    content = from_payload(row.kind, json.loads(row.payload))
    return CurationAct(row.number, content, row.made_by, row.made_at, row.undone_by)
