"""What the command palette finds: places to go, and whatever else is given to it. Also as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def places(around: Around, text: str) -> tuple[list[Found], list[Found]]:
    """The places that are called by all the words, and those for which the name of what they are in is needed too."""
    words = text.casefold().split()
    called: list[Found] = []
    inside: list[Found] = []
    for place, where in around.all_places():
        label, name = place.label.casefold(), f"{place.label} {where}".casefold()
        if all(word in label for word in words):
            called.append(Found(place.label, place.href, place.icon or "arrow-right", where))
        elif all(word in name for word in words):
            inside.append(Found(place.label, place.href, place.icon or "arrow-right", where, "Inside"))
    return called, inside


def find(request: Request, text: str, most: int = MOST) -> list[Found]:
    """The first that fit: places, things, and last the places of a workspace that is called so."""
    finder: Finder | None = request.app.state.finder
    called, inside = places(pages.web_of(request).around(request), text)
    return [*called, *(finder(request, text, most) if finder else ()), *inside][:most]


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
