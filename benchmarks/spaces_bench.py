"""Data spaces: pages of a project of 200 tasks, landing through a gateway, and a project of 50 tasks in a worker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from fastapi.testclient import TestClient

from benchmarks import gateway_bench, project_bench
from benchmarks.figures import Figure, Result, measure, p50
from lakehold import workspaces
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.catalog import resources
from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.web import app_factory

_TASKS, _LANDINGS, _DATASETS = 200, 40, 5
_BAR = 50e-3
_REPEATS = 15
_OWNER = Caller("acme", "olga")
_NOTE = "A data project of 200 tasks, each reading two others but for 40 landings; server time in the process, p50."


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Measure the pages, then a landing and a project."""
    yield _pages(say)
    yield from gateway_bench.run(say)
    yield from project_bench.run(say)


def _pages(say: Callable[[str], None]) -> list[Result]:
    """Measure the server time of a graph, and of the part that is asked for while it runs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lakehold-bench-")))
        platform = Platform(Settings(data=folder))
        stack.callback(platform.close)
        say("creating the tasks")
        _add_project(platform)
        cookies = {SESSION_COOKIE: _cookie(platform)}
        client = stack.enter_context(TestClient(app_factory.create_web_app(platform), cookies=cookies))
        pages = {"graph of 200 tasks": "/resources/p/graph", "while it runs": "/resources/p/graph/live"}
        figures = [Figure(name, _sample(client, path), most=_BAR, note=_NOTE) for name, path in pages.items()]
        return measure(figures, say)


def _add_project(platform: Platform) -> None:
    platform.database.migrate()
    platform.access.create_tenant(_OWNER.tenant, "Acme", workspaces.models())
    with platform.access.write(_OWNER.tenant) as session:
        make = session.store.create
        make("tenant.member", "Olga", uid="olga", edges={"tenant": _OWNER.tenant})
        make("spaces.space", "Space", uid="s", edges={"tenant": _OWNER.tenant}, creator="olga")
        make("spaces.project", "Project", uid="p", edges={"space": "s"}, creator="olga")
        make("spaces.connection", "Shop", uid="c", edges={"space": "s"}, creator="olga")
    made: list[str] = []
    with platform.write(_OWNER) as ctx:
        for number in range(_TASKS):
            settings = _settings(number, made)
            edges = {"project": "p"}
            made.append(resources.create(ctx, "spaces.task", f"task {number}", edges=edges, settings=settings))


def _settings(number: int, made: list[str]) -> dict[str, object]:
    if number < _LANDINGS:
        streams = [
            {"name": f"d{n}", "stream": f"public.t{number}_{n}", "mode": "compare", "keys": ["id"]}
            for n in range(_DATASETS)
        ]
        return {"type": "landing", "connection": "c", "datasets": streams}
    reads = sorted({made[number - _LANDINGS], made[number - _LANDINGS // 2 - number % 20]})
    return {"type": "transform", "reads": reads, "datasets": [{"name": "x", "sql": f"SELECT * FROM t{number}.d1"}]}


def _cookie(platform: Platform) -> str:
    with platform.write(_OWNER) as ctx:
        info = ClientInfo("127.0.0.1", "a bench", "")
        return sign_ins.create(ctx, platform.settings, "olga", "bench", info).secret


def _sample(client: TestClient, path: str) -> Callable[[], float]:
    def ask(path: str) -> None:
        answer = client.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 200, answer.text

    return lambda: p50(ask, [(path,)] * _REPEATS)
