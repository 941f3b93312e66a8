"""Executors of the steps of a lakehouse. Only a worker imports this.

- `transfer`: loads streams of sources into tables, sends tables to destinations; probes and tests of both
- `tables`: writes the rows of queries and histories into tables; maintains, rolls back, restores and purges tables
"""

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.lakehouse import steps
from lakehold.workspaces.lakehouse.executors import tables, transfer

STEP_EXECUTORS: StepExecutors = {
    steps.MaterialiseQuery: tables.materialise_query,
    steps.UpdateHistory: tables.run_update_history,
    steps.IngestStream: transfer.ingest_stream,
    steps.DeliverTable: transfer.deliver_table,
    steps.MaintainTable: tables.maintain_table,
    steps.RollBackTable: tables.roll_back_table,
    steps.DescribeFields: tables.describe_fields,
}
