"""Which worker is sent a query, and what becomes of it when that one is lost or held up by somebody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError, LimitExceededError
from lakehold.lake.errors import MemoryShortageError, QueryMemoryError, SparkLostError, StoppedError
from lakehold.runs import heartbeat, worker_client, worker_pool
from lakehold.runs.worker_client import ReadPurpose
from lakehold.runs.worker_pool import NoWorkerError, WorkerLoad
from tests.platform import ANN, BOB

Answer = LakeholdError | dict[str, Any] | None
LOST = SparkLostError("Spark has stopped.", "Try again.")
LOST_BY_IT = SparkLostError("Spark has stopped.", "Try again.", field="sql")
SHORT = MemoryShortageError("Other queries use all memory.", "Try again.")
SHORT_BY_IT = MemoryShortageError("Other queries use all memory.", "Try again.", field="sql")
FIELDS: dict[str, Any] = {"fields": [], "reads": ["orders"]}


class Worker:
    """The HTTP side of a worker, which answers what it is told to; nothing is a connection that breaks."""

    def __init__(self, platform: Platform, name: str, *answers: Answer, **load: object) -> None:
        self.name = name
        self.load: dict[str, object] = {"ready": True, "runs": False, **load}
        self.bodies: list[dict[str, Any]] = []
        self.stopped: list[str] = []
        self.before_answer: Callable[[], object] = lambda: None
        self.heard_stop = Event()
        self._answers = list(answers)
        self._platform = platform

    @contextmanager
    def running(self) -> Iterator[None]:
        """Answer, and have a row."""
        worker = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.reply(200, worker.load)

            def do_DELETE(self) -> None:
                worker.stopped.append(self.path.rpartition("/")[2])
                self.reply(204, None)
                worker.heard_stop.set()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                worker.bodies.append(json.loads(body))
                worker.before_answer()
                answer = worker._answers.pop(0) if worker._answers else FIELDS
                if answer is None:
                    self.close_connection = True
                elif isinstance(answer, LakeholdError):
                    kind = f"urn:lakehold:{type(answer).code}"
                    problem = {"type": kind, "code": answer.code, "detail": answer.message, "hint": answer.hint}
                    self.reply(answer.status, {**problem, "field": answer.field})
                else:
                    self.reply(200, answer)

            def reply(self, status: int, content: object) -> None:
                text = b"" if content is None else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            self.address = f"http://127.0.0.1:{server.server_port}"
            self.register()
            yield
            server.shutdown()

    def register(self) -> None:
        with self._platform.database.write() as transaction:
            heartbeat.register_worker(transaction, self.name, self.address)

    def vanish(self) -> None:
        with self._platform.database.write() as transaction:
            heartbeat.remove_worker(transaction, self.name)


@contextmanager
def workers(*found: Worker) -> Iterator[None]:
    with ExitStack() as stack:
        for each in found:
            stack.enter_context(each.running())
        yield


def described(platform: Platform, by: Any = ANN) -> list[str]:  # noqa: ANN401 - a caller
    return worker_client.describe_query(platform, by, workspace="Shop", text="SELECT 1").reads


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({}, {"crowding": 1, "own": 1, "ready": True, "runs": False}),
        ({"crowding": 1}, {"crowding": 2}),
        ({"own": 1}, {"ready": True, "runs": False}),
        ({"ready": True}, {"runs": False}),
        ({"runs": False, "others": 3}, {"runs": True}),
        ({"others": 1}, {"others": 2}),
    ],
    ids=["nobody before", "no suspect", "where one is", "started", "no runs", "fewer others"],
)
def test_the_process_of_lowest_rank_is_asked(better: dict[str, Any], worse: dict[str, Any]) -> None:
    assert WorkerLoad("", **better).rank < WorkerLoad("", **worse).rank


def test_a_query_goes_where_nobody_was_before(platform: Platform) -> None:
    busy, free = Worker(platform, "a", crowding=1), Worker(platform, "b", runs=True)
    with workers(busy, free):
        assert described(platform) == ["orders"]
    assert (len(busy.bodies), len(free.bodies)) == (0, 1)


@pytest.mark.parametrize("loss", [LOST, None], ids=["says so", "says nothing"])
def test_a_query_whose_process_is_lost_is_answered_by_another(platform: Platform, loss: Answer) -> None:
    dying, other = Worker(platform, "a", loss), Worker(platform, "b", runs=True)
    dying.before_answer = dying.vanish
    with workers(dying, other):
        assert described(platform) == ["orders"]
    assert (len(dying.bodies), len(other.bodies)) == (1, 1)


def test_a_query_whose_process_is_lost_waits_for_the_next_one(platform: Platform) -> None:
    dying, following = Worker(platform, "a", LOST), Worker(platform, "b")

    def follow() -> None:
        dying.vanish()
        following.register()

    dying.before_answer = follow
    with workers(dying, following):
        following.vanish()
        assert described(platform) == ["orders"]
    assert len(following.bodies) == 1


@pytest.mark.parametrize("loss", [LOST, LOST_BY_IT], ids=["by others", "by itself"])
def test_a_process_that_takes_long_to_exit_is_one_loss(platform: Platform, loss: LakeholdError) -> None:
    dying, following = Worker(platform, "a", *[loss] * 5), Worker(platform, "b")

    def follow() -> None:
        if len(dying.bodies) == 5:
            dying.vanish()
            following.register()

    dying.before_answer = follow
    with workers(dying, following):
        following.vanish()
        assert described(platform) == ["orders"]
    assert (len(dying.bodies), len(following.bodies)) == (5, 1)


def test_a_process_that_is_lost_and_never_exits_is_given_up(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "_RESTART_SECONDS", 0.5)
    with workers(Worker(platform, "a", *[LOST] * 100)), pytest.raises(SparkLostError):
        described(platform)


def test_a_query_that_is_lost_again_and_again_is_refused(platform: Platform) -> None:
    with workers(*(Worker(platform, name, LOST) for name in "abc")), pytest.raises(SparkLostError):
        described(platform)


def test_the_reason_of_two_losses_is_told_so_and_never_sent_where_runs_are(platform: Platform) -> None:
    first, queries = (Worker(platform, name, LOST_BY_IT) for name in "ac")
    runs = Worker(platform, "b", runs=True)
    with workers(first, queries, runs):
        with pytest.raises(QueryMemoryError):
            described(platform)
        assert [body["suspect"] for body in (*first.bodies, *queries.bodies)] == [False, True]
        first.vanish()
        queries.bodies[:] = first.bodies + queries.bodies
        queries.load["crowding"] = 1
        described(platform)
        described(platform, BOB)
    assert [body["suspect"] for body in queries.bodies] == [False, True, True]
    assert [body["suspect"] for body in runs.bodies] == [False]


def test_a_query_without_memory_beside_another_leaves_it(platform: Platform) -> None:
    full, other = Worker(platform, "a", SHORT, SHORT), Worker(platform, "b", runs=True)
    with workers(full, other):
        assert described(platform) == ["orders"]
        assert [body["suspect"] for body in (*full.bodies, *other.bodies)] == [False, False]
        # Nothing is held against whoever asked.
        assert described(platform) == ["orders"]
    assert (len(full.bodies), len(other.bodies)) == (2, 2)


def test_the_query_that_took_the_memory_stays_and_is_refused_the_second_time(platform: Platform) -> None:
    full, other = Worker(platform, "a", SHORT_BY_IT, SHORT_BY_IT), Worker(platform, "b", runs=True)
    with workers(full, other), pytest.raises(QueryMemoryError):
        described(platform)
    assert ([body["suspect"] for body in full.bodies], other.bodies) == ([False, True], [])


def test_a_query_without_memory_is_tried_again_where_there_is_one_process(platform: Platform) -> None:
    only = Worker(platform, "a", SHORT, SHORT, runs=True)
    with workers(only):
        assert described(platform) == ["orders"]
    with workers(Worker(platform, "b", *[SHORT] * 3, runs=True)), pytest.raises(QueryMemoryError):
        described(platform)


@pytest.mark.parametrize("error", [StoppedError("It blocked others."), LimitExceededError("It takes too long.")])
def test_whose_query_had_to_be_stopped_is_kept_apart_from_runs(platform: Platform, error: LakeholdError) -> None:
    queries, runs = Worker(platform, "a", crowding=1), Worker(platform, "b", error, runs=True)
    with workers(queries, runs):
        with pytest.raises(type(error)):
            described(platform)
        described(platform)
    assert (len(queries.bodies), len(runs.bodies)) == (1, 1)


def test_where_there_is_no_query_worker_everybody_uses_the_worker(platform: Platform) -> None:
    runs = Worker(platform, "a", StoppedError("It blocked others."), runs=True)
    with workers(runs):
        with pytest.raises(StoppedError):
            described(platform)
        assert described(platform) == ["orders"]


def test_a_query_that_is_held_up_is_answered_elsewhere_and_stopped_where_it_was(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "_MOVE_SECONDS", 0.01)
    monkeypatch.setattr(worker_pool, "_CHECK_SECONDS", 0.01)
    held, free = Worker(platform, "a"), Worker(platform, "b", runs=True)

    def hold_up() -> None:
        held.load["crowding"] = 1
        assert held.heard_stop.wait(60)

    held.before_answer = hold_up
    body = {"id": "one", "text": "SELECT 1"}
    with workers(held, free), worker_pool.send_query(platform, ANN, worker_pool.QUERY_PATH, body) as response:
        assert json.loads(response.read()) == FIELDS
    assert (len(free.bodies), held.stopped) == (1, ["one"])


def test_whatever_a_worker_does_for_somebody_has_an_id_to_stop_it_by(platform: Platform) -> None:
    worker, purpose = Worker(platform, "a"), ReadPurpose("query", "acme")
    with workers(worker):
        worker_client.describe_query(platform, ANN, text="SELECT 1", uid="mine")
        worker_client.probe(platform, ANN, "lakehouse.source", {}, uid="mine")
        described(platform)
        worker_client.probe(platform, ANN, "lakehouse.source", {})
        stored, _ = worker_client.store_result(platform, ANN, "SELECT 1", purpose)
    ids = [body["id"] for body in worker.bodies]
    assert (ids[:2], ids[4]) == (["mine", "mine"], stored)
    assert len({*ids, ""}) == len(ids)


def test_a_query_that_takes_long_by_itself_stays(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "_MOVE_SECONDS", 0.01)
    monkeypatch.setattr(worker_pool, "_CHECK_SECONDS", 0.01)
    asked = Event()
    slow, free = Worker(platform, "a"), Worker(platform, "b", runs=True)
    slow.before_answer = lambda: asked.wait(60)

    def loads(pool: worker_pool.WorkerPool, addresses: list[str]) -> list[WorkerLoad]:
        if slow.bodies:
            asked.set()
        return original(pool, addresses)

    original = worker_pool.WorkerPool._loads
    monkeypatch.setattr(worker_pool.WorkerPool, "_loads", loads)
    with workers(slow, free):
        assert described(platform) == ["orders"]
    assert (len(slow.bodies), len(free.bodies)) == (1, 0)


def test_a_query_is_stopped_wherever_it_is(platform: Platform) -> None:
    first, second = Worker(platform, "a"), Worker(platform, "b")
    with workers(first, second):
        worker_client.stop_query(platform, ANN, "one")
    assert (first.stopped, second.stopped) == (["one"], ["one"])


def test_without_any_worker_it_is_told_at_once(platform: Platform) -> None:
    with pytest.raises(NoWorkerError, match="No worker is running"):
        described(platform)
