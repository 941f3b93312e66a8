"""Resources as answers tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from lakehold.api.access.what_ifs import EffectGroup
from lakehold.api.frame.etags import Tagged
from lakehold.api.frame.models import Answer, IdText, NameText, Time, Word, checked, time_of, told
from lakehold.catalog import resource_view
from lakehold.catalog.resource_metadata import MAX_DESCRIPTION, valid_description, valid_settings
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError

Sort = Literal["name", "-name", "created", "-created"]
KindName = Annotated[str, Field(min_length=1, max_length=200, examples=["lakehouse.table"])]
ResourceId = Annotated[IdText, Field(examples=["orders"])]
SubjectId = Annotated[IdText, Field(examples=["ana"], description="The id of a member or group.")]
Description = Annotated[
    str, Field(max_length=MAX_DESCRIPTION, examples=["One line for each order."]), checked(valid_description)
]


def _settings(value: dict[str, Any]) -> dict[str, Any]:
    try:
        valid_settings(value)
    except LakeholdError as error:
        raise ValueError(str(error)) from None
    return value


Settings = Annotated[dict[str, Any], Field(examples=[{"refresh_hour": 6}]), AfterValidator(_settings)]
"""Anybody's JSON, such as could be kept; also where it is only tried out."""
Attributes = Annotated[
    dict[Word, bool | Annotated[str, Field(max_length=200)]], Field(max_length=100, examples=[{"discoverable": True}])
]
Ends = Annotated[list[IdText], Field(max_length=1_000)]
Edges = Annotated[dict[Word, Ends], Field(max_length=100, examples=[{"layer": ["clean"]}])]


class RefJson(Answer):
    """Something by id, kind and name."""

    id: IdText
    kind: KindName
    name: NameText


class SummaryJson(Answer):
    """A resource in a list."""

    id: IdText
    kind: KindName
    name: NameText
    parent: RefJson | None = Field(description="Null if the caller may not see it.")
    description: str = Field(examples=["One line for each order."])
    since: Time
    actions: list[str] = Field(examples=[["see", "read"]], description="What the caller may do with it.")


class ResourceJson(Tagged):
    """A resource, as the caller may see it. What they may not see is left out and not counted."""

    id: IdText
    kind: KindName
    name: NameText
    parent: RefJson | None = Field(description="Null if the caller may not see it.")
    workspace: RefJson | None = Field(description="Null if the caller may not see it.")
    description: str = Field(examples=["One line for each order."])
    settings: dict[str, Any] | None = Field(
        examples=[{"refresh_hour": 6}], description="Null for those who may not edit it."
    )
    attributes: dict[str, str] = Field(examples=[{"discoverable": "false"}])
    edges: dict[str, list[RefJson]] = Field(description="Where it points, as far as the caller may see.")
    owners: dict[str, list[RefJson]] = Field(description="Who holds the roles that go to a person.")
    actions: list[str] = Field(examples=[["see", "read"]], description="What the caller may do with it.")
    may_edit: bool
    may_delete: bool
    revision: int = Field(examples=[1], description="Counts the changes of what the resource itself says.")
    created_at: Time | None
    created_by: RefJson | None
    updated_at: Time | None
    updated_by: RefJson | None

    def version(self) -> bytes:
        """The same for all who look."""
        return f"{self.id} {self.revision}".encode()


class EffectsJson(Answer):
    """Who would win and lose what, counted, of what the caller may see."""

    groups: list[EffectGroup]


def ref(found: ResourceRef) -> RefJson:
    """By id, kind and name."""
    return RefJson(id=found.uid, kind=found.kind, name=found.name)


def maybe(found: ResourceRef | None) -> RefJson | None:
    """The same of what may be out of sight."""
    return None if found is None else ref(found)


def summary(item: ResourceSummary) -> SummaryJson:
    """A resource in a list."""
    return SummaryJson(
        id=item.uid,
        kind=item.kind,
        name=item.name,
        parent=maybe(item.parent),
        description=item.description,
        since=time_of(item.since),
        actions=list(item.actions),
    )


def resource(found: ResourceView) -> ResourceJson:
    """A resource by itself."""
    return ResourceJson(
        id=found.uid,
        kind=found.kind,
        name=found.name,
        parent=maybe(found.parent),
        workspace=maybe(found.workspace),
        description=found.description,
        settings=None if found.settings is None else dict(found.settings),
        attributes=dict(found.attributes),
        edges={name: [ref(end) for end in ends] for name, ends in found.edges.items()},
        owners={role: [ref(who) for who in held] for role, held in found.owners.items()},
        actions=list(found.actions),
        may_edit=found.may_edit,
        may_delete=found.may_delete,
        revision=found.version,
        created_at=told(found.created_at),
        created_by=maybe(found.created_by),
        updated_at=told(found.updated_at),
        updated_by=maybe(found.updated_by),
    )


def shown(ctx: RequestContext, uid: str) -> ResourceJson:
    """A resource that the caller may see."""
    return resource(resource_view.load_resource(ctx, uid))


def one_or_many(edges: Mapping[str, list[str]]) -> dict[str, str | list[str]]:
    """The ends of edges as the services take them."""
    return dict(edges)
