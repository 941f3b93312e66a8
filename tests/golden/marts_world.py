"""The project `sales`, with one resource of each kind in it, and the words in which the marts seeds speak of it.

The person who asks is always `ann`. Every resource that can have contexts is in the context `north`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from lakehold.access.facts.records import Add, Draft, Fact, Remove
from tests.world import World

ANN = "ann"
ADMIN, TU, BU = "admin", "technical_user", "business_user"

ENTIRE = "entire project"
OVERLAP = "selected contexts, overlap"
NO_OVERLAP = "selected contexts, no overlap"
SCOPES = (ENTIRE, OVERLAP, NO_OVERLAP)
HELD: Mapping[str, Sequence[str]] = {ENTIRE: (), OVERLAP: ("north",), NO_OVERLAP: ("south",)}

NOT_SHARED, MAINTENANCE, BOTH = "Not shared", "Shared for maintenance", "Shared for both"
USE, REPORTING = "Shared for use", "Shared for reporting"
TOGGLES = {
    NOT_SHARED: (False, False),
    USE: (True, False),
    REPORTING: (True, False),
    MAINTENANCE: (False, True),
    BOTH: (True, True),
}
FIRST_TOGGLE = {"warehouse": "shared_for_use", "orders": "shared_for_reporting", "sheet": "shared_for_use"}

# access-models.md, marts, the table of kinds: "All actions" of a cell means these.
ACTIONS = {
    "storage": "see use edit delete copy_credentials configure_sharing manage_owners",
    "data_mart": "see use edit delete configure_sharing manage_owners manage_triggers",
    "destination": "see use edit delete copy_credentials configure_sharing manage_owners restore",
    "report": "see edit delete run manage_owners",
    "data_mart_trigger": "see manage",
    "report_trigger": "see manage",
    "run": "see stop delete",
    "project": (
        "see create_storage create_data_mart create_destination invite_admin invite_technical_user"
        " invite_business_user manage_members manage_settings manage_contexts"
    ),
}
KIND_OF = {
    "warehouse": "storage",
    "orders": "data_mart",
    "sheet": "destination",
    "weekly": "report",
    "nightly": "data_mart_trigger",
    "monday": "report_trigger",
    "weekly_run": "run",
    "sales": "project",
}


def every_action(kind: str) -> set[str]:
    """What "All actions" means for the kind."""
    return set(ACTIONS[kind].split())


def parse_actions(cell: str, kind: str) -> set[str]:
    """Return the ids of the actions that a cell names, without its footnote."""
    words = cell.partition(" [")[0].replace("; +", ",")
    if words in ("All actions", "No access"):
        return every_action(kind) if words == "All actions" else set()
    actions = {word.strip().lower().replace(" ", "_") for word in words.split(",")}
    assert actions <= every_action(kind), cell
    return actions


class Sales(World):
    """The project, and `ann` in it."""

    def __init__(self, role: str = "", scope: str = ENTIRE) -> None:
        super().__init__()
        self.add("marts.project", "sales", tenant="acme")
        for context in ("north", "south"):
            self.add("marts.context", context, project="sales")
        self.add("marts.storage", "warehouse", project="sales", contexts="north")
        self.add("marts.data_mart", "orders", project="sales", storage="warehouse", contexts="north")
        self.add("marts.data_mart_trigger", "nightly", data_mart="orders")
        self.add("marts.destination", "sheet", project="sales", contexts="north")
        self.add("marts.report", "weekly", data_mart="orders", destination="sheet")
        self.add("marts.report_trigger", "monday", report="weekly")
        self.add("marts.run", "weekly_run", data_mart="orders", report="weekly")
        self.member(ANN)
        self.joins(ANN, role, scope)

    def joins(self, member: str, role: str, scope: str = ENTIRE) -> Self:
        """The member has this role, scope and contexts in the project."""
        if role:
            self.grant(member, role, "sales")
        if scope != ENTIRE:
            self.set("sales", member=member, scope="selected_contexts")
        for context in HELD[scope]:
            self.grant(member, "holder", context)
        return self

    def colleague(self, uid: str, role: str = "", scope: str = ENTIRE) -> Self:
        """One more member, with a role in the project."""
        self.member(uid)
        return self.joins(uid, role, scope)

    def owns(self, resource: str, role: str = "owner") -> Self:
        """`ann` owns the resource."""
        self.grant(ANN, role, resource)
        return self

    def shared(self, resource: str, state: str) -> Self:
        """The two toggles of the resource, by the words of the tables' columns."""
        first, second = TOGGLES[state]
        self.set(resource, None, shared_for_maintenance=second, **{FIRST_TOGGLE[resource]: first})
        return self

    def deleted(self, destination: str = "sheet") -> Self:
        """The destination is deleted."""
        self.set(destination, deleted=True)
        return self

    def technical_users_control_all_reports(self) -> Self:
        """The project setting is on."""
        self.set("sales", technical_users_control_all_reports=True)
        return self

    def may(self, resource: str, member: str = ANN) -> set[str]:
        """All that `ann`, or somebody else, may do with the resource."""
        return set(self.decisions.actions(member, resource))

    def may_create(self, kind: str, **edges: str | Sequence[str]) -> bool:
        """Whether `ann` may create this."""
        return self.decisions.check(ANN, "create", Draft(f"marts.{kind}", edges))

    def may_add(self, fact: Fact) -> bool:
        """Whether `ann` may make the fact hold."""
        return self.decisions.check_change(ANN, Add(fact))

    def may_remove(self, fact: Fact) -> bool:
        """Whether `ann` may end the fact."""
        return self.decisions.check_change(ANN, Remove(fact))

    def may_invite(self, role: str) -> bool:
        """Whether `ann` may invite with this role."""
        return self.decisions.check(ANN, "invite", "sales", role=role)


