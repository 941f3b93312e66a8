"""The descriptor of a way of working: everything that the rest of the platform knows about its folder.

Each folder exports one `Workspace` from its module `workspace`. Pages, REST routes, executors and the like are given as
functions that import them when they are called (`deferred`), so that the server never loads Spark, a worker no pages,
and a command that only needs the access models neither.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lakehold.kit.ids import NameScope

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from fastapi import APIRouter

    from lakehold.catalog.resource_view import ResourceView
    from lakehold.directory.caller import Caller
    from lakehold.directory.platform import Platform
    from lakehold.directory.request_context import RequestContext
    from lakehold.kit.settings_schema import SettingsSchema
    from lakehold.lake.lineage import Lineage
    from lakehold.lake.spark.tables import Tables
    from lakehold.runs.runnable import Runnable, StepExecutors
    from lakehold.runs.scheduler.housekeeping import PeriodicTask
    from lakehold.runs.sql_definitions import FindDefinition
    from lakehold.web.components import PageAction
    from lakehold.worker.spark_session import SparkRuntime
    from lakehold.workspaces.volume_files import FileService


def deferred(place: str) -> Callable[..., Any]:
    """Return a function that imports `package.module:NAME` when it is called.

    It returns the value of that name; if that is a function, it calls it.
    """
    module, _, name = place.partition(":")

    def load(*args: object) -> object:
        found = getattr(import_module(module), name)
        return found(*args) if callable(found) else found

    return load


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page of a resource or a workspace: its label, the last part of its URL, its icon."""

    label: str
    part: str
    icon: str


RUNS_PAGE, TRIGGERS_PAGE = PageLink("Runs", "runs", "activity"), PageLink("Triggers", "triggers", "calendar-clock")
LINEAGE_PAGE = PageLink("Lineage", "lineage", "git-branch")


@dataclass(frozen=True, slots=True)
class FileSetting:
    """A setting in the files of a tenant (access as code) that is stored elsewhere than among a resource's settings.

    Members who may edit the resource may change it.
    """

    load: Callable[[RequestContext], Mapping[str, object]]
    """Returns its value for each resource that has one, by id."""
    save: Callable[[RequestContext, str, object], bool]
    """Replaces its value for a resource, with None for nothing; returns whether that changes anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDescriptor:
    """A kind of resource: how it is shown, and what can be done with it beside what all resources have."""

    name: str
    icon: str = "circle"
    pages: tuple[PageLink, ...] = ()
    """The tabs of a resource after its overview."""
    overview: str = ""
    """The part of the URL of its own overview; empty if it has the general one."""
    create_form: str = ""
    """The part of the workspace's URL of its own create form; empty if it has the general one."""
    edit_form: str = ""
    """The part of the URL of its own edit form; empty if it has the general one."""
    collapsed: bool = False
    """Whether the navigation folds it away, because other pages lead to it."""
    settings_action: str = ""
    """The action that lets a member read its settings; empty if only those read them who may edit it. Settings that
    all kinds of the workspace have, such as who is notified, are for those who may edit it in any case."""
    reads_rows: str = ""
    """The action that lets a member read its rows in SQL; empty if it is no table."""
    reads_history: str = ""
    """The action that lets a member also read its rows as they were; empty if to read them is enough."""
    source_table: Callable[[RequestContext, str], str] | None = None
    """Returns the table whose rows it shows, itself unless it is a registered one, and refuses with
    `SourceClosedError` where those may not be read; None if all have rows of their own."""
    hidden_fields: Callable[[Mapping[str, object]], Collection[str]] | None = None
    """Returns the fields that its settings hide from all who read its rows; None if they hide none."""
    unique_name: NameScope | None = None
    """Where nothing else of the kind may have its name, as SQL or people look it up there. Workspaces need not say it:
    their names are unique in the tenant, whatever their model."""
    restored_with_rows: bool = False
    """Whether a deleted one can be restored as long as its rows are retained, and so keeps its settings until then."""
    deleted_with_parent: bool = False
    """Whether its parent has made it, and it is deleted with its parent instead of holding it back."""
    is_trigger: bool = False
    """Whether it says when its parent runs, and so is created with a schedule, never by itself."""
    file_settings: Mapping[str, FileSetting] = field(default_factory=dict)
    """By name: settings that only files of the tenant have among its settings."""
    refuse_new: Callable[[RequestContext, Mapping[str, str | bool]], None] = lambda _ctx, _attributes: None
    """Refuses a new one with these attributes for what the access model cannot say."""
    created_elsewhere: str = ""
    """Where users create one instead of in the general form, as a sentence."""


