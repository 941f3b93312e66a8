"""Endpoints of the secrets of a resource."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr

from lakehold.api.catalog import resource_usage
from lakehold.api.catalog.schemas import ResourceId
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import IdText, RequestModel, ResponseModel
from lakehold.api.http.routing import make_router
from lakehold.catalog import credentials

routes = make_router("/api/v1/resources/{resource}/credentials", "Credentials")

Secret = Annotated[SecretStr, Field(min_length=1, max_length=credentials.MAX_LENGTH, examples=["correct horse"])]


class CredentialNames(ResponseModel):
    """The names of the secrets that are set, without their values."""

    names: list[str] = Field(examples=[["password"]])


class CredentialsUpdate(RequestModel):
    """Secrets to set; null removes one, and those left out stay."""

    credentials: Annotated[
        dict[IdText, Secret | None], Field(min_length=1, max_length=50, examples=[{"password": "correct horse"}])
    ]


class CredentialValues(ResponseModel):
    """Secrets with their values."""

    credentials: dict[str, str] = Field(examples=[{"password": "correct horse"}])


@routes.get("")
def list_credentials(ctx: ReadContext, resource: ResourceId) -> CredentialNames:
    """List the names of a resource's secrets. For those who may edit it or copy them."""
    return CredentialNames(names=credentials.list_names(ctx, resource))


@routes.patch("")
def set_credentials(ctx: WriteContext, resource: ResourceId, body: CredentialsUpdate) -> CredentialNames:
    """Set or remove secrets of a resource."""
    values = {name: None if secret is None else secret.get_secret_value() for name, secret in body.credentials.items()}
    credentials.save(ctx, resource, values)
    return CredentialNames(names=credentials.list_names(ctx, resource))


@routes.post("/copy")
def copy_credentials(ctx: WriteContext, platform: CurrentPlatform, resource: ResourceId) -> CredentialValues:
    """Copy the secrets of a resource.

    Needs the right `copy_credentials`, and is recorded in the audit log.
    """
    found = credentials.copy(ctx, resource)
    resource_usage.record(platform, ctx, credentials.COPY, resource)
    return CredentialValues(credentials=found)
