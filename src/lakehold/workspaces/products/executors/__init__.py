"""Executors of the steps of sources and data products. Only a worker imports this.

- `sources`: refreshes a source
"""

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.products.executors import sources
from lakehold.workspaces.products.steps import RefreshSource
from lakehold.workspaces.upkeep import MaintainTable
from lakehold.workspaces.upkeep_executor import maintain_table

STEP_EXECUTORS: StepExecutors = {
    RefreshSource: sources.refresh_source,
    MaintainTable: maintain_table,
}
