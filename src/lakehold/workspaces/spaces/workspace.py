"""The descriptor of data spaces."""

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

_HERE = "lakehold.workspaces.spaces"

WORKSPACE = Workspace(
    name="spaces",
    description="Data projects whose tasks move data between connections, and apps on top. Roles add up as needed.",
    attribute_hints={
        "personal": "Only its owner has access; no members can be added.",
    },
    edge_labels={
        "reads": "read by",
        "uses": "used by",
        "sources": "source of",
        "targets": "target of",
        "gateways": "used by",
        "gateway": "used by",
        "tables": "registered by",
        "marts": "registered by",
        "table": "shown by",
        "mart": "shown by",
    },
    folder=Path(__file__).parent,
    root=KindDescriptor(name="space", icon="boxes", refuse_new=deferred(f"{_HERE}.personal:refuse_second")),
    kinds=(
        KindDescriptor(
            name="project",
            icon="blocks",
            settings_action="open",
            overview="graph",
            pages=(RUNS_PAGE, TRIGGERS_PAGE),
            unique_name=NameScope.PARENT,
        ),
        KindDescriptor(
            name="task",
            icon="workflow",
            settings_action="open",
            overview="task",
            edit_form="task/edit",
            pages=(RUNS_PAGE, TRIGGERS_PAGE, LINEAGE_PAGE),
            unique_name=NameScope.PARENT,
        ),
        KindDescriptor(
            name="dataset",
            icon="table-2",
            overview="dataset",
            collapsed=True,
            pages=(RUNS_PAGE, LINEAGE_PAGE),
            reads_rows="consume_data",
            source_table=deferred(f"{_HERE}.registrations:source_table"),
            unique_name=NameScope.PARENT,
            deleted_with_parent=True,
            created_elsewhere="Datasets are created when their task is prepared.",
        ),
        KindDescriptor(
            name="connection",
            icon="link",
            overview="data-connection",
            create_form="connections/new",
            edit_form="data-connection/edit",
            unique_name=NameScope.PARENT,
        ),
        KindDescriptor(name="gateway", icon="route", overview="data-gateway"),
        KindDescriptor(
            name="app", icon="layout-dashboard", overview="app", create_form="apps/new", edit_form="app/edit"
        ),
    ),
    pages=(RUNS_PAGE,),
    tabs=(PageLink("Roles", "roles", "users"),),
    sql_action="see",
    settings_schemas=deferred(f"{_HERE}.settings:BY_KIND"),
    runnables=deferred(f"{_HERE}.pipelines:RUNNABLES"),
    executors=deferred(f"{_HERE}.executors:STEP_EXECUTORS"),
    probes=deferred(f"{_HERE}.executors:PROBES"),
    periodic_tasks=deferred(f"{_HERE}.executors:PERIODIC_TASKS"),
    services=deferred(f"{_HERE}.gateways.endpoint:services"),
    commands=deferred(f"{_HERE}.gateways.commands:COMMANDS"),
    api_routers=deferred(f"{_HERE}.api:ROUTERS"),
    page_routers=deferred(f"{_HERE}.pages:ROUTERS"),
    home_section=deferred(f"{_HERE}.pages.home:load_home_section"),
    menu_actions=deferred(f"{_HERE}.pages.project_file_page:menu_actions"),
    lineage=deferred(f"{_HERE}.lineage:LINEAGE_BY_KIND"),
    run_list_texts=RunListTexts(
        "All runs of tasks and projects, newest first.", "Run a task or a project, or add a schedule."
    ),
)
