"""Subjects, resources, actions and contexts of the AuthZEN standard."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from lakehold.api.http.models import IdText, ResponseModel, Word

Properties = Annotated[dict[str, object], Field(max_length=200, examples=[{"department": "Sales"}])]
Context = Annotated[dict[str, object], Field(max_length=200, examples=[{"hour": 14}])]


class AuthzenEntity(BaseModel):
    """Base class of AuthZEN entities. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class AuthzenSubject(AuthzenEntity):
    """The subject of a question."""

    type: Word = Field(examples=["member"], description="`member`, or `tenant.member`.")
    id: IdText = Field(examples=["ana"])
    properties: Properties = Field(default_factory=dict)


class AuthzenSubjectType(AuthzenEntity):
    """The type of subjects to search for. An id is ignored."""

    type: Word = Field(examples=["member"])
    properties: Properties = Field(default_factory=dict)


class AuthzenResource(AuthzenEntity):
    """The resource of a question."""

    type: Word = Field(
        examples=["lakehouse.table"], description="A kind; its short name too, if only one model has it."
    )
    id: IdText = Field(examples=["orders"])
    properties: Properties = Field(default_factory=dict)


class AuthzenResourceType(AuthzenEntity):
    """The type of resources to search for. An id is ignored."""

    type: Word = Field(examples=["lakehouse.table"])
    properties: Properties = Field(default_factory=dict)


class AuthzenAction(AuthzenEntity):
    """The action of a question."""

    name: Word = Field(examples=["edit"])
    properties: Properties = Field(default_factory=dict)


class AuthzenDecision(ResponseModel):
    """Whether it is allowed."""

    omits_null = True

    decision: bool
    context: dict[str, object] | None = Field(
        default=None, examples=[None], description="Why there is no proper decision, if there is none."
    )


class SubjectResult(ResponseModel):
    """A subject that a search has found."""

    type: str = Field(default="member", examples=["member"])
    id: IdText = Field(examples=["ana"])


class ResourceResult(ResponseModel):
    """A resource that a search has found."""

    type: str = Field(examples=["lakehouse.table"])
    id: IdText


class ActionResult(ResponseModel):
    """An action that a search has found."""

    name: str = Field(examples=["edit"])
