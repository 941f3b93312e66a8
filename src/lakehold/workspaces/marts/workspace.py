"""The descriptor of marts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehold.workspaces.descriptor import (
    LINEAGE_PAGE,
    RUNS_PAGE,
    TRIGGERS_PAGE,
    HomeSection,
    KindDescriptor,
    PageLink,
    Probe,
    RunListTexts,
    Workspace,
)

if TYPE_CHECKING:
    from fastapi import APIRouter

    from lakehold.directory.request_context import RequestContext
    from lakehold.kit.settings_schema import SettingsSchema
    from lakehold.lake.lineage import Lineage
    from lakehold.lake.spark.tables import Tables
    from lakehold.lake.volumes import FileHolder
    from lakehold.runs.runnable import Runnable, StepExecutors
    from lakehold.runs.scheduler.housekeeping import PeriodicTask

_HOUR = 3600


def _settings_schemas() -> Mapping[str, SettingsSchema[Any]]:
    from lakehold.workspaces.marts import settings  # noqa: PLC0415

    return settings.BY_KIND


def _runnables() -> Sequence[Runnable]:
    from lakehold.workspaces.marts.pipelines import RUNNABLES  # noqa: PLC0415

    return RUNNABLES


def _executors() -> StepExecutors:
    from lakehold.workspaces.marts.executors import STEP_EXECUTORS  # noqa: PLC0415

    return STEP_EXECUTORS


def _probes() -> Mapping[str, Probe]:
    from lakehold.workspaces.marts.executors.connections import PROBES  # noqa: PLC0415

    return PROBES


def _periodic_tasks(_tables: Callable[[], Tables]) -> Sequence[PeriodicTask]:
    from lakehold.runs.scheduler.housekeeping import PeriodicTask  # noqa: PLC0415
    from lakehold.workspaces.marts.live import pulls  # noqa: PLC0415

    return (PeriodicTask("forget pulls", _HOUR, pulls.delete_old_pulls),)


def _page_routers() -> Sequence[APIRouter]:
    from lakehold.workspaces.marts.pages.routers import ROUTERS  # noqa: PLC0415

    return ROUTERS


def _api_routers() -> Sequence[APIRouter]:
    from lakehold.workspaces.marts.api.routers import ROUTERS  # noqa: PLC0415

    return ROUTERS


def _lineage() -> Mapping[str, Lineage]:
    from lakehold.workspaces.marts.lineage import LINEAGE_BY_KIND  # noqa: PLC0415

    return LINEAGE_BY_KIND


def _file_services() -> Mapping[str, FileHolder]:
    from lakehold.lake.volumes import FileHolder  # noqa: PLC0415
    from lakehold.workspaces.marts import files, mart_kinds  # noqa: PLC0415

    return {mart_kinds.STORAGE_KIND: FileHolder(files, read="use", write="edit", remove="edit")}


def _home_section(ctx: RequestContext) -> HomeSection | None:
    from lakehold.workspaces.marts.pages.home_section import load_home_section  # noqa: PLC0415

    return load_home_section(ctx)


WORKSPACE = Workspace(
    name="marts",
    description="Data marts on your storages, and reports from them that arrive on time. "
    "Project Admins, Technical Users and Business Users.",
    attribute_hints={
        "technical_users_control_all_reports": "Technical Users run, edit and delete every report of the project.",
    },
    folder=Path(__file__).parent,
    root=KindDescriptor(name="project", icon="store", overview="overview"),
    kinds=(
        KindDescriptor(name="context", icon="tag", collapsed=True),
        KindDescriptor(
            name="storage",
            icon="database",
            overview="storage",
            create_form="storages/new",
            edit_form="storage/edit",
            pages=(PageLink("Tables", "tables", "table-2"),),
        ),
        KindDescriptor(
            name="data_mart",
            icon="package",
            overview="mart",
            create_form="marts/new",
            edit_form="mart/edit",
            reads_rows="use",
            pages=(
                PageLink("Data", "sample", "table-2"),
                PageLink("Schema", "schema", "menu"),
                PageLink("Reports", "reports", "file-chart-column"),
                TRIGGERS_PAGE,
                RUNS_PAGE,
                PageLink("Quality", "quality", "circle-check"),
                LINEAGE_PAGE,
            ),
        ),
        KindDescriptor(name="data_mart_trigger", icon="calendar-clock", collapsed=True),
        KindDescriptor(
            name="destination",
            icon="send",
            overview="destination",
            create_form="destinations/new",
            edit_form="destination/edit",
        ),
        KindDescriptor(
            name="report",
            icon="file-chart-column",
            overview="report",
            create_form="reports/new",
            edit_form="report/edit",
            pages=(
                PageLink("Data", "rows", "table-2"),
                RUNS_PAGE,
                TRIGGERS_PAGE,
                PageLink("Insights", "insights", "chart-line"),
            ),
        ),
        KindDescriptor(name="report_trigger", icon="calendar-clock", collapsed=True),
        KindDescriptor(name="run", icon="play", collapsed=True),
    ),
    pages=(RUNS_PAGE, PageLink("Insights", "insights", "chart-line")),
    tabs=(PageLink("Notifications", "notifications", "bell"),),
    settings_schemas=_settings_schemas,
    runnables=_runnables,
    executors=_executors,
    probes=_probes,
    periodic_tasks=_periodic_tasks,
    page_routers=_page_routers,
    api_routers=_api_routers,
    lineage=_lineage,
    file_services=_file_services,
    home_section=_home_section,
    run_list_texts=RunListTexts(
        "All refreshes and report runs, newest first.",
        "Refresh a data mart, run a report, or add a schedule.",
    ),
)
