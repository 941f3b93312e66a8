"""The descriptor of data spaces. Its access model decides already; there are no pages of its own yet."""

from pathlib import Path

from lakehold.workspaces.descriptor import KindDescriptor, Workspace

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
    },
    folder=Path(__file__).parent,
    root=KindDescriptor(name="space", icon="boxes"),
    kinds=(
        KindDescriptor(name="project", icon="blocks"),
        KindDescriptor(name="task", icon="workflow"),
        KindDescriptor(name="connection", icon="link"),
        KindDescriptor(name="gateway", icon="route"),
        KindDescriptor(name="app", icon="layout-dashboard"),
    ),
)
