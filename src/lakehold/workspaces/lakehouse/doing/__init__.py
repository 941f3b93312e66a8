"""How the steps of a lakehouse's pipelines are done. Only a worker imports this.

- `inputs`: the rows of a table; `outputs`: the table that rows go into, made if it is not there
- `materialise`: rows of a query into a table
- `keep`: a table into its history
- `ingest`: a stream of a source into a table
- `looking`: a source before it is one; `trying`: a destination
- `upkeep`: a table kept up, rolled back, described, brought back; `purging`: the rows of deleted ones
- `deliver`: a table to where a destination sends it
"""

from __future__ import annotations

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.lakehouse.doing import deliver, ingest, keep, materialise, upkeep
from lakehold.workspaces.lakehouse.steps import Deliver, Describe, Ingest, Keep, Materialise, Restore, Rollback, Upkeep

DOERS: StepExecutors = {
    Materialise: materialise.do,
    Keep: keep.run_update_history,
    Ingest: ingest.do,
    Deliver: deliver.do,
    Upkeep: upkeep.do,
    Rollback: upkeep.roll_back,
    Describe: upkeep.describe,
    Restore: upkeep.restore,
}
