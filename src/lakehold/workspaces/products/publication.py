"""Starts the run that publishes the newest version of a data product."""

from lakehold import workspaces
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Run, Runs
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.products import versions
from lakehold.workspaces.products.pipelines import PUBLISH
from lakehold.workspaces.products.settings import PRODUCT_KIND
from lakehold.workspaces.upkeep import TASK_PARAMETER


def start(ctx: RequestContext, product: str) -> Run:
    """Start the run; refused if there is no version that is not published yet."""
    need_kind(ctx, product, PUBLISH, (PRODUCT_KIND,))
    if versions.need_newest(ctx, product).published_at:
        raise ConflictError("The newest version is published already.", "Run the data product to make another.")
    return Runs(workspaces.runnables()).start(ctx, product, RunOptions(parameters={TASK_PARAMETER: PUBLISH}))
