"""Imports a data project from a file into a data space: what it changes there, and the changes, all or nothing.

The project of this name in the space is changed, or a new one is created. Tasks follow the file by their names.
Whatever is created and changed needs the caller's rights, as if they did it one by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lakehold.access import Draft
from lakehold.catalog import resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.catalog.workspaces import need_workspace
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.kit.ids import fold_name, quote
from lakehold.workspaces.spaces.project_files import references
from lakehold.workspaces.spaces.project_files.export import name_of, own_settings
from lakehold.workspaces.spaces.project_files.file_format import ProjectFile
from lakehold.workspaces.spaces.settings import CONNECTION_KIND, PROJECT_KIND, SPACE_KIND, TASK, TASK_KIND
from lakehold.workspaces.spaces.task_planner import project_tasks, task_levels


class ProjectAction(StrEnum):
    """The kind of a change of a project or task."""

    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class ProjectChange:
    """A change of a project or of one of its tasks."""

    action: ProjectAction
    kind: str
    name: str
    fields: tuple[str, ...] = ()
    """Of what is changed: description, settings."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import: the data space, and the connections and tasks to use there."""

    space: str
    connections: Mapping[str, str] = field(default_factory=dict)
    """The id of a connection, by its name in the file, where that is not its name as seen from the space."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The same for tasks of other projects."""
    keep: bool = False
    """Whether tasks that the file does not have stay; else they are deleted, with their datasets."""


class ProjectImport:
    """The import of one file."""

    def __init__(self, ctx: RequestContext, project: ProjectFile, options: ImportOptions) -> None:
        need_workspace(ctx, options.space, SPACE_KIND)
        self._ctx, self._file, self._options = ctx, project, options
        self.project = self._child(options.space, PROJECT_KIND, project.name)
        """The project; empty if it is to be created."""
        if self.project:
            # That nothing would be changed tells what the settings are.
            ctx.need("open", self.project)
        there = project_tasks(ctx, self.project) if self.project else []
        self._tasks = {fold_name(name_of(ctx, uid)): uid for uid in there}
        self._named = {fold_name(name): name for name in project.tasks}
        self._found: dict[tuple[str, str], str] = {}
        if len(self._named) < len(project.tasks):
            raise InvalidInputError("Two tasks differ only in case.", "Rename one of them.", field="tasks")

    def plan(self) -> list[ProjectChange]:
        """Return what the file changes, or refuse what cannot be imported."""
        found: list[ProjectChange] = []
        if not self.project:
            self._ctx.need_draft(Draft(PROJECT_KIND, {"space": self._options.space}))
            found.append(ProjectChange(ProjectAction.CREATE, "project", self._file.name))
        elif fields := self._project_fields():
            self._ctx.need("update", self.project)
            found.append(ProjectChange(ProjectAction.CHANGE, "project", self._file.name, fields))
        for name in self._file.tasks:
            uid, settings = self._tasks.get(fold_name(name)), self._settings(name)
            if uid is None:
                if self.project:
                    self._ctx.need_draft(Draft(TASK_KIND, {"project": self.project}))
                found.append(ProjectChange(ProjectAction.CREATE, "task", name))
            elif fields := self._task_fields(name, uid, settings):
                self._ctx.need("update", uid)
                found.append(ProjectChange(ProjectAction.CHANGE, "task", name, fields))
        for uid in self._superfluous():
            self._ctx.need("delete", uid)
            found.append(ProjectChange(ProjectAction.DELETE, "task", name_of(self._ctx, uid)))
        return found

    def apply(self) -> list[ProjectChange]:
        """Make the changes, and return them."""
        ctx, changes, superfluous = self._ctx, self.plan(), self._superfluous()
        if not self.project:
            described, edges = self._file.description, {"space": self._options.space}
            self.project = resources.create(ctx, PROJECT_KIND, self._file.name, edges=edges, description=described)
        elif self._project_fields():
            apply_edit(ctx, self.project, ResourceEdit(description=self._file.description))
        for change in changes:
            if (change.kind, change.action) == ("task", ProjectAction.CREATE):
                # As drafts, because they may name each other.
                uid = resources.create(ctx, TASK_KIND, change.name, edges={"project": self.project})
                self._tasks[fold_name(change.name)] = uid
        for name in self._file.tasks:
            uid, settings = self._tasks[fold_name(name)], self._settings(name)
            if self._task_fields(name, uid, settings):
                stored = resource_metadata.load(ctx, uid).settings
                common = {key: value for key, value in stored.items() if key not in TASK.own(stored)}
                edit = ResourceEdit(description=self._file.tasks[name].description, settings={**common, **settings})
                apply_edit(ctx, uid, edit)
        for uid in superfluous:
            resources.delete(ctx, uid)
        return changes

    def _project_fields(self) -> tuple[str, ...]:
        stored = resource_metadata.load(self._ctx, self.project).description
        return ("description",) if stored != self._file.description else ()

    def _task_fields(self, name: str, uid: str, settings: Mapping[str, object]) -> tuple[str, ...]:
        stored, entry = resource_metadata.load(self._ctx, uid), self._file.tasks[name]
        changes = {"description": stored.description != entry.description,
                   "settings": own_settings(stored.settings) != settings}  # fmt: skip
        return tuple(field for field, changed in changes.items() if changed)

    def _superfluous(self) -> list[str]:
        """Return the tasks that the file does not have, those that read others first."""
        gone = [] if self._options.keep else [uid for name, uid in self._tasks.items() if name not in self._named]
        return [uid for level in reversed(task_levels(self._ctx, gone)) for uid in level]

    def _settings(self, name: str) -> dict[str, object]:
        """Return the settings of a task with ids in the place of names; refuse what cannot be used."""
        try:
            settings = references.translate(self._file.tasks[name].settings, self._to_id)
            TASK.check(settings)
        except LakeholdError as error:
            error.field = ".".join(filter(None, ("tasks", name, "settings", error.field)))
            raise
        return settings

    def _to_id(self, kind: str, name: str) -> str:
        if kind == TASK_KIND and fold_name(name) in self._named:
            # Until it is created, its name stands for it.
            return self._tasks.get(fold_name(name), name)
        if (kind, name) not in self._found:
            self._found[kind, name] = self._find(kind, name)
        return self._found[kind, name]

    def _find(self, kind: str, name: str) -> str:
        """Return the connection or the task of another project that a name in the file stands for, or refuse."""
        option, chosen = (
            ("connections", self._options.connections) if kind == CONNECTION_KIND else ("inputs", self._options.inputs)
        )
        found = chosen.get(name) or references.find(self._ctx, kind, name, self._options.space)
        ref = VisibleRefs(self._ctx).ref(found)
        if ref is None or ref.kind != kind:
            title = self._ctx.view.policy.kind(kind).schema.title.lower()
            message = f"There is no {title} {quote(chosen.get(name, name))} that you can see from the data space."
            raise InvalidInputError(message, f"Name the one to use instead of {quote(name)} in {option}.")
        return ref.uid

    def _child(self, parent: str, kind: str, name: str) -> str:
        view, folded = self._ctx.view, fold_name(name)
        children = self._ctx.session.read_view(lambda view: list(view.children(view.resource(parent))))
        alike = (
            each for each in children if view.kind(each) == kind and fold_name(view.names.get(each) or "") == folded
        )
        found = next(map(view.uid, alike), "")
        return found if found and self._ctx.session.can_see(self._ctx.principal, found) else ""
