"""Which icon stands for which kind. A kind of a custom model gets a plain one."""

from __future__ import annotations

_ICONS = {
    "tenant.tenant": "building-2",
    "tenant.member": "user",
    "tenant.group": "users",
    "tenant.all_members": "globe",
    "marts.project": "store",
    "marts.context": "tag",
    "marts.storage": "database",
    "marts.data_mart": "package",
    "marts.data_mart_trigger": "calendar-clock",
    "marts.destination": "send",
    "marts.report": "file-chart-column",
    "marts.report_trigger": "calendar-clock",
    "marts.run": "play",
    "lakehouse.lakehouse": "waves",
    "lakehouse.layer": "layers",
    "lakehouse.table": "table-2",
    "lakehouse.volume": "folder",
    "lakehouse.stream": "activity",
    "lakehouse.source": "download",
    "lakehouse.saved_query": "book-open",
    "lakehouse.query": "command",
    "lakehouse.notebook": "book-open",
    "lakehouse.history": "history",
    "lakehouse.destination": "send",
    "lakehouse.integration": "link",
    "spaces.space": "boxes",
    "spaces.project": "blocks",
    "spaces.task": "workflow",
    "spaces.connection": "link",
    "spaces.gateway": "route",
    "spaces.app": "layout-dashboard",
    "products.project": "sparkles",
    "products.source": "download",
    "products.workflow": "workflow",
    "products.destination": "send",
    "products.product": "box",
}


def icon_of(kind: str) -> str:
    """The name of the icon."""
    return _ICONS.get(kind, "circle")
