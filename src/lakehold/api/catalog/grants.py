"""Who holds which role on what."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lakehold.access import Add, Grant, Remove
from lakehold.api.access.what_ifs import told as effects_told
from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import EffectsJson, RefJson, ResourceId, SubjectId
from lakehold.api.frame.models import Answer, Body, Time, Word, time_of, told
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating, Reading, Writing
from lakehold.catalog import change_preview, grants
from lakehold.catalog.grants import GrantedRole
from lakehold.directory.request_context import RequestContext

routes = router("/api/v1/resources/{resource}/grants", "Grants")
held = router("/api/v1/grants", "Grants")
who = router("/api/v1/resources/{resource}/who", "Grants")

RoleName = Annotated[Word, Field(examples=["viewer"])]


class GrantJson(Answer):
    """A role that somebody holds, or will."""

    subject: RefJson
    role: RoleName
    title: str = Field(examples=["Viewer"])
    resource: RefJson
    since: Time
    until: Time | None = Field(description="Null if it has no end.")


class Grants(Answer):
    """Who holds what."""

    items: list[GrantJson]


class Members(Answer):
    """Members, by name."""

    items: list[RefJson]


class NewGrant(Body):
    """A role for a member or group."""

    subject: SubjectId
    role: RoleName
    since: Time | None = Field(default=None, description="When it begins; now without.")
    until: Time | None = Field(default=None, description="When it ends.")


class ChangedGrant(Body):
    """Another role in place of this one, or the same one until another time."""

    subject: SubjectId
    role: RoleName = Field(description="The role that is held.")
    new_role: RoleName = Field(examples=["editor"])
    until: Time | None = Field(default=None, description="When it ends.")


class TriedGrant(Body):
    """A grant that is added or taken away in a preview."""

    change: Literal["add", "remove"]
    subject: SubjectId
    role: RoleName


class TriedGrants(Body):
    """Changes that are tried together, in order."""

    changes: Annotated[list[TriedGrant], Field(min_length=1, max_length=100)]


@routes.get("")
def list_grants(ctx: Reading, resource: ResourceId) -> Grants:
    """Who holds which role on the resource itself.

    Who gives roles there, or may ask about others, sees all of it; everybody else their own, and its owners.
    """
    return _listed(grants.list_direct(ctx, resource))


@routes.post("", status_code=201)
def create_grant(ctx: Creating, resource: ResourceId, body: NewGrant) -> Grants:
    """Give a role, from now on or for a time."""
    grants.give(ctx, Grant(body.subject, body.role, resource), since=body.since, until=body.until)
    return _of(ctx, resource, body.subject)


@routes.patch("")
def change_grant(ctx: Writing, resource: ResourceId, body: ChangedGrant) -> Grants:
    """Change the level of a grant, or when it ends."""
    grants.change_role(ctx, Grant(body.subject, body.role, resource), body.new_role, until=body.until)
    return _of(ctx, resource, body.subject)


@routes.delete("", status_code=204)
def revoke_grant(ctx: Writing, resource: ResourceId, subject: SubjectId, role: RoleName) -> None:
    """Take a role away."""
    grants.revoke(ctx, Grant(subject, role, resource))


@routes.post("/preview")
def preview_grants(ctx: Reading, resource: ResourceId, body: TriedGrants) -> EffectsJson:
    """Who would win and lose what by these grants? For who may give them, or may ask about others."""
    changes: list[Add | Remove] = []
    for tried in body.changes:
        grant = Grant(tried.subject, tried.role, resource)
        changes.append(Add(grant) if tried.change == "add" else Remove(grant))
    return EffectsJson(groups=effects_told(change_preview.preview(ctx, changes)))


@who.get("")
def list_who_may(ctx: Reading, resource: ResourceId, action: Word) -> Members:
    """All members who may do this, by whatever path. For who gives roles there, or may ask about others."""
    return Members(items=[shown.ref(one) for one in grants.list_effective(ctx, action, resource)])


@held.get("")
def list_grants_of(ctx: Reading, subject: SubjectId) -> Grants:
    """What a member or group itself holds, of what the caller may see.

    One's own and one's groups', or anybody's for who may ask about others.
    """
    return _listed(grants.list_held_by(ctx, subject))


def _of(ctx: RequestContext, resource: str, subject: str) -> Grants:
    return _listed([one for one in grants.list_direct(ctx, resource) if one.subject.uid == subject])


def _listed(found: list[GrantedRole]) -> Grants:
    return Grants(
        items=[
            GrantJson(
                subject=shown.ref(one.subject),
                role=one.role,
                title=one.title,
                resource=shown.ref(one.resource),
                since=time_of(one.since),
                until=told(one.until),
            )
            for one in found
        ]
    )
