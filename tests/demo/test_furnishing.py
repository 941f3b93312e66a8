"""The company looks lived in, and nobody may do more or less for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold.access import Grant
from lakehold.access.facts.view import View
from lakehold.catalog import answers, campaigns, discovery, requests, resources, usage
from lakehold.demo import company, furnishing, told
from lakehold.directory import accounts, invites, members
from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.kit.settings import Settings


@pytest.fixture
def furnished(database_url: str, tmp_path: Path) -> Iterator[tuple[Installation, set[Grant]]]:
    """The company, and all grants as they were before."""
    house = Installation(Settings(data=tmp_path / "data", database=database_url))
    company.load(house.access)
    before = grants(house)
    furnishing.furnish(house)
    yield house, before
    house.close()


def grants(house: Installation) -> set[Grant]:
    with house.access.read(company.TENANT) as session:
        return session.asking(_granted)


def _granted(view: View) -> set[Grant]:
    places = [place for kind in view.policy.kinds for place in view.of_kind.get(kind) or ()]
    return {grant for place in places for grant in view.granted(place)}


def by(member: str) -> Caller:
    return Caller(company.TENANT, member)


def test_its_pages_have_something_to_show(furnished: tuple[Installation, set[Grant]]) -> None:
    house, before = furnished
    with house.read(by("olga")) as work:
        view = work.view
        assert sum(len(view.of_kind.get(kind) or ()) for kind in view.policy.kinds) >= 200
        assert all(accounts.of(work, member) for member in company.PEOPLE)
        assert members.one(work, "tara").email == "tara@corner.example"
        assert members.one(work, furnishing.SERVICE).service
        assert [invite.email for invite in invites.page(work)] == ["paula@corner.example"]
        assert len(answers.waiting_for(work)) == len(told.REQUESTS)
        assert resources.get(work, "orders").description.startswith("One row for each order")
        assert not work.audit.verify().fault
    with house.read(by("nils")) as work:
        assert [asked.request.resource for asked in requests.mine(work)] == ["daily_sales"]
        assert {"daily_sales", "orders", "customer"} <= {found.uid for found in discovery.find(work).items}
    with house.read(by("ana")) as work:
        used = usage.of_member(work, "ana")
        assert [use.resource.uid for use in used] == list(told.USES["ana"])
        assert len({use.at for use in used}) == len(used)
    # Only what somebody has made is new, and theirs.
    with house.access.read(company.TENANT) as session:
        for grant in grants(house) - before:
            kind = session.asking(lambda view, uid=grant.resource: view.kind(view.resource(uid)))  # type: ignore[misc]
            assert kind == "lakehouse.saved_query"
    assert before <= grants(house)


def test_a_review_has_begun_and_not_ended(furnished: tuple[Installation, set[Grant]]) -> None:
    house, _ = furnished
    before = grants(house)
    uid = furnishing.review(house)
    with house.read(by("adam")) as work:
        told = campaigns.get(work, uid)
    assert told.campaign.closed_at is None
    assert told.progress.kept == 3
    assert told.progress.undecided > 3
    assert grants(house) == before
