"""Endpoints of the tenant's access models, those that came with Lakehold and those of the tenant's own."""

from dataclasses import asdict, replace
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import Field

from lakehold import workspaces
from lakehold.access import Adopt
from lakehold.access.facts import tables
from lakehold.access.model.loader import parse_model
from lakehold.access.model.schema import AccessModel
from lakehold.api.access.question_scope import QuestionScope, need_others
from lakehold.api.access.what_if import EffectGroupJson, ModelSource
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import IfMatch, RecordEnd, RecordTime, RequestModel, ResponseModel, TaggedResponse, Word
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.catalog import change_preview
from lakehold.directory.model_upgrade import ModelStatus, model_status
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote

routes = make_router("/api/v1/access/models", "Access models")

ModelName = Annotated[Word, Field(max_length=100, examples=["library"])]


class ModelText(RequestModel):
    """A model as YAML."""

    source: ModelSource


class ModelReplacement(ModelText):
    """A new version of a model, with the confirmation that its effects were seen."""

    confirm: Annotated[str, Field(max_length=64)] = Field(
        default="", description="The `confirm` of `POST try` for this source. Needed if somebody wins or loses access."
    )


class ModelSummary(ResponseModel):
    """The name, title and kinds of a model."""

    name: ModelName
    title: str = Field(examples=["Library"])
    kinds: list[str] = Field(examples=[["library.library", "library.book"]])
    shipped: bool = Field(description="Whether it came with Lakehold and follows the release; else custom.")
    outdated: bool = Field(description="Whether the installed release ships a newer version of it.")
    problem: str | None = Field(
        examples=[None],
        description="Why the newer models of the release were not adopted; null if nothing stands against them, and for"
        " callers without the right `manage_models`.",
    )


class ModelJson(ModelSummary, TaggedResponse):
    """A model with its YAML source."""

    source: ModelSource

    def version(self) -> bytes:
        """Return all but the problem, which only those who manage models see."""
        return f"{self.name} {self.shipped} {self.outdated} {self.source}".encode()


class ModelPreviewJson(ResponseModel):
    """The effects that adopting a model would have."""

    name: ModelName
    title: str = Field(examples=["Library"])
    kinds: list[str] = Field(examples=[["library.library", "library.book"]])
    new: bool = Field(description="Whether there is no model of this name yet.")
    changes: bool = Field(description="Whether it differs from the current one.")
    effects: list[EffectGroupJson] = Field(description="Who would gain and lose which actions.")
    confirm: str = Field(description="Send it with `PUT` to confirm these effects.")


class ModelVersion(ResponseModel):
    """A source that was in force for some time."""

    since: RecordTime
    until: RecordEnd = Field(examples=[None], description="Null for the current one.")
    source: ModelSource


@routes.get("")
def list_models(ctx: ReadContext) -> PageResponse[ModelSummary]:
    """List all access models of the tenant."""
    ctx.need_visible(ctx.caller.tenant)
    models = ctx.session.read_view(lambda view: sorted(view.policy.models.values(), key=lambda model: model.name))
    statuses = _model_statuses(ctx)
    return PageResponse(items=[ModelSummary(**_summary_fields(model, statuses[model.name])) for model in models])


@routes.post("", status_code=201)
def adopt_model(ctx: CreateContext, body: ModelText) -> ModelJson:
    """Adopt a new model.

    Needs the right `manage_models`. A model that cannot be loaded is refused with the line and what would be right.
    """
    ctx.need("manage_models", ctx.caller.tenant)
    model = parse_model(body.source)
    if model.name in ctx.view.sources:
        raise ConflictError(f"There is already a model {quote(model.name)}.", "Replace it with PUT.")
    ctx.make(Adopt(body.source))
    return _model_json(ctx, model.name)


