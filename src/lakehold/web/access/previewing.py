"""The effect of a change, with a way to every single row of it, shown before it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Add, Remove
from lakehold.access.decisions.what_if import AccessEffect as Row
from lakehold.access.facts.records import Fact
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, request_table
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.web import addresses, effects, pages
from lakehold.web.access.routes import frame
from lakehold.web.diffs import Effect
from lakehold.web.listing import Column, Listing
from lakehold.web.routes import router

routes = router()

_SIZE = 50
_LONGEST = 6_000


@dataclass(frozen=True, slots=True)
class Line:
    """One member wins or loses one action on one thing."""

    member: ResourceRef
    action: str
    resource: ResourceRef
    gained: bool


def told(ctx: RequestContext, uid: str, changes: Sequence[Add | Remove]) -> list[Effect]:
    """The effects of changes that the caller may make, each with where its rows are."""
    found = effects.preview(ctx, changes)
    href = address(uid, changes)
    return [replace(effect, href=href) for effect in found]


def address(uid: str, changes: Sequence[Add | Remove]) -> str:
    """Where the rows of the changes are listed; empty if there are too many of them for an address."""
    added = request_table.dump_facts([change.fact for change in changes if isinstance(change, Add)])
    removed = request_table.dump_facts([change.fact for change in changes if isinstance(change, Remove)])
    asked = urlencode({"add": added, "remove": removed})
    return f"{addresses.resource(uid, 'access/effects')}?{asked}" if len(asked) < _LONGEST else ""


@routes.get("/resources/{uid:path}/access/effects")
def effects_page(request: Request, ctx: ReadContext, uid: str, add: str = "[]", remove: str = "[]") -> Response:
    """Who exactly would win and lose what."""
    ctx.need_visible(uid)
    listing = Listing.of(request, ("name",), size=_SIZE)
    changes: list[Add | Remove] = [Remove(fact) for fact in _facts(remove)]
    changes += [Add(fact) for fact in _facts(add)]
    found = change_preview.preview(ctx, changes)
    start = (listing.page - 1) * _SIZE
    values: dict[str, object] = {
        **frame(ctx, uid, "What would change"),
        "listing": listing,
        "kept": {"add": add, "remove": remove},
        "columns": [Column("Who"), Column("Will"), Column("What"), Column("On")],
        "rows": _lines(ctx, list(islice(found.rows(), start, start + _SIZE))),
        "total": sum(group.pairs for group in found.groups),
    }
    return pages.page(request, "access/effects.html", values)


def _facts(text: str) -> list[Fact]:
    try:
        return request_table.load_facts(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InvalidInputError("This address is not whole.", "Go back, and follow the link again.") from None


def _lines(ctx: RequestContext, rows: list[Row]) -> list[Line]:
    eyes, found = VisibleRefs(ctx), []
    for row in rows:
        member, resource = eyes.ref(row.member), eyes.ref(row.resource)
        if member and resource:
            found.append(Line(member, row.action, resource, row.gained))
    return found
