"""The address that failures are told to beside mails: the project's setting and its secret, on a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from lakehold.catalog import credentials, resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.runs.runnable import WEBHOOK_SETTING


@dataclass(frozen=True, slots=True)
class Hook:
    """What the form says."""

    address: str
    has_secret: bool
    version: int
    error: str = ""


def present(ctx: RequestContext, uid: str) -> Hook:
    """What is kept, for who keeps the project's settings. The secret is in no page."""
    told = resource_metadata.load(ctx, uid)
    return Hook(
        str(told.settings.get(WEBHOOK_SETTING, "")), WEBHOOK_SETTING in credentials.list_names(ctx, uid), told.version
    )


def save(ctx: RequestContext, uid: str, sent: Mapping[str, object], *, private: bool) -> None:
    """Keep another address, or none; and a secret, if one was filled in. Without an address there is none."""
    address, secret = (str(sent.get(name, "")).strip() for name in ("address", "secret"))
    version = str(sent.get("version", ""))
    settings = {
        name: value for name, value in resource_metadata.load(ctx, uid).settings.items() if name != WEBHOOK_SETTING
    }
    if address:
        settings[WEBHOOK_SETTING] = _valid(address, private=private)
    resource_edit.apply_edit(
        ctx, uid, ResourceEdit(settings=settings), expect_version=int(version) if version.isdigit() else None
    )
    if secret and address:
        credentials.save(ctx, uid, {WEBHOOK_SETTING: secret})
    elif not address and WEBHOOK_SETTING in credentials.list_names(ctx, uid):
        credentials.save(ctx, uid, {WEBHOOK_SETTING: None})


def _valid(address: str, *, private: bool) -> str:
    """What a worker would refuse is refused here."""
    try:
        parts = httpx.URL(address)
    except httpx.InvalidURL:
        raise InvalidInputError("The address cannot be read.", "Write https://, the host and the path.") from None
    if parts.scheme not in ({"http", "https"} if private else {"https"}) or not parts.host:
        raise InvalidInputError("Nothing is sent to an address of this kind.", "Write https://, the host and the path.")
    if parts.userinfo:
        raise InvalidInputError("The address has a password in it.", "Leave it out; what is sent is signed.")
    return address
