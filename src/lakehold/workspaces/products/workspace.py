"""The descriptor of data products."""

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

_HERE = "lakehold.workspaces.products"

WORKSPACE = Workspace(
    name="products",
    description="Mastered entities such as customers or items, curated by people, with a page about each.",
    attribute_hints={
        "discoverable": "Others can find it and request access.",
        "project_admins_assign_roles": "Project admins can grant roles, not only tenant admins.",
    },
    edge_labels={"sources": "used by", "destinations": "receives"},
    folder=Path(__file__).parent,
    root=KindDescriptor(name="project", icon="sparkles"),
    kinds=(
        KindDescriptor(
            name="source",
            icon="download",
            overview="product-source",
            create_form="product-sources/new",
            edit_form="product-source/edit",
            reads_rows="see",
            pages=(RUNS_PAGE, TRIGGERS_PAGE, LINEAGE_PAGE),
            unique_name=NameScope.PARENT,
        ),
        KindDescriptor(
            name="product",
            icon="box",
            settings_action="open",
            overview="product",
            create_form="products/new",
            edit_form="product/edit",
            pages=(PageLink("Entities", "entities", "search"), RUNS_PAGE, TRIGGERS_PAGE, LINEAGE_PAGE),
            unique_name=NameScope.PARENT,
        ),
        KindDescriptor(
            name="record_table",
            icon="table-2",
            collapsed=True,
            reads_rows="read",
            unique_name=NameScope.PARENT,
            deleted_with_parent=True,
            created_elsewhere="Tables are created when their data product is run.",
        ),
        KindDescriptor(
            name="entity_table",
            icon="table-2",
            collapsed=True,
            reads_rows="read",
            unique_name=NameScope.PARENT,
            deleted_with_parent=True,
            created_elsewhere="Tables are created when their data product is run.",
        ),
        KindDescriptor(
            name="workflow", icon="workflow", pages=(RUNS_PAGE, TRIGGERS_PAGE), unique_name=NameScope.PARENT
        ),
        KindDescriptor(
            name="destination",
            icon="send",
            create_form="product-destinations/new",
            edit_form="product-destination/edit",
            unique_name=NameScope.PARENT,
        ),
    ),
    pages=(RUNS_PAGE,),
    sql_action="see_in_menu",
    settings_schemas=deferred(f"{_HERE}.settings:BY_KIND"),
    runnables=deferred(f"{_HERE}.pipelines:RUNNABLES"),
    executors=deferred(f"{_HERE}.executors:STEP_EXECUTORS"),
    probes=deferred(f"{_HERE}.executors:PROBES"),
    api_routers=deferred(f"{_HERE}.api:ROUTERS"),
    page_routers=deferred(f"{_HERE}.pages:ROUTERS"),
    lineage=deferred(f"{_HERE}.lineage:LINEAGE_BY_KIND"),
    run_list_texts=RunListTexts(
        "All runs of sources, data products and workflows, newest first.", "Refresh a source or run a data product."
    ),
)
