"""Exports a data project as a file, for those who may open it."""

from lakehold.access.facts.descriptions import describe_resource
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.spaces.project_files import file_format, references
from lakehold.workspaces.spaces.project_files.file_format import ProjectFile, TaskEntry
from lakehold.workspaces.spaces.settings import PROJECT_KIND, TASK
from lakehold.workspaces.spaces.task_planner import project_tasks


def export_project(ctx: RequestContext, project: str) -> str:
    """Return the file of a project: without rows, secrets, schedules, and who is notified of runs."""
    need_kind(ctx, project, "open", (PROJECT_KIND,))
    tasks = {name_of(ctx, task): TaskEntry(*_content(ctx, task)) for task in project_tasks(ctx, project)}
    description = resource_metadata.load(ctx, project).description
    return file_format.render(ProjectFile(name_of(ctx, project), description, dict(sorted(tasks.items()))))


def _content(ctx: RequestContext, task: str) -> tuple[str, dict[str, object]]:
    """Return the description and the settings of a task, with names in the place of ids."""
    ctx.need("open", task)
    stored = resource_metadata.load(ctx, task)
    project, visible = kinds.parent_of(ctx.view, task), VisibleRefs(ctx)
    space = kinds.workspace_of(ctx.view, task) or ""

    def to_name(kind: str, uid: str) -> str:
        if not visible.sees(uid):
            title = ctx.view.policy.kind(kind).schema.title.lower()
            message = f"The {describe_resource(ctx.view, task)} uses a {title} that you may not see."
            raise ConflictError(message, "Let somebody export the project who sees all that it uses.")
        inside = kinds.parent_of(ctx.view, uid) == project
        return name_of(ctx, uid) if inside else references.path_of(ctx, uid, space)

    return stored.description, references.translate(own_settings(stored.settings), to_name)


def own_settings(stored: resource_metadata.Settings) -> dict[str, object]:
    """Return what a file has of the settings of a task: not what was prepared, and not who is notified."""
    return {name: value for name, value in TASK.own(stored).items() if name not in TASK.managed}


def name_of(ctx: RequestContext, uid: str) -> str:
    """Return the name of a resource."""
    return ctx.view.names.get(ctx.view.resource(uid)) or uid
