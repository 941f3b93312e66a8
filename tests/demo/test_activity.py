"""The company looks lived in, and nobody may do more or less for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold.access import Grant
from lakehold.access.facts.view import FactView
from lakehold.catalog import approvals, campaigns, discovery, requests, resources, usage
from lakehold.demo import activity, company
from lakehold.directory import accounts, invites, members
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings


@pytest.fixture
def furnished(database_url: str, tmp_path: Path) -> Iterator[tuple[Platform, set[Grant]]]:
    """The company, and all grants as they were before."""
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    company.load(platform.access)
    before = grants(platform)
    activity.add_activity(platform)
    yield platform, before
    platform.close()


def grants(platform: Platform) -> set[Grant]:
    with platform.access.read(company.TENANT) as session:
        return session.read_view(_granted)


def _granted(view: FactView) -> set[Grant]:
    places = [place for kind in view.policy.kinds for place in view.by_kind.get(kind) or ()]
    return {grant for place in places for grant in view.grants_on(place)}


def by(member: str) -> Caller:
    return Caller(company.TENANT, member)


def test_its_pages_have_something_to_show(furnished: tuple[Platform, set[Grant]]) -> None:
    platform, before = furnished
    with platform.read(by("olga")) as ctx:
        view = ctx.view
        assert sum(len(view.by_kind.get(kind) or ()) for kind in view.policy.kinds) >= 170
        assert all(accounts.get(ctx, member) for member in company.PEOPLE)
        assert members.get(ctx, "tara").email == "tara@corner.example"
        assert members.get(ctx, activity.SERVICE_ACCOUNT).service
        assert [invite.email for invite in invites.page(ctx)] == ["paula@corner.example"]
        assert len(approvals.list_answerable(ctx)) == len(activity.CONTENT["requests"])
        assert resources.get(ctx, "orders").description.startswith("One row for each order")
        assert not ctx.audit.verify().fault
    with platform.read(by("nils")) as ctx:
        assert [asked.request.resource for asked in requests.list_own(ctx)] == ["daily_sales"]
        assert {"daily_sales", "orders", "customer"} <= {found.uid for found in discovery.find(ctx).items}
    with platform.read(by("ana")) as ctx:
        used = usage.list_for_member(ctx, "ana")
        assert [use.resource.uid for use in used] == activity.CONTENT["usage"]["ana"]
        assert len({use.at for use in used}) == len(used)
    # Only what somebody has made is new, and theirs.
    with platform.access.read(company.TENANT) as session:
        for grant in grants(platform) - before:
            kind = session.read_view(lambda view, uid=grant.resource: view.kind(view.resource(uid)))  # type: ignore[misc]
            assert kind == "lakehouse.saved_query"
    assert before <= grants(platform)


def test_a_review_has_begun_and_not_ended(furnished: tuple[Platform, set[Grant]]) -> None:
    platform, _ = furnished
    before = grants(platform)
    uid = activity.start_access_review(platform)
    with platform.read(by("adam")) as ctx:
        campaign = campaigns.get(ctx, uid)
    assert campaign.campaign.closed_at is None
    assert campaign.progress.kept == 3
    assert campaign.progress.undecided > 3
    assert grants(platform) == before
