"""The steps of data tasks, with the settings that they had when their run began. `executors` executes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lakehold.runs.runnable import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep(Step):
    """A step of a task."""

    task: str
    owner: str
    """The owner of the project, in whose context it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareTask(TaskStep):
    """Create and alter the tables of a task's datasets."""

    identity: ClassVar[str] = "task"

    settings: Mapping[str, object]
    recreate: bool = False
    """Whether tables may be made anew, or dropped, where values would be lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetStep(TaskStep):
    """A step that fills a dataset."""

    identity: ClassVar[str] = "dataset"

    dataset: str
    settings: Mapping[str, object]
    """Those of the task."""
    item: Mapping[str, object]
    """Those of the dataset."""
    reload: bool = False
    """All of it anew, in one snapshot, whatever was read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LandDataset(DatasetStep):
    """Load a stream of a data connection into a dataset."""

    connection: str
    connection_settings: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureChanges(TaskStep):
    """Apply the changes that a database has logged to all datasets of a task that follow them: they share a slot."""

    identity: ClassVar[str] = "task"

    settings: Mapping[str, object]
    """Those of the task."""
    connection: str
    connection_settings: Mapping[str, object]
    datasets: Mapping[str, str]
    """The ids of the datasets by name."""
    reload: tuple[str, ...] = ()
    """The names of datasets that are loaded anew, each in one snapshot, whatever was read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRegistration(DatasetStep):
    """Check that a registered dataset still shows its source, with the columns that it had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDataset(DatasetStep):
    """Keep the current rows of a dataset, or its history."""

    source: str
    """The dataset that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTransform(DatasetStep):
    """Write the rows of a query into a dataset."""

    place: tuple[str, ...]
    """The names of the space and the project, in which the names of the query are looked up."""
    inputs: tuple[str, ...]
    """The datasets that the query may read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStar(DatasetStep):
    """Load a dimension, a fact or a view of a star schema."""

    role: str
    """`dimension`, `fact` or `view`."""
    source: str = ""
    """The dataset that is read; empty for a view."""
    members: Mapping[str, str]
    """The datasets of the star by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicateDataset(TaskStep):
    """Send the rows of a dataset to a table of a data connection."""

    identity: ClassVar[str] = "source"

    source: str
    item: Mapping[str, object]
    connection: str
    connection_settings: Mapping[str, object]
    reload: bool = False
