"""A tenant as files, over HTTP: for Owners, with the right to each change, all or nothing."""

from __future__ import annotations

from lakehold.access import Add, Grant
from tests.access.company import TENANT
from tests.api.client import Api
from tests.platform import ADA

CODE = "/api/v1/code"


def files(api: Api) -> dict[str, str]:
    found: dict[str, str] = api.get(CODE, "ada").json()["files"]
    return found


def test_only_who_may_export_is_told_everything(api: Api) -> None:
    with api.platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "admin", TENANT)))
    given = {"files": files(api)}
    assert api.get(CODE, "bob").status_code == 403
    for path in ("plan", "apply", "test"):
        assert api.post(f"{CODE}/{path}", "bob", given).status_code == 403
        assert api.post(f"{CODE}/{path}", "ada", given).status_code == 200


def test_a_plan_that_was_looked_at_is_what_is_applied(api: Api) -> None:
    changed = files(api)
    changed["new.yaml"] = "members:\n  zoe: {name: Zoe, email: zoe@example.org}\n  robot: {service: true}\n"
    planned = api.post(f"{CODE}/plan", "ada", {"files": changed}).json()
    assert not planned["empty"]
    assert "zoe" in planned["text"]
    assert api.get("/api/v1/members/zoe", "ada").status_code == 404
    done = api.post(f"{CODE}/apply", "ada", {"files": changed, "plan": planned["plan"]})
    assert done.json() == {"steps": 2, "told": 2, "missing_credentials": {}}
    assert api.get("/api/v1/members/zoe", "ada").json()["email"] == "zoe@example.org"
    assert api.get("/api/v1/members/robot", "ada").json()["service"]
    assert api.post(f"{CODE}/plan", "ada", {"files": changed}).json()["empty"]
    assert api.post(f"{CODE}/apply", "ada", {"files": changed, "plan": planned["plan"]}).status_code == 409


def test_what_cannot_be_read_names_the_file_and_line(api: Api) -> None:
    wrong = api.post(f"{CODE}/plan", "ada", {"files": {"acme.yaml": "tenant: {name: Acme}\nmembres: {}\n"}})
    assert wrong.status_code == 422
    assert "acme.yaml:2" in wrong.json()["detail"]
    unread = api.post(f"{CODE}/apply", "ada", {"files": files(api), "plan": {"steps": "all"}})
    assert unread.status_code == 422


def test_tests_are_asked_of_the_tenant_as_it_is(api: Api) -> None:
    asked = {"files": {"tests.yaml": "tests:\n  - {who: bob, can: read, on: orders}\n"}}
    assert not api.post(f"{CODE}/test", "ada", asked).json()["passed"]
    with api.platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "viewer", "orders")))
    report = api.post(f"{CODE}/test", "ada", asked).json()
    assert (report["passed"], report["tests"]) == (True, 1)
