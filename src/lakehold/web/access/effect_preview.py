"""Previews the effect of a change of access, with a page that lists every single row of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Add, Remove
from lakehold.access.decisions.what_if import AccessEffect
from lakehold.access.facts.records import Fact
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, request_table
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.web import confirmation, pages, urls
from lakehold.web.access.access_page import page_frame
from lakehold.web.components import EffectSummary
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.routing import router

routes = router()

_PAGE_SIZE = 50
_MAX_URL_LENGTH = 6_000


@dataclass(frozen=True, slots=True)
class EffectLine:
    """One member gains or loses one action on one resource."""

    member: ResourceRef
    action: str
    resource: ResourceRef
    gained: bool


def preview_with_links(ctx: RequestContext, uid: str, changes: Sequence[Add | Remove]) -> list[EffectSummary]:
    """Return the effects of changes that the caller may make, each linked to the page with its rows."""
    found = confirmation.preview_effects(ctx, changes)
    href = effect_rows_url(uid, changes)
    return [replace(effect, href=href) for effect in found]


def effect_rows_url(uid: str, changes: Sequence[Add | Remove]) -> str:
    """Return the URL of the page with the rows; empty if the changes are too long for a URL."""
    added = request_table.dump_facts([change.fact for change in changes if isinstance(change, Add)])
    removed = request_table.dump_facts([change.fact for change in changes if isinstance(change, Remove)])
    query = urlencode({"add": added, "remove": removed})
    return f"{urls.resource(uid, 'access/effects')}?{query}" if len(query) < _MAX_URL_LENGTH else ""


@routes.get("/resources/{uid:path}/access/effects")
def effects_page(request: Request, ctx: ReadContext, uid: str, add: str = "[]", remove: str = "[]") -> Response:
    """Render the list of who would gain and lose what."""
    ctx.need_visible(uid)
    listing = ListState.from_request(request, ("name",), size=_PAGE_SIZE)
    changes: list[Add | Remove] = [Remove(fact) for fact in _parse_facts(remove)]
    changes += [Add(fact) for fact in _parse_facts(add)]
    found = change_preview.preview(ctx, changes)
    start = (listing.page - 1) * _PAGE_SIZE
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Effect on access"),
        "listing": listing,
        "kept": {"add": add, "remove": remove},
        "columns": [ListColumn("Member"), ListColumn("Change"), ListColumn("Action"), ListColumn("Resource")],
        "rows": _visible_lines(ctx, list(islice(found.rows(), start, start + _PAGE_SIZE))),
        "total": sum(group.pairs for group in found.groups),
    }
    return pages.render(request, "access/effects.html", values)


def _parse_facts(text: str) -> list[Fact]:
    try:
        return request_table.load_facts(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InvalidInputError("This link is incomplete.", "Go back, and follow the link again.") from None


def _visible_lines(ctx: RequestContext, rows: list[AccessEffect]) -> list[EffectLine]:
    eyes, found = VisibleRefs(ctx), []
    for row in rows:
        member, resource = eyes.ref(row.member), eyes.ref(row.resource)
        if member and resource:
            found.append(EffectLine(member, row.action, resource, row.gained))
    return found
