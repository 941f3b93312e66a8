"""Settings of the kinds of a data space: projects, tasks, connections, gateways and apps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lakehold.connectors import registry
from lakehold.connectors.settings import SourceSettings
from lakehold.kit.settings_schema import NoSettings, SettingReference, SettingsRecord, SettingsSchema
from lakehold.runs.runnable import RunSettings
from lakehold.workspaces.spaces.apps.settings import AppSettings
from lakehold.workspaces.spaces.tasks import RECORDS, TaskSettings

SPACE_KIND = "spaces.space"
PROJECT_KIND = "spaces.project"
TASK_KIND = "spaces.task"
DATASET_KIND = "spaces.dataset"
CONNECTION_KIND = "spaces.connection"
GATEWAY_KIND = "spaces.gateway"
APP_KIND = "spaces.app"

TABLE_KIND, DATA_MART_KIND = "lakehouse.table", "marts.data_mart"
"""The kinds of other ways of working whose rows can be registered."""

CONNECTORS = {name: record for name, record in registry.source_records().items() if not record.reads_volume}
"""The settings of the connectors that a data connection can be of: a data space has no volumes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataProjectSettings(SettingsRecord):
    """Settings of a data project: those that all runs have, which are common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSettings(SettingsRecord):
    """Settings of a dataset: of a registered one, its columns when it was prepared."""

    columns: tuple[tuple[str, str], ...] = ()
    """Names and types, set by the platform."""


KIND_OF_EDGE = {
    "sources": CONNECTION_KIND,
    "targets": CONNECTION_KIND,
    "reads": TASK_KIND,
    "tables": TABLE_KIND,
    "marts": DATA_MART_KIND,
}
"""The kinds that the edges of a task lead to."""


def _task_references(settings: TaskSettings) -> Iterator[SettingReference]:
    for field, uid, edge in settings.uses():
        yield SettingReference(field, KIND_OF_EDGE[edge], uid, edge=edge)


def _app_references(settings: AppSettings) -> Iterator[SettingReference]:
    # Each task once, at the first setting that names it.
    fields: dict[str, str] = {}
    for field, source in settings.sources():
        fields.setdefault(source.task, field)
    for uid, field in fields.items():
        yield SettingReference(field, TASK_KIND, uid, edge="uses")


CONNECTION = SettingsSchema[SourceSettings]("data connection", CONNECTORS, tag="connector")
TASK = SettingsSchema[TaskSettings](
    "data task",
    RECORDS,
    tag="type",
    common=RunSettings,
    managed=("prepared",),
    local=("prepared",),
    references=_task_references,
    edges=tuple(KIND_OF_EDGE),
)
APP = SettingsSchema[AppSettings]("app", AppSettings, references=_app_references, edges=("uses",))
BY_KIND: Mapping[str, SettingsSchema[Any]] = {
    "project": SettingsSchema[DataProjectSettings]("data project", DataProjectSettings, common=RunSettings),
    "task": TASK,
    "dataset": SettingsSchema[DatasetSettings]("dataset", DatasetSettings, managed=("columns",), local=("columns",)),
    "connection": CONNECTION,
    "gateway": SettingsSchema[NoSettings]("gateway", NoSettings),
    "app": APP,
}
