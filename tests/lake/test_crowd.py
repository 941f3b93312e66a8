"""Thirty queries that take all they can get, asked by one person of a real server, while others ask small things and
look at pages: nobody is refused, and nobody waits long.

The bounds are those of a machine that does nothing else. It is measured before each group of bombs what the same
questions take here without them; where that is slow, because others use the machine, so many times that may be taken
instead.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Event

import httpx
import pytest

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.directory import sign_ins, tokens
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.runs.worker_pool import WorkerPool
from tests.processes import Process
from tests.runs.workers import worker_environment

pytestmark = pytest.mark.slow

TENANT = "acme"
QUERY_SECONDS, PAGE_SECONDS = 5.0, 1.0
QUIET_FACTOR = 4
"""How many times longer than on the same machine without bombs an answer may take, if that is more."""
QUIET_ANSWERS = 4
"""How many before each group of bombs."""
BOMB_SECONDS, AT_ONCE = 5, 3
PATIENCE = 300
WORKERS = 2
"""The worker, and the query worker beside it."""

_DOUBLING = "SELECT length(aggregate(sequence(1, 60), 'x', (a, x) -> concat(a, a)))"
_TIMES = "FROM range({}) a CROSS JOIN range({}) b"
BOMBS = {
    "list of texts": "SELECT length(concat_ws('', collect_list(repeat('x', 1000000)))) FROM range(100000)",
    "set of texts": "SELECT size(collect_set(repeat(CAST(id AS STRING), 100000))) FROM range(1000000)",
    "list per group": "SELECT id % 3, collect_list(repeat('x', 10000)) FROM range(10000000) GROUP BY 1",
    "list of a window": "SELECT size(collect_list(id) OVER (ORDER BY id)) FROM range(100000000)",
    "map of texts": "SELECT map_from_entries(collect_list(struct(id, repeat('x', 100000)))) FROM range(1000000)",
    "one large text": "SELECT repeat('x', 2000000000)",
    "texts as error": "SELECT raise_error(repeat('ab ', 60000))",
    "larger texts as error": "SELECT raise_error(repeat('ab ', 60000000))",
    "doubling text": _DOUBLING,
    "doubling text in rows": "WITH RECURSIVE r(n, s) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, concat(s, s) FROM r"
    " WHERE n < 40) SELECT max(length(s)) FROM r",
    "long sequence": "SELECT size(sequence(1, 2000000000))",
    "exploded sequence": "SELECT count(*) FROM (SELECT explode(sequence(1, 1000000000)))",
    "exploded twice": "SELECT sum(hash(a, b)) FROM (SELECT explode(sequence(1, 100000)) a) LATERAL VIEW"
    " explode(sequence(1, 1000000)) t AS b",
    "repeated array": "SELECT size(flatten(array_repeat(sequence(1, 1000000), 10000)))",
    "wide result": f"SELECT {', '.join(f'id + {n} AS c{n}' for n in range(2000))} FROM range(100000)",
    "large rows": "SELECT repeat('x', 1000000) FROM range(1000)",
    "cross join": "SELECT a.id, b.id " + _TIMES.format(1_000_000, 100_000) + " ORDER BY hash(a.id, b.id) LIMIT 10",
    "counted cross join": "SELECT count(*) " + _TIMES.format(10_000_000, 10_000_000) + " WHERE hash(a.id, b.id) = 1",
    "three-way cross join": "SELECT max(hash(a.id, b.id, c.id)) " + _TIMES.format(100_000, 100_000) + ", range(1000) c",
    "join on nothing": "SELECT count(*) FROM range(10000000) a JOIN range(10000000) b ON a.id % 7 < b.id % 11",
    "large join": "SELECT count(*) FROM range(100000000) a JOIN (SELECT id, repeat(CAST(id AS STRING), 20) AS s"
    " FROM range(30000000)) b ON a.id = b.id WHERE length(b.s) > 3",
    "doubling joins": "WITH t0 AS (SELECT id FROM range(10)), "
    + ", ".join(f"t{n} AS (SELECT a.id FROM t{n - 1} a JOIN t{n - 1} b ON a.id = b.id)" for n in range(1, 13))
    + " SELECT count(*) FROM t12",
    "doubling unions": "WITH t0 AS (SELECT 1 AS id), "
    + ", ".join(f"t{n} AS (SELECT * FROM t{n - 1} UNION ALL SELECT * FROM t{n - 1})" for n in range(1, 19))
    + " SELECT count(*) FROM t18",
    "doubling structs": "WITH t0 AS (SELECT struct(1 AS a) AS s), "
    + ", ".join(f"t{n} AS (SELECT struct(s AS l, s AS r) AS s FROM t{n - 1})" for n in range(1, 17))
    + " SELECT * FROM t16",
    "sorted texts": "SELECT s FROM (SELECT repeat(hash(id), 1000) AS s FROM range(10000000)) ORDER BY s LIMIT 1",
    "grouped texts": "SELECT count(*) FROM (SELECT repeat(hash(id), 200) AS s FROM range(50000000) GROUP BY 1)",
    "distinct texts": "SELECT count(DISTINCT repeat(hash(id), 500)) FROM range(50000000)",
    "loop of an aggregate": "SELECT aggregate(sequence(1, 10000000), 0D, (a, x) -> a + aggregate(sequence(1, 1000), 0D,"
    " (b, y) -> b + sqrt(x * y)))",
    "loop of a transform": "SELECT size(filter(transform(sequence(1, 5000000), x -> exists(sequence(1, 1000000),"
    " y -> y = -x)), z -> z))",
    "slow pattern": "SELECT regexp_like(repeat('a', 40), '^(a+)+$b')",
    "parentheses": "SELECT " + "(" * 20_000 + "1" + ")" * 20_000,
    "deep sums": "SELECT " + " + ".join(["id"] * 30_000) + " FROM range(10)",
    "endless sum": "SELECT sum(hash(id)) FROM range(100000000000000)",
}
SMALL = "SELECT count(*), max(id * 2) FROM range(100000)"
_numbers = count()
_log = logging.getLogger("crowd")


@dataclass
class Crowd:
    """A server with a worker, and its people over HTTP."""

    address: str
    platform: Platform
    tokens: dict[str, str]
    session: str

    def wait_for_workers(self) -> None:
        """Until both have a Spark, so that a bomb finds something to blow up."""
        pool, end = WorkerPool(self.platform, Caller(TENANT, "ed")), time.monotonic() + PATIENCE
        while sum(load.ready for load in pool._loads(pool.addresses())) < WORKERS:
            assert time.monotonic() < end
            Event().wait(0.2)

    def ask(self, client: httpx.Client, member: str, sql: str, uid: str = "") -> httpx.Response:
        headers = {"authorization": f"Bearer {self.tokens[member]}"}
        body = {"workspace": "shop", "sql": sql, "id": uid or f"query_number_{next(_numbers)}"}
        return client.post(f"{self.address}/api/v1/queries", json=body, headers=headers)

    def stop(self, client: httpx.Client, member: str, uid: str) -> None:
        client.delete(
            f"{self.address}/api/v1/queries/{uid}", headers={"authorization": f"Bearer {self.tokens[member]}"}
        )

    def look(self, client: httpx.Client) -> httpx.Response:
        return client.get(f"{self.address}/", headers={"cookie": f"{SESSION_COOKIE}={self.session}"})


@dataclass
class Answers:
    """What somebody who asks all the time is answered."""

    seconds: list[float] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def slowest(self) -> float:
        """The slowest of a hundred."""
        return sorted(self.seconds)[int(len(self.seconds) * 0.99)]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    platform = Platform(Settings(data=tmp_path_factory.mktemp("crowd") / "data"))
    platform.database.migrate()
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    secrets = {}
    with platform.access.write(TENANT) as session:
        session.store.create("lakehouse.lakehouse", "Shop", uid="shop", edges={"tenant": TENANT})
        for member in ("rita", "ed", "ann"):
            session.store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
            session.store.add(Grant(member, "member", "shop"))
    for member in ("rita", "ed", "ann"):
        with platform.write(Caller(TENANT, member)) as ctx:
            secrets[member] = tokens.create(ctx, "crowd").secret
    with platform.write(Caller(TENANT, "ann")) as ctx:
        visit = ClientInfo("127.0.0.1", "a test", "")
        session_secret = sign_ins.create(ctx, platform.settings, "ann", "password", visit).secret
    environment = {
        **worker_environment(platform),
        "LAKEHOLD_PORT": "0",
        "LAKEHOLD_SPARK": "local[2]",
        # As it runs for people, not as tests run it.
        "JDK_JAVA_OPTIONS": "",
    }
    with Process("up", environment) as process:
        address, *_ = process.wait_for_lines("running at", "is ready", "answers queries")
        found = Crowd(address.split()[-1], platform, secrets, session_secret)
        with httpx.Client(timeout=PATIENCE) as client:
            assert (answer := found.ask(client, "ed", SMALL)).is_success, answer.text
        found.wait_for_workers()
        yield found
        assert process.stop() == 0
    platform.close()


@contextmanager
def going_on(call: Callable[[httpx.Client], httpx.Response], answers: Answers) -> Iterator[None]:
    """Somebody who asks the same all the time."""
    done = Event()

    def ask() -> None:
        with httpx.Client(timeout=PATIENCE) as client:
            while not done.is_set():
                began = time.monotonic()
                response = call(client)
                answers.seconds.append(time.monotonic() - began)
                if response.status_code != 200:
                    answers.refusals.append(response.text)

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        try:
            yield
        finally:
            done.set()
        asking.result(PATIENCE)


def explode(crowd: Crowd, names: Sequence[str]) -> dict[str, str]:
    """Ask these bombs at once, stop what is under way after some seconds, and return what became of them."""
    uids = {name: f"bomb_number_{next(_numbers)}" for name in names}
    with httpx.Client(timeout=PATIENCE) as client, ThreadPoolExecutor(len(names)) as pool:
        asked = {name: pool.submit(crowd.ask, client, "rita", BOMBS[name], uids[name]) for name in names}
        wait(asked.values(), BOMB_SECONDS)
        for name, future in asked.items():
            if not future.done():
                crowd.stop(client, "rita", uids[name])
        answers = {name: future.result(PATIENCE) for name, future in asked.items()}
    return {
        name: "answered" if answer.is_success else f"{answer.json()['code']}: {answer.json()['detail'][:60]}"
        for name, answer in answers.items()
    }


@dataclass
class Measured:
    """What those who asked small things were answered, with bombs and without."""

    queries: Answers = field(default_factory=Answers)
    pages: Answers = field(default_factory=Answers)
    quiet_queries: Answers = field(default_factory=Answers)
    quiet_pages: Answers = field(default_factory=Answers)

    def refusals(self) -> list[str]:
        """Whoever was refused, with what."""
        known = (self.queries, self.pages, self.quiet_queries, self.quiet_pages)
        return [each for answers in known for each in answers.refusals]


def measure(crowd: Crowd, names: Sequence[str]) -> Measured:
    """Ask small things while these bombs go off, some at once."""
    found = Measured()

    @contextmanager
    def asking(queries: Answers, pages: Answers) -> Iterator[None]:
        with going_on(lambda client: crowd.ask(client, "ed", SMALL), queries), going_on(crowd.look, pages):
            yield

    for group in (names[n : n + AT_ONCE] for n in range(0, len(names), AT_ONCE)):
        crowd.wait_for_workers()
        before = len(found.quiet_queries.seconds)
        with asking(found.quiet_queries, found.quiet_pages):
            while len(found.quiet_queries.seconds) < before + QUIET_ANSWERS:
                Event().wait(0.1)
        began, before = time.monotonic(), len(found.queries.seconds)
        with asking(found.queries, found.pages):
            became = explode(crowd, group)
        slowest = max(found.queries.seconds[before:], default=0)
        _log.info("%.1f s, small queries up to %.1f s: %s", time.monotonic() - began, slowest, became)
    return found


def test_nobody_is_refused_while_bombs_go_off(crowd: Crowd) -> None:
    # One of each kind: it is refused, it has to be stopped, its error is long. None ends a process, which takes longer.
    found = measure(crowd, ("doubling joins", "counted cross join", "texts as error"))
    assert found.refusals() == []
    assert found.queries.seconds
    assert found.pages.seconds


@pytest.mark.rare
def test_small_questions_and_pages_are_answered_while_bombs_go_off(crowd: Crowd) -> None:
    assert len(BOMBS) >= 30
    found = measure(crowd, tuple(BOMBS))
    assert found.refusals() == []
    for name, known, quiet, most in (
        ("queries", found.queries, found.quiet_queries, QUERY_SECONDS),
        ("pages", found.pages, found.quiet_pages, PAGE_SECONDS),
    ):
        median, quiet_median = statistics.median(known.seconds), statistics.median(quiet.seconds)
        _log.info("%s: median %.2f s, slowest of 100 %.2f s, of %s", name, median, known.slowest(), len(known.seconds))
        _log.info("without bombs: median %.2f s, slowest of 100 %.2f s", quiet_median, quiet.slowest())
        assert known.slowest() <= max(most, QUIET_FACTOR * quiet.slowest()), name
