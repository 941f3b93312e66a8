"""Secrets of a resource."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr

from lakehold.api.catalog import using
from lakehold.api.catalog.shown import ResourceId
from lakehold.api.frame.models import Answer, Body, IdText
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import House, Reading, Writing
from lakehold.catalog import credentials

routes = router("/api/v1/resources/{resource}/credentials", "Credentials")

Secret = Annotated[SecretStr, Field(min_length=1, max_length=credentials.MAX_LENGTH, examples=["correct horse"])]


class CredentialNames(Answer):
    """Which secrets there are. What is in them is not told."""

    names: list[str] = Field(examples=[["password"]])


class WantedCredentials(Body):
    """Secrets to set; null takes one away, and what is left out stays."""

    credentials: Annotated[
        dict[IdText, Secret | None], Field(min_length=1, max_length=50, examples=[{"password": "correct horse"}])
    ]


class CopiedCredentials(Answer):
    """The secrets themselves."""

    credentials: dict[str, str] = Field(examples=[{"password": "correct horse"}])


@routes.get("")
def list_credentials(ctx: Reading, resource: ResourceId) -> CredentialNames:
    """Which secrets a resource has. For those who may edit it or copy them."""
    return CredentialNames(names=credentials.list_names(ctx, resource))


@routes.patch("")
def set_credentials(ctx: Writing, resource: ResourceId, body: WantedCredentials) -> CredentialNames:
    """Set or take away secrets of a resource."""
    wanted = {name: None if secret is None else secret.get_secret_value() for name, secret in body.credentials.items()}
    credentials.save(ctx, resource, wanted)
    return CredentialNames(names=credentials.list_names(ctx, resource))


@routes.post("/copy")
def copy_credentials(ctx: Writing, platform: House, resource: ResourceId) -> CopiedCredentials:
    """The secrets themselves.

    An action of its own (`copy_credentials`), and written down.
    """
    found = credentials.copy(ctx, resource)
    using.note(platform, ctx, credentials.COPY, resource)
    return CopiedCredentials(credentials=found)
