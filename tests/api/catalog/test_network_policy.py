"""The network policy over HTTP: read, tried, and set with the tag of the state that was seen."""

from __future__ import annotations

import pytest

from lakehold.catalog import resources
from tests.api.client import Api, json_body, problem
from tests.demo_company import DemoPlatform, as_member

HTTPS = "https:" + "//"
PATH = "/api/v1/tenant/network-policy"
ANY = {"If-Match": "*"}
OPEN = {"destination_hosts": None, "mail_domains": None, "source_hosts": None}


def test_it_is_set_with_the_tag_that_was_seen(api: Api, corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        settings = {"to": "webhook", "address": f"{HTTPS}hooks.attacker.example/in?t0ken"}
        uid = resources.create(ctx, "marts.destination", "Hook", edges={"project": "sales"}, settings=settings)
    first = api.get(PATH, "adam")
    assert json_body(first) == {**OPEN, "refused": []}
    body = {**OPEN, "destination_hosts": ["Example.org."], "mail_domains": []}
    refused = {
        "resource": {"id": uid, "kind": "marts.destination", "name": "Hook"},
        "workspace": {"id": "sales", "kind": "marts.project", "name": "Sales marts"},
        "list": "destination_hosts",
        "field": "address",
        "host": "hooks.attacker.example",
    }
    tried = json_body(api.post(f"{PATH}/try", "adam", body))["items"]
    assert [each | {"workspace": refused["workspace"]} for each in tried] == [refused]
    assert json_body(api.get(PATH, "adam")) == {**OPEN, "refused": []}
    problem(api.call("PUT", PATH, "adam", json=body), 428, "precondition_required")
    seen = {"If-Match": first.headers["etag"]}
    saved = json_body(api.call("PUT", PATH, "adam", json=body, headers=seen))
    assert saved["destination_hosts"] == ["example.org"]
    assert [each["host"] for each in saved["refused"]] == ["hooks.attacker.example"]
    problem(api.call("PUT", PATH, "olga", json=OPEN, headers=seen), 412, "changed_meanwhile")
    edit = {"settings": {"to": "webhook", "address": f"{HTTPS}other.attacker.example/"}}
    wrong = problem(
        api.call("PATCH", f"/api/v1/resources/{uid}", "tara", json=edit, headers=ANY), 422, "refused_by_network_policy"
    )
    assert wrong["field"] == "address"
    shown = json_body(api.get(f"/api/v1/resources/{uid}", "tara"))
    assert "network policy" in shown["settings_problems"][0]["message"]


@pytest.mark.parametrize("entry", ["*", f"{HTTPS}example.org", "a\nb", "10.2.0.1/16"])
def test_an_entry_without_meaning_is_refused_by_its_place(api: Api, entry: str) -> None:
    body = {**OPEN, "source_hosts": ["example.org", entry]}
    refused = api.call("PUT", PATH, "adam", json=body, headers=ANY)
    assert refused.status_code == 422
    assert "source_hosts" in refused.text
    problem(api.call("PUT", PATH, "adam", json={"source_hosts": []}, headers=ANY), 422, "invalid_input")


def test_only_those_who_may_see_the_settings_use_it(api: Api) -> None:
    for member in ("tara", "nils"):
        problem(api.get(PATH, member), 403, "forbidden")
        problem(api.post(f"{PATH}/try", member, OPEN), 403, "forbidden")
        problem(api.call("PUT", PATH, member, json=OPEN, headers=ANY), 403, "forbidden")
