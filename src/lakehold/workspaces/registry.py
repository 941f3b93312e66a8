"""The registry of all ways of working: those that come with Lakehold, and those that an installation adds.

Nothing else looks for workspace folders. `LAKEHOLD_WORKSPACES` names more packages, each with a module `workspace`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.descriptor import RUNS_PAGE, KindDescriptor, Workspace

if TYPE_CHECKING:
    from lakehold.kit.settings_schema import SettingsSchema
    from lakehold.lake.lineage import Lineage
    from lakehold.workspaces.volume_files import FileService

_ADDED = "LAKEHOLD_WORKSPACES"
_PLAIN = KindDescriptor(name="")


@cache
def all_workspaces() -> tuple[Workspace, ...]:
    """Return the descriptors of all ways of working, by name."""
    here = Path(__file__).parent
    shipped = [f"lakehold.workspaces.{file.parent.name}" for file in here.glob("*/workspace.py")]
    added = [package.strip() for package in os.environ.get(_ADDED, "").split(",") if package.strip()]
    found: dict[str, Workspace] = {}
    for package in (*shipped, *added):
        workspace = _load(package)
        if found.setdefault(workspace.name, workspace) is not workspace:
            raise InvalidInputError(
                f"{package} is the second way of working that is called {quote(workspace.name)}.",
                f"Rename its model, or take the package out of {_ADDED}.",
            )
    return tuple(found[name] for name in sorted(found))


def _load(package: str) -> Workspace:
    try:
        descriptor: Workspace = import_module(f"{package}.workspace").WORKSPACE
    except (ImportError, AttributeError) as error:
        raise InvalidInputError(
            f"{package} is not a workspace package: {error}.",
            f"Name packages in {_ADDED} that have a module `workspace` with a WORKSPACE in it.",
        ) from error
    return descriptor


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
def sql_kinds() -> tuple[str, ...]:
    """Return the kinds of workspaces that members query in SQL."""
    return tuple(f"{workspace.name}.{workspace.root.name}" for workspace in all_workspaces() if workspace.has_sql)


@cache
def runnable_kinds() -> tuple[str, ...]:
    """Return the kinds that members run again and again: those with a page of their runs."""
    return tuple(kind for kind, found in kind_descriptors().items() if RUNS_PAGE in found.pages)