@dataclass(frozen=True, slots=True)
class Seat:
    """The position of `ann` when a row is checked. It has her role, what she owns, and how resources are shared."""

    role: str
    owns: Mapping[str, str] = field(default_factory=dict)
    shared: Mapping[str, str] = field(default_factory=dict)
    deleted: bool = False

    def sales(self, scope: str = ENTIRE) -> Sales:
        """The project as seen from this seat."""
        sales = Sales(self.role, scope)
        for resource, role in self.owns.items():
            sales.owns(resource, role)
        for resource, state in self.shared.items():
            sales.shared(resource, state)
        return sales.deleted() if self.deleted else sales

    def __str__(self) -> str:
        owned = [f"{role} of {resource}" for resource, role in self.owns.items()]
        return ", ".join([self.role, *owned, *self.shared.values()])


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a seed's table, asked from one seat under one scope."""

    table: str
    row: str
    column: str
    says: str
    seat: Seat
    scope: str

    def __str__(self) -> str:
        return " | ".join([self.table, self.row, self.column, str(self.seat), self.scope])


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a seed's table of two columns, see and do more, asked from one seat under one scope."""

    table: str
    row: str
    says: Sequence[str]
    seat: Seat
    scope: str

    def __str__(self) -> str:
        return " | ".join([self.table, self.row, str(self.seat), self.scope])

    @property
    def can_see(self) -> bool:
        """What the first column says."""
        return _yes(self.says[0])

    @property
    def can_more(self) -> bool:
        """What the second column says."""
        return _yes(self.says[1])

    def may(self, *more: str) -> set[str]:
        """The actions that the row gives; the second column stands for these."""
        return ({"see"} if self.can_see else set()) | (set(more) if self.can_more else set())


def _yes(says: str) -> bool:
    assert says.startswith(("Yes", "No")), says
    return says.startswith("Yes")


Seats = Mapping[str, Sequence[Seat]]
TableRows = Mapping[str, Sequence[str]]


def cells(table: str, seats: Seats, columns: Sequence[str], table_rows: TableRows, *scopes: str) -> list[Cell]:
    """Every cell of a table, in its order, from every seat that the row's label stands for."""
    return [
        Cell(table, row, column, says, seat, scope)
        for row, said in table_rows.items()
        for column, says in zip(columns, said, strict=True)
        for seat in seats[row]
        for scope in scopes
    ]


def rows(table: str, seats: Seats, table_rows: TableRows, *scopes: str) -> list[Row]:
    """Every row of a table of two columns, from every seat that its label stands for."""
    return [
        Row(table, row, said, seat, scope)
        for row, said in table_rows.items()
        for seat in seats[row]
        for scope in scopes
    ]


@dataclass(frozen=True, slots=True)
class EntitlementCell:
    """A cell of a table that says who can take one action."""

    table: str
    entity: str
    owner: str
    role: str
    yes: bool

    def __str__(self) -> str:
        return f"{self.table} | {self.entity} | {self.role}, {self.owner or 'non-owner'}"

    @property
    def resource(self) -> str:
        """The resource that stands for the entity."""
        return {"Data Mart": "orders", "Storage": "warehouse", "Destination": "sheet", "Report": "weekly"}[self.entity]

    def sales(self) -> Sales:
        """The project as seen by that person, with everything shared."""
        sales = Seat(self.role, {self.resource: self.owner} if self.owner else {}).sales()
        return sales if self.resource == "weekly" else sales.shared(self.resource, BOTH)


def entitlement_cells(table: str, rows: Sequence[tuple[str, str, str, bool]]) -> list[EntitlementCell]:
    """Return the rows (entity, owner role or none, project role, yes or no) of such a table."""
    return [EntitlementCell(table, *row) for row in rows]
