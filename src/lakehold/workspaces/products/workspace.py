"""The descriptor of data products. Its access model decides already; there are no pages of its own yet."""

from pathlib import Path

from lakehold.workspaces.descriptor import KindDescriptor, Workspace, deferred

_HERE = "lakehold.workspaces.products"

WORKSPACE = Workspace(
    name="products",
    description="Mastered entities such as customers or items, curated by people, with a page about each.",
    attribute_hints={
        "discoverable": "Others can find it and request access.",
        "project_admins_assign_roles": "Project admins can grant roles, not only tenant admins.",
    },
    folder=Path(__file__).parent,
    root=KindDescriptor(name="project", icon="sparkles"),
    kinds=(
        KindDescriptor(name="source", icon="download"),
        KindDescriptor(name="workflow", icon="workflow"),
        KindDescriptor(name="destination", icon="send"),
        KindDescriptor(name="product", icon="box"),
    ),
    settings_schemas=deferred(f"{_HERE}.settings:BY_KIND"),
    api_routers=deferred(f"{_HERE}.api:ROUTERS"),
)
