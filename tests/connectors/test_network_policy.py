"""A connection is held to the tenant's network policy when it is opened and at every request, wherever one leads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import lakehold
from lakehold.connectors import registry
from lakehold.connectors.api.connector import ApiEndpoint, ApiLimits, ApiSettings, LinkHeaderPaging
from lakehold.connectors.api.source import RestSource
from lakehold.connectors.database.jdbc import open_database
from lakehold.connectors.database.settings import DatabaseSettings
from lakehold.connectors.destinations.delivery import DeliveryRequest
from lakehold.connectors.destinations.http_delivery import HttpPoster, RetryPolicy, WebhookDestination
from lakehold.connectors.registry import ConnectorEnvironment, all_connectors, open_destination, open_source
from lakehold.kit.network_policy import SCHEMA, HostList, NetworkPolicyError, PolicyList
from lakehold.kit.settings import load_settings
from tests.lake.destinations.receiver import Receiver, run_receiver
from tests.lake.sources.fake_api import ApiRequest, ApiResponse, FakeApi, serve_fake_api

HTTPS = "https:" + "//"
POLICY = {"destination_hosts": ["hooks.example.org"], "mail_domains": ["example.org"], "source_hosts": ["10.2.0.0/16"]}


def environment(secrets: Mapping[str, str] | None = None, **policy: object) -> ConnectorEnvironment:
    return ConnectorEnvironment(load_settings(), secrets or {}, None, SCHEMA.parse(policy or POLICY))


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with serve_fake_api() as made:
        yield made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with run_receiver() as made:
        yield made


@pytest.mark.parametrize(
    ("settings", "secrets"),
    [
        ({"to": "webhook", "address": f"{HTTPS}attacker.example/"}, {}),
        ({"to": "mail", "receivers": ["a@attacker.example"], "subject": "x"}, {}),
        ({"to": "chat"}, {"address": f"{HTTPS}attacker.example/"}),
        ({"to": "database", "address": "jdbc:postgresql://attacker.example/x", "table": "t"}, {}),
    ],
)
def test_a_destination_is_refused_when_it_is_opened(settings: Mapping[str, object], secrets: dict[str, str]) -> None:
    from lakehold.workspaces.marts.settings import DESTINATION  # noqa: PLC0415 - only here are they parsed

    with pytest.raises(NetworkPolicyError):
        open_destination(environment(secrets), DESTINATION.parse(settings), DeliveryRequest())


@pytest.mark.parametrize(
    "settings",
    [
        {"connector": "api", "address": f"{HTTPS}attacker.example", "endpoints": [{"name": "a", "path": "a"}]},
        {"connector": "database", "address": "jdbc:postgresql://10.3.0.1/x"},
    ],
)
def test_a_source_is_refused_when_it_is_opened(settings: Mapping[str, object]) -> None:
    from lakehold.workspaces.lakehouse.settings import SOURCE  # noqa: PLC0415 - only here are they parsed

    with pytest.raises(NetworkPolicyError):
        open_source(environment(), SOURCE.parse(settings))


@pytest.mark.parametrize(
    "address", ["jdbc:postgresql://8.8.8.8,9.9.9.9/x", "jdbc:postgresql://8.8.8.8:5433/x", "jdbc:postgresql:x"]
)
def test_each_host_of_a_database_must_be_allowed(address: str) -> None:
    allowed = environment(destination_hosts=["8.8.8.8:5432"])
    assert open_database(allowed, DatabaseSettings(address="jdbc:postgresql://8.8.8.8/x")).is_postgresql
    with pytest.raises(NetworkPolicyError):
        open_database(allowed, DatabaseSettings(address=address))


def test_a_database_that_the_installation_lists_is_no_exception() -> None:
    listed = load_settings(databases="jdbc:mysql://db.shop:3306")
    policy = SCHEMA.parse({"source_hosts": ["db.other"]})
    with pytest.raises(NetworkPolicyError):
        open_database(
            ConnectorEnvironment(listed, {}, None, policy), DatabaseSettings(address="jdbc:mysql://db.shop/x")
        )


def rest(api: FakeApi, hosts: HostList, paging: LinkHeaderPaging | None = None) -> RestSource:
    endpoint, limits = ApiEndpoint("orders", "/orders", "", paging), ApiLimits(retries=0, patience=2)
    return RestSource(ApiSettings(api.base, (endpoint,), limits=limits, private=True, hosts=hosts))


def elsewhere(api: FakeApi) -> str:
    """The same server under a name that is not listed."""
    return api.base.replace("127.0.0.1", "localhost")


def test_an_api_that_redirects_elsewhere_is_not_followed(api: FakeApi) -> None:
    def redirect(_: ApiRequest) -> ApiResponse:
        return ApiResponse([], status=302, headers={"Location": f"{elsewhere(api)}/taken"})

    api.routes["/v1/orders"] = redirect
    api.routes["/v1/taken"] = lambda _: ApiResponse([{"id": 1}])
    assert rest(api, HostList(PolicyList.SOURCES)).sample("orders", 10).rows
    came = len(api.requests)
    with pytest.raises(NetworkPolicyError):
        rest(api, HostList(PolicyList.SOURCES, ("127.0.0.1",))).sample("orders", 10)
    assert len(api.requests) == came + 1


def test_a_next_page_elsewhere_is_not_read(api: FakeApi) -> None:
    link = {"Link": f'<{elsewhere(api)}/orders?p=2>; rel="next"'}
    api.routes["/v1/orders"] = lambda _: ApiResponse([{"id": 1}], headers=link)
    with pytest.raises(NetworkPolicyError):
        rest(api, HostList(PolicyList.SOURCES, ("127.0.0.1",)), LinkHeaderPaging()).sample("orders", 10)
    assert len(api.requests) == 1


def test_nothing_is_posted_to_a_host_or_port_that_is_not_listed(receiver: Receiver) -> None:
    for entry in ("127.0.0.1:1", "localhost", "*.0.0.1.example"):
        hosts = HostList(PolicyList.DESTINATIONS, (entry,))
        hook = WebhookDestination(receiver.url, retry_policy=RetryPolicy(tries=3), private=True, hosts=hosts)
        with pytest.raises(NetworkPolicyError):
            hook.test()
        with HttpPoster(hook, _never) as poster:
            posted = poster.post(b"{}", key="k", batch=1)
        assert isinstance(posted.error, NetworkPolicyError)
        assert posted.sure
    assert not receiver.requests
    allowed = HostList(PolicyList.DESTINATIONS, ("127.0.0.0/8",))
    with HttpPoster(WebhookDestination(receiver.url, private=True, hosts=allowed), _never) as poster:
        assert poster.post(b"{}", key="k", batch=1).error is None


def _never(_: float) -> None:
    raise AssertionError("It must not be tried again.")


def test_the_policy_cannot_be_forgotten_where_a_connector_is_opened() -> None:
    source = Path(lakehold.__file__).parent
    made = [
        f"{file.relative_to(source)}:{node.lineno}"
        for file in source.rglob("*.py")
        if file != Path(registry.__file__)
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ConnectorEnvironment"
    ]
    assert made == [], "Use open_environment(ctx, …)."


def test_every_connector_that_leaves_the_installation_says_where_it_leads() -> None:
    stays = {"files", "queue"}
    for name, connector in all_connectors().items():
        for record in filter(None, (connector.source, connector.destination)):
            silent = record.network_targets.__qualname__.startswith("SettingsRecord.")
            assert silent is (name in stays), name
