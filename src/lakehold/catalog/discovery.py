"""Names and descriptions of what one may not see, where its keepers want it to be found and asked for.

This is the one place that shows something of a resource to those who may not see it: what the attribute `discoverable`
has opened, and of that the name, the description and the kind alone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.access.decisions.principal import lies_within

# past the access filter: only what its keepers have made discoverable, and of that the name alone
from lakehold.access.facts.tables import attribute, resource
from lakehold.access.facts.view import FactView
from lakehold.catalog import details, kinds
from lakehold.catalog.shapes import Ref, VisibleRefs, ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_id

_AT_ONCE = 200
_MOST = 200
_LONGEST = 4_000
_ON = "true"


@dataclass(frozen=True, slots=True)
class Discovered:
    """What may be known of a resource that may not be seen."""

    uid: str
    kind: str
    name: str
    description: str
    workspace: Ref | None
    """Only if the caller may see it."""


@dataclass(frozen=True, slots=True)
class Discoveries:
    """Some of them, and where the next ones begin; None after the last."""

    items: list[Discovered]
    after: str | None


def find(
    ctx: RequestContext, search: str = "", *, kind: str | None = None, after: str | None = None, limit: int = 50
) -> Discoveries:
    """What can be found by a part of its name, in the order of names, and is not the caller's to see."""
    if type(limit) is not int or not 1 <= limit <= _MOST:
        raise InvalidInputError(f"A page of {repr(limit)[:40]} is not to be had.", f"Ask for 1 to {_MOST}.")
    if kind is not None:
        kinds.kept_here(ctx.view.policy, kind)
    start = None if after is None else _read_cursor(after)
    wanted = fold_name(valid_id(search, "search")) if search != "" else ""
    found: list[tuple[str, int, str]] = []
    for row in _candidates(ctx, wanted, kind, start):
        if may_be_found(ctx, row[2]):
            found.append(row)
            if len(found) > limit:
                break
    shown = found[:limit]
    following = _cursor(shown[-1]) if len(found) > limit else None
    return Discoveries(_told(ctx, shown), following)


def may_be_found(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may know the name of it, although they may not see it."""
    return ctx.session.read_view(lambda view: view.ids.get(uid) is not None and _is_open(view, ctx, uid))


def named(ctx: RequestContext, uid: str) -> Ref:
    """What it is called. Whether the caller may know that has been asked before."""
    return ctx.session.read_view(lambda view: ref(view, uid))


def _is_open(view: FactView, ctx: RequestContext, uid: str) -> bool:
    """Whether it is discoverable, there, and not the caller's to see anyway. A narrowed token finds in its own
    resources only.
    """
    number = view.resource(uid)
    schema = view.policy.kinds[view.kind(number)].schema
    if kinds.DISCOVERABLE not in schema.attributes or view.attributes[kinds.DISCOVERABLE].get(number) != _ON:
        return False
    if kinds.DELETED in schema.attributes and view.attributes[kinds.DELETED].get(number) == _ON:
        return False
    token = ctx.caller.narrowed
    if token is not None and token.resources is not None and not lies_within(view, number, token.resources):
        return False
    return not ctx.session.can_see(ctx.asker, uid)


def _candidates(
    ctx: RequestContext, search: str, kind: str | None, start: tuple[str, int] | None
) -> Iterator[tuple[str, int, str]]:
    """What is discoverable, in the order of names, as it is needed."""
    r, a = resource.c, attribute.c
    at, tenant = ctx.at, ctx.session.tenant
    opened = sa.select(a.resource_id).where(
        a.tenant_id == tenant, a.name == kinds.DISCOVERABLE, a.value == _ON, a.since <= at, a.until > at
    )
    while True:
        query = sa.select(r.sort_name, r.id, r.uid).where(
            r.tenant_id == tenant, r.since <= at, r.until > at, r.id.in_(opened)
        )
        if kind is not None:
            query = query.where(r.kind == kind)
        if search:
            position = sa.func.instr if ctx.session.transaction.dialect == "sqlite" else sa.func.strpos
            query = query.where(position(r.sort_name, search) > 0)
        if start is not None:
            query = query.where(sa.tuple_(r.sort_name, r.id) > sa.tuple_(*map(sa.literal, start)))
        rows = ctx.session.transaction.connection.execute(query.order_by(r.sort_name, r.id).limit(_AT_ONCE)).all()
        yield from ((name, number, uid) for name, number, uid in rows)
        if len(rows) < _AT_ONCE:
            return
        start = (rows[-1].sort_name, rows[-1].id)


def _told(ctx: RequestContext, found: list[tuple[str, int, str]]) -> list[Discovered]:
    told = details.read_many(ctx, [number for _, number, _ in found])
    eyes = VisibleRefs(ctx)
    items = []
    for _, number, uid in found:
        here = named(ctx, uid)
        description = told[number].description if number in told else ""
        items.append(Discovered(uid, here.kind, here.name, description, eyes.workspace(uid)))
    return items


def _cursor(last: tuple[str, int, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(["found", last[0], last[1]]).encode()).decode()


def _read_cursor(cursor: object) -> tuple[str, int]:
    if isinstance(cursor, str) and len(cursor) <= _LONGEST:
        try:
            mark, name, number = json.loads(base64.urlsafe_b64decode(cursor.encode()))
            if mark == "found" and type(number) is int and abs(number) < 2**62 and isinstance(name, str):
                name.encode()
                if "\0" not in name:
                    return name, number
        except (ValueError, TypeError, RecursionError):
            pass
    raise InvalidInputError("The cursor cannot be read.", "Begin again without one, or with the last page's.")
