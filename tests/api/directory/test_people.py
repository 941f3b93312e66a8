"""Members, groups and service accounts over HTTP."""

from __future__ import annotations

import pytest

from tests.api.client import Api, Json


def made(api: Api, path: str, body: object, by: str = "ada") -> Json:
    answer = api.post(path, by, body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def etag(api: Api, path: str, by: str = "ada") -> str:
    return api.get(path, by).headers["etag"]


def test_a_member_is_added_changed_and_removed(api: Api) -> None:
    cleo = made(api, "/api/v1/members", {"name": "Cleo", "email": "cleo@example.org", "id": "cleo"})
    assert (cleo["id"], cleo["email"], cleo["roles"], cleo["service"]) == ("cleo", "cleo@example.org", [], False)
    tag = etag(api, "/api/v1/members/cleo")
    changed = api.call("PATCH", "/api/v1/members/cleo", "ada", json={"name": "Cleopatra"}, headers={"If-Match": tag})
    assert changed.json()["name"] == "Cleopatra"
    late = api.call("PATCH", "/api/v1/members/cleo", "ada", json={"name": "Late"}, headers={"If-Match": tag})
    assert late.status_code == 412
    assert api.call("PATCH", "/api/v1/members/cleo", "ada", json={"name": "Late"}).status_code == 428
    names = [member["name"] for member in api.get("/api/v1/members?search=CLEO", "bob").json()["items"]]
    assert names == ["Cleopatra"]
    assert api.get("/api/v1/members/cleo", "bob").json()["email"] is None
    removed = api.call("DELETE", "/api/v1/members/cleo", "ada")
    assert (removed.status_code, removed.json()["left"]) == (200, [])
    assert api.get("/api/v1/members/cleo", "ada").status_code == 404


def test_roles_are_set_as_a_whole(api: Api) -> None:
    path = "/api/v1/members/bob/roles"
    tag = {"If-Match": etag(api, "/api/v1/members/bob")}
    assert api.call("PUT", path, "bob", json={"roles": ["admin"]}, headers={"If-Match": "*"}).status_code == 403
    answer = api.call("PUT", path, "ada", json={"roles": ["viewer", "data_admin"]}, headers=tag)
    assert answer.json()["roles"] == ["viewer", "data_admin"]
    assert api.call("PUT", path, "ada", json={"roles": []}, headers=tag).status_code == 412
    assert api.call("PUT", path, "ada", json={"roles": []}, headers={"If-Match": "*"}).json()["roles"] == []
    assert api.call("PUT", path, "ada", json={"roles": ["king"]}, headers={"If-Match": "*"}).status_code == 422
    for owner in ("ada", "ann"):
        last = api.call("PUT", f"/api/v1/members/{owner}/roles", "ada", json={"roles": []}, headers={"If-Match": "*"})
    assert last.status_code in {403, 409}


def test_what_a_member_owns_is_shown_and_handed_over(api: Api) -> None:
    with api.platform.access.write(api.tenant) as session:
        session.store.create("spaces.space", "Lab", uid="lab", edges={"tenant": api.tenant}, creator="bob")
    assert api.get("/api/v1/members/bob/removal", "bob").json()["owns"] == [
        {"id": "lab", "name": "Lab", "kind": "spaces.space", "role": "owner"}
    ]
    removed = api.call("DELETE", "/api/v1/members/bob?receiver=ann", "ada").json()
    assert [one["id"] for one in removed["moved"]] == ["lab"]
    assert api.get("/api/v1/me", "bob").status_code == 401


def test_a_member_makes_nobody_leave_but_themself(api: Api) -> None:
    refused = api.call("DELETE", "/api/v1/members/ann", "bob")
    assert refused.status_code == 403
    assert refused.json()["givers"]
    assert api.call("DELETE", "/api/v1/members/bob", "bob").status_code == 200


def test_a_group_is_made_filled_and_ended(api: Api) -> None:
    group = made(api, "/api/v1/groups", {"name": "Team", "id": "team"})
    assert group["member_ids"] == []
    path = "/api/v1/groups/team"
    assert api.call("PUT", f"{path}/members/bob", "bob").status_code == 403
    assert api.call("PUT", f"{path}/members/bob", "ada").json()["member_ids"] == ["bob"]
    given = api.call("PUT", f"{path}/roles", "ada", json={"roles": ["viewer"]}, headers={"If-Match": "*"})
    assert given.json()["roles"] == ["viewer"]
    tag = {"If-Match": etag(api, path)}
    assert api.call("PATCH", path, "ada", json={"name": "Crew"}, headers=tag).json()["name"] == "Crew"
    assert api.call("PATCH", path, "ada", json={"name": "Late"}, headers=tag).status_code == 412
    assert api.call("PATCH", path, "bob", json={"name": "Mine"}, headers={"If-Match": "*"}).status_code == 403
    assert api.get("/api/v1/groups", "bob").json()["items"] == [{"id": "team", "name": "Crew"}]
    assert api.get("/api/v1/members/bob", "ann").json()["groups"] == ["team"]
    assert api.call("DELETE", f"{path}/members/bob", "ada").json()["member_ids"] == []
    assert api.call("DELETE", path, "ada").status_code == 204
    assert api.get(path, "ada").status_code == 404


def test_a_service_account_gets_a_token_and_no_link(api: Api) -> None:
    account = made(api, "/api/v1/service-accounts", {"name": "Nightly", "id": "nightly"})
    assert account["service"]
    assert api.get("/api/v1/service-accounts", "bob").status_code == 403
    assert [one["id"] for one in api.get("/api/v1/service-accounts", "ada").json()["items"]] == ["nightly"]
    token = made(api, "/api/v1/tokens", {"name": "ci", "member": "nightly"})
    assert api.get("/api/v1/me", token=token["secret"]).json()["member"]["id"] == "nightly"
    assert api.post("/api/v1/members/nightly/links", "ada", {"purpose": "password"}).status_code == 409


def test_sending_a_create_twice_makes_one(api: Api) -> None:
    answers = [
        api.post("/api/v1/members", "ada", {"name": "Twin"}, headers={"Idempotency-Key": "k1"}).json() for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert len(api.get("/api/v1/members?search=twin", "ada").json()["items"]) == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/members", {"name": ""}),
        ("/api/v1/members", {"name": "X", "email": "nobody"}),
        ("/api/v1/members", {"name": "X", "surprise": 1}),
        ("/api/v1/groups", {}),
        ("/api/v1/tokens", {"name": "x", "days": 0}),
        ("/api/v1/tokens", {"name": "x", "actions": []}),
        ("/api/v1/tokens", {"name": "x", "actions": ["fly"]}),
        ("/api/v1/invites", {"email": "x"}),
        ("/api/v1/invites", {"email": "x@example.org", "roles": [{"role": "king", "resource": "acme"}]}),
        ("/api/v1/members/bob/links", {"purpose": "dance"}),
    ],
)
def test_bad_input_is_told_and_loses_nothing(api: Api, path: str, body: object) -> None:
    answer = api.post(path, "ada", body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["detail"]
