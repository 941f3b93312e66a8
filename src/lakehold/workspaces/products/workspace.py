"""The descriptor of data products. Its access model decides already; there are no pages of its own yet."""

from __future__ import annotations

from pathlib import Path

from lakehold.workspaces.descriptor import KindDescriptor, Workspace

WORKSPACE = Workspace(
    name="products",
    description="Mastered entities such as customers or items, curated by people, with a page about each.",
    attribute_hints={
        "discoverable": "Others find its name and description, and can ask for it.",
        "project_admins_assign_roles": "Admins of the project give roles in it, not only those of the tenant.",
    },
    folder=Path(__file__).parent,
    root=KindDescriptor(name="project", icon="sparkles"),
    kinds=(
        KindDescriptor(name="source", icon="download"),
        KindDescriptor(name="workflow", icon="workflow"),
        KindDescriptor(name="destination", icon="send"),
        KindDescriptor(name="product", icon="box"),
    ),
)
