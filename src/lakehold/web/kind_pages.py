"""The additional pages, tabs and forms of each kind: of resources and of workspaces.

They are data by kind, so that the packages that serve these pages need not know each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakehold.web import urls
from lakehold.web.navigation import NavLink


@dataclass(frozen=True, slots=True)
class KindPage:
    """A page of a resource or workspace: its label, the last part of its URL, its icon."""

    label: str
    part: str
    icon: str


_RUN_PAGES = (KindPage("Runs", "runs", "activity"), KindPage("Triggers", "triggers", "calendar-clock"))
_PIPELINES = ("source", "query", "history", "notebook", "destination", "integration")

RESOURCE_PAGES: Mapping[str, tuple[KindPage, ...]] = {
    **{f"lakehouse.{name}": _RUN_PAGES for name in ("source", "query", "history", "destination")},
    "lakehouse.table": (
        KindPage("Fields", "fields", "menu"),
        KindPage("Sample", "sample", "table-2"),
        KindPage("Snapshots", "snapshots", "history"),
        KindPage("Lineage", "lineage", "git-branch"),
        KindPage("Runs", "written", "activity"),
    ),
    "lakehouse.saved_query": (KindPage("SQL", "sql", "square-terminal"),),
    "lakehouse.volume": (KindPage("Files", "files", "folder"),),
    "marts.storage": (KindPage("Tables", "tables", "table-2"),),
    "marts.data_mart": (
        KindPage("Data", "sample", "table-2"),
        KindPage("Schema", "schema", "menu"),
        KindPage("Reports", "reports", "file-chart-column"),
        *reversed(_RUN_PAGES),
        KindPage("Quality", "quality", "circle-check"),
        KindPage("Lineage", "lineage", "git-branch"),
    ),
    "marts.report": (KindPage("Data", "rows", "table-2"), *_RUN_PAGES, KindPage("Insights", "insights", "chart-line")),
}
"""The views of a thing behind its overview."""

RESOURCE_OVERVIEWS: Mapping[str, str] = {
    **{f"lakehouse.{name}": "pipeline" for name in _PIPELINES},
    "marts.storage": "storage",
    "marts.data_mart": "mart",
    "marts.destination": "destination",
    "marts.report": "report",
}
"""The part of the address at which a kind has an overview of its own."""

WORKSPACE_OVERVIEWS: Mapping[str, str] = {"marts.project": "overview", "lakehouse.lakehouse": "lakehouse"}
"""The part of the address at which a workspace has an overview of its own."""

WORKSPACE_PAGES: Mapping[str, tuple[KindPage, ...]] = {
    "lakehouse.lakehouse": (
        KindPage("Data", "data", "database"),
        KindPage("SQL", "sql", "square-terminal"),
        KindPage("Pipelines", "pipelines", "workflow"),
        KindPage("Runs", "runs", "activity"),
    ),
    "marts.project": (KindPage("Runs", "runs", "activity"), KindPage("Insights", "insights", "chart-line")),
}
"""The places of a workspace behind its overview."""

EXTRA_WORKSPACE_TABS: Mapping[str, tuple[KindPage, ...]] = {
    "marts.project": (KindPage("Notifications", "notifications", "bell"),)
}
"""The views of a workspace beside its members."""

COLLAPSED_KINDS: Mapping[str, frozenset[str]] = {
    "lakehouse.lakehouse": frozenset(
        {"layer", "table", "volume", "stream", "saved_query", "source", "query", "history", "notebook"}
        | {"destination", "integration"}
    ),
    "marts.project": frozenset({"context", "data_mart_trigger", "report_trigger", "run"}),
}
"""The kinds of a workspace that are met on the pages of its places, or of other kinds: they are listed behind these."""

CREATE_FORMS: Mapping[str, str] = {
    **{f"lakehouse.{name}": f"pipelines/new/{name}" for name in _PIPELINES},
    "marts.storage": "storages/new",
    "marts.data_mart": "marts/new",
    "marts.destination": "destinations/new",
    "marts.report": "reports/new",
}
"""The part of the workspace's address at which one of the kind is made."""

EDIT_FORMS: Mapping[str, str] = {
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


def resource_tabs(uid: str, kind: str) -> list[NavLink]:
    """Return the tabs of a resource after its overview."""
    return [NavLink(view.label, urls.resource(uid, view.part), view.icon) for view in RESOURCE_PAGES.get(kind, ())]


def page_label(kind: str, part: str) -> str:
    """Return the label of a page of a kind; empty if the kind has no such page."""
    return next((view.label for view in RESOURCE_PAGES.get(kind, ()) if view.part == part), "")


def workspace_links(uid: str, kind: str) -> list[NavLink]:
    """Return the links to the pages of a workspace after its overview."""
    return [NavLink(view.label, urls.workspace(uid, view.part), view.icon) for view in WORKSPACE_PAGES.get(kind, ())]


def extra_workspace_tabs(uid: str, kind: str) -> list[NavLink]:
    """Return the tabs of a workspace next to its members."""
    return [
        NavLink(view.label, urls.workspace(uid, view.part), view.icon) for view in EXTRA_WORKSPACE_TABS.get(kind, ())
    ]


def resource_overview_url(uid: str, kind: str) -> str:
    """Return the URL of the overview that a kind has of its own; empty for most."""
    return urls.resource(uid, RESOURCE_OVERVIEWS[kind]) if kind in RESOURCE_OVERVIEWS else ""


def workspace_overview_url(uid: str, kind: str) -> str:
    """Return the URL of the overview that a kind of workspace has of its own; empty for most."""
    return urls.workspace(uid, WORKSPACE_OVERVIEWS[kind]) if kind in WORKSPACE_OVERVIEWS else ""


def create_form_url(workspace: str, kind: str) -> str:
    """Return the URL of the create form that a kind has of its own; empty for most."""
    return urls.workspace(workspace, CREATE_FORMS[kind]) if kind in CREATE_FORMS else ""


def edit_form_url(uid: str, kind: str) -> str:
    """Return the URL of the edit form that a kind has of its own; empty for most."""
    return urls.resource(uid, EDIT_FORMS[kind]) if kind in EDIT_FORMS else ""


OVERVIEW_TAB, MEMBERS_TAB, SETTINGS_TAB, ACCESS_TAB = "", "members", "settings", "access"


def workspace_tabs(uid: str, kind: str) -> tuple[NavLink, ...]:
    """Return the tabs of a workspace, in order."""
    return (
        NavLink("Overview", _tab_url(uid, OVERVIEW_TAB), "layout-dashboard"),
        NavLink("Members", _tab_url(uid, MEMBERS_TAB), "users"),
        *extra_workspace_tabs(uid, kind),
        NavLink("Settings", _tab_url(uid, SETTINGS_TAB), "settings"),
        NavLink("Access", _tab_url(uid, ACCESS_TAB), "shield"),
    )


def workspace_tab_values(uid: str, kind: str, part: str = OVERVIEW_TAB) -> dict[str, object]:
    """Return the values that the template `workspaces/tabs.html` needs."""
    return {"tabs": workspace_tabs(uid, kind), "tab": _tab_url(uid, part)}


def _tab_url(uid: str, part: str) -> str:
    return urls.resource(uid, part) if part == ACCESS_TAB else urls.workspace(uid, part)
