"""The descriptor of marts."""

from dataclasses import replace
from pathlib import Path

from lakehold.kit.ids import NameScope
from lakehold.workspaces.descriptor import (
    LINEAGE_PAGE,
    RUNS_PAGE,
    TRIGGERS_PAGE,
    FileSetting,
    KindDescriptor,
    PageLink,
    RunListTexts,
    Workspace,
    deferred,
)

_HERE = "lakehold.workspaces.marts"


def _kind(name: str, icon: str, word: str, *pages: PageLink) -> KindDescriptor:
    """Return the descriptor of a kind that has an overview and forms of its own. Its names are unique in a project."""
    return KindDescriptor(
        name=name,
        icon=icon,
        overview=word,
        create_form=f"{word}s/new",
        edit_form=f"{word}/edit",
        pages=pages,
        unique_name=NameScope.WORKSPACE,
    )


WORKSPACE = Workspace(
    name="marts",
    description="Data marts on your storages, and reports from them that arrive on time. "
    "Project Admins, Technical Users and Business Users.",
    attribute_hints={
        "technical_users_control_all_reports": "Technical Users run, edit and delete every report of the project.",
    },
    edge_labels={"contexts": "context of", "joins": "joined by", "storage": "stores", "destination": "receives"},
    folder=Path(__file__).parent,
    root=KindDescriptor(
        name="project",
        icon="store",
        overview="overview",
        file_settings={
            "notifications": FileSetting(
                deferred(f"{_HERE}.notifications.receivers:load_choices"),
                deferred(f"{_HERE}.notifications.receivers:save_choices"),
            )
        },
    ),
    kinds=(
        KindDescriptor(name="context", icon="tag", collapsed=True),
        _kind("storage", "database", "storage", PageLink("Tables", "tables", "table-2")),
        replace(
            _kind(
                *("data_mart", "package", "mart"),
                PageLink("Data", "sample", "table-2"),
                PageLink("Schema", "schema", "menu"),
                PageLink("Reports", "reports", "file-chart-column"),
                *(TRIGGERS_PAGE, RUNS_PAGE),
                PageLink("Quality", "quality", "circle-check"),
                LINEAGE_PAGE,
            ),
            reads_rows="use",
            reads_history="edit",
            hidden_fields=deferred(f"{_HERE}.settings:hidden_fields"),
        ),
        KindDescriptor(name="data_mart_trigger", icon="calendar-clock", collapsed=True, is_trigger=True),
        _kind("destination", "send", "destination"),
        _kind(
            *("report", "file-chart-column", "report"),
            PageLink("Data", "rows", "table-2"),
            *(RUNS_PAGE, TRIGGERS_PAGE),
            PageLink("Insights", "insights", "chart-line"),
        ),
        KindDescriptor(name="report_trigger", icon="calendar-clock", collapsed=True, is_trigger=True),
        KindDescriptor(
            name="run", icon="play", collapsed=True, created_elsewhere="A run is started on the page of what it runs."
        ),
    ),
    pages=(RUNS_PAGE, PageLink("Insights", "insights", "chart-line")),
    tabs=(PageLink("Notifications", "notifications", "bell"),),
    settings_schemas=deferred(f"{_HERE}.settings:BY_KIND"),
    sql_definitions=deferred(f"{_HERE}.mart_probe:SQL_DEFINITIONS"),
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
