"""Names and descriptions of resources that the caller may not see, but that are marked as discoverable.

This is the one place that shows something of a resource to those who may not see it: only if the attribute
`discoverable` is set, and only its name, description and kind.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import sqlalchemy as sa

from lakehold.access.decisions.principal import lies_within

# past the access filter: only what its keepers have made discoverable, and of that the name alone
from lakehold.access.facts.tables import attribute, resource
from lakehold.access.facts.view import FactView
from lakehold.access.query.listing import ListedResource, parse_cursor, to_cursor
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import CursorPage
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_id

_AT_ONCE = 200
_MAX_LIMIT = 200
_SORT = "name"
_ON = "true"


@dataclass(frozen=True, slots=True)
class DiscoveredResource(ResourceRef):
    """A discoverable resource that the caller may not see."""

    description: str
    workspace: ResourceRef | None
    """Only if the caller may see it."""


def find(
    ctx: RequestContext, search: str = "", *, kind: str | None = None, after: str | None = None, limit: int = 50
) -> CursorPage[DiscoveredResource]:
    """Search discoverable resources that the caller may not see, by a part of the name, sorted by name."""
    if type(limit) is not int or not 1 <= limit <= _MAX_LIMIT:
        raise InvalidInputError(f"{repr(limit)[:40]} is not a valid page size.", f"Use 1 to {_MAX_LIMIT}.")
    if kind is not None:
        kinds.catalog_kind(ctx.view.policy, kind)
    start = None if after is None else tuple(parse_cursor(after, _SORT).values())
    search_key = fold_name(valid_id(search, "search")) if search != "" else ""
    rows = (row for row in _candidates(ctx, search_key, kind, start) if is_discoverable(ctx, row.uid))
    found = list(islice(rows, limit + 1))
    following = to_cursor(found[limit - 1], _SORT) if len(found) > limit else None
    return CursorPage(_to_items(ctx, found[:limit]), following)


def is_discoverable(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may know the name of a resource that they may not see, within the scope of their token."""

    def ask(view: FactView) -> bool:
        number = view.ids.get(uid)
        if number is None:
            return False
        schema = kinds.schema_of(view, uid)
        if kinds.DISCOVERABLE not in schema.attributes or view.attributes[kinds.DISCOVERABLE].get(number) != _ON:
            return False
        if kinds.DELETED in schema.attributes and view.attributes[kinds.DELETED].get(number) == _ON:
            return False
        token = ctx.caller.narrowed
        if token is not None and token.resources is not None and not lies_within(view, number, token.resources):
            return False
        return not ctx.session.can_see(ctx.principal, uid)

    return ctx.session.read_view(ask)


def find_ref(ctx: RequestContext, uid: str) -> ResourceRef | None:
    """Return the reference of a resource that the caller may not see, if it is discoverable."""
    return ctx.session.read_view(lambda view: make_ref(view, uid)) if is_discoverable(ctx, uid) else None


def _candidates(
    ctx: RequestContext, search: str, kind: str | None, start: tuple[object, ...] | None
) -> Iterator[ListedResource]:
    """Yield what is discoverable, sorted by name, in batches."""
    r, a = resource.c, attribute.c
    at = ctx.at
    opened = sa.select(a.resource_id).where(
        a.tenant_id == ctx.session.tenant, a.name == kinds.DISCOVERABLE, a.value == _ON, a.since <= at, a.until > at
    )
    which = [r.since <= at, r.until > at, r.id.in_(opened)]
    if kind is not None:
        which.append(r.kind == kind)
    if search:
        position = sa.func.instr if ctx.session.transaction.dialect == "sqlite" else sa.func.strpos
        which.append(position(r.sort_name, search) > 0)
    columns, place = (r.id, r.uid, r.kind, r.name, r.since), (r.sort_name, r.id)
    while True:
        after = sa.true() if start is None else sa.tuple_(*place) > sa.tuple_(*map(sa.literal, start))
        found = ctx.rows(resource).select(*which, after, columns=columns, order_by=place, limit=_AT_ONCE)
        rows = [ListedResource._make(row) for row in found]
        yield from rows
        if len(rows) < _AT_ONCE:
            return
        start = fold_name(rows[-1].name), rows[-1].id


def _to_items(ctx: RequestContext, found: list[ListedResource]) -> list[DiscoveredResource]:
    stored = resource_metadata.load_many(ctx, [row.id for row in found])
    visible_refs = VisibleRefs(ctx)
    return [
        DiscoveredResource(
            row.uid,
            row.kind,
            row.name,
            stored[row.id].description if row.id in stored else "",
            visible_refs.workspace(row.uid),
        )
        for row in found
    ]
