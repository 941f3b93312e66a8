"""Executors of the steps of data tasks, and probes of data connections. Only a worker imports this.

- `capture_upkeep`: drops replication slots that are not used any more, and looks at what the others retain
- `change_capture`: lands the changes that a database has logged
- `connections`: opens data connections, directly or through a gateway, and probes them
- `datasets`: lands, stores, transforms and replicates datasets
- `gateway_source`: reads a connection behind a gateway
- `input_rows`: the rows and columns of datasets that tasks read
- `input_session`: the inputs of a transform task as its queries see them
- `registrations`: registers tables as datasets, and checks that they are still what they were
- `star_members`: computes the members of a dimension, versions included
- `star_plan`: finds the columns that the datasets of a star schema are to have
- `star_schema`: loads the dimensions, facts and views of a star schema
- `prepare`: creates and alters the tables of datasets, and says beforehand what it would do
"""

from collections.abc import Mapping

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.descriptor import Probe
from lakehold.workspaces.spaces.executors import (
    capture_upkeep,
    change_capture,
    connections,
    datasets,
    prepare,
    registrations,
)
from lakehold.workspaces.spaces.gateways import work_orders
from lakehold.workspaces.spaces.steps import (
    CaptureChanges,
    CheckRegistration,
    LandDataset,
    LoadStar,
    PrepareTask,
    ReplicateDataset,
    RunTransform,
    StoreDataset,
)

STEP_EXECUTORS: StepExecutors = {
    PrepareTask: prepare.prepare_task,
    LandDataset: datasets.land_dataset,
    CaptureChanges: change_capture.capture_changes,
    CheckRegistration: registrations.check_registration,
    StoreDataset: datasets.store_dataset,
    RunTransform: datasets.run_transform,
    LoadStar: datasets.load_star,
    ReplicateDataset: datasets.replicate_dataset,
}

PROBES: Mapping[str, Probe] = {**connections.PROBES, **prepare.PROBES}

PERIODIC_TASKS = (*capture_upkeep.PERIODIC_TASKS, *work_orders.PERIODIC_TASKS)
"""The work that a worker does for data spaces again and again."""
