"""Response models and field types of resources."""

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from lakehold.api.http.models import (
    IdText,
    NameText,
    RecordEnd,
    RecordId,
    RecordTime,
    ResponseModel,
    TaggedResponse,
    Word,
    validated_by,
)
from lakehold.catalog import resource_view
from lakehold.catalog.resource_metadata import MAX_DESCRIPTION, valid_description, valid_settings
from lakehold.directory.request_context import RequestContext

KindName = Annotated[str, Field(min_length=1, max_length=200, examples=["lakehouse.table"])]
ResourceId = Annotated[IdText, Field(examples=["orders"])]
SubjectId = Annotated[IdText, Field(examples=["ana"], description="The id of a member or group.")]
Description = Annotated[
    str, Field(max_length=MAX_DESCRIPTION, examples=["One line for each order."]), validated_by(valid_description)
]


def _validate_settings(value: dict[str, Any]) -> dict[str, Any]:
    valid_settings(value)
    return value


SettingsJson = Annotated[
    dict[str, Any],
    Field(
        examples=[{}],
        description="They depend on the kind: see the schemas `settings.<kind>`. Empty settings are a draft.",
    ),
    validated_by(_validate_settings),
]
Attributes = Annotated[
    dict[Word, bool | Annotated[str, Field(max_length=200)]], Field(max_length=100, examples=[{"discoverable": True}])
]
OptionalId = Annotated[str, Field(max_length=200, examples=[""])]
"""The id of a resource, or an empty text."""
SecretTexts = dict[IdText, Annotated[str, Field(max_length=20_000, examples=[""])]]
Ends = Annotated[list[IdText], Field(max_length=1_000)]
Edges = Annotated[dict[Word, Ends], Field(max_length=100, examples=[{"layer": ["clean"]}])]


class SettingsProblemJson(ResponseModel):
    """A stored setting that cannot be used. It must be right the next time the settings are saved."""

    field: str = Field(examples=["keys"], description="Its path in the settings.")
    message: str = Field(examples=["To merge, the data mart needs a primary key."])
    hint: str = Field(examples=["Set keys."])


SettingsProblems = Annotated[
    list[SettingsProblemJson],
    Field(examples=[[]], description="What is wrong with the stored settings, for those who may edit them."),
]


class RefJson(ResponseModel):
    """The id, kind and name of a resource."""

    id: RecordId
    kind: KindName
    name: NameText


class SummaryJson(RefJson):
    """A resource in a list."""

    parent: RefJson | None = Field(description="Null if the caller may not see it.")
    description: str = Field(examples=["One line for each order."])
    since: RecordTime
    actions: list[str] = Field(examples=[["see", "read"]], description="Actions that the caller may perform on it.")
    settings_problems: SettingsProblems


class ResourceJson(RefJson, TaggedResponse):
    """A resource, as the caller may see it. What they may not see is left out and not counted."""

    parent: RefJson | None = Field(description="Null if the caller may not see it.")
    workspace: RefJson | None = Field(description="Null if the caller may not see it.")
    description: str = Field(examples=["One line for each order."])
    settings: dict[str, Any] | None = Field(
        examples=[{"sql": "SELECT 1"}], description="Null for those who may not read them."
    )
    settings_problems: SettingsProblems
    attributes: dict[str, str] = Field(examples=[{"discoverable": "false"}])
    edges: dict[str, list[RefJson]] = Field(description="Targets of its edges, as far as the caller may see.")
    owners: dict[str, list[RefJson]] = Field(description="Holders of the roles that only a person can have.")
    actions: list[str] = Field(examples=[["see", "read"]], description="Actions that the caller may perform on it.")
    may_edit: bool
    may_delete: bool
    revision: int = Field(
        validation_alias=AliasChoices("revision", "version"),
        examples=[1],
        description="Version of the resource's own metadata.",
    )
    created_at: RecordEnd
    created_by: RefJson | None
    updated_at: RecordEnd
    updated_by: RefJson | None

    def version(self) -> bytes:
        """Return the id and revision, which are the same for all callers."""
        return f"{self.id} {self.revision}".encode()


def load_resource_json(ctx: RequestContext, uid: str) -> ResourceJson:
    """Load a resource that the caller may see, and convert it to JSON."""
    return ResourceJson.model_validate(resource_view.load_resource(ctx, uid))
