"""The tenant's access models: those that came with Lakehold, and those of one's own."""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from lakehold.access import Adopt
from lakehold.access.facts import tables
from lakehold.access.model.loader import parse_model
from lakehold.access.model.schema import AccessModel
from lakehold.api.access.asking import Asking, need_others
from lakehold.api.access.facts import Source
from lakehold.api.access.what_ifs import EffectGroup, told
from lakehold.api.frame import models as frame
from lakehold.api.frame.etags import IfMatch, Tagged
from lakehold.api.frame.models import Answer, Body, Time, Word, time_of
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Creating, Reading, Writing
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote

routes = router("/api/v1/access/models", "Access models")

ModelName = Annotated[Word, Field(max_length=100, examples=["library"])]


class ModelText(Body):
    """A model as YAML."""

    source: Source


class ModelSummary(Answer):
    """A model by name."""

    name: ModelName
    title: str = Field(examples=["Library"])
    kinds: list[str] = Field(examples=[["library.library", "library.book"]])


class ModelJson(Tagged):
    """A model with its text."""

    name: ModelName
    title: str = Field(examples=["Library"])
    kinds: list[str] = Field(examples=[["library.library", "library.book"]])
    source: Source


class ModelTried(Answer):
    """What came of trying a model: it can be adopted, and this is what that would do."""

    name: ModelName
    title: str = Field(examples=["Library"])
    kinds: list[str] = Field(examples=[["library.library", "library.book"]])
    new: bool = Field(description="Whether there is no model of this name yet.")
    changes: bool = Field(description="Whether it differs from the one that is in force.")
    effects: list[EffectGroup] = Field(description="Who would win and lose what.")


class ModelVersion(Answer):
    """A text that was in force for some time."""

    since: Time
    until: Time | None = Field(examples=[None], description="Null for the one that is in force.")
    source: Source


@routes.get("")
def list_models(ctx: Reading) -> Page[ModelSummary]:
    """All access models of the tenant."""
    ctx.need_visible(ctx.caller.tenant)
    models = ctx.session.read_view(lambda view: list(view.policy.models.values()))
    items = [ModelSummary(name=model.name, title=model.title, kinds=_kinds(model)) for model in models]
    return Page(items=sorted(items, key=lambda item: item.name))


@routes.post("", status_code=201)
def adopt_model(ctx: Creating, body: ModelText) -> ModelJson:
    """Adopt a new model.

    Needs the right `manage_models`. A model that cannot be loaded is refused with the line and what would be right.
    """
    ctx.need("manage_models", ctx.caller.tenant)
    model = parse_model(body.source)
    if model.name in ctx.view.sources:
        raise ConflictError(f"There is already a model {quote(model.name)}.", "Replace it with PUT.")
    ctx.make(Adopt(body.source))
    return _shown(ctx, model.name)


@routes.post("/try")
def try_model(ctx: Reading, body: ModelText) -> ModelTried:
    """Try a model: can it be adopted, and what would that do?

    Nothing is changed. Needs the rights `manage_models` and `ask_about_others`.
    """
    ctx.need("manage_models", ctx.caller.tenant)
    need_others(ctx)
    model = parse_model(body.source)
    effects = ctx.session.what_if([Adopt(body.source)]).restrict(Asking(ctx).sees)
    there = ctx.view.sources.get(model.name)
    return ModelTried(
        name=model.name,
        title=model.title,
        kinds=_kinds(model),
        new=there is None,
        changes=there != body.source,
        effects=told(effects),
    )


@routes.get("/{name}")
def get_model(ctx: Reading, name: ModelName) -> ModelJson:
    """A model with its text."""
    ctx.need_visible(ctx.caller.tenant)
    return _shown(ctx, name)


@routes.put("/{name}", responses=problems(412, 428))
def replace_model(ctx: Writing, name: ModelName, body: ModelText, seen: IfMatch) -> ModelJson:
    """Put a new version in force.

    Needs the right `manage_models`. The old version stays known, for questions about the past.
    """
    ctx.need("manage_models", ctx.caller.tenant)
    seen.need(_shown(ctx, name))
    model = parse_model(body.source)
    if model.name != name:
        raise InvalidInputError(
            f"The text is of the model {quote(model.name)}, not {quote(name)}.", "Send it to its own address."
        )
    if body.source != ctx.view.sources.get(name):
        ctx.make(Adopt(body.source))
    return _shown(ctx, name)


@routes.get("/{name}/versions")
def list_model_versions(ctx: Reading, paged: Paged, name: ModelName) -> Page[ModelVersion]:
    """All texts of a model, the newest first."""
    ctx.need_visible(ctx.caller.tenant)
    of = f"versions {name}"
    behind = paged.start(of, int)
    c = tables.model.c
    query = sa.select(c.id, c.since, c.until, c.source).where(c.tenant_id == ctx.session.tenant, c.name == name)
    if behind is not None:
        query = query.where(c.id < behind[0])
    rows = ctx.session.transaction.connection.execute(query.order_by(c.id.desc()).limit(paged.limit + 1)).all()
    if not rows and behind is None:
        raise _unknown(name)
    return paged.page(
        of,
        rows,
        lambda row: (row.id,),
        lambda row: ModelVersion(since=time_of(row.since), until=frame.told(row.until), source=row.source),
    )


def _shown(ctx: RequestContext, name: str) -> ModelJson:
    model = ctx.session.read_view(lambda view: view.policy.models.get(name))
    if model is None:
        raise _unknown(name)
    return ModelJson(name=model.name, title=model.title, kinds=_kinds(model), source=model.source)


def _kinds(model: AccessModel) -> list[str]:
    return [f"{model.name}.{kind}" for kind in model.kinds]


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(f"There is no model {quote(name)}.", "Look its name up in the list of models.")
