"""Seed 003, the three tables of security roles, through REST and, where an action has one, its page."""

from __future__ import annotations

import httpx
import pytest

from lakehold.access import Add, Grant
from lakehold.api.http.authentication import SESSION_COOKIE, make_csrf_token
from lakehold.catalog import resources
from lakehold.demo import company
from lakehold.directory.caller import Caller
from tests.web.demo import Shop
from tests.web.forms import send

PETRA = Caller(company.TENANT, "petra")
HIDDEN = 404


class RestClient:
    """Calls REST as a member who has signed in."""

    def __init__(self, shop: Shop, member: str) -> None:
        self.pages = shop.client(member)
        token = make_csrf_token(shop.platform.keys, self.pages.cookies[SESSION_COOKIE])
        self._headers = {"X-CSRF-Token": token, "Accept": "application/json"}

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        return self.pages.request(method, f"/api/v1{path}", json=body, headers={**self._headers, **headers})

    def change(self, method: str, path: str, body: object) -> int:
        """The status of a change of the resource as it is now."""
        place = "/".join(path.split("/")[:3])
        return self(method, path, body, **{"If-Match": self("GET", place).headers.get("etag", "*")}).status_code

    def create(self, kind: str, **edges: str) -> int:
        body = {"kind": f"spaces.{kind}", "name": "fresh", "edges": {edge: [end] for edge, end in edges.items()}}
        return self("POST", "/resources", body).status_code


@pytest.fixture
def role(shop: Shop, request: pytest.FixtureRequest) -> RestClient:
    """Nils, who has no role in any space, with one on the tenant; and what Petra has made for the tests."""
    with shop.platform.access.write(company.TENANT) as session:
        session.store.apply(Add(Grant("nils", request.param, company.TENANT)))
    with shop.platform.write(PETRA) as ctx:
        project = resources.create(ctx, "spaces.project", "Old", uid="old", edges={"space": "landing"})
        resources.create(ctx, "spaces.task", "Old load", uid="old_load", edges={"project": project})
        resources.create(ctx, "spaces.connection", "Old link", uid="old_link", edges={"space": "landing"})
    return RestClient(shop, "nils")


ADMINS = pytest.mark.parametrize("role", ["admin", "data_admin"], indirect=True)
THINGS = {"project": "old", "task": "old_load", "connection": "old_link"}


def hand_over(role: RestClient, uid: str) -> int:
    return role("POST", f"/resources/{uid}/transfer", {"role": "owner", "to": "erik"}).status_code


@ADMINS
def test_admins_see_rename_and_hand_over_a_space(role: RestClient) -> None:
    assert role("GET", "/workspaces?model=spaces").json()["items"]
    assert "/workspaces/landing" in role.pages.get("/data-integration").text
    assert role.change("PATCH", "/resources/landing", {"name": "Landed"}) == 200
    page = role.pages.get("/workspaces/landing/roles").text
    assert "access/transfer?role=owner" in page
    assert 'value="can_view ana"' in page
    assert hand_over(role, "landing") == 200
    assert role("PUT", "/workspaces/landing/members", {"subject": "ana", "roles": ["can_edit"]}).status_code == 200


@ADMINS
def test_admins_list_open_hand_over_and_delete_what_is_in_it(role: RestClient) -> None:
    for kind, uid in THINGS.items():
        listed = role("GET", f"/resources?kind=spaces.{kind}&within=landing").json()["items"]
        assert uid in {each["id"] for each in listed}
        assert role("GET", f"/resources/{uid}").status_code == 200
        assert role.pages.get(f"/resources/{uid}", follow_redirects=True).status_code == 200
        assert hand_over(role, uid) == 200
    assert role.change("POST", "/resources/old_link/move", {"to": "serving"}) == 200
    for uid in ("old_load", "old", "old_link"):
        assert role("DELETE", f"/resources/{uid}").status_code == 200


@ADMINS
def test_admins_create_update_run_and_read_nothing(role: RestClient) -> None:
    assert role.create("project", space="landing") == 403
    assert role.create("task", project="old") == 403
    assert role.create("connection", space="landing") == 403
    for uid in THINGS.values():
        assert role.change("PATCH", f"/resources/{uid}", {"name": "Changed"}) == 403
    assert role("POST", "/runs", {"resource": "old_load"}).status_code == 403
    refused = send(role.pages, "/data-integration", "/data-integration/monitor/run", task=["old_load"])
    assert (refused.status_code, "1 refused" in refused.text) == (422, True)
    actions = set(role("GET", "/resources/old_load").json()["actions"])
    assert actions == {"list", "open", "delete", "change_owner"}


@ADMINS
def test_admins_create_and_delete_spaces(role: RestClient) -> None:
    made = role("POST", "/workspaces", {"model": "spaces", "name": "New one"})
    assert made.status_code == 201
    assert 'href="/workspaces/new?model=spaces"' in role.pages.get("/data-integration").text
    assert role("DELETE", f"/resources/{made.json()['id']}").status_code == 200


@pytest.mark.parametrize("role", ["data_space_creator"], indirect=True)
def test_a_data_space_creator_creates_spaces_and_no_more(role: RestClient) -> None:
    assert role("POST", "/workspaces", {"model": "spaces", "name": "New one"}).status_code == 201
    assert 'href="/workspaces/new?model=spaces"' in role.pages.get("/data-integration").text
    for uid in ("landing", *THINGS.values()):
        assert role("GET", f"/resources/{uid}").status_code == HIDDEN
        assert role.change("PATCH", f"/resources/{uid}", {"name": "Changed"}) == HIDDEN
        assert role("DELETE", f"/resources/{uid}").status_code == HIDDEN
        assert hand_over(role, uid) == HIDDEN
    assert role.pages.get("/workspaces/landing/roles").status_code == HIDDEN
    assert "old_load" not in role.pages.get("/data-integration/monitor").text
