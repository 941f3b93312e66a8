"""The routers of tables and SQL, in the order in which they are looked for."""

from __future__ import annotations

from lakehold.web.lakehouse import (
    asked,
    browsing,
    completing,
    deleted,
    editor,
    keeping,
    lineage,
    overview,
    saved,
    tables,
    upkeeping,
)

ROUTERS = [
    *(asked.routes, completing.routes, saved.routes, keeping.routes, editor.routes, editor.things),
    *(overview.routes, deleted.routes, browsing.routes, upkeeping.routes, tables.routes, lineage.routes),
]
