"""Registered datasets: the table of a lakehouse, or the data mart, whose rows one shows, and whether they are open.

A registered dataset has no rows of its own. An edge that prepare sets leads to its source; whoever may view or consume
its data sees the source as it is now, without hidden columns, while the owner of the project may read it. The access
model asks that person each time (`source_open`); what upkeep, drops and writes touch is the dataset's own place, where
there is nothing.
"""

from lakehold.access.facts.descriptions import describe_resource
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import quote
from lakehold.lake.errors import SourceClosedError
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.tasks.register import TASK_EDGES


def source_of(ctx: RequestContext, dataset: str) -> str:
    """Return the table that a dataset shows; empty if it has rows of its own, or its source was deleted."""
    return next((end for edge in TASK_EDGES for end in edge_targets(ctx, dataset, edge)), "")


def is_open(ctx: RequestContext, dataset: str) -> bool:
    """Return whether the owner of the project may read the source of a registered dataset now."""
    owner = owner_context.owner_of(ctx, _project_of(ctx, dataset))
    return bool(owner) and ctx.session.holds(owner, "source_open", dataset)


def source_table(ctx: RequestContext, dataset: str) -> str:
    """Return the table whose rows a dataset shows, itself if it is not registered; refuse if they are closed."""
    source = source_of(ctx, dataset)
    if source and not is_open(ctx, dataset):
        raise _closed_error(ctx, dataset, source)
    return source or dataset


def _closed_error(ctx: RequestContext, dataset: str, source: str) -> SourceClosedError:
    """Return the refusal, which names person and right to those who can have it mended."""
    name = quote(ctx.view.names.get(ctx.view.resource(dataset)) or dataset)
    message = f"The rows of the registered dataset {name} cannot be read now."
    task = owner_context.task_of(ctx, dataset)
    if not owner_context.may_mend(ctx, task):
        return SourceClosedError(message, f"Ask who operates the {describe_resource(ctx.view, task)}.")
    missing = owner_context.missing_role(ctx, _project_of(ctx, dataset), source)
    return SourceClosedError(f"{message} {missing.text}" if missing else message, missing.hint if missing else "")


def _project_of(ctx: RequestContext, dataset: str) -> str:
    return owner_context.project_of(ctx, owner_context.task_of(ctx, dataset))
