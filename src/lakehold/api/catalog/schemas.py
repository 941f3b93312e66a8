"""Response models and field types of resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from lakehold.api.access.what_if import EffectGroupJson
from lakehold.api.http.etags import TaggedResponse
from lakehold.api.http.models import (
    IdText,
    NameText,
    ResponseModel,
    Time,
    Word,
    to_datetime,
    to_optional_datetime,
    validated_by,
)
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
    str, Field(max_length=MAX_DESCRIPTION, examples=["One line for each order."]), validated_by(valid_description)
]


def _validate_settings(value: dict[str, Any]) -> dict[str, Any]:
    try:
        valid_settings(value)
    except LakeholdError as error:
        raise ValueError(str(error)) from None
    return value


SettingsJson = Annotated[dict[str, Any], Field(examples=[{"refresh_hour": 6}]), AfterValidator(_validate_settings)]
"""Anybody's JSON, such as could be kept; also where it is only tried out."""
Attributes = Annotated[
    dict[Word, bool | Annotated[str, Field(max_length=200)]], Field(max_length=100, examples=[{"discoverable": True}])
]
Ends = Annotated[list[IdText], Field(max_length=1_000)]
Edges = Annotated[dict[Word, Ends], Field(max_length=100, examples=[{"layer": ["clean"]}])]


class RefJson(ResponseModel):
    """The id, kind and name of a resource."""

    id: IdText
    kind: KindName
    name: NameText


class SummaryJson(ResponseModel):
    """A resource in a list."""

    id: IdText
    kind: KindName
    name: NameText
    parent: RefJson | None = Field(description="Null if the caller may not see it.")
    description: str = Field(examples=["One line for each order."])
    since: Time
    actions: list[str] = Field(examples=[["see", "read"]], description="What the caller may do with it.")


class ResourceJson(TaggedResponse):
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
        """Return the id and revision, which are the same for all callers."""
        return f"{self.id} {self.revision}".encode()


class EffectsJson(ResponseModel):
    """The number of rights that members would gain and lose, of what the caller may see."""

    groups: list[EffectGroupJson]


def ref_json(found: ResourceRef) -> RefJson:
    """Convert a reference to JSON."""
    return RefJson(id=found.uid, kind=found.kind, name=found.name)


def optional_ref_json(found: ResourceRef | None) -> RefJson | None:
    """Convert a reference to JSON; None if the caller may not see it."""
    return None if found is None else ref_json(found)


def summary_json(item: ResourceSummary) -> SummaryJson:
    """Convert a resource in a list to JSON."""
    return SummaryJson(
        id=item.uid,
        kind=item.kind,
        name=item.name,
        parent=optional_ref_json(item.parent),
        description=item.description,
        since=to_datetime(item.since),
        actions=list(item.actions),
    )


def resource_json(found: ResourceView) -> ResourceJson:
    """Convert a resource to JSON."""
    return ResourceJson(
        id=found.uid,
        kind=found.kind,
        name=found.name,
        parent=optional_ref_json(found.parent),
        workspace=optional_ref_json(found.workspace),
        description=found.description,
        settings=None if found.settings is None else dict(found.settings),
        attributes=dict(found.attributes),
        edges={name: [ref_json(end) for end in ends] for name, ends in found.edges.items()},
        owners={role: [ref_json(who) for who in held] for role, held in found.owners.items()},
        actions=list(found.actions),
        may_edit=found.may_edit,
        may_delete=found.may_delete,
        revision=found.version,
        created_at=to_optional_datetime(found.created_at),
        created_by=optional_ref_json(found.created_by),
        updated_at=to_optional_datetime(found.updated_at),
        updated_by=optional_ref_json(found.updated_by),
    )


def load_resource_json(ctx: RequestContext, uid: str) -> ResourceJson:
    """Load a resource that the caller may see, and convert it to JSON."""
    return resource_json(resource_view.load_resource(ctx, uid))


def edges_argument(edges: Mapping[str, list[str]]) -> dict[str, str | list[str]]:
    """Return the edges in the form that the services take."""
    return dict(edges)
