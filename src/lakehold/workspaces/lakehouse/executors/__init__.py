"""Executors of the steps of a lakehouse. Only a worker imports this.

- `transfer`: loads streams of sources into tables, sends tables to destinations
- `tables`: writes the rows of queries and histories into tables
- `table_maintenance`: maintains, rolls back, describes, restores and purges tables
- `probe`: probes a source and tests a destination before they are saved
"""

from __future__ import annotations

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.lakehouse.executors import table_maintenance, tables, transfer
from lakehold.workspaces.lakehouse.steps import (
    DeliverTable,
    DescribeFields,
    IngestStream,
    MaintainTable,
    MaterialiseQuery,
    RestoreRows,
    RollBackTable,
    UpdateHistory,
)

STEP_EXECUTORS: StepExecutors = {
    MaterialiseQuery: tables.materialise_query,
    UpdateHistory: tables.run_update_history,
    IngestStream: transfer.ingest_stream,
    DeliverTable: transfer.deliver_table,
    MaintainTable: table_maintenance.maintain_table,
    RollBackTable: table_maintenance.roll_back_table,
    DescribeFields: table_maintenance.describe_fields,
    RestoreRows: table_maintenance.restore_rows,
}
