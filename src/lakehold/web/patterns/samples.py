"""Made-up things for the patterns. Nothing of a real tenant is ever here."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.web.actions import Action
from lakehold.web.diffs import Change, Effect
from lakehold.web.listing import Column, Filter
from lakehold.web.matrix import Cell, Row
from lakehold.web.navigation import Around, Person, Place, Section, ViewAs
from lakehold.web.paths import Node, Path

HERE = "/ui/patterns"

AROUND = Around(
    tenant="Corner & Main",
    home=HERE,
    places=(
        Place("Patterns", HERE, "palette"),
        Place("Home", f"{HERE}#home", "home"),
        Place("Requests", f"{HERE}#requests", "inbox", 3),
    ),
    workspaces=(
        Section(
            "Warehouse",
            f"{HERE}#warehouse",
            "waves",
            "Lakehouse",
            (
                Place("Tables", f"{HERE}#tables", "table-2"),
                Place("Pipelines", f"{HERE}#pipelines", "workflow"),
                Place("Access", f"{HERE}#access", "shield"),
            ),
        ),
        Section(
            "Sales", f"{HERE}#sales", "store", "Project", (Place("Data marts", f"{HERE}#marts", "layout-dashboard"),)
        ),
        Section("Lab", f"{HERE}#lab", "shapes", "Data space", (Place("Tasks", f"{HERE}#tasks", "zap"),)),
    ),
    more=(
        Place("People", f"{HERE}#people", "users"),
        Place("Access review", f"{HERE}#review", "clipboard-check"),
        Place("Audit log", f"{HERE}#audit", "scroll-text"),
    ),
    person=Person(
        "Olga, Owner",
        "olga@corner.example",
        (Place("Profile", f"{HERE}#profile", "user"), Place("API tokens", f"{HERE}#tokens", "key-round")),
        f"{HERE}/say",
    ),
)
VIEW_AS = ViewAs("Erik, Engineer", f"{HERE}/say")

PEOPLE = ("Erik, Engineer", "Ana, Analyst", "Mona, Manager", "Otto, Operator", "Carla, Curator", "Nils, Newcomer")
_NAMES = ("orders", "customers", "stores", "returns", "margins", "salaries", "tills", "day_totals", "stock", "prices")


@dataclass(frozen=True, slots=True)
class Table:
    """A row of the sample list."""

    name: str
    layer: str
    owner: str
    rows: int
    changed: Moment
    state: str
    actions: tuple[Action, ...]


def tables(now: Moment) -> list[Table]:
    """Enough rows for several pages."""
    return [_table(at, now) for at in range(128)]


def _table(at: int, now: Moment) -> Table:
    name = _NAMES[at % len(_NAMES)] + (f"_{at // len(_NAMES)}" if at >= len(_NAMES) else "")
    mine = at % 3 != 1
    return Table(
        name=name,
        layer=("Raw", "Clean", "Gold")[at % 3],
        owner=PEOPLE[at % len(PEOPLE)],
        rows=(at * 7919 + 1013) * 97 % 4_000_000,
        changed=now - at * at * 1_300 * SECOND - 40 * SECOND,
        state=("fresh", "fresh", "late", "failed")[at % 4],
        actions=(
            Action("Open", f"{HERE}#{name}", icon="arrow-right"),
            action_edit(name) if mine else refused(name),
            Action("Remove", f"{HERE}/remove", "post", "trash-2", (("name", name),), f"Remove {name}?", danger=True),
        ),
    )


def action_edit(name: str) -> Action:
    """Something that may be done, in a dialog."""
    return Action("Edit", f"{HERE}/form?name={name}", icon="pencil", dialog=True)


def refused(name: str) -> Action:
    """Something that may not be done."""
    return Action(
        "Edit",
        icon="pencil",
        why_not=f"You need Editor on {name} or on its layer.",
        request=f"{HERE}/form?name={name}",
        why=f"{HERE}#path",
    )


OPEN = Action("Open", HERE, icon="arrow-right")
REMOVE = Action("Remove", f"{HERE}/remove", "post", "trash-2", (("name", "orders"),), "Remove orders?", danger=True)

SORTS = ("name", "rows", "changed")
COLUMNS = (
    Column("Table", "name"),
    Column("Owner", wide=True),
    Column("Layer", wide=True),
    Column("State"),
    Column("Rows", "rows", number=True),
    Column("Changed", "changed", wide=True),
)
FILTERS = (
    Filter("layer", "Layer", (("Raw", "Raw"), ("Clean", "Clean"), ("Gold", "Gold"))),
    Filter("state", "State", (("fresh", "Fresh"), ("late", "Late"), ("failed", "Failed"))),
)
TONES = {"fresh": "good", "late": "warn", "failed": "bad"}

ALLOWED = Path(
    (
        Node("Person", "Erik, Engineer", "user"),
        Node("Group", "Engineers", "users", note="is in"),
        Node("Grant", "Editor", "key-round", note="holds"),
        Node("Layer", "Clean", "layers", HERE, note="on"),
        Node("Table", "orders", "table-2", HERE, note="has"),
    ),
    rule="Editors of a layer are editors of its tables",
    place="lakehouse/model.yaml:54",
)
DENIED = Path(
    (
        Node("Person", "Bella, Business User", "user"),
        Node("Role", "Technical User", "shield", held=False, note="needs"),
        Node("Project", "Sales", "store", note="in"),
        Node("Data mart", "store_targets", "layout-dashboard", note="has"),
    ),
    rule="Technical Users edit what is shared for maintenance",
    place="marts/model.yaml:61",
    givers=("Olga, Owner", "Adam, Admin"),
    request=f"{HERE}/form?name=store_targets",
)

ACTIONS = ("See", "Read", "Edit", "Run", "Give", "Delete")
_N, _D, _G = Cell(False, href=HERE), Cell(True, "direct", href=HERE), Cell(True, "group", "By Engineers", HERE)
_I, _R = Cell(True, "inherited", "From layer Clean", HERE), Cell(True, "role", "Owner of the tenant", HERE)
_T = Cell(True, "direct", href=HERE, until="30 November")
MATRIX = tuple(
    Row(name, note, HERE, cells)
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
    Effect(True, 12, "Read", 40, "table", HERE),
    Effect(True, 1, "Run", 2, "pipeline"),
    Effect(False, 3, "Edit", 1, "table"),
)
CHANGES = (
    Change("name", "order", "orders"),
    Change("shared_for_reporting", "false", "true"),
    Change("context", None, "Retail"),
    Change("description", "All orders, one row for each line of a receipt", None),
)


def events(now: Moment) -> list[dict[str, object]]:
    """What happened lately."""
    told = (
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
        for who, text, icon, tone, more, before in told
    ]
