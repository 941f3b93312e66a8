"""Names and descriptions of resources that the caller may not see, but that are marked as discoverable.

This is the one place that shows something of a resource to those who may not see it: only if the attribute
`discoverable` is set, and only its name, description and kind.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import sqlalchemy as sa

from lakehold.access.decisions.principal import lies_within

# past the access filter: only what its keepers have made discoverable, and of that the name alone
from lakehold.access.facts.tables import attribute, resource
from lakehold.access.facts.view import FactView
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import CursorPage
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_id

_AT_ONCE = 200
_MAX_LIMIT = 200
_MAX_CURSOR_LENGTH = 4_000
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
    start = None if after is None else _decode_cursor(after)
    search_key = fold_name(valid_id(search, "search")) if search != "" else ""
    rows = (row for row in _candidates(ctx, search_key, kind, start) if is_discoverable(ctx, row[2]))
    found = list(islice(rows, limit + 1))
    visible = found[:limit]
    last = json.dumps(["found", *visible[-1][:2]]) if len(found) > limit else None
    following = base64.urlsafe_b64encode(last.encode()).decode() if last else None
    return CursorPage(_to_items(ctx, visible), following)


def is_discoverable(ctx: RequestContext, uid: str) -> bool:
    """Whether the caller may know the name of a resource that they may not see: it is discoverable, and not deleted. A
    token with a restricted scope finds its own resources only.
    """

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


def load_ref(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return the reference of a resource. Whether the caller may know it has been checked before."""
    return ctx.session.read_view(lambda view: make_ref(view, uid))


def _candidates(
    ctx: RequestContext, search: str, kind: str | None, start: tuple[str, int] | None
) -> Iterator[tuple[str, int, str]]:
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
    columns, place = (r.sort_name, r.id, r.uid), (r.sort_name, r.id)
    while True:
        after = sa.true() if start is None else sa.tuple_(*place) > sa.tuple_(*map(sa.literal, start))
        found = ctx.rows(resource).select(*which, after, columns=columns, order_by=place, limit=_AT_ONCE)
        rows = [(name, number, uid) for name, number, uid in found]
        yield from rows
        if len(rows) < _AT_ONCE:
            return
        start = rows[-1][:2]


def _to_items(ctx: RequestContext, found: list[tuple[str, int, str]]) -> list[DiscoveredResource]:
    stored = resource_metadata.load_many(ctx, [number for _, number, _ in found])
    visible_refs = VisibleRefs(ctx)
    items = []
    for _, number, uid in found:
        here = load_ref(ctx, uid)
        description = stored[number].description if number in stored else ""
        items.append(DiscoveredResource(uid, here.kind, here.name, description, visible_refs.workspace(uid)))
    return items


def _decode_cursor(cursor: object) -> tuple[str, int]:
    if isinstance(cursor, str) and len(cursor) <= _MAX_CURSOR_LENGTH:
        try:
            mark, name, number = json.loads(base64.urlsafe_b64decode(cursor.encode()))
            if mark == "found" and type(number) is int and abs(number) < 2**62 and isinstance(name, str):
                name.encode()
                if "\0" not in name:
                    return name, number
        except (ValueError, TypeError, RecursionError):
            pass
    raise InvalidInputError("The cursor is not valid.", "Start again without a cursor, or use that of the last page.")
