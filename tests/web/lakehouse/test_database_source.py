"""A source that is a real database, from its connection to the rows of its table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from pyspark.sql import SparkSession

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.directory import sign_ins
from lakehold.directory.caller import ClientInfo
from lakehold.web import app_factory
from tests import postgres
from tests.lake.shop import ED
from tests.web.forms import send
from tests.web.site import running
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns, inline_runs

pytestmark = pytest.mark.slow

NEW = "/workspaces/shop/pipelines/new/source"


@pytest.fixture(scope="module")
def there(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InlineRuns]:
    with inline_runs(spark, template_file, tmp_path_factory.mktemp("moving")) as found:
        yield found


@pytest.fixture
def client(there: InlineRuns) -> Iterator[httpx.Client]:
    """Ed, who edits the layer raw."""
    platform = there.shop.platform
    with platform.write(ED) as ctx:
        secret = sign_ins.create(ctx, platform.settings, "ed", "test", ClientInfo("127.0.0.1", "a test", "")).secret
    with (
        running(app_factory.create_web_app(platform)) as address,
        httpx.Client(base_url=address, cookies={SESSION_COOKIE: secret}, timeout=60) as opened,
    ):
        yield opened


def test_a_database_is_connected_chosen_looked_at_and_brought_in(
    there: InlineRuns, client: httpx.Client, server: postgres.Server
) -> None:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE people (id int PRIMARY KEY, word text)")
        connection.execute("INSERT INTO people VALUES (1, 'one'), (2, 'two')")
    sent = {"connector": "database", "name": "People", "layer": "raw", "product": "postgresql", "host": "127.0.0.1"}
    sent |= {"port": str(server.port), "database": name, "user": postgres.USER}
    for wrong, field, said in (
        ({"port": "1"}, "host", "cannot be reached"),
        ({"database": "nosuch"}, "database", "does not have it"),
        ({"user": "stranger"}, "secret", "denied access"),
    ):
        answer = send(client, NEW, NEW, **{**sent, **wrong}, secret="any-secret", do="next")
        (message,) = re.findall(rf'id="field-{field}-about">(.*?)</p>', answer.text, re.DOTALL)
        assert said in message
        assert "any-secret" not in answer.text
    made = send(client, NEW, NEW, **sent, secret="any-secret", do="next")
    assert made.status_code == 303
    streams = client.get(made.headers["Location"])
    assert "public.people" in streams.text
    assert re.search(r'name="keys-0"[^>]*value="id"', streams.text)
    here, uid = made.headers["Location"], made.headers["Location"].split("/")[2]
    chosen = {"count": "1", "stream-0": "public.people", "on-0": "1", "table-0": "raw.people", "mode-0": "merge"}
    preview = send(client, here, here, **chosen, **{"keys-0": "id"}, do="save").headers["Location"]
    text = client.get(preview).text
    assert "two" in text
    assert "File format" not in text
    schedule = f"/resources/{uid}/schedule?setup=1"
    run = send(client, schedule, schedule, every="hand", run_now="1", do="save").headers["Location"].split("/")[2]
    there.execute(run)
    with there.shop.platform.read(ED) as ctx:
        assert RUNS.get(ctx, run).error == ""
    assert there.rows("people") == [(1, "one"), (2, "two")]
    page = client.get(f"/resources/{uid}/pipeline").text
    assert "Succeeded" in page
    assert "any-secret" not in page
    server.drop(name)
