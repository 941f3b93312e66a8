"""The registry of all ways of working: those that come with Lakehold, and those that an installation adds.

Nothing else looks for workspace folders. `LAKEHOLD_WORKSPACES` names more packages, each with a module `workspace`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from lakehold.kit.plugins import load_descriptors
from lakehold.workspaces.descriptor import RUNS_PAGE, KindDescriptor, Workspace

if TYPE_CHECKING:
    from lakehold.access.facts.names import UniqueNames
    from lakehold.kit.settings_schema import SettingsSchema
    from lakehold.lake.lineage import Lineage
    from lakehold.workspaces.volume_files import FileService

_PLAIN = KindDescriptor(name="")


@cache
def all_workspaces() -> tuple[Workspace, ...]:
    """Return the descriptors of all ways of working, by name."""
    found = load_descriptors(__file__, "workspace", "LAKEHOLD_WORKSPACES", "way of working")
    return tuple(workspace for _, workspace in found.values())


@cache
def kind_descriptors() -> Mapping[str, KindDescriptor]:
    """Return the descriptors of all kinds by their full ids."""
    return {kind: found for workspace in all_workspaces() for kind, found in workspace.kind_descriptors().items()}


def describe_kind(kind: str) -> KindDescriptor:
    """Return the descriptor of a kind; a plain one for kinds of custom models."""
    return kind_descriptors().get(kind, _PLAIN)


def find_workspace(kind: str) -> Workspace | None:
    """Return the way of working that a kind belongs to; None for kinds of the tenant and of custom models."""
    name = kind.partition(".")[0]
    return next((workspace for workspace in all_workspaces() if workspace.name == name), None)


def find_settings_schema(kind: str) -> SettingsSchema[Any] | None:
    """Return the schema of the settings of a kind; None if its settings are free, as in custom models."""
    return settings_schemas().get(kind)


@cache
def settings_schemas() -> Mapping[str, SettingsSchema[Any]]:
    """Return the schemas of the settings of all kinds, by their full ids.

    Where a way of working has schemas, a kind without one has no settings; where it has none yet, they are free.
    """
    from lakehold.kit.settings_schema import NoSettings, SettingsSchema  # noqa: PLC0415 - the command's help needs none

    none = SettingsSchema[NoSettings]("resource", NoSettings)
    return {
        kind: schemas.get(kind.partition(".")[2], none)
        for workspace in all_workspaces()
        if (schemas := workspace.settings_schemas())
        for kind in workspace.kind_descriptors()
    }


def find_lineage(kind: str) -> Lineage | None:
    """Return the lineage of a kind; None if it has none."""
    workspace = find_workspace(kind)
    return workspace.lineage().get(kind) if workspace else None


def find_file_service(kind: str) -> FileService | None:
    """Return the file service of a kind; None if it has none."""
    workspace = find_workspace(kind)
    return workspace.file_services().get(kind) if workspace else None


@cache
def readable_kinds() -> Mapping[str, str]:
    """Return the kinds that are tables to SQL, each with the action that lets a member read it."""
    return {kind: found.reads_rows for kind, found in kind_descriptors().items() if found.reads_rows}


@cache
def unique_names() -> UniqueNames:
    """Return which kinds have unique names, and where."""
    from lakehold.access.facts.names import UniqueNames  # noqa: PLC0415 - the command's help needs none

    return UniqueNames({kind: found.unique_name for kind, found in kind_descriptors().items() if found.unique_name})


@cache
def sql_kinds() -> Mapping[str, str]:
    """Return the kinds of workspaces that members query in SQL, each with the action that lets them."""
    return {f"{each.name}.{each.root.name}": each.sql_action for each in all_workspaces() if each.sql_action}


@cache
def runnable_kinds() -> tuple[str, ...]:
    """Return the kinds that members run again and again: those with a page of their runs."""
    return tuple(kind for kind, found in kind_descriptors().items() if RUNS_PAGE in found.pages)
