"""Endpoints of the kinds of resources that the access models define."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import ResponseModel, Word
from lakehold.api.http.routing import make_router
from lakehold.catalog import kinds
from lakehold.workspaces import registry

routes = make_router("/api/v1/kinds", "Kinds")


class RoleJson(ResponseModel):
    """A role that can be held on a resource of the kind."""

    name: Word
    title: str = Field(examples=["Viewer"])
    person_only: bool = Field(description="Whether only a person can hold it.")
    single: bool = Field(description="Whether one holds it at a time.")


class AttributeJson(ResponseModel):
    """An attribute of resources of the kind."""

    name: Word
    values: list[str] = Field(examples=[["false", "true"]])
    default: str = Field(examples=["false"])


class EdgeJson(ResponseModel):
    """An edge of resources of the kind, and the kinds it can point at."""

    name: Word
    to: list[str] = Field(examples=[["lakehouse.table"]])
    many: bool


class KindJson(ResponseModel):
    """A kind of resources."""

    id: str = Field(examples=["lakehouse.table"])
    title: str = Field(examples=["Table"])
    model: str = Field(examples=["lakehouse"])
    is_workspace: bool
    parent: str | None = Field(examples=["layer"], description="The edge to what it lies in.")
    visible: Word = Field(description="The action that says who may know of it.")
    actions: list[str] = Field(examples=[["see", "edit"]])
    roles: list[RoleJson]
    attributes: list[AttributeJson]
    membership: list[AttributeJson] = Field(description="What belongs to a membership in it.")
    edges: list[EdgeJson]
    settings: dict[str, Any] | None = Field(
        examples=[{"type": "object"}], description="The JSON schema of its settings; null if they are free."
    )


class KindListJson(ResponseModel):
    """A list of kinds."""

    items: list[KindJson]


@routes.get("")
def list_kinds(
    ctx: ReadContext, model: Annotated[Word | None, Query(description="Of one model.", examples=["lakehouse"])] = None
) -> KindListJson:
    """List all kinds of resources, by model."""
    policy = ctx.view.policy
    roots = {root.id for root in kinds.workspace_kinds(policy)}
    found = [kind for kind in kinds.all_kinds(policy) if model is None or kind.model == model]
    steps = {kind.id: policy.kinds[kind.id].steps for kind in found}
    return KindListJson(
        items=[_kind_json(kind, {name: step.kinds for name, step in steps[kind.id].items()}, roots) for kind in found]
    )


def _kind_json(kind: KindSchema, ends: dict[str, tuple[str, ...]], roots: set[str]) -> KindJson:
    schema = registry.find_settings_schema(kind.id)
    return KindJson(
        id=kind.id,
        title=kind.title,
        model=kind.model,
        is_workspace=kind.id in roots,
        parent=kind.parent,
        visible=kind.visible,
        actions=list(kind.actions),
        roles=[RoleJson.model_validate(role) for role in kind.roles.values()],
        attributes=[AttributeJson.model_validate(attribute) for attribute in kind.attributes.values()],
        membership=[AttributeJson.model_validate(attribute) for attribute in kind.membership.values()],
        edges=[EdgeJson(name=edge.name, to=list(ends[edge.name]), many=edge.many) for edge in kind.edges.values()],
        settings=schema.json_schema() if schema else None,
    )
