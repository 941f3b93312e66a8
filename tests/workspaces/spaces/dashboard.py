"""An app on a dataset of sales, over HTTP: Carl, who consumes data in the space `sales`, makes it.

Nora and Liam are members of the tenant with no role in any space. The names of what lies behind the app are words that
stand nowhere else, so that a response can be searched for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

import httpx
import psycopg

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.catalog import resources
from lakehold.directory import sign_ins, tokens
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.web import app_factory
from tests.web.site import running
from tests.workspaces.spaces.space import CARL, TENANT, InlineSpace
from tests.workspaces.spaces.test_tasks import landing

TASK, DATASET, APP = "orchard_loader", "quincerows", "Harvest board"
SOURCE_WORDS = (TASK, DATASET, "ingest", "Sales", "shop", "landing")
"""What nobody may find who only views the app."""
ROWS = [("north", "apple", 10, "2026-01-05"), ("north", "pear", 5, "2026-02-07"), ("south", "apple", 30, "2026-02-09"),
        ("o'west", "fig", 7, "2026-03-01")]  # fmt: skip
Json = dict[str, object]
_numbers = count()


def sum_of(column: str, name: str = "") -> Json:
    """An aggregate."""
    return {"how": "sum", "column": column, **({"name": name} if name else {})}


@dataclass(slots=True)
class Dashboard:
    """The app's space, served over HTTP."""

    space: InlineSpace
    address: str
    task: str = ""
    _clients: list[httpx.Client] = field(default_factory=list)

    def source(self, dataset: str = DATASET) -> Json:
        """The dataset of most charts."""
        return {"task": self.task, "dataset": dataset}

    def chart(self, title: str = "By region", **more: object) -> Json:
        """A bar chart of the sales by region."""
        plain = {"type": "bar", "source": self.source(), "group_by": ["region"], "series": [sum_of("amount", "total")]}
        return {"title": title, **plain, **more}

    def filter(self, title: str, column: str, control: str) -> Json:
        """A filter of the dataset."""
        return {"title": title, "column": column, "control": control, "source": self.source()}

    def settings(self, *charts: Json) -> Json:
        """The settings of an app with all three filters."""
        filters = [
            self.filter("Region", "region", "choice"),
            self.filter("Day", "day", "range"),
            self.filter("Fruit", "fruit", "text"),
        ]
        return {"charts": list(charts or [self.chart()]), "filters": filters}

    def app(self, settings: Mapping[str, object] | None = None, *viewers: str, by: Caller = CARL) -> str:
        """An app that is shared with these members or groups."""
        with self.space.platform.write(by) as ctx:
            uid = resources.create(
                ctx,
                "spaces.app",
                f"{APP} {next(_numbers)}",
                edges={"space": "sales"},
                settings=settings or self.settings(),
            )
        for viewer in viewers:
            self.space.grant(viewer, "viewer", uid)
        return uid

    def client(self, member: str, actions: frozenset[str] | None = None) -> httpx.Client:
        """A client of the REST API with a token of this member, perhaps a narrowed one."""
        with self.space.platform.write(Caller(TENANT, member)) as ctx:
            secret = tokens.create(ctx, "test", actions=actions).secret
        return self._opened(headers={"Authorization": f"Bearer {secret}"})

    def browser(self, member: str) -> httpx.Client:
        """A client of the pages, signed in as this member."""
        with self.space.platform.write(Caller(TENANT, member)) as ctx:
            secret = sign_ins.create(
                ctx, self.space.platform.settings, member, "test", ClientInfo("127.0.0.1", "a test", "")
            ).secret
        return self._opened(headers={"Accept": "text/html"}, cookies={SESSION_COOKIE: secret})

    def data(self, member: str, app: str, **filters: str) -> list[Json]:
        """The charts of the app's data, as this member reads it."""
        params = {"filter": list(filters), "value": list(filters.values())}
        found = self.client(member).get(f"/api/v1/apps/{app}/data", params=params)
        assert found.status_code == 200, found.text
        charts: list[Json] = found.json()["charts"]
        return charts

    def _opened(self, **more: object) -> httpx.Client:
        made = httpx.Client(base_url=self.address, timeout=60, **more)  # type: ignore[arg-type]
        self._clients.append(made)
        return made

    def close(self) -> None:
        """Close all clients."""
        for each in self._clients:
            each.close()


@contextmanager
def open_dashboard(space: InlineSpace, source: psycopg.Connection, shop: str) -> Iterator[Dashboard]:
    """Land the sales, and serve the web app."""
    source.execute(f"CREATE TABLE {DATASET} (region text, fruit text, amount int, day date)".encode())
    with source.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {DATASET} VALUES (%s, %s, %s, %s::date)".encode(), ROWS)
    task = space.make(TASK, landing(shop, DATASET))
    space.run(task)
    with space.platform.access.write(TENANT) as session:
        for member in ("nora", "liam"):
            session.store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
    with running(app_factory.create_web_app(space.platform)) as address:
        found = Dashboard(space, address, task)
        yield found
        found.close()
