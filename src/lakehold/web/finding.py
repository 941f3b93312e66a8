"""What the command palette finds: places to go, and whatever else is given to it. Also as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from lakehold.web import pages
from lakehold.web.navigation import Around
from lakehold.web.routes import router

MOST, MOST_ON_PAGE = 20, 60
_LONGEST = 200

routes = router()


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found."""

    label: str
    href: str
    icon: str = "arrow-right"
    note: str = ""
    group: str = "Go to"


Finder = Callable[[Request, str, int], Iterable[Found]]
"""Finds by what was typed, and not many more than so many. It finds only what the person may see."""


def places(around: Around, text: str) -> Iterator[Found]:
    """The places whose name has all the words."""
    words = text.casefold().split()
    for place, where in around.all_places():
        name = f"{place.label} {where}".casefold()
        if all(word in name for word in words):
            yield Found(place.label, place.href, place.icon or "arrow-right", where)


def find(request: Request, text: str, most: int = MOST) -> list[Found]:
    """The first that fit, places before things."""
    finder: Finder | None = request.app.state.finder
    around = pages.web_of(request).around(request)
    found = [*places(around, text), *(finder(request, text, most) if finder else ())]
    return found[:most]


@routes.get("/ui/search")
def palette_search(request: Request, q: str = "") -> Response:
    """For the palette, while somebody types."""
    items = [asdict(found) for found in find(request, q[:_LONGEST])]
    return JSONResponse({"items": items}, headers={"Cache-Control": "no-store"})


@routes.get("/search")
def search_page(request: Request, q: str = "") -> Response:
    """The same as a page, with more of it."""
    text = q[:_LONGEST].strip()
    found = find(request, text, MOST_ON_PAGE) if text else []
    values: dict[str, object] = {"q": text, "found": found, "more": len(found) >= MOST_ON_PAGE // 2}
    return pages.page(request, "search.html", values)
