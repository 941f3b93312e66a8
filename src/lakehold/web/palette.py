"""Search of the command palette, and as a page: links of the navigation, resources and members."""

from dataclasses import asdict, dataclass

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from lakehold.access.model.policy import MEMBER
from lakehold.catalog import resources
from lakehold.directory.request_context import RequestContext
from lakehold.web import pages, urls
from lakehold.web.labels import icon_of
from lakehold.web.navigation import Navigation
from lakehold.web.navigation_context import in_request_context
from lakehold.web.routing import router

MAX_ITEMS, MAX_ITEMS_ON_PAGE = 20, 60
_MAX_QUERY_LENGTH = 200

routes = router()


@dataclass(frozen=True, slots=True)
class PaletteItem:
    """One search result."""

    label: str
    href: str
    icon: str = "arrow-right"
    note: str = ""
    group: str = "Go to"


def match_links(navigation: Navigation, text: str) -> tuple[list[PaletteItem], list[PaletteItem]]:
    """Return the links whose label matches the text, and those that match together with their workspace's name."""
    words = text.casefold().split()
    by_label: list[PaletteItem] = []
    by_workspace: list[PaletteItem] = []
    for link, where in navigation.all_links():
        label, name = link.label.casefold(), f"{link.label} {where}".casefold()
        if all(word in label for word in words):
            by_label.append(PaletteItem(link.label, link.href, link.icon or "arrow-right", where))
        elif all(word in name for word in words):
            by_workspace.append(PaletteItem(link.label, link.href, link.icon or "arrow-right", where, "Inside"))
    return by_label, by_workspace


def search(request: Request, text: str, most: int = MAX_ITEMS) -> list[PaletteItem]:
    """Return the first results: links, then resources and members, then links inside matching workspaces."""
    by_label, by_workspace = match_links(pages.web_app_of(request).load_navigation(request), text)
    return [*by_label, *find_resources(request, text, most), *by_workspace][:most]


@routes.get("/ui/search")
def palette_search(request: Request, q: str = "") -> Response:
    """Return the results as JSON while the user types."""
    items = [asdict(found) for found in search(request, q[:_MAX_QUERY_LENGTH])]
    return JSONResponse({"items": items}, headers={"Cache-Control": "no-store"})


@routes.get("/search")
def search_page(request: Request, q: str = "") -> Response:
    """Render the search page, which lists more results."""
    text = q[:_MAX_QUERY_LENGTH].strip()
    found = search(request, text, MAX_ITEMS_ON_PAGE) if text else []
    values: dict[str, object] = {"q": text, "found": found, "more": len(found) >= MAX_ITEMS_ON_PAGE // 2}
    return pages.render(request, "search.html", values)


def find_resources(request: Request, text: str, most: int) -> list[PaletteItem]:
    """Find visible resources and members by a part of their name, with a limit for each of the two."""
    text = text.strip()
    if not text:
        return []

    def find(ctx: RequestContext) -> list[PaletteItem]:
        found: list[PaletteItem] = []
        for item in resources.find(ctx, text, limit=most // 2).items:
            title = ctx.view.policy.kind(item.kind).schema.title
            where = f"{title} in {item.parent.name}" if item.parent else title
            href, icon = urls.for_kind(item.uid, item.kind), icon_of(item.kind)
            found.append(PaletteItem(item.name, href, icon, where, "Resources"))
        people = ctx.session.list(ctx.principal, "see", MEMBER, search=text, limit=most // 4).items
        return found + [PaletteItem(one.name, urls.member(one.uid), "user", "Member", "People") for one in people]

    return in_request_context(request, find, [])
