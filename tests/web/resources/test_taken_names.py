"""A taken name is refused at the field of the name, whichever form it is sent with; nothing is written."""

from __future__ import annotations

import re

import httpx
import pytest

from lakehold.catalog import resources
from lakehold.catalog.resource_view import make_ref
from lakehold.directory.caller import Caller
from tests.web.demo import Shop
from tests.web.forms import send

OLGA = Caller("corner", "olga")
FORMS = {
    "a table": (
        "/resources/new?kind=lakehouse.table&in=clean",
        {"kind": "lakehouse.table", "edge_layer": "clean"},
        "Orders",
    ),
    "an edit": ("/resources/stores/edit", {}, "orders"),
    "a destination": (
        "/workspaces/sales/destinations/new",
        {"to": "mail", "receivers": "board@shop.example", "kind": "xlsx", "do": "save"},
        "board MAIL",
    ),
    "a workspace": ("/workspaces/new?model=spaces", {"model": "spaces"}, "STORE lake"),
    "a group": ("/groups/new", {}, "Engineers"),
    "All": ("/groups/new", {}, "all"),
}


def error_at_name(page: httpx.Response) -> str:
    assert page.status_code == 422, page.status_code
    found = re.search(
        r'<div class="field wrong">.*?name="name".*?<p[^>]*class="[^"]*error[^"]*"[^>]*>(.*?)</p>', page.text, re.DOTALL
    )
    assert found, page.text
    return found[1]


@pytest.mark.parametrize("form", FORMS)
def test_a_taken_name_is_refused_at_its_field(shop: Shop, form: str) -> None:
    page, fields, name = FORMS[form]
    answer = send(shop.client("olga"), page, page.partition("?")[0], **fields, name=name)
    assert f"{name} 2" in answer.text or f"{name}_2" in answer.text
    assert "is free." in error_at_name(answer)


def test_what_was_deleted_comes_back_under_another_name(shop: Shop) -> None:
    olga, here = shop.client("olga"), "/resources/board_mail"
    with shop.platform.write(OLGA) as ctx:
        name = make_ref(ctx.view, "board_mail").name
        assert not resources.delete(ctx, "board_mail")
        resources.create(ctx, "marts.destination", name.upper(), edges={"project": "sales"})
    refused = send(olga, "/", f"{here}/restore")
    assert f"is taken by the destination {name.upper()}" in error_at_name(refused)
    assert f'value="{name} 2"' in refused.text
    assert send(olga, "/", f"{here}/restore", name=name.upper()).status_code == 422
    assert send(olga, "/", f"{here}/restore", name=f"{name} 2").status_code == 303
    with shop.platform.read(OLGA) as ctx:
        assert make_ref(ctx.view, "board_mail").name == f"{name} 2"
        assert not resources.is_deleted(ctx.view, "board_mail")
