"""Queries that want all there is, asked of a real worker with the memory that it has by default: whoever asks one is
told so, others are answered beside it and after it, and a worker that is lost is followed by another.

There is no query worker beside it: `test_crowd` has one.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError
from lakehold.kit.settings import Settings
from lakehold.runs import worker_client
from tests.processes import Process, children
from tests.runs.workers import worker_environment

pytestmark = [pytest.mark.slow, pytest.mark.rare]

TENANT = "acme"
RITA, ED = (Caller(TENANT, member) for member in ("rita", "ed"))
_numbers = count()

BOMBS = {
    "one large text": "SELECT repeat('x', 2000000000)",
    "a long list": "SELECT explode(sequence(1, 1000000000))",
    "a text that doubles": "SELECT length(aggregate(sequence(1, 40), 'x', (a, x) -> concat(a, a)))",
    "a text that doubles in rows": "WITH RECURSIVE r(n, s) AS (SELECT 1, 'x' UNION ALL"
    " SELECT n + 1, concat(s, s) FROM r WHERE n < 40) SELECT max(length(s)) FROM r",
    "large rows": "SELECT repeat('x', 1000000) FROM range(1000)",
}
STORMS = {
    "many large texts": "SELECT length(concat_ws('', collect_list(repeat('x', 1000000)))) FROM range(100000)",
    "a large side of a join": "SELECT count(*) FROM range(100000000) a JOIN (SELECT id, repeat(CAST(id AS STRING), 20)"
    " AS s FROM range(30000000)) b ON a.id = b.id WHERE length(b.s) > 3",
}
"""These take memory bit by bit from all, and sometimes the JVM itself is the one that gets none."""
# Each pair is looked at, and none is kept: it takes hours and no memory, and hears nothing meanwhile.
JOIN = "SELECT a.id, b.id FROM range(1000000) a CROSS JOIN range(100000) b ORDER BY hash(a.id, b.id) LIMIT 10"
SMALL = "SELECT count(*), max(id * 2) FROM range(100000)"


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    opened = Platform(Settings(data=tmp_path_factory.mktemp("bombs") / "data"))
    opened.database.migrate()
    opened.access.create_tenant(TENANT, "Acme", workspaces.models())
    with opened.access.write(TENANT) as session:
        session.store.create("lakehouse.lakehouse", "Shop", uid="shop", edges={"tenant": TENANT})
        for member in ("rita", "ed"):
            session.store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
            session.store.add(Grant(member, "member", "shop"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def up(platform: Platform) -> Iterator[Process]:
    environment = {
        **worker_environment(platform),
        "LAKEHOLD_PORT": "0",
        "LAKEHOLD_SPARK": "local[2]",
        "LAKEHOLD_QUERY_PATIENCE": "3",
        "LAKEHOLD_QUERY_WORKERS": "0",
    }
    with Process("up", environment) as process:
        process.wait_for_line("is ready")
        asked(platform, ED, SMALL)
        yield process
        assert process.stop() == 0


def asked(platform: Platform, caller: Caller, text: str) -> int:
    """How many rows it gave."""
    uid = f"query-{next(_numbers)}"
    with worker_client.run_query(platform, caller, uid=uid, workspace="Shop", text=text, rows=2_000) as found:
        return sum(batch.num_rows for batch in found.batches)


@contextmanager
def asking_on(platform: Platform) -> Iterator[list[int]]:
    """Ed, who asks small things all the time, and is answered each time."""
    answers: list[int] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            answers.append(asked(platform, ED, SMALL))

    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(ask)
        try:
            yield answers
        finally:
            done.set()
        busy.result(120)


@pytest.mark.parametrize("name", BOMBS)
def test_whoever_wants_all_memory_is_told_so_and_others_are_answered(
    platform: Platform, up: Process, name: str
) -> None:
    # On a busy machine it may have held up the others for too long before its memory was used up.
    refusals = r"more memory|larger than|blocked others"
    with asking_on(platform) as beside, pytest.raises(LakeholdError, match=refusals) as raised:
        asked(platform, RITA, BOMBS[name])
    assert raised.value.code == ("stopped" if "blocked" in raised.value.message else "limit_reached")
    assert beside
    assert asked(platform, ED, SMALL) == 1
    assert up.process.poll() is None


@pytest.mark.parametrize("name", STORMS)
def test_whatever_becomes_of_a_storm_its_asker_is_told_and_others_are_answered(
    platform: Platform, up: Process, name: str
) -> None:
    with asking_on(platform) as beside, pytest.raises(LakeholdError) as raised:
        asked(platform, RITA, STORMS[name])
    assert raised.value.code in {"limit_reached", "stopped", "spark_lost"}
    assert beside
    assert asked(platform, ED, SMALL) == 1
    assert up.process.poll() is None


def test_a_join_that_leaves_nothing_is_stopped_and_if_it_goes_on_another_worker_answers(
    platform: Platform, up: Process
) -> None:
    with asking_on(platform), ThreadPoolExecutor(1) as pool:
        bad = pool.submit(asked, platform, RITA, JOIN)
        up.wait_for_line("a query of rita is stopped")
        up.wait_for_line("Spark does not stop what it was told to")
        with pytest.raises(LakeholdError, match="blocked others"):
            bad.result(120)
        up.wait_for_line("the worker ended")
        up.wait_for_line("is ready")
    assert asked(platform, ED, SMALL) == 1


def test_a_worker_whose_spark_is_gone_is_followed_by_another(platform: Platform, up: Process) -> None:
    worker = children(up.process.pid)["worker"]
    os.kill(java_of(worker), signal.SIGKILL)
    up.wait_for_line("Spark has ended, and so does this process")
    up.wait_for_line("the worker ended")
    up.wait_for_line("is ready")
    assert children(up.process.pid)["worker"] != worker
    assert asked(platform, ED, SMALL) == 1


def java_of(worker: int) -> int:
    """The JVM that a worker has started."""
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == worker and "java" in (folder / "cmdline").read_text().split("\0")[0]:
                return int(folder.name)
    raise AssertionError(f"The worker {worker} has no JVM.")
