"""Subjects, resources, actions and contexts, as the standard has them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from lakehold.api.frame.models import Answer, IdText, Word

Properties = Annotated[dict[str, object], Field(max_length=200, examples=[{"department": "Sales"}])]
Context = Annotated[dict[str, object], Field(max_length=200, examples=[{"hour": 14}])]


class Entity(BaseModel):
    """What the standard speaks of. What it does not name is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Subject(Entity):
    """Whom the question is about."""

    type: Word = Field(examples=["member"], description="`member`, or `tenant.member`.")
    id: IdText = Field(examples=["ana"])
    properties: Properties = Field(default_factory=dict)


class SubjectType(Entity):
    """Whom to look for. An id is ignored."""

    type: Word = Field(examples=["member"])
    properties: Properties = Field(default_factory=dict)


class Resource(Entity):
    """What the question is about."""

    type: Word = Field(
        examples=["lakehouse.table"], description="A kind; its short name too, if only one model has it."
    )
    id: IdText = Field(examples=["orders"])
    properties: Properties = Field(default_factory=dict)


class ResourceType(Entity):
    """What to look for. An id is ignored."""

    type: Word = Field(examples=["lakehouse.table"])
    properties: Properties = Field(default_factory=dict)


class Action(Entity):
    """What they want to do."""

    name: Word = Field(examples=["edit"])
    properties: Properties = Field(default_factory=dict)


class Decision(Answer):
    """May they?"""

    omits_null = True

    decision: bool
    context: dict[str, object] | None = Field(
        default=None, examples=[None], description="Why there is no proper decision, if there is none."
    )


class FoundSubject(Answer):
    """A subject of a search."""

    type: str = Field(default="member", examples=["member"])
    id: IdText = Field(examples=["ana"])


class FoundResource(Answer):
    """A resource of a search."""

    type: str = Field(examples=["lakehouse.table"])
    id: IdText


class FoundAction(Answer):
    """An action of a search."""

    name: str = Field(examples=["edit"])
