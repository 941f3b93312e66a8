"""The descriptor of the lakehouse."""

from pathlib import Path

from lakehold.kit.ids import NameScope
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

_HERE = "lakehold.workspaces.lakehouse"
_PIPELINES_PAGE = PageLink("Pipelines", "pipelines", "workflow")


def _pipeline(name: str, icon: str, edit_form: str = "pipeline/edit", *, runs: bool = True) -> KindDescriptor:
    """Return the descriptor of a kind that moves data between tables. The command runs it by name."""
    return KindDescriptor(
        name=name,
        icon=icon,
        overview="pipeline",
        create_form=f"pipelines/new/{name}",
        edit_form=edit_form,
        collapsed=True,
        pages=(RUNS_PAGE, TRIGGERS_PAGE) if runs else (),
        unique_name=NameScope.PARENT if runs else None,
    )


WORKSPACE = Workspace(
    name="lakehouse",
    description="Layers of tables and files, and the pipelines that fill them. "
    "Viewer, Editor and Manager on a layer or a single table.",
    edge_labels={"reads": "read by", "writes": "written by", "into": "filled by"},
    folder=Path(__file__).parent,
    root=KindDescriptor(name="lakehouse", icon="waves", overview="lakehouse"),
    kinds=(
        KindDescriptor(name="layer", icon="layers", collapsed=True, unique_name=NameScope.PARENT),
        KindDescriptor(
            name="table",
            icon="table-2",
            collapsed=True,
            reads_rows="read",
            restored_with_rows=True,
            unique_name=NameScope.PARENT,
            pages=(
                PageLink("Fields", "fields", "menu"),
                PageLink("Sample", "sample", "table-2"),
                PageLink("Snapshots", "snapshots", "history"),
                LINEAGE_PAGE,
                PageLink("Runs", "written", "activity"),
            ),
        ),
        KindDescriptor(
            name="volume",
            icon="folder",
            collapsed=True,
            unique_name=NameScope.PARENT,
            pages=(PageLink("Files", "files", "folder"),),
        ),
        KindDescriptor(
            name="stream",
            icon="activity",
            collapsed=True,
            created_elsewhere="Streams are selected on the page of their source.",
        ),
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
    sql_action="execute_query",
    settings_schemas=deferred(f"{_HERE}.settings:BY_KIND"),
    sql_definitions=deferred(f"{_HERE}.saved_queries:SQL_DEFINITIONS"),
    runnables=deferred(f"{_HERE}.pipelines:RUNNABLES"),
    executors=deferred(f"{_HERE}.executors:STEP_EXECUTORS"),
    probes=deferred(f"{_HERE}.executors.transfer:PROBES"),
    periodic_tasks=deferred(f"{_HERE}.maintenance:periodic_tasks"),
    page_routers=deferred(f"{_HERE}.pages:ROUTERS"),
    api_routers=deferred(f"{_HERE}.api:ROUTERS"),
    menu_actions=deferred(f"{_HERE}.pages.pipeline_page:menu_actions"),
    run_list_texts=RunListTexts(
        "All pipeline runs, newest first.",
        "Run a pipeline, or add a schedule.",
        _PIPELINES_PAGE,
    ),
    lineage=deferred(f"{_HERE}.lineage:LINEAGE_BY_KIND"),
    file_services=deferred(f"{_HERE}.volumes:FILE_SERVICES"),
)
