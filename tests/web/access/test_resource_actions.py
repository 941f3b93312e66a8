"""What other rooms ask of this one."""

from __future__ import annotations

from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from tests.web.demo import Shop

EDIT = PageAction("Edit", "/somewhere", icon="pencil")


def test_what_may_be_done_is_as_it_was_given_and_the_rest_says_why_not(shop: Shop) -> None:
    given = {"edit": EDIT, "delete": PageAction("Remove", "/gone", "post")}
    with shop.platform.read(Caller("corner", "erik")) as ctx:
        edit, remove = resource_header.actions_of(ctx, "orders", given)
    assert edit == EDIT
    assert (remove.label, remove.href, remove.why_not) == ("Remove", "", "You need Manager on orders.")
    assert remove.request == "/requests/new?resource=orders&action=delete"
    assert remove.why == "/resources/orders/why?action=delete"


def test_without_a_wish_it_is_all_of_the_model_in_its_order(shop: Shop) -> None:
    with shop.platform.read(Caller("corner", "erik")) as ctx:
        labels = [act.label for act in resource_header.actions_of(ctx, "orders")]
        quick = resource_header.actions_of(ctx, "orders", {"delete": EDIT}, exactly=False)
    assert labels[:4] == ["See", "Read", "See runs", "Edit"]
    assert quick[0].why_not == "You do not have permission to delete it."


def test_the_way_to_a_thing_leaves_out_what_one_may_not_see(shop: Shop) -> None:
    with shop.platform.write(Caller("corner", "olga")) as ctx:
        ctx.session.store.create("spaces.app", "An app", uid="app/1", edges={"space": "olgas"}, creator="olga")
        ctx.session.store.add(Grant("nils", "viewer", "app/1"))
    with shop.platform.read(Caller("corner", "nils")) as ctx:
        way = resource_header.breadcrumbs(ctx, "app/1", "Access")
    assert [crumb.label for crumb in way] == ["Corner & Main", "An app", "Access"]
    with shop.platform.read(Caller("corner", "mona")) as ctx:
        way = resource_header.breadcrumbs(ctx, "orders")
        tabs = [place.href for place in resource_header.tabs(ctx, "lake_house")]
    assert [crumb.label for crumb in way] == ["Corner & Main", "Store lake", "Clean", "orders"]
    assert way[1].href == "/workspaces/lake_house"
    assert tabs == ["/workspaces/lake_house", "/resources/lake_house/access", "/resources/lake_house/why"]
