"""Endpoints of API tokens."""

from dataclasses import asdict
from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.directory.schemas import SecretId
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import IdText, NameText, RecordEnd, RecordTime, RequestModel, ResponseModel, Word
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import tokens
from lakehold.directory.request_context import RequestContext
from lakehold.directory.tokens import DEFAULT_DAYS, MAX_DAYS, ApiToken

routes = make_router("/api/v1/tokens", "API tokens")


class NewToken(RequestModel):
    """A token to create."""

    name: NameText = Field(examples=["Nightly import"])
    member: IdText | None = Field(
        default=None, examples=["nightly"], description="A service account; without one the token is one's own."
    )
    days: int | None = Field(default=DEFAULT_DAYS, ge=1, le=MAX_DAYS, description="Lifetime; null for no expiration.")
    actions: Annotated[list[Word], Field(min_length=1, max_length=100)] | None = Field(
        default=None, examples=[["see", "read"]], description="Limit it to these actions."
    )
    resources: Annotated[list[IdText], Field(min_length=1, max_length=100)] | None = Field(
        default=None, examples=[["orders"]], description="Limit it to these resources, and all that lies in them."
    )


class TokenJson(ResponseModel):
    """A token, without its secret."""

    id: SecretId
    prefix: str = Field(examples=["lh_4fK0aQx9Zb"], description="The first characters of its secret.")
    name: NameText = Field(examples=["Nightly import"])
    member: IdText = Field(examples=["nightly"])
    actions: list[str] | None = Field(examples=[["see", "read"]], description="Null if it is not narrowed by actions.")
    resources: list[str] | None = Field(
        examples=[["orders"]], description="Those that the caller may see; null if it is not narrowed by resources."
    )
    made_by: str = Field(examples=["adam"])
    made_at: RecordTime
    until: RecordEnd = Field(description="Null if it has no end.")
    used_at: RecordEnd = Field(description="When it was last used, to the minute; null if never.")


class CreatedTokenJson(ResponseModel):
    """A new token with its secret, which is never shown again."""

    token: TokenJson
    secret: str = Field(examples=["lh_4fK0aQx9Zb_…"])


@routes.get("")
def list_tokens(
    ctx: ReadContext,
    paged: PageParams,
    member: Annotated[
        IdText | None, Query(examples=["nightly"], description="The member; default: the caller.")
    ] = None,
) -> PageResponse[TokenJson]:
    """List the tokens of a member, newest first."""
    found = tokens.list_of_member(ctx, member or ctx.caller.member)
    list_name = f"tokens {member or ''}"
    behind = paged.start_key(list_name, int, str)
    rows = [token for token in found if behind is None or (token.made_at, token.id) < behind]
    return paged.build_page(list_name, rows, _sort_key, lambda token: _token_json(ctx, token))


@routes.get("/all")
def list_all_tokens(ctx: ReadContext, paged: PageParams) -> PageResponse[TokenJson]:
    """List the tokens of all members, newest first."""
    behind = paged.start_key("all tokens", int, str)
    after = None if behind is None else (int(behind[0]), str(behind[1]))
    rows = tokens.list_all(ctx, after=after, limit=paged.limit + 1)
    return paged.build_page("all tokens", rows, _sort_key, lambda token: _token_json(ctx, token))


@routes.post("", status_code=201)
def make_token(ctx: CreateContext, body: NewToken) -> CreatedTokenJson:
    """Create a token.

    It acts as its member, with their current rights. Its secret is shown once. A narrowed token cannot create tokens.
    """
    member = body.member or ""
    created = tokens.create(
        ctx, body.name, member=member, days=body.days, actions=body.actions, resources=body.resources
    )
    return CreatedTokenJson(token=_token_json(ctx, created.token), secret=created.secret)


@routes.get("/{token}")
def get_token(ctx: ReadContext, token: SecretId) -> TokenJson:
    """Get a token."""
    return _token_json(ctx, tokens.get(ctx, token))


@routes.delete("/{token}", status_code=204)
def revoke_token(ctx: WriteContext, token: SecretId) -> None:
    """Revoke a token at once."""
    tokens.revoke(ctx, token)


def _sort_key(token: ApiToken) -> tuple[int, str]:
    return token.made_at, token.id


def _token_json(ctx: RequestContext, token: ApiToken) -> TokenJson:
    resources = None if token.resources is None else [*filter(VisibleRefs(ctx).sees, token.resources)]
    return TokenJson.model_validate({**asdict(token), "prefix": token.prefix, "resources": resources})
