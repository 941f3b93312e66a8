"""The design system at `/ui/patterns`: every template macro in every state, on sample data of no real tenant."""

from dataclasses import replace
from operator import attrgetter
from types import SimpleNamespace
from typing import Annotated

from fastapi import Form, Request, Response

from lakehold.api.http.dependencies import get_platform
from lakehold.directory.errors import DeniedError
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import NotFoundError
from lakehold.web import components, pages
from lakehold.web.confirmation import need_confirmation
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.navigation import Breadcrumb, ImpersonationBanner, Navigation, NavLink, NavSection, NavUser
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

PATTERNS_URL = "/ui/patterns"

routes = router(PATTERNS_URL)


def _link(label: str, part: str, icon: str, count: int | None = None) -> NavLink:
    return NavLink(label, f"{PATTERNS_URL}#{part}", icon, count)


def _workspace(label: str, icon: str, note: str, *places: NavLink) -> NavSection:
    return NavSection(label, f"{PATTERNS_URL}#{label.lower()}", icon, note, places)


NAVIGATION = Navigation(
    tenant="Corner & Main",
    home=PATTERNS_URL,
    places=(
        NavLink("Patterns", PATTERNS_URL, "palette"),
        _link("Home", "home", "home"),
        _link("Requests", "requests", "inbox", 3),
    ),
    workspaces=(
        _workspace(
            "Warehouse",
            "waves",
            "Lakehouse",
            _link("Tables", "tables", "table-2"),
            _link("Pipelines", "pipelines", "workflow"),
            _link("Access", "access", "shield"),
        ),
        _workspace("Sales", "store", "Project", _link("Data marts", "marts", "layout-dashboard")),
        _workspace("Lab", "shapes", "Data space", _link("Tasks", "tasks", "zap")),
    ),
    more=(
        _link("People", "people", "users"),
        _link("Access review", "review", "clipboard-check"),
        _link("Audit log", "audit", "scroll-text"),
    ),
    person=NavUser(
        "Olga, Owner",
        "olga@corner.example",
        (_link("Profile", "profile", "user"), _link("API tokens", "tokens", "key-round")),
        f"{PATTERNS_URL}/say",
    ),
)
_VIEW_AS = ImpersonationBanner("Erik, Engineer", f"{PATTERNS_URL}/say")
_PEOPLE = ("Erik, Engineer", "Ana, Analyst", "Mona, Manager", "Otto, Operator", "Carla, Curator", "Nils, Newcomer")
_NAMES = ("orders", "customers", "stores", "returns", "margins", "salaries", "tills", "day_totals", "stock", "prices")
_SORTS = ("name", "rows", "changed")
_FILTERS = (
    ListFilter("layer", "Layer", (("Raw", "Raw"), ("Clean", "Clean"), ("Gold", "Gold"))),
    ListFilter("state", "State", (("fresh", "Fresh"), ("late", "Late"), ("failed", "Failed"))),
)


def _sample_table(at: int, now: Moment) -> SimpleNamespace:
    return SimpleNamespace(
        name=_NAMES[at % len(_NAMES)] + (f"_{at // len(_NAMES)}" if at >= len(_NAMES) else ""),
        layer=("Raw", "Clean", "Gold")[at % 3],
        owner=_PEOPLE[at % len(_PEOPLE)],
        rows=(at * 7919 + 1013) * 97 % 4_000_000,
        changed=now - at * at * 1_300 * SECOND - 40 * SECOND,
        state=("fresh", "fresh", "late", "failed")[at % 4],
        editable=at % 3 != 1,
    )


@routes.get("")
def patterns_page(request: Request, view_as: str = "", dialog: str = "") -> Response:
    """Render all patterns, with enough rows for several pages."""
    listing = ListState.from_request(request, _SORTS, _FILTERS, size=8)
    rows = [_sample_table(at, get_platform(request).clock()) for at in range(128)]
    for key, value in listing.chosen.items():
        rows = [row for row in rows if not value or getattr(row, key) == value]
    rows = listing.select(rows, attrgetter("name"), {sort: attrgetter(sort) for sort in _SORTS})
    design = Breadcrumb("Design", PATTERNS_URL)
    values: dict[str, object] = {
        "crumbs": [Breadcrumb(NAVIGATION.tenant, PATTERNS_URL), design, Breadcrumb("Patterns")],
        **listing.page_values(rows),
        "people": _PEOPLE,
        "components": components,
        "dialog": dialog,
    }
    navigation = replace(NAVIGATION, view_as=_VIEW_AS) if view_as else NAVIGATION
    return pages.render(request, "patterns/page.html", values, navigation=navigation)


@routes.api_route("/form", methods=FORM_METHODS)
def pattern_form(request: Request, sent: SubmittedForm, name: str = "orders") -> Response:
    """Render a form that is a page, and a dialog where scripts run; validate it."""
    reason, error = str(sent.get("reason", "")), ""
    if request.method == "POST":
        name = str(sent.get("name", ""))
        if reason.strip():
            flash = Flash(f"You asked for Editor on {name}.", undo=f"{PATTERNS_URL}/say")
            return pages.redirect(request, PATTERNS_URL, flash)
        error = "Say in a few words what you need it for."
    crumbs = [Breadcrumb("Patterns", PATTERNS_URL), Breadcrumb("Request")]
    values: dict[str, object] = {"crumbs": crumbs, "name": name, "reason": reason, "error": error}
    status = 422 if error else 200
    return pages.render(request, "patterns/form.html", values, navigation=NAVIGATION, status=status)


@routes.post("/say")
def pattern_say(request: Request, text: Annotated[str, Form()] = "Nothing was done: these are patterns.") -> Response:
    """Display a flash message on the next page."""
    return pages.redirect(request, PATTERNS_URL, Flash(text[:200], "info"))


@routes.post("/remove")
def pattern_remove(request: Request, sent: SubmittedForm) -> Response:
    """Ask for a confirmation, then pretend to remove something."""
    name, text = str(sent.get("name", ""))[:100], "Nothing will be, these are patterns."
    need_confirmation(request, sent, f"Remove {name}?", text, do="Remove", back=PATTERNS_URL)
    return pages.redirect(request, PATTERNS_URL, Flash(f"{name} was removed.", undo=f"{PATTERNS_URL}/say"))


@routes.get("/slow")
def pattern_slow(request: Request) -> Response:
    """Render a part that is loaded later."""
    return pages.render(request, "patterns/slow.html", navigation=NAVIGATION)


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
