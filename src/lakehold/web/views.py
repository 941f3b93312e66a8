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
    "marts.data_mart": (
        View("Data", "sample", "table-2"),
        View("Schema", "fields", "menu"),
        View("Quality", "quality", "circle-check"),
        *_RUN,
    ),
    "marts.report": _RUN,
}
"""The views of a thing behind its overview."""

HOMES: Mapping[str, str] = {f"lakehouse.{name}": "pipeline" for name in _PIPELINES}
"""The part of the address at which a kind has an overview of its own."""

PLACES: Mapping[str, tuple[View, ...]] = {
    "lakehouse.lakehouse": (
        View("Data", "data", "database"),
        View("SQL", "sql", "square-terminal"),
        View("Pipelines", "pipelines", "workflow"),
        View("Runs", "runs", "activity"),
    ),
    "marts.project": (View("Runs", "runs", "activity"),),
}
"""The places of a workspace behind its overview."""

FORMS: Mapping[str, str] = {
    f"lakehouse.{name}": f"pipelines/new/{name}" for name in ("source", "query", "history", "destination")
}
"""The part of the workspace's address at which one of the kind is made."""

EDITS: Mapping[str, str] = {
    "lakehouse.source": "connection",
    "lakehouse.query": "pipeline/edit",
    "lakehouse.history": "pipeline/edit",
    "lakehouse.destination": "delivery",
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


def home(uid: str, kind: str) -> str:
    """The overview that a kind has of its own; empty for most."""
    return addresses.resource(uid, HOMES[kind]) if kind in HOMES else ""


def form(workspace: str, kind: str) -> str:
    """The form that a kind has of its own; empty for most."""
    return addresses.workspace(workspace, FORMS[kind]) if kind in FORMS else ""


def edit(uid: str, kind: str) -> str:
    """The form to change one that a kind has of its own; empty for most."""
    return addresses.resource(uid, EDITS[kind]) if kind in EDITS else ""
