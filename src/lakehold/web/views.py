"""What some kinds have beside the pages that all have: views of a thing, places in a workspace, forms of their own.

By kind, as data: the rooms that make these pages are not asked, so that no room has to know another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakehold.web import addresses
from lakehold.web.navigation import Place


@dataclass(frozen=True, slots=True)
class View:
    """A page of a thing or of a workspace: its label, the part of the address, its icon."""

    label: str
    part: str
    icon: str


_RUN = (View("Runs", "runs", "activity"), View("Triggers", "triggers", "calendar-clock"))
_PIPELINES = ("source", "query", "history", "notebook", "destination", "integration")

VIEWS: Mapping[str, tuple[View, ...]] = {
    **{f"lakehouse.{name}": _RUN for name in ("source", "query", "history", "destination")},
    "lakehouse.table": (
        View("Fields", "fields", "menu"),
        View("Sample", "sample", "table-2"),
        View("Snapshots", "snapshots", "history"),
        View("Lineage", "lineage", "git-branch"),
        View("Runs", "written", "activity"),
    ),
    "lakehouse.saved_query": (View("SQL", "sql", "square-terminal"),),
    "lakehouse.volume": (View("Files", "files", "folder"),),
    "marts.storage": (View("Tables", "tables", "table-2"),),
    "marts.data_mart": (
        View("Data", "sample", "table-2"),
        View("Schema", "schema", "menu"),
        View("Reports", "reports", "file-chart-column"),
        *reversed(_RUN),
        View("Quality", "quality", "circle-check"),
        View("Lineage", "lineage", "git-branch"),
    ),
    "marts.report": (View("Data", "rows", "table-2"), *_RUN, View("Insights", "insights", "chart-line")),
}
"""The views of a thing behind its overview."""

HOMES: Mapping[str, str] = {
    **{f"lakehouse.{name}": "pipeline" for name in _PIPELINES},
    "marts.storage": "storage",
    "marts.data_mart": "mart",
    "marts.destination": "destination",
    "marts.report": "report",
}
"""The part of the address at which a kind has an overview of its own."""

OVERVIEWS: Mapping[str, str] = {"marts.project": "overview", "lakehouse.lakehouse": "lakehouse"}
"""The part of the address at which a workspace has an overview of its own."""

PLACES: Mapping[str, tuple[View, ...]] = {
    "lakehouse.lakehouse": (
        View("Data", "data", "database"),
        View("SQL", "sql", "square-terminal"),
        View("Pipelines", "pipelines", "workflow"),
        View("Runs", "runs", "activity"),
    ),
    "marts.project": (View("Runs", "runs", "activity"), View("Insights", "insights", "chart-line")),
}
"""The places of a workspace behind its overview."""

TABS: Mapping[str, tuple[View, ...]] = {"marts.project": (View("Notifications", "notifications", "bell"),)}
"""The views of a workspace beside its members."""

ASIDE: Mapping[str, frozenset[str]] = {
    "lakehouse.lakehouse": frozenset(
        {"layer", "table", "volume", "stream", "saved_query", "source", "query", "history", "notebook"}
        | {"destination", "integration"}
    ),
    "marts.project": frozenset({"context", "data_mart_trigger", "report_trigger", "run"}),
}
"""The kinds of a workspace that are met on the pages of its places, or of other kinds: they are listed behind these."""

FORMS: Mapping[str, str] = {
    **{f"lakehouse.{name}": f"pipelines/new/{name}" for name in _PIPELINES},
    "marts.storage": "storages/new",
    "marts.data_mart": "marts/new",
    "marts.destination": "destinations/new",
    "marts.report": "reports/new",
}
"""The part of the workspace's address at which one of the kind is made."""

EDITS: Mapping[str, str] = {
    "lakehouse.source": "connection",
    "lakehouse.query": "pipeline/edit",
    "lakehouse.history": "pipeline/edit",
    "lakehouse.notebook": "pipeline/edit",
    "lakehouse.integration": "pipeline/edit",
    "lakehouse.destination": "delivery",
    "marts.storage": "storage/edit",
    "marts.data_mart": "mart/edit",
    "marts.destination": "destination/edit",
    "marts.report": "report/edit",
}
"""The part of the address at which a kind has a form of its own to change it."""


def of(uid: str, kind: str) -> list[Place]:
    """The views of a thing behind its overview."""
    return [Place(view.label, addresses.resource(uid, view.part), view.icon) for view in VIEWS.get(kind, ())]


def label(kind: str, part: str) -> str:
    """What a view of a kind is called; empty if it has none such."""
    return next((view.label for view in VIEWS.get(kind, ()) if view.part == part), "")


def places(uid: str, kind: str) -> list[Place]:
    """The places of a workspace behind its overview."""
    return [Place(view.label, addresses.workspace(uid, view.part), view.icon) for view in PLACES.get(kind, ())]


def beside(uid: str, kind: str) -> list[Place]:
    """The views of a workspace beside its members."""
    return [Place(view.label, addresses.workspace(uid, view.part), view.icon) for view in TABS.get(kind, ())]


def home(uid: str, kind: str) -> str:
    """The overview that a kind has of its own; empty for most."""
    return addresses.resource(uid, HOMES[kind]) if kind in HOMES else ""


def overview(uid: str, kind: str) -> str:
    """The overview that a workspace has of its own; empty for most."""
    return addresses.workspace(uid, OVERVIEWS[kind]) if kind in OVERVIEWS else ""


def form(workspace: str, kind: str) -> str:
    """The form that a kind has of its own; empty for most."""
    return addresses.workspace(workspace, FORMS[kind]) if kind in FORMS else ""


def edit(uid: str, kind: str) -> str:
    """The form to change one that a kind has of its own; empty for most."""
    return addresses.resource(uid, EDITS[kind]) if kind in EDITS else ""
