"""Sample data of the design system. It contains nothing of a real tenant."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.web.components import (
    AccessPath,
    AccessPathNode,
    EffectSummary,
    FieldChange,
    MatrixCell,
    MatrixRow,
    PageAction,
)
from lakehold.web.list_view import ListColumn, ListFilter
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
            PageAction(
                "Remove", f"{PATTERNS_URL}/remove", "post", "trash-2", (("name", name),), f"Remove {name}?", danger=True
            ),
        ),
    )


def action_edit(name: str) -> PageAction:
    """Return an allowed action that opens a dialog."""
    return PageAction("Edit", f"{PATTERNS_URL}/form?name={name}", icon="pencil", dialog=True)


def refused(name: str) -> PageAction:
    """Return an action that is not allowed."""
    return PageAction(
        "Edit",
        icon="pencil",
        why_not=f"You need Editor on {name} or on its layer.",
        request=f"{PATTERNS_URL}/form?name={name}",
        why=f"{PATTERNS_URL}#path",
    )


OPEN = PageAction("Open", PATTERNS_URL, icon="arrow-right")
REMOVE = PageAction(
    "Remove", f"{PATTERNS_URL}/remove", "post", "trash-2", (("name", "orders"),), "Remove orders?", danger=True
)

SORTS = ("name", "rows", "changed")
COLUMNS = (
    ListColumn("Table", "name"),
    ListColumn("Owner", wide=True),
    ListColumn("Layer", wide=True),
    ListColumn("State"),
    ListColumn("Rows", "rows", number=True),
    ListColumn("Changed", "changed", wide=True),
)
FILTERS = (
    ListFilter("layer", "Layer", (("Raw", "Raw"), ("Clean", "Clean"), ("Gold", "Gold"))),
    ListFilter("state", "State", (("fresh", "Fresh"), ("late", "Late"), ("failed", "Failed"))),
)
TONES = {"fresh": "good", "late": "warn", "failed": "bad"}

ALLOWED = AccessPath(
    (
        AccessPathNode("Person", "Erik, Engineer", "user"),
        AccessPathNode("Group", "Engineers", "users", note="is in"),
        AccessPathNode("Grant", "Editor", "key-round", note="holds"),
        AccessPathNode("Layer", "Clean", "layers", PATTERNS_URL, note="on"),
        AccessPathNode("Table", "orders", "table-2", PATTERNS_URL, note="has"),
    ),
    rule="Editors of a layer are editors of its tables",
    place="lakehouse/model.yaml:54",
)
DENIED = AccessPath(
    (
        AccessPathNode("Person", "Bella, Business User", "user"),
        AccessPathNode("Role", "Technical User", "shield", held=False, note="needs"),
        AccessPathNode("Project", "Sales", "store", note="in"),
        AccessPathNode("Data mart", "store_targets", "layout-dashboard", note="has"),
    ),
    rule="Technical Users edit what is shared for maintenance",
    place="marts/model.yaml:61",
    givers=("Olga, Owner", "Adam, Admin"),
    request=f"{PATTERNS_URL}/form?name=store_targets",
)

ACTIONS = ("See", "Read", "Edit", "Run", "Give", "Delete")
_N, _D, _G = (
    MatrixCell(False, href=PATTERNS_URL),
    MatrixCell(True, "direct", href=PATTERNS_URL),
    MatrixCell(True, "group", "By Engineers", PATTERNS_URL),
)
_I, _R = (
    MatrixCell(True, "inherited", "From layer Clean", PATTERNS_URL),
    MatrixCell(True, "role", "Owner of the tenant", PATTERNS_URL),
)
_T = MatrixCell(True, "direct", href=PATTERNS_URL, until="30 November")
MATRIX = tuple(
    MatrixRow(name, note, PATTERNS_URL, cells)
    for name, note, cells in (
        ("Olga, Owner", "Owner", (_R, _R, _R, _R, _R, _R)),
        ("Erik, Engineer", "Engineers", (_G, _G, _G, _G, _N, _N)),
        ("Mona, Manager", "Manager of Clean", (_I, _I, _I, _I, _I, _I)),
        ("Ana, Analyst", "Analysts", (_D, _D, _N, _N, _N, _N)),
        ("Otto, Operator", "until 30 November", (_T, _T, _N, _T, _N, _N)),
        ("Nils, Newcomer", "", (_N, _N, _N, _N, _N, _N)),
    )
)

EFFECTS = (
    EffectSummary(True, 12, "Read", 40, "table", PATTERNS_URL),
    EffectSummary(True, 1, "Run", 2, "pipeline"),
    EffectSummary(False, 3, "Edit", 1, "table"),
)
CHANGES = (
    FieldChange("name", "order", "orders"),
    FieldChange("shared_for_reporting", "false", "true"),
    FieldChange("context", None, "Retail"),
    FieldChange("description", "All orders, one row for each line of a receipt", None),
)


def events(now: Moment) -> list[dict[str, object]]:
    """Return sample events of a timeline."""
    rows = (
        ("Mona, Manager", "gave Editor on layer Clean to Engineers", "key-round", "good", "", 40 * SECOND),
        (
            "Ana, Analyst",
            "asked for Read on salaries",
            "hand",
            "",
            "“For the report on staff costs of November.”",
            5 * 3600 * SECOND,
        ),
        ("Worker", "could not load tills", "circle-x", "bad", "The source did not answer for 30 seconds.", DAY),
        ("Olga, Owner", "made the workspace Warehouse", "plus", "", "", 40 * DAY),
    )
    return [
        {"who": who, "text": text, "icon": icon, "tone": tone, "more": more, "at": now - before}
        for who, text, icon, tone, more, before in rows
    ]
