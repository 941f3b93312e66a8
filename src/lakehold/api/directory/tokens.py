"""API tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.directory.texts import SecretId
from lakehold.api.frame.models import Answer, Body, IdText, NameText, Time, Word, time_of
from lakehold.api.frame.models import told as told_time
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating, Reading, Writing
from lakehold.directory import tokens
from lakehold.directory.request_context import RequestContext
from lakehold.directory.tokens import DEFAULT_DAYS, MAX_DAYS, ApiToken

routes = router("/api/v1/tokens", "API tokens")


class NewToken(Body):
    """A token that is to be."""

    name: NameText = Field(examples=["Nightly import"])
    member: IdText | None = Field(
        default=None, examples=["nightly"], description="A service account; without one the token is one's own."
    )
    days: int | None = Field(
        default=DEFAULT_DAYS, ge=1, le=MAX_DAYS, description="How long it lasts; null for one without end."
    )
    actions: Annotated[list[Word], Field(min_length=1, max_length=100)] | None = Field(
        default=None, examples=[["see", "read"]], description="Narrow it to these actions."
    )
    resources: Annotated[list[IdText], Field(min_length=1, max_length=100)] | None = Field(
        default=None, examples=[["orders"]], description="Narrow it to these resources, and all that lies in them."
    )


class TokenJson(Answer):
    """A token, without its secret."""

    id: SecretId
    prefix: str = Field(examples=["lh_4fK0aQx9Zb"], description="How its secret begins.")
    name: NameText = Field(examples=["Nightly import"])
    member: IdText = Field(examples=["nightly"])
    actions: list[str] | None = Field(examples=[["see", "read"]], description="Null if it is not narrowed by actions.")
    resources: list[str] | None = Field(
        examples=[["orders"]], description="Those that the caller may see; null if it is not narrowed by resources."
    )
    made_by: str = Field(examples=["adam"])
    made_at: Time
    until: Time | None = Field(description="Null if it has no end.")
    used_at: Time | None = Field(description="When it was last used, to the minute; null if never.")


class MadeToken(Answer):
    """A new token with its secret, which is never shown again."""

    token: TokenJson
    secret: str = Field(examples=["lh_4fK0aQx9Zb_…"])


@routes.get("")
def list_tokens(
    ctx: Reading,
    paged: Paged,
    member: Annotated[IdText | None, Query(examples=["nightly"], description="Whose; without one, one's own.")] = None,
) -> Page[TokenJson]:
    """The tokens of a member, the newest first."""
    found = tokens.list_of_member(ctx, member or ctx.caller.member)
    of = f"tokens {member or ''}"
    behind = paged.start(of, int, str)
    rows = [token for token in found if behind is None or (token.made_at, token.id) < behind]
    return paged.page(of, rows, _key, lambda token: _told(ctx, token))


@routes.get("/all")
def list_all_tokens(ctx: Reading, paged: Paged) -> Page[TokenJson]:
    """The tokens of everybody, the newest first."""
    behind = paged.start("all tokens", int, str)
    after = None if behind is None else (int(behind[0]), str(behind[1]))
    rows = tokens.list_all(ctx, after=after, limit=paged.limit + 1)
    return paged.page("all tokens", rows, _key, lambda token: _told(ctx, token))


@routes.post("", status_code=201)
def make_token(ctx: Creating, body: NewToken) -> MadeToken:
    """Make a token.

    It acts as its member, live. Its secret is shown once. A narrowed token makes none.
    """
    made = tokens.create(
        ctx,
        body.name,
        member=body.member or "",
        days=body.days,
        actions=body.actions,
        resources=body.resources,
    )
    return MadeToken(token=_told(ctx, made.token), secret=made.secret)


@routes.get("/{token}")
def get_token(ctx: Reading, token: SecretId) -> TokenJson:
    """One token."""
    return _told(ctx, tokens.get(ctx, token))


@routes.delete("/{token}", status_code=204)
def revoke_token(ctx: Writing, token: SecretId) -> None:
    """End a token at once."""
    tokens.revoke(ctx, token)


def _key(token: ApiToken) -> tuple[int, str]:
    return token.made_at, token.id


def _told(ctx: RequestContext, token: ApiToken) -> TokenJson:
    return TokenJson(
        id=token.id,
        prefix=token.prefix,
        name=token.name,
        member=token.member,
        actions=None if token.actions is None else list(token.actions),
        resources=None if token.resources is None else [uid for uid in token.resources if _sees(ctx, uid)],
        made_by=token.made_by,
        made_at=time_of(token.made_at),
        until=told_time(token.until),
        used_at=time_of(token.used_at) if token.used_at else None,
    )


def _sees(ctx: RequestContext, uid: str) -> bool:
    return ctx.view.ids.get(uid) is not None and ctx.session.can_see(ctx.asker, uid)
