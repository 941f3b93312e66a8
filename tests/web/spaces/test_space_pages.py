"""Data spaces: their home, the matrix of members and roles, and personal spaces."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from lakehold.access import Add, Grant
from lakehold.api.http.authentication import SESSION_COOKIE, make_csrf_token
from lakehold.catalog import resources
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.workspaces.spaces import personal
from tests.web.demo import Shop
from tests.web.forms import send, token

HOME = "/data-integration"
ROLES = "/workspaces/landing/roles"
PERSONAL = "/api/v1/data-spaces/personal"


def grants(shop: Shop, uid: str) -> set[tuple[str, str]]:
    with shop.platform.read(Caller(company.TENANT, "adam")) as ctx:
        view = ctx.view
        return {(each.subject, each.role) for each in view.grants_on(view.resource(uid))}


def boxes(page: str, name: str = "role") -> set[str]:
    return set(re.findall(rf'name="{name}" value="([^"]+)"', page))


# The matrix


def test_all_roles_are_on_one_page_and_each_leads_to_its_reason(shop: Shop) -> None:
    page = shop.client("petra").get(ROLES).text
    for title in ("Is owner", "Can view", "Can view data", "Can consume data", "Can manage", "Can operate", "Can edit"):
        assert title.casefold() in page.casefold()
    assert boxes(page, "was") == {"can_edit erik", "can_operate otto", "can_view ana"}
    assert "can_manage ana" in boxes(page)
    assert not any(box.startswith("owner ") for box in boxes(page))
    links = set(re.findall(r'href="([^"]+/why\?[^"]+)"', page))
    assert any("member=otto" in link for link in links)
    petra = shop.client("petra")
    for link in links:
        assert petra.get(link.replace("&amp;", "&")).status_code == 200
    admins = shop.client("adam").get(ROLES).text
    assert re.search(r"/why\?action=run&amp;member=otto", admins)


def change(who: httpx.Client, *ticked: str, was: tuple[str, ...] = (), confirmed: bool = True) -> httpx.Response:
    kept = {"confirmed": "1"} if confirmed else {}
    return send(who, ROLES, ROLES, role=list(ticked), was=list(was), **kept)


def test_what_was_ticked_and_unticked_is_previewed_saved_and_undone(shop: Shop) -> None:
    petra, before = shop.client("petra"), grants(shop, "landing")
    asked = change(petra, "can_edit ana", "can_edit erik", was=("can_view ana", "can_edit erik"), confirmed=False)
    assert asked.status_code == 200
    assert "will gain" in asked.text
    assert grants(shop, "landing") == before
    saved = change(petra, "can_edit ana", "can_edit erik", was=("can_view ana", "can_edit erik"))
    assert saved.status_code == 303, saved.text
    after = grants(shop, "landing")
    assert after ^ before == {("ana", "can_edit"), ("ana", "can_view")}
    undone = re.search(r'action="([^"]+/roles/undo[^"]*)"', petra.get(saved.headers["location"]).text)
    assert undone
    assert send(petra, ROLES, undone[1].replace("&amp;", "&")).status_code == 303
    assert grants(shop, "landing") == before


def test_a_box_that_nobody_touched_changes_nothing_meanwhile(shop: Shop) -> None:
    petra = shop.client("petra")
    with shop.platform.access.write(company.TENANT) as session:
        session.store.apply(Add(Grant("otto", "can_edit", "landing")))
    # The form was made before Otto got Can edit.
    assert change(petra, "can_operate otto", "can_view nils", was=("can_operate otto",)).status_code == 303
    assert {("otto", "can_edit"), ("otto", "can_operate"), ("nils", "can_view")} <= grants(shop, "landing")


def test_a_group_is_added(shop: Shop) -> None:
    petra = shop.client("petra")
    page = petra.get(f"{ROLES}?add=analysts").text
    assert "can_view analysts" in boxes(page)
    assert "can_view analysts" not in boxes(page, "was")
    assert change(petra, "can_view analysts", "can_operate analysts").status_code == 303
    assert {("analysts", "can_view"), ("analysts", "can_operate")} <= grants(shop, "landing")
    assert "through a group" in petra.get(ROLES).text


@pytest.mark.parametrize("who", ["erik", "otto", "ana"])
def test_who_does_not_manage_members_sees_their_own_and_changes_nothing(shop: Shop, who: str) -> None:
    client, before = shop.client(who), grants(shop, "landing")
    page = client.get(ROLES).text
    assert not boxes(page)
    assert "Petra" in page
    others = {"Erik", "Otto"} - {who.title()}
    assert not [name for name in others if f">{name}" in page.split("<main")[-1]]
    refused = send(client, HOME, ROLES, role=["can_manage nils"], confirmed="1")
    assert refused.status_code in {403, 404}
    assert grants(shop, "landing") == before


def test_who_sees_no_space_finds_none(shop: Shop) -> None:
    assert shop.client("nils").get(ROLES).status_code == 404
    assert shop.client("petra").get("/workspaces/sales/roles").status_code in {404, 422}


@pytest.mark.parametrize("box", ["owner nils", "boss nils", "can_view", "can_view nobody", ""])
def test_a_wrong_box_is_refused(shop: Shop, box: str) -> None:
    before = grants(shop, "landing")
    assert change(shop.client("petra"), box).status_code in {404, 422}
    assert grants(shop, "landing") == before


def test_admins_change_the_owner_and_the_owner_does_not(shop: Shop) -> None:
    assert "access/transfer?role=owner" in shop.client("adam").get(ROLES).text
    assert "access/transfer?role=owner" not in shop.client("petra").get(ROLES).text


def test_nobody_is_added_to_a_personal_space(shop: Shop) -> None:
    for who in ("olga", "adam"):
        client = shop.client(who)
        page = client.get("/workspaces/olgas/roles").text
        assert "Nobody can be added to it" in page
        assert not boxes(page)
        refused = send(client, HOME, "/workspaces/olgas/roles", role=["can_view nils"], confirmed="1")
        assert refused.status_code == 403
    assert grants(shop, "olgas") == {("olga", "owner")}


# Home


def test_home_lists_the_spaces_with_owner_roles_and_numbers(shop: Shop) -> None:
    page = shop.client("otto").get(HOME).text
    assert "/workspaces/landing" in page
    assert "/workspaces/serving" in page
    assert "/workspaces/sources" not in page
    assert "Petra" in page
    assert re.search("can operate", page, re.IGNORECASE)
    assert HOME in shop.client("otto").get("/").text


@pytest.mark.parametrize(("who", "may"), [("adam", True), ("otto", False)])
def test_only_who_may_is_offered_to_create_a_space(shop: Shop, who: str, *, may: bool) -> None:
    page = shop.client(who).get(HOME).text
    assert ('href="/workspaces/new?model=spaces"' in page) == may


def test_who_is_in_no_space_is_told_what_to_do(shop: Shop) -> None:
    page = shop.client("nils").get(HOME).text
    assert "No data spaces yet" in page
    assert "/data-integration/my-space" in page


# Personal spaces


def test_the_first_use_makes_a_personal_space_and_the_next_finds_it(shop: Shop) -> None:
    nils = shop.client("nils")
    first = send(nils, HOME, f"{HOME}/my-space")
    assert first.status_code == 303
    assert send(nils, HOME, f"{HOME}/my-space").headers["location"] == first.headers["location"]
    uid = first.headers["location"].rsplit("/", 1)[-1]
    assert grants(shop, uid) == {("nils", "owner")}
    assert nils.get(f"/workspaces/{uid}/roles").status_code == 200
    assert "No data spaces yet" not in nils.get(HOME).text


def test_a_double_click_makes_one(shop: Shop) -> None:
    clients = [shop.client("nils") for _ in range(4)]
    tokens = [token(each) for each in clients]
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda pair: pair[0].post(f"{HOME}/my-space", data={"csrf_token": pair[1]}),
                zip(clients, tokens, strict=True),
            )
        )
    assert len({each.headers["location"] for each in answers}) == 1


def rest(shop: Shop, client: httpx.Client) -> dict[str, str]:
    """The headers of a call of REST."""
    return {
        "X-CSRF-Token": make_csrf_token(shop.platform.keys, client.cookies[SESSION_COOKIE]),
        "Accept": "application/json",
    }


def test_the_same_by_rest_and_a_second_is_refused(shop: Shop) -> None:
    adam = shop.client("adam")
    headers = rest(shop, adam)
    body = {"model": "spaces", "name": "Adam's own", "attributes": {"personal": True}}
    made = adam.post("/api/v1/workspaces", headers=headers, json=body)
    assert made.status_code == 201, made.text
    for _ in range(2):
        assert adam.put(PERSONAL, headers=headers).json()["id"] == made.json()["id"]
    again = adam.post("/api/v1/workspaces", headers=headers, json={**body, "name": "Adam's second"})
    assert again.status_code == 409
    assert "personal data space already" in again.json()["detail"]


def test_one_that_was_handed_over_is_not_the_new_owners_own(shop: Shop) -> None:
    nils = shop.client("nils")
    first = send(nils, HOME, f"{HOME}/my-space").headers["location"]
    with shop.platform.access.write(company.TENANT) as session:
        session.store.apply(Add(Grant("otto", "owner", first.rsplit("/", 1)[-1])))
    second = send(nils, HOME, f"{HOME}/my-space").headers["location"]
    assert second != first
    assert nils.get(first).status_code == 404
    otto = shop.client("otto")
    assert otto.get(first).status_code == 200
    assert send(otto, HOME, f"{HOME}/my-space").headers["location"] not in {first, second}


def test_admins_see_that_it_exists_and_not_what_is_in_it(shop: Shop) -> None:
    with shop.platform.write(Caller(company.TENANT, "nils")) as ctx:
        uid, _ = personal.ensure(ctx)
        project = resources.create(ctx, "spaces.project", "Secret plans", edges={"space": uid})
        task = resources.create(ctx, "spaces.task", "Secret load", edges={"project": project})
    adam = shop.client("adam")
    assert uid in adam.get(HOME).text
    for page in (HOME, f"{HOME}/monitor", f"/workspaces/{uid}", f"/workspaces/{uid}/task", f"/workspaces/{uid}/roles"):
        found = adam.get(page)
        assert found.status_code == 200, page
        assert "Secret" not in found.text, page
    headers = rest(shop, adam)
    for path in (f"/resources/{task}", f"/resources/{project}", f"/resources/{task}/access"):
        assert adam.get(path).status_code == 404
        assert adam.get(f"/api/v1{path}", headers=headers).status_code == 404
    listed = adam.get("/api/v1/data-spaces/monitor", headers=headers).json()["items"]
    assert task not in {each["task"]["id"] for each in listed}
    assert adam.get(f"/api/v1/data-spaces/monitor?space={uid}", headers=headers).json()["items"] == []
