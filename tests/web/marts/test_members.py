"""Members of a project, in its own words: who invites whom, roles and scope, and leaving with a hand-over."""

from __future__ import annotations

import re

import pytest

from lakehold.api.http.authentication import CSRF_HEADER, SESSION_COOKIE, make_csrf_token
from lakehold.catalog import workspaces
from lakehold.catalog.resource_view import owners_of
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.recorded_runs import as_member

INVITE = "/invites/new?workspace=sales"
MEMBERS = "/workspaces/sales/members"
ROLES = {"admin": "Project Admin", "technical_user": "Technical User", "business_user": "Business User"}


def owners(shop: Shop, uid: str) -> list[str]:
    with shop.platform.read(as_member("olga")) as ctx:
        return sorted(who for held in ctx.session.read_view(lambda view: owners_of(view, uid)).values() for who in held)


def is_in(shop: Shop, member: str) -> bool:
    with shop.platform.read(as_member("olga")) as ctx:
        return member in {each.subject.uid for each in workspaces.members(ctx, "sales")}


@pytest.mark.parametrize(
    ("inviter", "may"),
    [("nils", list(ROLES)), ("tara", ["technical_user", "business_user"]), ("bella", ["business_user"])],
)
def test_who_invites_whom(shop: Shop, inviter: str, may: list[str]) -> None:
    if inviter == "nils":
        with shop.platform.write(as_member("olga")) as ctx:
            workspaces.set_member(ctx, "sales", "nils", roles=["admin"])
    client = shop.client(inviter)
    page = client.get(INVITE).text
    for role, title in ROLES.items():
        offered = re.search(rf'name="role" value="{role}"[^>]*>\s*<span><b>{title}</b>', page) is not None
        assert offered == (role in may), role
        form = {"workspace": "sales", "email": f"{role}@example.org", "role": role}
        answer = send(client, INVITE, "/invites/new", **form)
        assert answer.status_code == (303 if role in may else 403), role


def test_the_words_are_those_of_the_model(shop: Shop) -> None:
    page = shop.client("adam").get(f"{MEMBERS}/change?subject=boris").text
    for words in (*ROLES.values(), "Entire project", "Selected contexts", "EMEA", "AMERICAS"):
        assert words in page, words


def test_a_technical_user_becomes_a_business_user_of_one_context(shop: Shop) -> None:
    adam, there = shop.client("adam"), f"{MEMBERS}/change?subject=tara"
    fields = {
        "subject": "tara",
        "role": "business_user",
        "value_scope": "selected_contexts",
        "label": "holder americas",
    }
    assert "will lose" in send(adam, there, there, **fields).text
    assert send(adam, there, there, **fields, confirmed="1").status_code == 303
    row = adam.get(MEMBERS).text
    assert "Tara" in row
    tara = shop.client("tara")
    # A Business User who owns a Storage gets nothing from it; what is shared in the other context is not seen.
    assert tara.get("/resources/lake").status_code == 404
    assert tara.get("/resources/baskets").status_code == 404
    assert tara.get("/resources/suppliers", follow_redirects=True).status_code == 200


def test_somebody_leaves_a_project_and_another_gets_what_they_own(shop: Shop) -> None:
    adam = shop.client("adam")
    asked = send(adam, MEMBERS, f"{MEMBERS}/remove", subject="boris").text
    assert "New owner" in asked
    assert "Bella" in asked
    assert is_in(shop, "boris")
    done = send(adam, MEMBERS, f"{MEMBERS}/remove", subject="boris", receiver="bella", confirmed="1")
    assert done.status_code == 303
    assert not is_in(shop, "boris")
    for uid in ("chat", "returns_watch", "basket_mix", "stock_alert", "loyalty_letter"):
        assert owners(shop, uid) == ["bella"], uid
    adam.cookies.update(done.cookies)
    assert "transferred." in adam.get(MEMBERS).text


def test_what_nobody_gets_waits_for_them(shop: Shop) -> None:
    adam = shop.client("adam")
    send(adam, MEMBERS, f"{MEMBERS}/remove", subject="boris", receiver="", confirmed="1")
    assert not is_in(shop, "boris")
    assert owners(shop, "chat") == ["boris"]


def test_it_is_not_handed_over_by_who_may_not_nor_to_a_group(shop: Shop) -> None:
    bella = shop.client("bella")
    answer = send(bella, MEMBERS, f"{MEMBERS}/remove", subject="boris", receiver="bella", confirmed="1")
    assert answer.status_code == 403
    assert owners(shop, "chat") == ["boris"]
    group = {"subject": "boris", "receiver": "corner/all", "confirmed": "1"}
    assert send(shop.client("adam"), MEMBERS, f"{MEMBERS}/remove", **group).status_code == 422
    assert is_in(shop, "boris")


def test_over_rest_somebody_leaves_with_a_hand_over(shop: Shop) -> None:
    adam = shop.client("adam")
    headers = {CSRF_HEADER: make_csrf_token(shop.platform.keys, adam.cookies[SESSION_COOKIE])}
    asked = {"subject": "boris", "receiver": "bella"}
    gone = adam.delete("/api/v1/workspaces/sales/members", params=asked, headers=headers)
    assert gone.status_code == 204, gone.text
    assert owners(shop, "chat") == ["bella"]
    assert not is_in(shop, "boris")
