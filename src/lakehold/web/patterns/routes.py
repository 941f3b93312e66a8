"""The pages of the patterns, and the few that they lead to."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Form, Request, Response

from lakehold.api.http.dependencies import get_platform
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import NotFoundError
from lakehold.web import pages
from lakehold.web.confirming import unsure
from lakehold.web.flashes import Flash
from lakehold.web.listing import Listing
from lakehold.web.navigation import Around, Crumb
from lakehold.web.patterns import samples
from lakehold.web.patterns.samples import HERE
from lakehold.web.routes import Sent, router

routes = router(HERE)

_SECTIONS = (
    ("colours", "Colours and type"),
    ("buttons", "Buttons"),
    ("marks", "Marks"),
    ("forms", "Forms"),
    ("tables", "Tables"),
    ("surfaces", "Surfaces"),
    ("matrix", "Matrix"),
    ("path", "Why?"),
    ("changes", "Changes"),
    ("progress", "Progress"),
    ("overlays", "Overlays"),
    ("states", "Empty and loading"),
)


@routes.get("")
def patterns_page(request: Request, view_as: str = "", dialog: str = "") -> Response:
    """All of them."""
    now = get_platform(request).clock()
    listing = Listing.of(request, samples.SORTS, samples.FILTERS, size=8)
    rows = _chosen(listing, samples.tables(now))
    values: dict[str, object] = {
        "crumbs": [Crumb("Corner & Main", HERE), Crumb("Design", HERE), Crumb("Patterns")],
        "sections": _SECTIONS,
        "samples": samples,
        "listing": listing,
        "rows": listing.part(rows),
        "total": len(rows),
        "events": samples.events(now),
        "dialog": dialog,
    }
    return pages.page(request, "patterns/page.html", values, around=_around(view_as))


@routes.get("/form")
def pattern_form(request: Request, name: str = "orders") -> Response:
    """A form that is a page, and a dialog where there are scripts."""
    values: dict[str, object] = {
        "crumbs": [Crumb("Patterns", HERE), Crumb("Request")],
        "name": name,
        "reason": "",
        "error": "",
    }
    return pages.page(request, "patterns/form.html", values, around=_around(""))


@routes.post("/form")
def pattern_send_form(
    request: Request, name: Annotated[str, Form()] = "", reason: Annotated[str, Form()] = ""
) -> Response:
    """A form that can be filled in wrongly."""
    if not reason.strip():
        error = "Say in a few words what you need it for."
        values: dict[str, object] = {
            "crumbs": [Crumb("Patterns", HERE), Crumb("Request")],
            "name": name,
            "reason": reason,
            "error": error,
        }
        return pages.page(request, "patterns/form.html", values, around=_around(""), status=422)
    return pages.go(request, HERE, Flash(f"You asked for Editor on {name}.", undo=f"{HERE}/say"))


@routes.post("/say")
def pattern_say(request: Request, text: Annotated[str, Form()] = "Nothing was done: these are patterns.") -> Response:
    """Say something on the next page."""
    return pages.go(request, HERE, Flash(text[:200], "info"))


@routes.post("/remove")
def pattern_remove(request: Request, sent: Sent) -> Response:
    """Something that is asked about first."""
    name = str(sent.get("name", ""))[:100]
    if question := unsure(
        request, sent, f"Remove {name}?", "Nothing will be, these are patterns.", do="Remove", back=HERE
    ):
        return question
    return pages.go(request, HERE, Flash(f"{name} was removed.", undo=f"{HERE}/say"))


@routes.get("/slow")
def pattern_slow(request: Request) -> Response:
    """A part that comes later."""
    return pages.page(request, "patterns/slow.html", around=_around(""))


@routes.get("/errors/{status}")
def pattern_error(status: int) -> Response:
    """Every refusal as a page."""
    if status == 403:  # noqa: PLR2004 - by its status
        raise DeniedError(
            "You may see orders, but not edit it.",
            "Ask one of those who can give it.",
            action="edit",
            resource="orders",
            givers=("mona", "olga"),
            names=("Mona, Manager", "Olga, Owner"),
            missing="Editor on table orders, or on its layer Clean",
        )
    if status == 404:  # noqa: PLR2004 - as above
        raise NotFoundError("There is no resource 'order'.", "Look it up in a list.")
    raise RuntimeError("as it was asked to")


def _around(view_as: str) -> Around:
    return replace(samples.AROUND, view_as=samples.VIEW_AS) if view_as else samples.AROUND


def _chosen(listing: Listing, rows: list[samples.Table]) -> list[samples.Table]:
    found = [row for row in rows if listing.search.casefold() in row.name]
    for key, value in listing.chosen.items():
        found = [row for row in found if not value or getattr(row, key) == value]
    return sorted(found, key=lambda row: getattr(row, listing.sort), reverse=listing.descending)
