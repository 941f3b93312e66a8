"""URLs and tabs of the pages that a kind of resource or workspace has of its own, as its descriptor says."""

from lakehold.web import urls
from lakehold.web.navigation import NavLink
from lakehold.workspaces.registry import describe_kind, find_workspace

OVERVIEW_TAB, MEMBERS_TAB, SETTINGS_TAB, ACCESS_TAB = "", "members", "settings", "access"


def resource_tabs(uid: str, kind: str) -> list[NavLink]:
    """Return the tabs of a resource after its overview."""
    return [NavLink(page.label, urls.resource(uid, page.part), page.icon) for page in describe_kind(kind).pages]


def page_label(kind: str, part: str) -> str:
    """Return the label of a page of a kind; empty if the kind has no such page."""
    return next((page.label for page in describe_kind(kind).pages if page.part == part), "")


def workspace_links(uid: str, kind: str) -> list[NavLink]:
    """Return the links to the pages of a workspace after its overview."""
    pages = workspace.pages if (workspace := find_workspace(kind)) else ()
    return [NavLink(page.label, urls.workspace(uid, page.part), page.icon) for page in pages]


def extra_workspace_tabs(uid: str, kind: str) -> list[NavLink]:
    """Return the tabs of a workspace next to its members."""
    tabs = workspace.tabs if (workspace := find_workspace(kind)) else ()
    return [NavLink(page.label, urls.workspace(uid, page.part), page.icon) for page in tabs]


def resource_overview_url(uid: str, kind: str) -> str:
    """Return the URL of the overview that a kind has of its own; empty for most."""
    return urls.resource(uid, part) if (part := describe_kind(kind).overview) else ""


def create_form_url(workspace: str, kind: str) -> str:
    """Return the URL of the create form that a kind has of its own; empty for most."""
    return urls.workspace(workspace, part) if (part := describe_kind(kind).create_form) else ""


def edit_form_url(uid: str, kind: str) -> str:
    """Return the URL of the edit form that a kind has of its own; empty for most."""
    return urls.resource(uid, part) if (part := describe_kind(kind).edit_form) else ""


def workspace_tab_values(uid: str, kind: str, part: str = OVERVIEW_TAB) -> dict[str, object]:
    """Return the values that the template `workspaces/tabs.html` needs: the tabs of a workspace, and the current."""
    tabs = (
        NavLink("Overview", urls.workspace(uid), "layout-dashboard"),
        NavLink("Members", urls.workspace(uid, MEMBERS_TAB), "users"),
        *extra_workspace_tabs(uid, kind),
        NavLink("Settings", urls.workspace(uid, SETTINGS_TAB), "settings"),
        NavLink("Access", urls.resource(uid, ACCESS_TAB), "shield"),
    )
    return {"tabs": tabs, "tab": urls.workspace(uid, part)}