@routes.post("/try", operation_id="try_model")
def preview_model(ctx: ReadContext, body: ModelText) -> ModelPreviewJson:
    """Try a model, and preview the effects of adopting it.

    Nothing is changed. Needs the rights `manage_models` and `ask_about_others`.
    """
    ctx.need("manage_models", ctx.caller.tenant)
    need_others(ctx)
    model = parse_model(body.source)
    effects = change_preview.preview_model(ctx, body.source)
    there = ctx.view.sources.get(model.name)
    found = {
        "new": there is None,
        "changes": there != body.source,
        "effects": effects.restrict(QuestionScope(ctx).is_visible).groups,
        "confirm": change_preview.confirmation_code(body.source, effects),
    }
    return ModelPreviewJson.model_validate({**_model_fields(model), **found})


@routes.get("/{name}")
def get_model(ctx: ReadContext, name: ModelName) -> ModelJson:
    """Get a model with its source."""
    ctx.need_visible(ctx.caller.tenant)
    return _model_json(ctx, name)


@routes.put("/{name}", responses=problem_responses(412, 428))
def replace_model(ctx: WriteContext, name: ModelName, body: ModelReplacement, seen: IfMatch) -> ModelJson:
    """Adopt a new version of a custom model.

    Needs the right `manage_models`. If somebody wins or loses access by it, it is refused unless `confirm` shows that
    these effects were seen. The old version is kept, for questions about the past.
    """
    ctx.need("manage_models", ctx.caller.tenant)
    seen.need(_model_json(ctx, name))
    model = parse_model(body.source)
    if model.name != name:
        raise InvalidInputError(
            f"The text is of the model {quote(model.name)}, not {quote(name)}.", "Send it to the URL of that model."
        )
    if body.source != ctx.view.sources.get(name):
        change_preview.need_confirmed(ctx, body.source, body.confirm)
        ctx.make(Adopt(body.source))
    return _model_json(ctx, name)


@routes.get("/{name}/versions")
def list_model_versions(ctx: ReadContext, paged: PageParams, name: ModelName) -> PageResponse[ModelVersion]:
    """List all versions of a model, newest first."""
    ctx.need_visible(ctx.caller.tenant)
    list_name = f"versions {name}"
    behind = paged.start_after(list_name, int)
    c = tables.model.c
    query = sa.select(c.id, c.since, c.until, c.source).where(c.tenant_id == ctx.session.tenant, c.name == name)
    if behind is not None:
        query = query.where(c.id < behind)
    rows = ctx.session.transaction.connection.execute(query.order_by(c.id.desc()).limit(paged.limit + 1)).all()
    if not rows and behind is None:
        raise _unknown_model(name)
    return paged.build_page(list_name, rows, lambda row: (row.id,), ModelVersion.model_validate)


def _model_json(ctx: RequestContext, name: str) -> ModelJson:
    model = ctx.session.read_view(lambda view: view.policy.models.get(name))
    if model is None:
        raise _unknown_model(name)
    return ModelJson(**_summary_fields(model, _model_statuses(ctx)[name]), source=model.source)


def _summary_fields(model: AccessModel, status: ModelStatus) -> dict[str, Any]:
    return {**_model_fields(model), **asdict(status), "problem": status.problem or None}


def _model_fields(model: AccessModel) -> dict[str, Any]:
    return {"name": model.name, "title": model.title, "kinds": [f"{model.name}.{kind}" for kind in model.kinds]}


def _model_statuses(ctx: RequestContext) -> dict[str, ModelStatus]:
    """Return the status of each model. A problem may name resources, so that only those who manage models see it."""
    session, tenant = ctx.session, ctx.caller.tenant
    found = session.cached(
        ("model status",), lambda: session.read_view(lambda view: model_status(view, workspaces.models()))
    )
    if "manage_models" in session.actions(ctx.principal, tenant):
        return found
    return {name: replace(status, problem="") for name, status in found.items()}


def _unknown_model(name: str) -> NotFoundError:
    return NotFoundError(f"There is no model {quote(name)}.", "Check the name in the list of models.")
