"""A tenant as files: export, plan, apply, test."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from lakehold import access_as_code
from lakehold.access_as_code import ChangePlan, DesiredState, assertion_report, assertion_runner, plan_text
from lakehold.access_as_code import plan as plans
from lakehold.api.code import telling
from lakehold.api.frame.models import Answer, Body
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading, Writing
from lakehold.directory.request_context import RequestContext

routes = router("/api/v1/code", "Access as code")

_MOST_FILES = 2_000
_LONGEST = 2_000_000
_TELLS_ALL: dict[str, Any] = {"x-tells-all-to": "export"}

FileName = Annotated[str, Field(min_length=1, max_length=300, examples=["people.yaml"])]
FileText = Annotated[str, Field(max_length=_LONGEST, examples=["members:\n  ana: {name: Ana}\n"])]
Texts = Annotated[
    dict[FileName, FileText],
    Field(max_length=_MOST_FILES, examples=[{"people.yaml": "members:\n  ana: {name: Ana}\n"}]),
]


class Files(Answer):
    """All files of a tenant, by name."""

    files: dict[str, str] = Field(examples=[{"people.yaml": "members:\n  ana: {name: Ana}\n"}])


class GivenFiles(Body):
    """Files by name."""

    files: Texts


class Planned(Answer):
    """What would have to be done, and what that does to whom."""

    empty: bool = Field(description="Whether there is nothing to do.")
    text: str = Field(examples=["Nothing to do: the tenant is what the files say.\n"], description="As people read it.")
    plan: dict[str, object] = Field(examples=[{}], description="To be sent back to apply exactly this.")


class WantedPlan(GivenFiles):
    """Files, and how much is to be told about what they do."""

    rows: bool = Field(default=False, description="Every single effect on a member, not only counts.")


class Application(GivenFiles):
    """Files, and the plan that was made from them."""

    plan: dict[str, object] | None = Field(
        default=None, examples=[None], description="Only this plan, if nothing has changed since; else a new one."
    )


class Applied(Answer):
    """What was done."""

    steps: int
    told: int = Field(description="Of how many things something else is told now: addresses, descriptions, settings.")


class Tested(Answer):
    """What came of the tests in the files."""

    passed: bool
    tests: int
    text: str = Field(examples=["people.yaml ..\n\n2 passed\n"])
    junit: str = Field(examples=["<testsuite/>"], description="For a build server.")
    report: dict[str, object] = Field(examples=[{}])


@routes.get("", openapi_extra=_TELLS_ALL)
def export_tenant(ctx: Reading) -> Files:
    """All of the tenant as files.

    Needs the right `export`. Secrets are in none of them.
    """
    ctx.need("export", ctx.caller.tenant)
    return Files(files=access_as_code.export_tenant(ctx.session, telling.read(ctx)))


@routes.post("/plan", openapi_extra=_TELLS_ALL)
def plan_files(ctx: Reading, body: WantedPlan) -> Planned:
    """What would make the tenant what these files say, and who would win and lose what?

    Needs the right `export`.
    """
    ctx.need("export", ctx.caller.tenant)
    made = _plan(ctx, access_as_code.parse_files(body.files))
    return Planned(
        empty=made.is_empty, text=plan_text.render_plan(made, rows=body.rows), plan=json.loads(plans.dump_plan(made))
    )


@routes.post("/apply", openapi_extra=_TELLS_ALL)
def apply_files(ctx: Writing, body: Application) -> Applied:
    """Make the tenant what these files say: all of it, or nothing.

    Needs the right `export`, and the right to every single change.
    """
    ctx.need("export", ctx.caller.tenant)
    declared = access_as_code.parse_files(body.files)
    made = _plan(ctx, declared) if body.plan is None else plans.load_plan(json.dumps(body.plan))
    access_as_code.apply_plan(ctx, made, declared)
    telling.write(ctx, made.metadata)
    return Applied(steps=len(made.steps), told=len(made.metadata))


@routes.post("/test", openapi_extra=_TELLS_ALL)
def run_file_tests(ctx: Reading, body: GivenFiles) -> Tested:
    """Ask the tests that these files keep, of the tenant as it is.

    Needs the right `export`.
    """
    ctx.need("export", ctx.caller.tenant)
    report = assertion_runner.run_session(access_as_code.parse_files(body.files), ctx.session)
    return Tested(
        passed=report.exit_code == 0,
        tests=len(report.results),
        text=assertion_report.render_text(report),
        junit=assertion_report.render_junit(report),
        report=json.loads(assertion_report.render_json(report)),
    )


def _plan(ctx: RequestContext, declared: DesiredState) -> ChangePlan:
    return access_as_code.make_plan(ctx.session, declared, telling.read(ctx))
