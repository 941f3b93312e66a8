"""Connections, tasks and registered tables in the settings of a task, as ids and as names.

A name is a path from the data space on: `shop` is a connection of the space of the project, `Sources/shop` one of
another space; `orders` is a task of the project, `stores/stock` one of another project, `Depot/stores/stock` one of
another space; `Lake/raw/orders` is a table of a lakehouse, `Marketing/customers` a data mart.
"""

from collections.abc import Callable, Mapping

from lakehold.catalog import kinds, resources
from lakehold.directory.request_context import RequestContext
from lakehold.lake.readable_tables import name_path
from lakehold.workspaces.spaces.settings import CONNECTION_KIND, DATA_MART_KIND, TABLE_KIND, TASK_KIND

_AT_ONCE = 200
Translate = Callable[[str, str], str]
"""Returns an id for the name of a resource of a kind, or a name for its id."""


def translate(settings: Mapping[str, object], change: Translate) -> dict[str, object]:
    """Return settings of a task in which all connections, tasks and tables that they name are changed."""
    return {name: _translate(name, value, change) for name, value in settings.items()}


def _translate(name: str, value: object, change: Translate) -> object:
    match name, value:
        case "connection", str():
            return change(CONNECTION_KIND, value)
        case "reads", [*tasks]:
            return [change(TASK_KIND, task) if isinstance(task, str) else task for task in tasks]
        case "source", {"task": str(task), **more}:
            return {"task": change(TASK_KIND, task), **more}
        case "source", {"table": str(table), **more}:
            return {"table": change(TABLE_KIND, table), **more}
        case "source", {"mart": str(mart), **more}:
            return {"mart": change(DATA_MART_KIND, mart), **more}
        case (("datasets" | "tables" | "dimensions" | "facts"), [*items]):
            return [translate(item, change) if isinstance(item, dict) else item for item in items]
    return value


def path_of(ctx: RequestContext, uid: str, space: str) -> str:
    """Return the path of a connection, task or table, seen from a data space."""
    path = ctx.session.read_view(lambda view: name_path(view, uid))
    inside = ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)) == space
    return "/".join(path[1:] if inside else path)


def find(ctx: RequestContext, kind: str, path: str, space: str) -> str | None:
    """Return the connection, task or table with this path, seen from a data space, if the caller may see one."""
    after: str | None = None
    while True:
        page = resources.find(ctx, among=[kind], search=path.rpartition("/")[2], limit=_AT_ONCE, after=after)
        found = next((each.uid for each in page.items if path_of(ctx, each.uid, space) == path), None)
        if found is not None or page.after is None:
            return found
        after = page.after
