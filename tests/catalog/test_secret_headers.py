"""Secrets in the headers of settings: kept as credentials, whichever door and release they come from."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from lakehold.catalog import credentials, resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.demo import company
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.secret_headers import split_secrets
from lakehold.kit.settings import load_settings
from tests.demo_company import DemoPlatform, as_member

SECRET = "Bearer hunter2-and-more"
HEADERS = {"Authorization": SECRET, "X-Team": "shop"}
HOOK = {"to": "webhook", "address": "https://127.0.0.1/in", "headers": HEADERS}
NAME = "header:authorization"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("authorization", "x", True),
        ("X-Api-Key", "x", True),
        ("COOKIE", "x", True),
        ("X-Auth-Token", "x", True),
        ("X-Own", "Bearer x", True),
        ("X-Own", "basic eDp5", True),
        ("X-Team", "shop", False),
        ("Accept-Language", "de", False),
        ("Authorization", "", False),
    ],
)
def test_which_headers_hold_a_secret(name: str, value: str, secret: bool) -> None:
    masked, found = split_secrets({"headers": {name: value}})
    assert (masked, bool(found)) == ({"headers": {name: "" if secret else value}}, secret)


def create(corner: DemoPlatform) -> str:
    with corner.write(as_member("tara")) as ctx:
        edges = {"project": company.MARTS_PROJECT}
        return resources.create(ctx, "marts.destination", "Hook", edges=edges, settings=HOOK)


def test_they_are_credentials_and_not_settings(corner: DemoPlatform) -> None:
    uid = create(corner)
    with corner.write(as_member("tara")) as ctx:
        stored = resource_metadata.load(ctx, uid).settings
        assert stored["headers"] == {"Authorization": "", "X-Team": "shop"}
        secrets = credentials.load_for_use(ctx, uid)
        assert secrets == {NAME: SECRET}
        environment = ConnectorEnvironment(load_settings(), secrets)
        assert environment.headers(stored["headers"]) == HEADERS
        # What is saved again as it was read keeps it.
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={**stored, "batch": 7}))
        assert credentials.load_for_use(ctx, uid) == {NAME: SECRET}
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={**HOOK, "headers": {"Authorization": "Bearer new"}}))
        assert credentials.load_for_use(ctx, uid) == {NAME: "Bearer new"}
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={**HOOK, "headers": {}}))
        assert credentials.load_for_use(ctx, uid) == {}
    with pytest.raises(InvalidInputError, match="'Authorization' has no value"):
        ConnectorEnvironment(load_settings(), {}).headers({"Authorization": ""})


def test_those_of_earlier_releases_are_moved_once(corner: DemoPlatform) -> None:
    uid, table = create(corner), resource_metadata.detail_table
    with corner.write(as_member("tara")) as ctx:
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={**HOOK, "headers": {}}))
        number = ctx.view.resource(uid)
    with corner.database.write() as transaction:
        old = table.update().where(table.c.resource_id == number).values(settings=json.dumps(HOOK))
        transaction.connection.execute(old)
    assert credentials.protect_headers(corner) == 1
    assert credentials.protect_headers(corner) == 0
    with corner.database.read() as transaction:
        texts = transaction.connection.execute(sa.select(table.c.settings)).scalars()
        assert not any("hunter2" in text for text in texts)
    with corner.read(as_member("tara")) as ctx:
        assert credentials.load_for_use(ctx, uid) == {NAME: SECRET}
