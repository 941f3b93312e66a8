"""The page of the network policy: saved, corrected, and confirmed if it refuses what may be reached now."""

from __future__ import annotations

import httpx

from lakehold.catalog import network_policy, resources
from lakehold.demo.company import caller
from lakehold.kit.network_policy import ALLOW_ALL, NetworkPolicy
from tests.web.demo import Shop
from tests.web.forms import send

HTTPS = "https:" + "//"
PAGE = "/network-policy"
OPEN = {f"{name}_mode": "all" for name in ("destination_hosts", "mail_domains", "source_hosts")}


def policy(shop: Shop) -> NetworkPolicy:
    with shop.platform.read(caller("adam")) as ctx:
        return network_policy.load(ctx)


def save(client: httpx.Client, version: str = "1", **fields: str) -> httpx.Response:
    return send(client, PAGE, PAGE, **{**OPEN, "version": version, **fields})


def test_it_is_saved_after_what_it_refuses_was_seen(shop: Shop) -> None:
    with shop.platform.write(caller("tara")) as ctx:
        settings = {"to": "webhook", "address": f"{HTTPS}hooks.attacker.example/in"}
        uid = resources.create(ctx, "marts.destination", "Partner hook", edges={"project": "sales"}, settings=settings)
    adam = shop.client("adam")
    only = {"destination_hosts_mode": "listed", "destination_hosts": "*.Example.org\r\n10.2.0.0/16", "mail_domains": ""}
    asked = save(adam, **only)
    assert "Save the network policy?" in asked.text
    assert "Partner hook" in asked.text
    assert "hooks.attacker.example" in asked.text
    assert policy(shop) == ALLOW_ALL
    assert save(adam, **only, confirmed="1").status_code == 303
    assert policy(shop).destination_hosts == ("*.example.org", "10.2.0.0/16")
    shown = adam.get(PAGE).text
    assert "*.example.org\n10.2.0.0/16</textarea>" in shown
    assert "hooks.attacker.example" in shown
    tara = shop.client("tara")
    for there in (f"/resources/{uid}", "/workspaces/sales/destination"):
        assert (
            "The network policy of the tenant does not allow data to be sent to this host."
            in tara.get(there, follow_redirects=True).text
        )
    # What is refused already is not asked about again.
    assert save(adam, "2", **only, mail_domains_mode="listed").status_code == 303
    assert save(adam, "3", **only).status_code == 303
    # The list need not be emptied to allow all again.
    assert save(adam, "4", destination_hosts="*.example.org\n10.2.0.0/16").status_code == 303
    assert policy(shop) == ALLOW_ALL


def test_what_is_wrong_stands_at_its_list_and_nothing_is_lost(shop: Shop) -> None:
    adam = shop.client("adam")
    wrong = save(adam, mail_domains_mode="listed", mail_domains="ok.example\n*", source_hosts="")
    assert wrong.status_code == 422
    assert 'id="field-mail_domains-error"' in wrong.text
    assert "ok.example\n*</textarea>" in wrong.text
    unprotected = save(adam, source_hosts="api.example.org")
    assert unprotected.status_code == 422
    assert 'id="field-source_hosts-error"' in unprotected.text
    assert save(adam, source_hosts_mode="none").status_code == 422
    assert save(adam, source_hosts_mode="listed", source_hosts="api.example.org").status_code == 303
    # Somebody else has saved meanwhile.
    late = save(adam, "1", mail_domains_mode="listed")
    assert late.status_code == 422
    assert "changed meanwhile" in late.text
    assert policy(shop).mail_domains is None


def test_nobody_else_sees_it(shop: Shop) -> None:
    tara = shop.client("tara")
    assert tara.get(PAGE).status_code == 403
    assert PAGE not in tara.get("/").text
    assert save(tara).status_code == 403
    assert PAGE in shop.client("olga").get("/").text
