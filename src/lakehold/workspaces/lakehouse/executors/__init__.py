"""Executors of the steps of a lakehouse. Only a worker imports this.

- `transfer`: loads streams of sources into tables, sends tables to destinations; probes and tests of both
- `tables`: writes the rows of queries and histories into tables; rolls back, describes, restores and purges tables
"""

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.lakehouse import steps
from lakehold.workspaces.lakehouse.executors import tables, transfer
from lakehold.workspaces.upkeep import MaintainTable
from lakehold.workspaces.upkeep_executor import maintain_table

STEP_EXECUTORS: StepExecutors = {
    steps.MaterialiseQuery: tables.materialise_query,
    steps.UpdateHistory: tables.run_update_history,
    steps.IngestStream: transfer.ingest_stream,
    steps.DeliverTable: transfer.deliver_table,
    MaintainTable: maintain_table,
    steps.RollBackTable: tables.roll_back_table,
    steps.DescribeFields: tables.describe_fields,
}
