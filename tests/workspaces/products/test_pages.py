"""Pages and endpoints of data products over HTTP, each as people of every role see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from urllib.parse import unquote

import httpx
import pytest

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.directory import sign_ins, tokens
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.web import app_factory
from lakehold.workspaces.products.product_tables import ProductTable
from tests.lake.shop import ED, TENANT
from tests.web.forms import token
from tests.web.site import running
from tests.workspaces.products.project import ProductsProject
from tests.workspaces.products.test_runs import CRM, PUBLISH, SHOP, rows, settings_of, succeed

pytestmark = pytest.mark.slow


class Pages:
    """The web app over the project, and a browser without scripts for each member."""

    def __init__(self, here: ProductsProject, address: str, stack: ExitStack) -> None:
        self._platform, self._address, self._stack = here.inline_runs.shop.platform, address, stack
        self._clients: dict[str, httpx.Client] = {}

    def by(self, member: str) -> httpx.Client:
        if member not in self._clients:
            with self._platform.write(Caller(TENANT, member)) as ctx:
                info = ClientInfo("127.0.0.1", "a test", "")
                cookie = sign_ins.create(ctx, self._platform.settings, member, "test", info).secret
            self._clients[member] = self._open(headers={"Accept": "text/html"}, cookies={SESSION_COOKIE: cookie})
        return self._clients[member]

    def api(self, member: str) -> httpx.Client:
        with self._platform.write(Caller(TENANT, member)) as ctx:
            secret = tokens.create(ctx, "test").secret
        return self._open(headers={"Authorization": f"Bearer {secret}"})

    def send(self, member: str, to: str, **fields: str) -> httpx.Response:
        client = self.by(member)
        return client.post(to, data={"csrf_token": token(client, to), **fields})

    def _open(self, **more: object) -> httpx.Client:
        client = httpx.Client(base_url=self._address, timeout=120, **more)  # type: ignore[arg-type]
        return self._stack.enter_context(client)


@pytest.fixture(scope="module")
def pages(here: ProductsProject) -> Iterator[Pages]:
    with running(app_factory.create_web_app(here.inline_runs.shop.platform)) as address, ExitStack() as stack:
        yield Pages(here, address, stack)


@pytest.fixture(scope="module")
def published(here: ProductsProject) -> tuple[str, str]:
    """A data product with a published version, and one of its entities."""
    sources = [here.refreshed_source(rows(*CRM)), here.refreshed_source(rows(*SHOP))]
    product = here.product(settings_of(*sources))
    succeed(here.run(product, by=ED))
    succeed(here.run(product, by=ED, parameters=PUBLISH))
    golden = here.table_rows(product, ProductTable.ENTITIES)
    return product, next(str(row["entity"]) for row in golden if row["family"] == "Müller")


def test_sources_and_data_products_are_set_up_on_pages(here: ProductsProject, pages: Pages) -> None:
    new = "/workspaces/masters/product-sources/new?connector=lake"
    table = here.table(rows(*CRM))
    missing = pages.send("ed", new, connector="lake", name="crm list", stream=table, keys="", do="save")
    assert missing.status_code == 422
    assert "Enter the key columns." in missing.text
    made = pages.send("ed", new, connector="lake", name="crm list", stream=table, keys="id", do="save")
    assert made.status_code == 303, made.text
    source = unquote(made.headers["location"].split("/")[2])
    assert "Not refreshed yet" in pages.by("ed").get(f"/resources/{source}/product-source").text
    succeed(here.run(source, by=ED))
    page = unescape(pages.by("ed").get(f"/resources/{source}/product-source").text)
    assert "anna.mueller@example.com" in page
    form = "/workspaces/masters/products/new"
    assert "crm list" in pages.by("ed").get(form).text
    suggested = pages.send("ed", form, name="From crm", new_source=source, do="source").text
    names = re.findall(r'name="attributes\.(\d+)\.name"[^>]*value="([^"]+)"', suggested)
    assert {name for _, name in names} >= {"given", "family", "mail", "phone", "city"}
    fields = {
        "attributes.0.name": "mail",
        "attributes.0.type": "email",
        "attributes.0.rule": "most frequent",
        "attributes.0.matched": "1",
        "sources.0.source": source,
        "sources.0.columns.mail": "mail",
        "match.threshold": "0.9",
        "match.review": "0.95",
        "clusters.max_records": "50",
    }
    refused = pages.send("ed", form, name="From crm", do="save", **fields)
    assert refused.status_code == 422
    assert "above the threshold" in refused.text
    assert 'value="0.9"' in refused.text
    saved = pages.send("ed", form, name="From crm", do="save", **{**fields, "match.review": "0.4"})
    assert saved.status_code == 303, saved.text
    product = unquote(saved.headers["location"].split("/")[2])
    assert "mail" in pages.by("ed").get(f"/resources/{product}/product/edit").text
    assert pages.by("carl").get(form).status_code in {403, 404}


def test_the_pages_of_a_data_product_show_what_a_role_may_see(pages: Pages, published: tuple[str, str]) -> None:
    product, entity = published
    for member, opens in (("dora", True), ("carl", True), ("vera", False)):
        page = pages.by(member).get(f"/resources/{product}/product")
        assert page.status_code == 200, page.text
        assert ("Versions" in page.text) is opens, member
        found = unescape(pages.by(member).get(f"/resources/{product}/entities?q=ana+mueler").text)
        assert "Anna" in found
        each = unescape(pages.by(member).get(f"/resources/{product}/entities/{entity}").text)
        assert "Müller" in each
        assert ("MUELLER" in each) is opens, member
    for path in ("product", "entities", f"entities/{entity}"):
        assert pages.by("sam").get(f"/resources/{product}/{path}").status_code == 404
    assert "No results" in pages.by("vera").get(f"/resources/{product}/entities?q=nobody+here").text
    assert pages.by("vera").get(f"/resources/{product}/entities/e123").status_code == 404


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("versions", {"dora": 200, "carl": 200, "vera": 403, "sam": 404}),
        ("entities?q=anna", {"dora": 200, "carl": 200, "vera": 200, "sam": 404}),
        ("entities?limit=1000", {"dora": 422, "sam": 422}),
        ("entities/{entity}", {"dora": 200, "carl": 200, "vera": 200, "sam": 404}),
        ("entities/{entity}/records", {"dora": 200, "carl": 200, "vera": 403, "sam": 404}),
        ("entities/nothing", {"vera": 404}),
    ],
)
def test_what_the_api_answers_each_role(
    pages: Pages, published: tuple[str, str], path: str, statuses: dict[str, int]
) -> None:
    product, entity = published
    url = f"/api/v1/data-products/{product}/{path.format(entity=entity)}"
    assert {member: pages.api(member).get(url).status_code for member in statuses} == statuses


def test_publishing_again_is_refused_until_there_is_something_new(pages: Pages, published: tuple[str, str]) -> None:
    product, _ = published
    url = f"/api/v1/data-products/{product}/publish"
    assert pages.api("dora").post(url).status_code == 409
    assert pages.api("carl").post(url).status_code == 403
    assert pages.api("vera").post(url).status_code == 403
    assert pages.api("sam").post(url).status_code == 404
