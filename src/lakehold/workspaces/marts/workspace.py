"""The descriptor of marts."""

from __future__ import annotations

from pathlib import Path

from lakehold.workspaces.descriptor import (
    LINEAGE_PAGE,
    RUNS_PAGE,
    TRIGGERS_PAGE,
    KindDescriptor,
    PageLink,
    RunListTexts,
    Workspace,
    deferred,
)

_HERE = "lakehold.workspaces.marts"


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
    settings_schemas=deferred(f"{_HERE}.settings:BY_KIND"),
    runnables=deferred(f"{_HERE}.pipelines:RUNNABLES"),
    executors=deferred(f"{_HERE}.executors:STEP_EXECUTORS"),
    probes=deferred(f"{_HERE}.executors.connections:PROBES"),
    periodic_tasks=deferred(f"{_HERE}.live:PERIODIC_TASKS"),
    page_routers=deferred(f"{_HERE}.pages:ROUTERS"),
    api_routers=deferred(f"{_HERE}.api:ROUTERS"),
    lineage=deferred(f"{_HERE}.lineage:LINEAGE_BY_KIND"),
    file_services=deferred(f"{_HERE}.storages:FILE_SERVICES"),
    home_section=deferred(f"{_HERE}.pages.overview:load_home_section"),
    run_list_texts=RunListTexts(
        "All refreshes and report runs, newest first.",
        "Refresh a data mart, run a report, or add a schedule.",
    ),
)
