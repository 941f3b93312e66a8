"""Types of data tasks: their settings, which say what they read and which datasets they make. Nothing here needs Spark.

- `base`: the base of the settings of all tasks, and references to datasets of other tasks
- `landing`: brings streams of a data connection into datasets
- `storage`: keeps the current rows of datasets by key, or their history
- `transform`: makes datasets by SQL, or by a chain of visual steps
- `visual_steps`: the visual steps of a transform task, and their SQL
- `register`: shows tables of a lakehouse and data marts as datasets, without copying them
- `data_mart`: makes a star schema: dimensions, facts, and views for consumers
- `replication`: sends datasets to a data connection
"""

from collections.abc import Mapping

from lakehold.workspaces.spaces.tasks.base import TaskSettings
from lakehold.workspaces.spaces.tasks.data_mart import DataMartTaskSettings
from lakehold.workspaces.spaces.tasks.landing import LandingSettings
from lakehold.workspaces.spaces.tasks.register import RegisterSettings
from lakehold.workspaces.spaces.tasks.replication import ReplicationSettings
from lakehold.workspaces.spaces.tasks.storage import StorageSettings
from lakehold.workspaces.spaces.tasks.transform import TransformSettings

RECORDS: Mapping[str, type[TaskSettings]] = {
    "landing": LandingSettings,
    "register": RegisterSettings,
    "storage": StorageSettings,
    "transform": TransformSettings,
    "data_mart": DataMartTaskSettings,
    "replication": ReplicationSettings,
}
"""The settings of a task by its type."""

__all__ = ["RECORDS", "TaskSettings"]
