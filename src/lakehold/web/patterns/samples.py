"""Sample data of the design system. It contains nothing of a real tenant."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.kit.clock import SECOND, Moment
from lakehold.web.components import EffectSummary, PageAction
from lakehold.web.list_view import ListFilter
from lakehold.web.navigation import ImpersonationBanner, Navigation, NavLink, NavSection, NavUser

PATTERNS_URL = "/ui/patterns"

NAVIGATION = Navigation(
    tenant="Corner & Main",
    home=PATTERNS_URL,
    places=(
        NavLink("Patterns", PATTERNS_URL, "palette"),
        NavLink("Home", f"{PATTERNS_URL}#home", "home"),
        NavLink("Requests", f"{PATTERNS_URL}#requests", "inbox", 3),
    ),
    workspaces=(
        NavSection(
            "Warehouse",
            f"{PATTERNS_URL}#warehouse",
            "waves",
            "Lakehouse",
            (
                NavLink("Tables", f"{PATTERNS_URL}#tables", "table-2"),
                NavLink("Pipelines", f"{PATTERNS_URL}#pipelines", "workflow"),
                NavLink("Access", f"{PATTERNS_URL}#access", "shield"),
            ),
        ),
        NavSection(
            "Sales",
            f"{PATTERNS_URL}#sales",
            "store",
            "Project",
            (NavLink("Data marts", f"{PATTERNS_URL}#marts", "layout-dashboard"),),
        ),
        NavSection(
            "Lab", f"{PATTERNS_URL}#lab", "shapes", "Data space", (NavLink("Tasks", f"{PATTERNS_URL}#tasks", "zap"),)
        ),
    ),
    more=(
        NavLink("People", f"{PATTERNS_URL}#people", "users"),
        NavLink("Access review", f"{PATTERNS_URL}#review", "clipboard-check"),
        NavLink("Audit log", f"{PATTERNS_URL}#audit", "scroll-text"),
    ),
    person=NavUser(
        "Olga, Owner",
        "olga@corner.example",
        (
            NavLink("Profile", f"{PATTERNS_URL}#profile", "user"),
            NavLink("API tokens", f"{PATTERNS_URL}#tokens", "key-round"),
        ),
        f"{PATTERNS_URL}/say",
    ),
)
VIEW_AS = ImpersonationBanner("Erik, Engineer", f"{PATTERNS_URL}/say")

PEOPLE = ("Erik, Engineer", "Ana, Analyst", "Mona, Manager", "Otto, Operator", "Carla, Curator", "Nils, Newcomer")
_NAMES = ("orders", "customers", "stores", "returns", "margins", "salaries", "tills", "day_totals", "stock", "prices")


@dataclass(frozen=True, slots=True)
class SampleTable:
    """A row of the sample list."""

    name: str
    layer: str
    owner: str
    rows: int
    changed: Moment
    state: str
    actions: tuple[PageAction, ...]


def tables(now: Moment) -> list[SampleTable]:
    """Return enough rows for several pages."""
    return [_table(at, now) for at in range(128)]


def _table(at: int, now: Moment) -> SampleTable:
    name = _NAMES[at % len(_NAMES)] + (f"_{at // len(_NAMES)}" if at >= len(_NAMES) else "")
    mine = at % 3 != 1
    return SampleTable(
        name=name,
        layer=("Raw", "Clean", "Gold")[at % 3],
        owner=PEOPLE[at % len(PEOPLE)],
        rows=(at * 7919 + 1013) * 97 % 4_000_000,
        changed=now - at * at * 1_300 * SECOND - 40 * SECOND,
        state=("fresh", "fresh", "late", "failed")[at % 4],
        actions=(
            PageAction("Open", f"{PATTERNS_URL}#{name}", icon="arrow-right"),
            action_edit(name) if mine else refused(name),
            action_remove(name),
        ),
    )


def action_edit(name: str) -> PageAction:
    """Return an allowed action that opens a dialog."""
    return PageAction("Edit", f"{PATTERNS_URL}/form?name={name}", icon="pencil", dialog=True)


def action_remove(name: str) -> PageAction:
    """Return an action that asks before it removes something."""
    sure = f"Remove {name}?"
    return PageAction("Remove", f"{PATTERNS_URL}/remove", "post", "trash-2", (("name", name),), sure, danger=True)


def refused(name: str) -> PageAction:
    """Return an action that is not allowed."""
    return PageAction(
        "Edit",
        icon="pencil",
        why_not=f"You need Editor on {name} or on its layer.",
        request=f"{PATTERNS_URL}/form?name={name}",
        why=f"{PATTERNS_URL}#path",
    )


SORTS = ("name", "rows", "changed")
FILTERS = (
    ListFilter("layer", "Layer", (("Raw", "Raw"), ("Clean", "Clean"), ("Gold", "Gold"))),
    ListFilter("state", "State", (("fresh", "Fresh"), ("late", "Late"), ("failed", "Failed"))),
)
EFFECTS = (
    EffectSummary(True, 12, "Read", 40, "table", PATTERNS_URL),
    EffectSummary(True, 1, "Run", 2, "pipeline"),
    EffectSummary(False, 3, "Edit", 1, "table"),
)
