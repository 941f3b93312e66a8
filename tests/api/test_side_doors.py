"""No answer of any operation tells of what the caller may not see: no id, no name, no count.

Operations are taken from the document, so a new endpoint is crawled without being named here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from tests.api.client import Api, serve_api
from tests.api.crawler.crawl import Crawl, Person, person
from tests.api.crawler.words import Tenant, Words, create_renamed_tenant

pytestmark = pytest.mark.slow


@pytest.fixture
def crowded(database_url: str, tmp_path: Path) -> Iterator[Platform]:
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    yield platform
    platform.close()


def people(api: Api, here: Tenant, there: Tenant) -> list[Person]:
    """Members with many rights, few and none; tokens that were narrowed; another tenant's admin; nobody."""
    return [
        *(person(api, here, demo) for demo in ("tara", "boris", "erik", "ana", "petra", "carla", "dana", "nils")),
        person(api, here, "adam", "see-only admin", actions=frozenset({"see"})),
        person(api, here, "tara", "one-mart token", resources=frozenset({here.id("daily_sales")})),
        person(api, here, "olga", "one-layer owner", resources=frozenset({here.id("clean")})),
        person(api, there, "adam", "another tenant's admin"),
        Person("nobody", here, here.id("nils"), ""),
    ]


def test_there_is_no_side_door(crowded: Platform) -> None:
    words = Words(seed=7)
    here, there = create_renamed_tenant(crowded, words), create_renamed_tenant(crowded, words)
    with serve_api(crowded, here.uid) as api:
        crawl = Crawl(api, (here, there), words)
        # The same code answers on both; that the other database's filters do so too is seen in one round.
        crawl.run(people(api, here, there), 2 if crowded.database.url.get_backend_name() == "sqlite" else 1)
    assert crawl.leaks == []
    answered = {name for name, statuses in crawl.statuses.items() if any(status < 300 for status in statuses)}
    assert len(answered) > len(crawl.statuses) / 3, "The crawl hardly got in anywhere; it cannot tell much."
