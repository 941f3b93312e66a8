"""The options of the designer: connections, tasks and datasets that its user sees, and the streams of a connection."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name, valid_table_name
from lakehold.lake.readable_tables import LAKE_CATALOG, name_path
from lakehold.web.form_tree import Texts
from lakehold.workspaces.registry import readable_kinds
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.datasets import list_datasets
from lakehold.workspaces.spaces.settings import CONNECTION_KIND, DATA_MART_KIND, TABLE_KIND, TASK, TASK_KIND
from lakehold.workspaces.spaces.tasks.visual_steps.columns import quote_part

_MOST = 300
_MAX_NAME = 63

Option = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """The options of a designer's fields."""

    connection: Sequence[Option] = ()
    reads: Sequence[Option] = ()
    source: Sequence[Option] = ()
    inputs: Sequence[str] = ()
    """The names of datasets as queries call them."""

    def options_of(self, name: str) -> Sequence[Option]:
        """Return the options of a field."""
        return {"connection": self.connection, "reads": self.reads, "source": self.source}.get(name, ())


@dataclass(slots=True)
class _Datasets:
    source: list[Option] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)


def load_options(ctx: RequestContext, project: str, word: str, task: str = "") -> TaskOptions:
    """Return the options for a task of this type in a project: those of the project first."""
    if word == "register":
        return TaskOptions(source=_registrable(ctx, project))
    tasks = [each for each in _list(ctx, TASK_KIND, project) if each[0] != task]
    visible, found = VisibleRefs(ctx), _Datasets()
    stored = resource_metadata.load_many(ctx, [ctx.view.resource(uid) for uid, _ in tasks])
    blank = resource_metadata.ResourceMetadata()
    reads = []
    for uid, name in tasks:
        above = visible.parent(uid)
        here = bool(above and above.uid == project)
        reads.append((uid, name if here or above is None else f"{name} ({above.name})"))
        for dataset in _dataset_names(ctx, uid, stored.get(ctx.view.resource(uid), blank).settings):
            found.source.append((f"{uid} {dataset}", f"{reads[-1][1]}: {dataset}"))
            found.inputs.append(_query_name(ctx, project, uid, dataset))
    return TaskOptions(_connections(ctx, visible, project), reads, found.source[:_MOST], found.inputs[:_MOST])


def _list(ctx: RequestContext, kind: str, near: str) -> list[Option]:
    """Return the ids and names of resources: those in a project or space first, so that no others keep them out."""
    pages = [ctx.session.list(ctx.principal, "list", kind, within=within, limit=_MOST) for within in (near, None)]
    return list({each.uid: each.name for page in pages for each in page.items}.items())[:_MOST]


def _connections(ctx: RequestContext, visible: VisibleRefs, project: str) -> list[Option]:
    """Return the connections, with those last that the owner of the project has no role for."""
    usable, others = [], []
    for uid, name in _list(ctx, CONNECTION_KIND, kinds.workspace_of(ctx.view, project) or project):
        space = visible.workspace(uid)
        label = f"{name} ({space.name})" if space else name
        if owner_context.missing_role(ctx, project, uid) is None:
            usable.append((uid, label))
        else:
            others.append((uid, f"{label}: the project's owner lacks a role"))
    return [*usable, *others]


def _registrable(ctx: RequestContext, project: str) -> list[Option]:
    """Return what the caller may read and so register, with those last that the project's owner may not read."""
    usable, others = [], []
    for edge, kind in (("table", TABLE_KIND), ("mart", DATA_MART_KIND)):
        for each in ctx.session.list(ctx.principal, readable_kinds()[kind], kind, limit=_MOST).items:
            label = " / ".join(name_path(ctx.view, each.uid))
            if owner_context.missing_role(ctx, project, each.uid) is None:
                usable.append((f"{edge} {each.uid}", label))
            else:
                others.append((f"{edge} {each.uid}", f"{label}: the project's owner may not read it"))
    return [*usable, *others]


def _dataset_names(ctx: RequestContext, task: str, stored: Mapping[str, object]) -> list[str]:
    """Return the datasets that a task has, and those that it will have when it is prepared."""
    usable = not TASK.is_draft(stored) and not TASK.problems(stored)
    planned = [fold_name(name) for name in (TASK.parse(stored).dataset_names() if usable else ())]
    return list(dict.fromkeys([*planned, *list_datasets(ctx, task)]))


def _query_name(ctx: RequestContext, project: str, task: str, dataset: str) -> str:
    """Return the name of a dataset as a query of a task of the project calls it."""
    path, place = name_path(ctx.view, task), name_path(ctx.view, project)
    here = path[: len(place)] == place
    names = path[len(place) :] if here else (LAKE_CATALOG, *path)
    return ".".join(map(quote_part, (*names, dataset)))


def stream_options(found: Mapping[str, Any], texts: Texts) -> list[Option]:
    """Return the streams of a connection that the form does not have yet; each value is what becomes a dataset."""
    taken = {str(each.get("stream", "")) for each in texts.get("datasets", ()) if isinstance(each, dict)}
    streams = [each for each in found.get("streams", ()) if str(each["name"]) not in taken]
    return [
        (json.dumps({"stream": each["name"], "keys": each.get("keys") or []}), str(each["name"])) for each in streams
    ]


def stream_records(values: object) -> list[Texts]:
    """Return the records of the datasets that chosen streams become."""
    found = []
    for value in values if isinstance(values, list) else []:
        try:
            chosen = json.loads(str(value))
            stream, keys = str(chosen["stream"]), [str(each) for each in chosen["keys"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        mode = "compare" if keys else "reload"
        found.append({"stream": stream, "name": _suggest_name(stream), "mode": mode, "keys": ", ".join(keys)})
    return found


def _suggest_name(stream: str) -> str:
    """Suggest the name of a dataset: `orders` for `public.orders`."""
    last = stream.rpartition("/")[2].rpartition(".")[2] or stream
    plain = "".join(each if each.isascii() and each.isalnum() else "_" for each in last.lower())
    plain = plain.strip("_").lstrip("0123456789_")[:_MAX_NAME] or "rows"
    return valid_table_name(plain)
