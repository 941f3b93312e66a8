"""Destinations send data out: a file, a real database, a real webhook and a real mail."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

import psycopg
import pytest
from pydantic import SecretStr

from lakehold.catalog import credentials, network_policy, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.kit.errors import LakeholdError
from lakehold.kit.network_policy import SCHEMA, NetworkPolicyError
from tests import postgres
from tests.lake.destinations.receiver import Answer, run_receiver
from tests.lake.shop import ADA, ED, RITA
from tests.lake.sources.fake_api import ApiResponse, FakeApi, serve_fake_api
from tests.smtp import mail_server
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns


def test_a_table_becomes_a_file_of_a_volume(here: InlineRuns) -> None:
    uid = here.destination("file", {"to": "files", "name": "all orders", "kind": "csv"}, volume="raw_files")
    run = here.run(uid)
    assert (run.state, run.error, run.steps[0].rows) == ("succeeded", "", 100)
    content = here.volume().path_on_disk("all orders.csv").read_text()
    assert len(list(csv.reader(io.StringIO(content)))) == 101
    assert any(line.endswith("rows delivered: all orders.csv") for line in here.lines(run))


def test_each_of_several_tables_has_its_own_file(here: InlineRuns) -> None:
    settings = {"to": "files", "name": "out", "kind": "parquet"}
    uid = here.destination("files", settings, ("orders", "customers"), volume="raw_files")
    assert here.run(uid).state == "succeeded"
    assert {"out-orders.parquet", "out-customers.parquet"} <= {file.path for file in here.volume().list_folder()}


def test_rows_are_changed_in_a_database(here: InlineRuns, server: postgres.Server) -> None:
    name = server.create()
    there = {"address": f"jdbc:postgresql://127.0.0.1:{server.port}/{name}", "user": postgres.USER}
    settings = {"to": "database", **there, "table": "people", "mode": "upsert", "keys": ["id"]}
    uid = here.destination("database", settings, ("customers",))
    for _ in range(2):
        assert here.run(uid).error == ""
    with psycopg.connect(server.url(name)) as connection:
        assert connection.execute("SELECT count(*), min(name) FROM people").fetchone() == (5, "customer 0")
    server.drop(name)


def test_a_webhook_that_fails_half_way_goes_on_where_it_was(here: InlineRuns) -> None:
    with run_receiver() as hook:
        settings: dict[str, object] = {"to": "webhook", "address": hook.url, "batch": 40}
        uid = here.destination("hook", settings)
        with here.shop.platform.write(ED) as ctx:
            credentials.save(ctx, uid, {"secret": "shared-and-secret"})
        hook.answers[:] = [Answer(204), Answer(400, b"no")]
        run = here.run(uid)
        assert (run.state, len(hook.requests)) == ("failed", 2)
        with here.shop.platform.write(ED) as ctx:
            RUNS.resume(ctx, run.id)
        done = here.execute(run.id)
        assert (done.state, done.steps[0].rows) == ("succeeded", 100)
        sizes = [len(request.rows) for request in hook.requests]
        assert sizes == [40, 40, 40, 20]
        assert "t0psecret" not in "".join(here.lines(done))


def test_a_mail_brings_the_rows(here: InlineRuns) -> None:
    with mail_server() as post:
        platform = here.shop.platform
        platform.settings = platform.settings.model_copy(update={"smtp": SecretStr(post.url)})
        settings = {"to": "mail", "receivers": ["ann@x.test"], "subject": "Customers", "body": "**Here**", "name": "c"}
        uid = here.destination("mail", settings, ("customers",))
        run = here.run(uid)
        assert (run.state, run.error) == ("succeeded", "")
        mail = post.next_mail()
        assert (mail["To"], mail["Subject"]) == ("ann@x.test", "Customers")
        (attached,) = mail.iter_attachments()
        assert attached.get_filename() == "c.csv"


def test_without_a_mail_server_it_says_so(here: InlineRuns) -> None:
    platform = here.shop.platform
    platform.settings = platform.settings.model_copy(update={"smtp": SecretStr("")})
    settings = {"to": "mail", "receivers": ["ann@x.test"], "subject": "Customers"}
    assert "No mails can be sent" in here.run(here.destination("unsent", settings, ("customers",))).error


def test_a_destination_without_a_volume_or_a_table_is_refused_at_once(here: InlineRuns) -> None:
    uid = here.destination("lost", {"to": "files"})
    with here.shop.platform.write(ED) as ctx, pytest.raises(LakeholdError, match="no volume"):
        RUNS.start(ctx, uid)
    with here.shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "into": "raw"}
        empty_platform = resources.create(
            ctx,
            "lakehouse.destination",
            "empty",
            edges=edges,
            settings={"to": "webhook", "address": "http://127.0.0.1:9"},
        )
    with here.shop.platform.write(ED) as ctx, pytest.raises(LakeholdError, match="no table"):
        RUNS.start(ctx, empty_platform)


def test_a_viewer_sends_nothing(here: InlineRuns) -> None:
    uid = here.destination("not_yours", {"to": "webhook", "address": "http://127.0.0.1:9"})
    with here.shop.platform.write(RITA) as ctx, pytest.raises(LakeholdError):
        RUNS.start(ctx, uid)


@pytest.fixture
def set_policy(here: InlineRuns) -> Iterator[Callable[..., None]]:
    """Sets the network policy, which is taken back in the end."""

    def save(**lists: object) -> None:
        with here.shop.platform.write(ADA) as ctx:
            network_policy.save(ctx, SCHEMA.parse(lists))

    yield save
    save()


def test_a_run_keeps_to_the_network_policy_that_holds_when_it_runs(
    here: InlineRuns, set_policy: Callable[..., None]
) -> None:
    with run_receiver() as hook:
        uid = here.destination("policed", {"to": "webhook", "address": hook.url})
        set_policy(destination_hosts=["hooks.example.test"])
        run = here.run(uid)
        assert run.state == "failed"
        assert "The network policy of the tenant does not allow data to be sent to this host." in run.error
        assert "Owner or Admin" in run.error
        assert "127.0.0.1" not in run.error
        assert not hook.requests
        with pytest.raises(NetworkPolicyError), here.shop.platform.write(ED) as ctx:
            resource_edit.apply_edit(
                ctx, uid, ResourceEdit(settings={"to": "webhook", "address": hook.url, "batch": 7})
            )
        set_policy(destination_hosts=[f"127.0.0.0/8:{hook.port}"])
        assert here.run(uid).error == ""
        assert hook.requests


def test_no_mail_goes_to_a_domain_that_the_network_policy_does_not_allow(
    here: InlineRuns, set_policy: Callable[..., None]
) -> None:
    with mail_server() as post:
        platform = here.shop.platform
        platform.settings = platform.settings.model_copy(update={"smtp": SecretStr(post.url)})
        settings = {"to": "mail", "receivers": ["ann@x.test", "eve@evil.test"], "subject": "Customers"}
        uid = here.destination("letters", settings, ("customers",))
        set_policy(mail_domains=["x.test"])
        run = here.run(uid)
        assert run.state == "failed"
        assert "The network policy of the tenant does not allow mails to this address." in run.error
        assert "evil" not in run.error
        assert post.accepted.empty()
        set_policy(mail_domains=["*.test", "x.test", "evil.test"])
        assert here.run(uid).error == ""


def test_an_api_is_read_under_the_network_policy(here: InlineRuns, set_policy: Callable[..., None]) -> None:
    with serve_fake_api() as api:
        check_api(here, set_policy, api)


def check_api(here: InlineRuns, set_policy: Callable[..., None], api: FakeApi) -> None:
    endpoint = {"name": "orders", "path": "/orders"}
    source = here.source("policed_api", {"connector": "api", "address": api.base, "endpoints": [endpoint]})
    stream = here.stream(source, "orders", stream="orders")
    api.routes["/v1/orders"] = lambda _: ApiResponse(
        [], status=302, headers={"Location": f"{api.base.replace('127.0.0.1', 'localhost')}/taken"}
    )
    api.routes["/v1/taken"] = lambda _: ApiResponse([{"id": 1}])
    set_policy(source_hosts=["127.0.0.1"])
    run = here.run(source)
    assert run.state == "failed"
    assert "The network policy of the tenant does not allow data to be read from this host." in run.error
    set_policy(source_hosts=["127.0.0.1", "localhost"])
    assert here.run(source).error == ""
    assert here.rows(stream) == [(1,)]