class Probe(Protocol):
    """Tests a connection, lists its streams or tables, or samples one, before anything is saved."""

    def __call__(
        self, platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], SparkRuntime], /
    ) -> Mapping[str, Any]:
        """Return what was found. A probe that needs Spark or its drivers starts Spark first."""


@dataclass(frozen=True, slots=True)
class HomeSection:
    """A section of the home page that a way of working adds for some members."""

    template: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RunListTexts:
    """The texts of the list of a workspace's runs, and the page that it links to."""

    note: str = "Newest first."
    empty: str = "Runs appear here."
    link: PageLink | None = None
    """The page of the workspace from which runs are started, if it has one for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A way of working."""

    name: str
    """The name of its access model."""
    description: str = ""
    """Its purpose, for those who choose a model for a new workspace."""
    attribute_hints: Mapping[str, str] = field(default_factory=dict)
    """By attribute of a workspace: its effect when it is on."""
    edge_labels: Mapping[str, str] = field(default_factory=dict)
    """By edge: the relation of its end to the resource that points at it, such as `read by`; `contexts of` without."""
    folder: Path
    """Holds `model.yaml`, `model.versions` with the hashes of its releases, and `templates/` if it has pages."""
    root: KindDescriptor
    """The kind of the workspaces themselves."""
    kinds: tuple[KindDescriptor, ...] = ()
    pages: tuple[PageLink, ...] = ()
    """The pages of a workspace after its overview."""
    tabs: tuple[PageLink, ...] = ()
    """The pages of a workspace next to its members."""
    sql_action: str = ""
    """The action that lets a member query a workspace in SQL; empty if it has none."""
    settings_schemas: Callable[[], Mapping[str, SettingsSchema[Any]]] = dict
    """By the name of a kind: what its settings must be. Those of other kinds are free."""
    sql_definitions: Callable[[], Mapping[str, FindDefinition]] = dict
    """By the name of a kind: finds the query in its settings, which is analysed before it is saved."""
    runnables: Callable[[], Sequence[Runnable]] = tuple
    executors: Callable[[], StepExecutors] = dict
    """How its steps are executed; only a worker calls this."""
    probes: Callable[[], Mapping[str, Probe]] = dict
    """By name, such as `source`; only a worker calls this."""
    periodic_tasks: Callable[[Callable[[], Tables]], Sequence[PeriodicTask]] = lambda _tables: ()
    """The work that a worker does for it again and again; the tables start Spark when they are asked for."""
    page_routers: Callable[[], Sequence[APIRouter]] = tuple
    api_routers: Callable[[], Sequence[APIRouter]] = tuple
    lineage: Callable[[], Mapping[str, Lineage]] = dict
    """By the full id of a kind: what its resources are made from, and what reads them."""
    file_services: Callable[[], Mapping[str, FileService]] = dict
    """By the full id of a kind: how the files of its resources are kept."""
    home_section: Callable[[RequestContext], HomeSection | None] = lambda _ctx: None
    services: Callable[[Platform], Sequence[AbstractContextManager[object]]] = lambda _platform: ()
    """What a worker serves for it beside its runs, until the worker ends."""
    commands: Callable[[], Mapping[str, Sequence[Callable[..., None]]]] = dict
    """By noun: the verbs of the command that it adds, as functions with the arguments that Typer takes."""
    menu_actions: Callable[[RequestContext, ResourceView], Sequence[PageAction]] = lambda _ctx, _found: ()
    """Returns the menu actions of a resource that is run, beside those that all have."""
    run_list_texts: RunListTexts = RunListTexts()

    @property
    def model(self) -> Path:
        """The file with its access model."""
        return self.folder / "model.yaml"

    @property
    def templates(self) -> Path:
        """The folder with its page templates, which may be missing."""
        return self.folder / "templates"

    def kind_descriptors(self) -> Mapping[str, KindDescriptor]:
        """Return its kinds by their full ids."""
        return {f"{self.name}.{kind.name}": kind for kind in (self.root, *self.kinds)}
