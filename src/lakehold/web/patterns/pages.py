"""The pages of the design system, and the endpoints that they lead to."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Form, Request, Response

from lakehold.api.http.dependencies import get_platform
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import NotFoundError
from lakehold.web import components, pages
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListState
from lakehold.web.navigation import Breadcrumb, Navigation
from lakehold.web.patterns import samples
from lakehold.web.patterns.samples import PATTERNS_URL
from lakehold.web.routing import SubmittedForm, router

routes = router(PATTERNS_URL)

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
    """Render all patterns."""
    listing = ListState.from_request(request, samples.SORTS, samples.FILTERS, size=8)
    rows = _filter_rows(listing, samples.tables(get_platform(request).clock()))
    values: dict[str, object] = {
        "crumbs": [
            Breadcrumb("Corner & Main", PATTERNS_URL),
            Breadcrumb("Design", PATTERNS_URL),
            Breadcrumb("Patterns"),
        ],
        "sections": _SECTIONS,
        "samples": samples,
        **listing.page_values(rows),
        "components": components,
        "dialog": dialog,
    }
    return pages.render(request, "patterns/page.html", values, navigation=_sample_navigation(view_as))


@routes.get("/form")
def pattern_form(request: Request, name: str = "orders") -> Response:
    """Render a form that is a page, and a dialog where scripts run."""
    return _render_form(request, name, "")


@routes.post("/form")
def pattern_send_form(
    request: Request, name: Annotated[str, Form()] = "", reason: Annotated[str, Form()] = ""
) -> Response:
    """Validate the sample form."""
    if not reason.strip():
        return _render_form(request, name, reason, "Say in a few words what you need it for.")
    return pages.redirect(request, PATTERNS_URL, Flash(f"You asked for Editor on {name}.", undo=f"{PATTERNS_URL}/say"))


def _render_form(request: Request, name: str, reason: str, error: str = "") -> Response:
    crumbs = [Breadcrumb("Patterns", PATTERNS_URL), Breadcrumb("Request")]
    values: dict[str, object] = {"crumbs": crumbs, "name": name, "reason": reason, "error": error}
    status = 422 if error else 200
    return pages.render(request, "patterns/form.html", values, navigation=_sample_navigation(""), status=status)


@routes.post("/say")
def pattern_say(request: Request, text: Annotated[str, Form()] = "Nothing was done: these are patterns.") -> Response:
    """Display a flash message on the next page."""
    return pages.redirect(request, PATTERNS_URL, Flash(text[:200], "info"))


@routes.post("/remove")
def pattern_remove(request: Request, sent: SubmittedForm) -> Response:
    """Ask for a confirmation, then pretend to remove something."""
    name = str(sent.get("name", ""))[:100]
    if question := confirm(
        request, sent, f"Remove {name}?", "Nothing will be, these are patterns.", do="Remove", back=PATTERNS_URL
    ):
        return question
    return pages.redirect(request, PATTERNS_URL, Flash(f"{name} was removed.", undo=f"{PATTERNS_URL}/say"))


@routes.get("/slow")
def pattern_slow(request: Request) -> Response:
    """Render a part that is loaded later."""
    return pages.render(request, "patterns/slow.html", navigation=_sample_navigation(""))


@routes.get("/errors/{status}")
def pattern_error(status: int) -> Response:
    """Raise an error, to display its page."""
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


def _sample_navigation(view_as: str) -> Navigation:
    return replace(samples.NAVIGATION, view_as=samples.VIEW_AS) if view_as else samples.NAVIGATION


def _filter_rows(listing: ListState, rows: list[samples.SampleTable]) -> list[samples.SampleTable]:
    found = [row for row in rows if listing.search.casefold() in row.name]
    for key, value in listing.chosen.items():
        found = [row for row in found if not value or getattr(row, key) == value]
    return sorted(found, key=lambda row: getattr(row, listing.sort), reverse=listing.descending)
