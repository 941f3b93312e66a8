"""Who may do what with a thing: members × actions."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.access import Grant
from lakehold.access.model.policy import MEMBER
from lakehold.directory.caller import Caller
from tests.web.conftest import Open
from tests.web.demo import Shop

HERE = "/resources/clean/access"
OTHERS = ("Mona, Manager of the lake", "Ana, Analyst", "Otto, Operator", "Engineers")


def main(text: str) -> str:
    return text.partition("<main")[2].partition("</main>")[0]


def test_it_tells_who_may_and_by_which_path(shop: Shop) -> None:
    text = main(shop.client("mona").get(HERE).text)
    assert "Erik, Engineer may edit. Why?" in text
    assert "Ana, Analyst may not edit. Why?" in text
    for path in ("direct", "group", "role"):
        assert f'class="cell {path}" href="/resources/clean/why' in text
    assert text.index("Tara, Technical User may see") < text.index("Bella, Business User may not see")


def test_it_is_searched_and_filtered_by_the_address(shop: Shop) -> None:
    client = shop.client("mona")

    def names_listed(query: str) -> set[str]:
        text = main(client.get(f"{HERE}?{query}").text)
        return {
            name
            for name in ("Erik", "Ana", "Mona", "Olga", "Nils")
            if f"{name}, " in text.partition("Direct grants")[0]
        }

    assert names_listed("q=ERI") == {"Erik"}
    assert names_listed("may=edit") == {"Erik", "Mona", "Olga"}
    assert names_listed("may=edit&path=group") == {"Erik"}
    assert names_listed("path=role") == {"Olga"}
    assert names_listed("path=direct") == {"Ana", "Mona"}
    assert names_listed("access=without") == {"Nils"}
    assert "No results" in client.get(f"{HERE}?q=zzz").text


@pytest.mark.browser
def test_somebody_searches_and_turns_to_why(open_as: Open) -> None:
    page = open_as("mona", HERE)
    page.get_by_role("searchbox", name="Search members").fill("erik")
    expect(page.get_by_role("rowheader")).to_have_count(1)
    page.get_by_label("Action", exact=True).select_option("delete")
    expect(page.get_by_text("No results")).to_be_visible()
    page.get_by_label("Action", exact=True).select_option("edit")
    page.get_by_role("link", name="Erik, Engineer may edit. Why?").click()
    why = page.get_by_role("dialog", name="Why may Erik, Engineer edit Clean?")
    expect(why.get_by_role("listitem").filter(has_text="Engineers")).to_be_visible()
    assert "q=erik" in page.url


@pytest.mark.browser
def test_it_works_without_scripts(open_as: Open) -> None:
    page = open_as("mona", HERE, scripts=False)
    page.get_by_role("searchbox", name="Search members").fill("analyst")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("rowheader")).to_have_count(1)
    page.get_by_role("link", name="Ana, Analyst may not edit. Why?").click()
    expect(page.get_by_role("heading", name="Why may Ana, Analyst not edit Clean?", level=1)).to_be_visible()


def test_who_gives_nothing_here_sees_themself_alone(shop: Shop) -> None:
    text = main(shop.client("erik").get("/resources/orders/access").text)
    assert "Erik, Engineer may edit. Why?" in text
    assert "Limited view" in text
    assert "Search members" not in text
    assert not [name for name in OTHERS if name in text]
    # Asking for others by a filter tells no more.
    assert not [name for name in OTHERS if name in main(shop.client("erik").get("/resources/orders/access?q=o").text)]


def test_what_one_may_not_see_is_not_there(shop: Shop) -> None:
    for path in ("access", "access/given", "access/give", "access/effects", "why"):
        there, nothing = (shop.client("nils").get(f"/resources/{uid}/{path}") for uid in ("salaries", "nothing"))
        assert (there.status_code, nothing.status_code) == (404, 404), path
        assert "Private" not in there.text


def test_a_thousand_members_are_shown_a_page_at_a_time(shop: Shop) -> None:
    with shop.platform.write(Caller("corner", "olga")) as ctx:
        for n in range(1_000):
            ctx.session.store.create(MEMBER, f"Person {n:04}", uid=f"p{n}", edges={"tenant": "corner"})
        ctx.session.store.add(Grant("p900", "viewer", "orders"))
    client = shop.client("olga")
    text = main(client.get("/resources/orders/access").text)
    assert text.count('scope="row"') == 25
    assert text.index("Person 0900") < text.index("Person 0000"), "who has something comes first"
    last = main(client.get("/resources/orders/access?page=41").text)
    assert "Person 0999" in last or "Victor" in last


def test_ids_may_have_any_characters(shop: Shop) -> None:
    uid = "odd/id ?#%&é"
    with shop.platform.write(Caller("corner", "mona")) as ctx:
        ctx.session.store.create("lakehouse.table", "Odd one", uid=uid, edges={"layer": "clean"})
        ctx.session.store.add(Grant("engineers", "viewer", uid))
    client = shop.client("mona")
    page = client.get("/resources/odd%2Fid%20%3F%23%25%26%C3%A9/access")
    assert "Access to Odd one" in page.text
    assert "/resources/odd%2Fid%20%3F%23%25%26%C3%A9/why?action=read&amp;member=erik" in page.text
    why = client.get("/resources/odd%2Fid%20%3F%23%25%26%C3%A9/why?action=read&member=erik")
    assert "Erik, Engineer may read Odd one." in why.text


@pytest.mark.parametrize(
    "uid", ["corner", "sales", "landing", "land_tills", "make_orders", "till_source", "corner%2Fall"]
)
def test_everything_has_a_page_of_its_own(shop: Shop, uid: str) -> None:
    client = shop.client("olga")
    for part in ("access", "why"):
        assert client.get(f"/resources/{uid}/{part}").status_code == 200
