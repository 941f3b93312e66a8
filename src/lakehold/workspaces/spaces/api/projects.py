"""Endpoints of a data project as a file: export it, plan and apply it in a data space."""

from typing import Annotated

from pydantic import Field

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.http.models import IdText, RequestModel, ResponseModel
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.workspaces.spaces.project_files import file_format
from lakehold.workspaces.spaces.project_files.export import export_project
from lakehold.workspaces.spaces.project_files.project_import import ImportOptions, ProjectChange, ProjectImport

routes = make_router("/api/v1/projects", "Data projects")

_EXAMPLE = "project: ingest\ntasks:\n  orders:\n    settings:\n      type: landing\n      connection: shop\n"
ProjectText = Annotated[str, Field(max_length=file_format.MAX_LENGTH, examples=[_EXAMPLE])]
ProjectId = Annotated[IdText, Field(examples=["ingest"])]
Chosen = Annotated[dict[str, IdText], Field(max_length=1_000)]


class ProjectFileJson(ResponseModel):
    """A data project as a YAML file."""

    file: str = Field(examples=[_EXAMPLE])


class ProjectFileBody(RequestModel):
    """A file, and where to import it to."""

    space: IdText = Field(examples=["sales"], description="The data space.")
    file: ProjectText
    connections: Chosen = Field(
        default_factory=dict,
        examples=[{"shop": "erp"}],
        description="The id of a data connection, by its name in the file, where another one is to be used.",
    )
    inputs: Chosen = Field(
        default_factory=dict, examples=[{}], description="The same for tasks of other projects, by their names there."
    )
    keep: bool = Field(
        default=False, description="Whether tasks that the file does not have stay; else they are deleted."
    )

    def read(self) -> tuple[file_format.ProjectFile, ImportOptions]:
        """Return the project in the file, and the options."""
        return file_format.parse(self.file), ImportOptions(self.space, self.connections, self.inputs, self.keep)


class ProjectChangeJson(ResponseModel):
    """A change of the project or of one of its tasks."""

    action: str = Field(examples=["create"], description="create, change or delete.")
    kind: str = Field(examples=["task"], description="project or task.")
    name: str = Field(examples=["orders"])
    fields: list[str] = Field(examples=[[]], description="Of a change: description, settings.")


class ProjectPlanJson(ResponseModel):
    """The changes that a file makes in a data space."""

    project: str = Field(examples=["ingest"], description="The id of the project; empty before it is created.")
    changes: list[ProjectChangeJson]


def _plan_json(project: str, changes: list[ProjectChange]) -> ProjectPlanJson:
    return ProjectPlanJson(project=project, changes=[ProjectChangeJson.model_validate(each) for each in changes])


@routes.get("/{project}/file")
def export_project_file(ctx: ReadContext, project: ProjectId) -> ProjectFileJson:
    """Export a data project as a YAML file, for those who may open it.

    It has no rows, secrets or schedules; names stand for connections and tasks.
    """
    return ProjectFileJson(file=export_project(ctx, project))


@routes.post("/plan")
def plan_project_file(ctx: ReadContext, body: ProjectFileBody) -> ProjectPlanJson:
    """Plan what a file changes in a data space: the project of its name there, or a new one."""
    planned = ProjectImport(ctx, *body.read())
    return _plan_json(planned.project, planned.plan())


@routes.post("/apply", responses=problem_responses(409))
def apply_project_file(ctx: WriteContext, body: ProjectFileBody) -> ProjectPlanJson:
    """Make a project what its file says, all or nothing, with your rights. Tasks are to be prepared afterwards."""
    done = ProjectImport(ctx, *body.read())
    changes = done.apply()
    return _plan_json(done.project, changes)
