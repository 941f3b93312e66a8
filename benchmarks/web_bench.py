"""Pages with 100,000 resources: server time of each, weight of the first one, and time to first paint."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from fastapi.testclient import TestClient
from playwright.sync_api import Browser, sync_playwright

from benchmarks.databases import load
from benchmarks.facts import ADMIN, LAKE, LARGE_GROUP, MOST, SOME, TENANT, Facts, company, layer
from benchmarks.figures import Figure, Result, measure, p50
from lakehold.access import Grant
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.catalog import resources
from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.web import app_factory
from lakehold.web.routers import ROUTERS
from tests.web import chromium
from tests.web.site import running

_PAGE, _WEIGHT, _PAINT = 50e-3, 120e3, 0.6
_REPEATS = 25
_NOTE = (
    "Pages: a tenant of 100,000 resources and 1,000 members, with a project of 1,000 data marts and as many reports, as"
    " an Admin and as a member who sees 90,000, Home also as a Business User; server time in the process, p50. First"
    " page: sign in, with all that it loads, packed."
)
_MARTS = 1_000
_PATH_VALUES = {
    "resources": ("t00042", "q0000", layer(0), "mart", "report", "destination", "storage"),
    "workspaces": (LAKE, "sales"),
    "people": (MOST,),
    "groups": (LARGE_GROUP,),
}
"""Each page is asked for with the first of these that it is for."""
_QUERY_VALUES = {
    "/resources/new": "?kind=lakehouse.table&in=lake",
    "/resources/{uid:path}/why": f"?action=delete&member={MOST}",
    "/requests/new": "?resource=t00042&action=delete",
    "/resources/{uid:path}/access/change": f"?subject={MOST}&role=viewer",
    "/resources/{uid:path}/access/transfer": "?role=manager",
    "/workspaces/{uid:path}/members/change": f"?subject={MOST}",
}
_PAINTED = """new Promise(told => {
  const named = entries => entries.find(entry => entry.name === "first-contentful-paint");
  new PerformanceObserver(list => named(list.getEntries()) && told(named(list.getEntries()).startTime))
    .observe({type: "paint", buffered: true});
})"""
_WEIGHED = """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, entry) => sum + entry.transferSize, 0)"""
_SEEN = (200, 403, 404, 409, 422)
"""A page that says no is a page too."""


def run(say: Callable[[str], None], facts: Facts | None = None) -> Iterator[list[Result]]:
    """Measure every page, then the first one in a browser."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lakehold-bench-")))
        say("loading into SQLite")
        url = f"sqlite:///{folder / 'lakehold.sqlite'}"
        load(url, facts or company()).access.database.close()
        platform = Platform(Settings(data=folder, database=url))
        stack.callback(platform.close)
        _add_marts(platform)
        app = app_factory.create_web_app(platform)
        address = stack.enter_context(running(app))
        clients = {
            who: stack.enter_context(TestClient(app, cookies={SESSION_COOKIE: _cookie(platform, who)}))
            for who in (ADMIN, MOST, SOME)
        }
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=chromium.executable(), args=chromium.arguments()
        )
        stack.callback(browser.close)
        yield measure(list(_pages(clients)), say)
        yield measure(list(_first(browser, address)), say)


def _add_marts(platform: Platform) -> None:
    """Add a marts project beside the lakehouse. Resources that are opened have plain ids; the others fill the lists."""
    with platform.access.write(TENANT) as session:
        store = session.store
        store.create("marts.project", "Sales", uid="sales", edges={"tenant": TENANT})
        for member in (ADMIN, MOST):
            store.add(Grant(member, "technical_user", "sales"))
        store.add(Grant(SOME, "business_user", "sales"))
    with platform.write(Caller(TENANT, MOST)) as ctx:
        make, here = partial(resources.create, ctx), {"project": "sales"}
        make("marts.storage", "Lake", uid="storage", edges=here, settings={"kind": "lake", "lakehouse": LAKE})
        folder = {"to": "files", "name": "report", "kind": "csv"}
        make("marts.destination", "Folder", uid="destination", edges=here, settings=folder)
        settings = {"by": "table", "table": f"{layer(0)}.orders", "columns": [{"name": "day"}]}
        shared, edges = {"shared_for_reporting": True}, {**here, "storage": "storage"}
        for number in range(_MARTS):
            first = number == 0
            uid = "mart" if first else None
            mart = make(
                "marts.data_mart",
                f"Mart {number}",
                uid=uid,
                edges=edges,
                attributes=shared,
                settings=settings,
                managed={"published": True},
            )
            ends = {"data_mart": mart, "destination": "destination"}
            uid = "report" if first else None
            make("marts.report", f"Report {number}", uid=uid, edges=ends, settings={"columns": ["day"]})


def _cookie(platform: Platform, member: str) -> str:
    with platform.write(Caller(TENANT, member)) as ctx:
        return sign_ins.create(ctx, platform.settings, member, "bench", ClientInfo("127.0.0.1", "bench", "")).secret


def _pages(clients: dict[str, TestClient]) -> Iterator[Figure]:
    for template, paths in _paths():
        for who, client in clients.items():
            if who == SOME and template != "/":
                continue
            path, status = _best(client, paths)
            ask = partial(_ask, client, path)
            status_note = "" if status == 200 else f" ({status})"
            sample = partial(p50, ask, [()] * _REPEATS)
            yield Figure(f"page {template} as {who}{status_note}", sample, most=_PAGE, note=_NOTE)


def _best(client: TestClient, paths: Sequence[str]) -> tuple[str, int]:
    """Return the first path that can be opened, or else the first."""
    answers = [(path, _ask(client, path)) for path in paths]
    return next((answer for answer in answers if answer[1] == 200), answers[0])


def _paths() -> Iterator[tuple[str, list[str]]]:
    """Return every page that can be opened with these resources. Pages of single requests, reviews and links are left
    out.
    """
    for router in ROUTERS:
        for route in router.routes:
            template: str = route.path  # type: ignore[attr-defined]
            if "GET" not in route.methods:  # type: ignore[attr-defined]
                continue
            given = _PATH_VALUES.get(template.split("/")[1], ("",))
            paths = [template.replace("{uid:path}", uid).replace("{kind}", "table") for uid in given]
            if "{" not in paths[0]:
                yield template, [path + _QUERY_VALUES.get(template, "") for path in dict.fromkeys(paths)]


def _ask(client: TestClient, path: str) -> int:
    answer = client.get(path, headers={"Accept": "text/html"}, follow_redirects=False)
    assert answer.status_code in (*_SEEN, 303), (path, answer.status_code, answer.text[-500:])
    return int(answer.status_code)


def _first(browser: Browser, address: str) -> Iterator[Figure]:
    loaded = partial(_load_first_page, browser, address)
    yield Figure("first page, all that is loaded", lambda: loaded(_WEIGHED), most=_WEIGHT, unit="bytes", note=_NOTE)
    yield Figure("first contentful paint", lambda: loaded(_PAINTED) / 1_000, most=_PAINT, note=_NOTE)


def _load_first_page(browser: Browser, address: str, question: str) -> float:
    """Evaluate a script on the first page in a new browser."""
    context = browser.new_context(base_url=address)
    try:
        page = context.new_page()
        page.goto("/sign-in")
        page.wait_for_load_state("networkidle")
        return float(page.evaluate(question))
    finally:
        context.close()
