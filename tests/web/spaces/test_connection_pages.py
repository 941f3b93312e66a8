"""Data connections: created by whoever manages the space, edited by their owner alone, shown with what uses them."""

from __future__ import annotations

from lakehold.access import Add, Grant
from lakehold.catalog import credentials
from lakehold.demo import company
from lakehold.directory.caller import Caller
from tests.web.demo import Shop
from tests.web.forms import send

NEW = "/workspaces/sources/connections/new"
SECRET = "nobody should read this"
DATABASE = {
    "connector": "database",
    "name": "Old shop",
    "product": "postgresql",
    "host": "db.shop",
    "port": "5432",
    "database": "shop",
    "user": "reader",
    "schemas": "",
    "gateway": "",
    "do": "save",
}


def find(shop: Shop, name: str) -> str:
    """The id of a connection."""
    with shop.platform.read(Caller(company.TENANT, "dana")) as ctx:
        items = ctx.session.list("dana", "list", "spaces.connection", search=name).items
        return next(ctx.view.uid(each.id) for each in items if each.name == name)


def test_whoever_manages_the_space_creates_one_and_the_password_never_comes_back(shop: Shop) -> None:
    dana = shop.client("dana")
    made = send(dana, NEW, NEW, **DATABASE, secret=SECRET)
    assert made.status_code == 303, made.text
    uid = find(shop, "Old shop")
    page = dana.get(f"/resources/{uid}/data-connection").text
    assert "jdbc:postgresql://db.shop:5432/shop" in page
    assert SECRET not in page
    assert SECRET not in dana.get(f"/resources/{uid}/data-connection/edit").text
    with shop.platform.read(Caller(company.TENANT, "dana")) as ctx:
        assert credentials.list_names(ctx, uid) == ["password"]
    edited = send(
        dana, NEW, f"/resources/{uid}/data-connection/edit?connector=database", **{**DATABASE, "host": "db.new"}
    )
    assert edited.status_code == 303
    with shop.platform.read(Caller(company.TENANT, "dana")) as ctx:
        # It would be sent to another host.
        assert credentials.list_names(ctx, uid) == []


def test_who_only_views_the_space_creates_and_edits_none(shop: Shop) -> None:
    erik = shop.client("erik")
    assert erik.get(NEW).status_code == 403
    assert send(erik, "/", NEW, **DATABASE).status_code == 403
    assert erik.get("/resources/erp_link/data-connection/edit").status_code == 403
    assert erik.get("/resources/web_link/data-connection/edit").status_code == 200


def test_not_even_the_owner_of_the_space_edits_what_is_another_ones(shop: Shop) -> None:
    dana = shop.client("dana")
    assert dana.get("/resources/web_link/data-connection/edit").status_code == 403
    assert dana.get("/resources/web_link/data-connection").status_code == 200


def test_it_says_who_owns_it_and_what_uses_it(shop: Shop) -> None:
    page = shop.client("petra").get("/resources/till_link/data-connection").text
    assert "Dana" in page
    assert "/resources/land_tills" in page
    assert "Shop gateway" in page
    # Dana owns the space, and sees no task of another one.
    hers = shop.client("dana").get("/resources/till_link/data-connection").text
    assert "land_tills" not in hers
    assert "More, not visible to you" in hers


def test_without_a_gateway_it_is_direct_again(shop: Shop) -> None:
    dana, form = shop.client("dana"), "/resources/till_link/data-connection/edit?connector=database"
    assert send(dana, NEW, form, **{**DATABASE, "gateway": "shop_gateway"}).status_code == 303
    assert "Shop gateway" in dana.get("/resources/till_link/data-connection").text
    assert send(dana, NEW, form, **DATABASE).status_code == 303
    assert "Directly" in dana.get("/resources/till_link/data-connection").text


def test_a_wrong_value_is_told_at_its_field_and_nothing_is_lost(shop: Shop) -> None:
    wrong = send(shop.client("dana"), NEW, NEW, **{**DATABASE, "port": "1000000"}, secret=SECRET)
    assert wrong.status_code == 422
    assert "Enter a port number" in wrong.text
    assert "db.shop" in wrong.text
    assert SECRET not in wrong.text


def test_only_gateways_that_one_may_use_are_offered(shop: Shop) -> None:
    with shop.platform.access.write(company.TENANT) as session:
        session.store.apply(Add(Grant("erik", "can_manage", "landing")))
    form = "/workspaces/landing/connections/new?connector=database"
    assert "shop_gateway" not in shop.client("erik").get(form).text
    assert "shop_gateway" in shop.client("petra").get(form).text
    stolen = send(shop.client("erik"), "/", form, **{**DATABASE, "gateway": "shop_gateway"})
    assert stolen.status_code in {403, 404, 422}
