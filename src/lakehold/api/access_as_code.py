"""Endpoints of access as code. Export, plan, apply and test a tenant as files."""

import json
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from lakehold import access_as_code
from lakehold.access_as_code import assertion_report, metadata, plan_text, tenant_writer
from lakehold.access_as_code.plan import dump_plan, load_plan
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.http.models import RequestModel, ResponseModel
from lakehold.api.http.routing import make_router

routes = make_router("/api/v1/code", "Access as code")

_MAX_FILES = 2_000
_MAX_FILE_LENGTH = 2_000_000
_EXPORT_RIGHT: dict[str, Any] = {"x-tells-all-to": "export"}

FileName = Annotated[str, Field(min_length=1, max_length=300, examples=["people.yaml"])]
FileText = Annotated[str, Field(max_length=_MAX_FILE_LENGTH, examples=["members:\n  ana: {name: Ana}\n"])]


class TenantFilesJson(ResponseModel):
    """All files of a tenant, by name."""

    files: dict[str, str] = Field(examples=[{"people.yaml": "members:\n  ana: {name: Ana}\n"}])


class FilesBody(RequestModel):
    """Files by name."""

    files: dict[FileName, FileText] = Field(
        max_length=_MAX_FILES, examples=[{"people.yaml": "members:\n  ana: {name: Ana}\n"}]
    )


class PlanResultJson(ResponseModel):
    """The changes that are necessary, and their effects."""

    empty: bool = Field(description="Whether there is nothing to do.")
    text: str = Field(examples=["No changes: the tenant matches the files.\n"], description="The plan as text.")
    plan: dict[str, object] = Field(examples=[{}], description="Send it to apply exactly this plan.")
    refusals: list[str] = Field(examples=[[]], description="Every right that you lack for it, and who can give it.")
    applier_losses: list[str] = Field(examples=[[]], description="What you would lose by applying it.")
    missing_credentials: dict[str, list[str]] = Field(
        examples=[{"shop_db": ["password"]}], description="Names of secrets to be entered again afterwards, by id."
    )


class PlanBody(FilesBody):
    """Files, and how detailed the plan is to be."""

    keep: bool = Field(default=False, description="Whether what the files do not name stays; else it is removed.")
    rows: bool = Field(default=False, description="Every single effect on a member, not only counts.")


class ApplyBody(FilesBody):
    """Files, and the plan that was made from them."""

    plan: dict[str, object] | None = Field(
        default=None, examples=[None], description="Only this plan, if nothing has changed since; else a new one."
    )
    keep: bool = Field(default=False, description="Whether what the files do not name stays; else it is removed.")
    accept_loss: bool = Field(default=False, description="Whether to go on if you lose rights by it.")


class ApplyResultJson(ResponseModel):
    """The number of changes that were made."""

    steps: int
    metadata: int = Field(
        serialization_alias="told",
        description="The number of entries whose metadata changed: addresses, descriptions, settings, schedules.",
    )
    missing_credentials: dict[str, list[str]] = Field(
        examples=[{"shop_db": ["password"]}], description="Names of secrets to be entered again, by id."
    )


class FileTestReportJson(ResponseModel):
    """The results of the tests in the files."""

    passed: bool
    tests: int
    text: str = Field(examples=["people.yaml ..\n\n2 passed\n"])
    junit: str = Field(examples=["<testsuite/>"], description="As JUnit XML, for CI servers.")
    report: dict[str, object] = Field(examples=[{}])


@routes.get("", openapi_extra=_EXPORT_RIGHT)
def export_tenant(ctx: ReadContext) -> TenantFilesJson:
    """Export the tenant as files.

    Needs the right `export`. The files contain no secrets.
    """
    ctx.need("export", ctx.caller.tenant)
    return TenantFilesJson(files=access_as_code.export_tenant(ctx.session, metadata.load_metadata(ctx)))


@routes.post("/plan", openapi_extra=_EXPORT_RIGHT)
def plan_files(ctx: WriteContext, body: PlanBody) -> PlanResultJson:
    """Plan the changes that make the tenant match these files, and preview their effects.

    Needs the right `export`. Names every other right that you lack for them, and what you would lose.
    """
    ctx.need("export", ctx.caller.tenant)
    declared = access_as_code.parse_files(body.files)
    plan = tenant_writer.plan_as_caller(ctx, declared, keep=body.keep)
    plan = replace(plan, refusals=tenant_writer.find_refusals(ctx, plan, declared))
    return PlanResultJson(
        empty=plan.is_empty,
        text=plan_text.render_plan(plan, rows=body.rows),
        plan=json.loads(dump_plan(plan)),
        refusals=list(plan.refusals),
        applier_losses=list(plan.applier_losses),
        missing_credentials={uid: list(names) for uid, names in plan.missing_credentials.items()},
    )


@routes.post("/apply", openapi_extra=_EXPORT_RIGHT)
def apply_files(ctx: WriteContext, body: ApplyBody) -> ApplyResultJson:
    """Make the tenant match these files, all or nothing.

    Needs the right `export`, and the right to every change of what exists already.
    """
    ctx.need("export", ctx.caller.tenant)
    declared = access_as_code.parse_files(body.files)
    kept = None if body.plan is None else load_plan(json.dumps(body.plan))
    plan = tenant_writer.plan_as_caller(ctx, declared, keep=body.keep if kept is None else kept.keep, kept=kept)
    tenant_writer.apply_as_caller(ctx, plan, declared, accept_loss=body.accept_loss)
    return ApplyResultJson(
        steps=len(plan.steps),
        metadata=len(plan.metadata),
        missing_credentials={uid: list(names) for uid, names in plan.missing_credentials.items()},
    )


@routes.post("/test", openapi_extra=_EXPORT_RIGHT)
def run_file_tests(ctx: ReadContext, body: FilesBody) -> FileTestReportJson:
    """Run the tests in these files against the tenant as it is.

    Needs the right `export`.
    """
    ctx.need("export", ctx.caller.tenant)
    report = access_as_code.run_session(access_as_code.parse_files(body.files), ctx.session)
    return FileTestReportJson(**assertion_report.render_all(report))
