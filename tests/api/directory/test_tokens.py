"""API tokens over HTTP."""

from __future__ import annotations

from tests.api.client import Api


def test_a_token_is_made_shown_once_used_and_revoked(api: Api) -> None:
    made = api.post("/api/v1/tokens", "bob", {"name": "ci", "days": 7}).json()
    secret, token = made["secret"], made["token"]
    assert secret.startswith(token["prefix"])
    assert token["used_at"] is None
    assert api.get("/api/v1/me", token=secret).json()["member"]["id"] == "bob"
    api.platform.last_used.flush(api.platform.database)
    listed = api.get("/api/v1/tokens", token=secret)
    assert secret not in listed.text
    assert next(one for one in listed.json()["items"] if one["id"] == token["id"])["used_at"] is not None
    assert api.call("DELETE", f"/api/v1/tokens/{token['id']}", "bob").status_code == 204
    assert api.get("/api/v1/me", token=secret).status_code == 401


def test_admins_see_all_and_others_their_own(api: Api) -> None:
    theirs = api.post("/api/v1/tokens", "bob", {"name": "ci"}).json()["token"]["id"]
    assert api.get("/api/v1/tokens?member=bob", "ada").json()["items"][0]["id"] == theirs
    seen, after = set(), ""
    while True:
        page = api.get(f"/api/v1/tokens/all?limit=1{after}", "ada").json()
        seen |= {one["id"] for one in page["items"]}
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert theirs in seen
    assert len(seen) == 3
    assert api.get("/api/v1/tokens/all", "bob").status_code == 403
    assert api.get("/api/v1/tokens?member=ada", "bob").status_code == 403
    mine = api.get("/api/v1/tokens", "ada").json()["items"][0]["id"]
    assert api.get(f"/api/v1/tokens/{mine}", "bob").status_code == 404
    assert api.call("DELETE", f"/api/v1/tokens/{mine}", "bob").status_code == 404


def test_a_narrowed_one_makes_none(api: Api) -> None:
    body = {"name": "reader", "actions": ["see", "read"], "resources": ["bronze"]}
    made = api.post("/api/v1/tokens", "ada", body).json()
    assert (made["token"]["actions"], made["token"]["resources"]) == (["read", "see"], ["bronze"])
    refused = api.post("/api/v1/tokens", token=made["secret"], json={"name": "more"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert api.post("/api/v1/members", token=made["secret"], json={"name": "X"}).status_code in {403, 404}
    assert api.get("/api/v1/members", token=made["secret"]).json()["items"] == []


def test_a_repeated_create_shows_the_same_secret(api: Api) -> None:
    answers = [
        api.post("/api/v1/tokens", "bob", {"name": "ci"}, headers={"Idempotency-Key": "once"}).json() for _ in range(2)
    ]
    assert answers[0] == answers[1]
