"""The views of one workspace. A page of it passes `shown(uid, kind, …)` along and includes `workspaces/tabs.html`."""

from __future__ import annotations

from lakehold.web import addresses, views
from lakehold.web.navigation import Place

OVERVIEW, MEMBERS, SETTINGS, ACCESS = "", "members", "settings", "access"


def tabs(uid: str, kind: str) -> tuple[Place, ...]:
    """All of them, in order."""
    return (
        Place("Overview", _address(uid, OVERVIEW), "layout-dashboard"),
        Place("Members", _address(uid, MEMBERS), "users"),
        *views.beside(uid, kind),
        Place("Settings", _address(uid, SETTINGS), "settings"),
        Place("Access", _address(uid, ACCESS), "shield"),
    )


def shown(uid: str, kind: str, part: str = OVERVIEW) -> dict[str, object]:
    """The values that `workspaces/tabs.html` needs."""
    return {"tabs": tabs(uid, kind), "tab": _address(uid, part)}


def _address(uid: str, part: str) -> str:
    return addresses.resource(uid, part) if part == ACCESS else addresses.workspace(uid, part)
