"""The descriptor of the lakehouse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehold.workspaces.descriptor import (
    LINEAGE_PAGE,
    RUNS_PAGE,
    TRIGGERS_PAGE,
    KindDescriptor,
    PageLink,
    Probe,
    RunListTexts,
    Workspace,
)

if TYPE_CHECKING:
    from fastapi import APIRouter

    from lakehold.catalog.resource_view import ResourceView
    from lakehold.directory.platform import Platform
    from lakehold.directory.request_context import RequestContext
    from lakehold.kit.settings_schema import SettingsSchema
    from lakehold.lake.lineage import Lineage
    from lakehold.lake.spark.tables import Tables
    from lakehold.lake.volumes import FileHolder
    from lakehold.runs.runnable import Runnable, StepExecutors
    from lakehold.runs.scheduler.housekeeping import PeriodicTask
    from lakehold.web.components import PageAction

_QUARTER, _HOUR = 15 * 60, 3600
_PIPELINES_PAGE = PageLink("Pipelines", "pipelines", "workflow")


def _settings_schemas() -> Mapping[str, SettingsSchema[Any]]:
    from lakehold.workspaces.lakehouse import settings  # noqa: PLC0415

    return settings.BY_KIND


def _runnables() -> Sequence[Runnable]:
    from lakehold.workspaces.lakehouse.pipelines import RUNNABLES  # noqa: PLC0415

    return RUNNABLES


def _executors() -> StepExecutors:
    from lakehold.workspaces.lakehouse.executors import STEP_EXECUTORS  # noqa: PLC0415

    return STEP_EXECUTORS


def _probes() -> Mapping[str, Probe]:
    from lakehold.workspaces.lakehouse.executors.probe import PROBES  # noqa: PLC0415

    return PROBES


def _periodic_tasks(tables: Callable[[], Tables]) -> Sequence[PeriodicTask]:
    from lakehold.runs.scheduler.housekeeping import PeriodicTask  # noqa: PLC0415
    from lakehold.workspaces.lakehouse import dropped_tables, maintenance  # noqa: PLC0415

    def purge(platform: Platform) -> None:
        if dropped_tables.expired_places(platform):
            from lakehold.workspaces.lakehouse.executors import table_maintenance  # noqa: PLC0415 - it needs Spark

            table_maintenance.purge_dropped_tables(platform, tables())

    return (
        PeriodicTask("keep tables", _QUARTER, maintenance.schedule_maintenance),
        PeriodicTask("purge tables", _HOUR, purge),
    )


def _page_routers() -> Sequence[APIRouter]:
    from lakehold.workspaces.lakehouse.pages.routers import ROUTERS  # noqa: PLC0415

    return ROUTERS


def _api_routers() -> Sequence[APIRouter]:
    from lakehold.workspaces.lakehouse.api.routers import ROUTERS  # noqa: PLC0415

    return ROUTERS


def _lineage() -> Mapping[str, Lineage]:
    from lakehold.workspaces.lakehouse.lineage import LINEAGE_BY_KIND  # noqa: PLC0415

    return LINEAGE_BY_KIND


def _file_services() -> Mapping[str, FileHolder]:
    from lakehold.lake.volumes import FileHolder  # noqa: PLC0415
    from lakehold.workspaces.lakehouse import volumes  # noqa: PLC0415

    return {volumes.VOLUME_KIND: FileHolder(volumes, read="read", write="write", remove="delete_file")}


def _menu_actions(ctx: RequestContext, found: ResourceView) -> Sequence[PageAction]:
    from lakehold.workspaces.lakehouse.pages.pipeline_page import menu_actions  # noqa: PLC0415

    return menu_actions(ctx, found)


def _pipeline(name: str, icon: str, edit_form: str = "pipeline/edit", *, runs: bool = True) -> KindDescriptor:
    """Return the descriptor of a kind that moves data between tables."""
    return KindDescriptor(
        name=name,
        icon=icon,
        overview="pipeline",
        create_form=f"pipelines/new/{name}",
        edit_form=edit_form,
        collapsed=True,
        pages=(RUNS_PAGE, TRIGGERS_PAGE) if runs else (),
    )


WORKSPACE = Workspace(
    name="lakehouse",
    description="Layers of tables and files, and the pipelines that fill them. "
    "Viewer, Editor and Manager on a layer or a single table.",
    folder=Path(__file__).parent,
    root=KindDescriptor(name="lakehouse", icon="waves", overview="lakehouse"),
    kinds=(
        KindDescriptor(name="layer", icon="layers", collapsed=True),
        KindDescriptor(
            name="table",
            icon="table-2",
            collapsed=True,
            reads_rows="read",
            pages=(
                PageLink("Fields", "fields", "menu"),
                PageLink("Sample", "sample", "table-2"),
                PageLink("Snapshots", "snapshots", "history"),
                LINEAGE_PAGE,
                PageLink("Runs", "written", "activity"),
            ),
        ),
        KindDescriptor(name="volume", icon="folder", collapsed=True, pages=(PageLink("Files", "files", "folder"),)),
        KindDescriptor(name="stream", icon="activity", collapsed=True),
        KindDescriptor(
            name="saved_query", icon="book-open", collapsed=True, pages=(PageLink("SQL", "sql", "square-terminal"),)
        ),
        _pipeline("source", "download", "connection"),
        _pipeline("query", "command"),
        _pipeline("history", "history"),
        _pipeline("notebook", "book-open", runs=False),
        _pipeline("destination", "send", "delivery"),
        _pipeline("integration", "link", runs=False),
    ),
    pages=(
        PageLink("Data", "data", "database"),
        PageLink("SQL", "sql", "square-terminal"),
        _PIPELINES_PAGE,
        RUNS_PAGE,
    ),
    has_sql=True,
    settings_schemas=_settings_schemas,
    runnables=_runnables,
    executors=_executors,
    probes=_probes,
    periodic_tasks=_periodic_tasks,
    page_routers=_page_routers,
    api_routers=_api_routers,
    menu_actions=_menu_actions,
    run_list_texts=RunListTexts(
        "All pipeline runs, newest first.",
        "Run a pipeline, or add a schedule.",
        _PIPELINES_PAGE,
    ),
    lineage=_lineage,
    file_services=_file_services,
)
