"""A data space with a gateway, the endpoint that it dials through a proxy, and a database that it reads.

Gina owns the gateway, Olga the space; Vito views it. Uma is no member of it. Ada is the tenant's Owner.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow.parquet as pq

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.workspaces.spaces.gateways.agent.identity_folder import GatewayConfiguration, IdentityFolder
from lakehold.workspaces.spaces.gateways.agent.registration import PATH
from lakehold.workspaces.spaces.gateways.endpoint import serve_gateways
from lakehold.workspaces.spaces.gateways.key_pairs import KeyPairs
from lakehold.workspaces.spaces.gateways.work_orders import OrderRequest, WorkOrder
from tests import postgres
from tests.api.client import Api, json_body, serve_api
from tests.processes import Process
from tests.workspaces.spaces.gateways.proxy import Proxy, proxy_to

TENANT = "acme"
GINA, OLGA = Caller(TENANT, "gina"), Caller(TENANT, "olga")


@dataclass(slots=True)
class GatewaySite:
    """The site."""

    platform: Platform
    api: Api
    proxy: Proxy
    folder: Path
    settings: Mapping[str, object]
    """Those of a connection to the database."""

    def gateway(self, name: str) -> str:
        with self.platform.write(OLGA) as ctx:
            uid = ctx.create("spaces.gateway", name, uid=None, edges={"space": "sales"})
        with self.platform.access.write(TENANT) as session:
            session.store.add(Grant("gina", "owner", uid))
        return uid

    def code(self, gateway: str) -> str:
        return str(json_body(self.api.post(f"/api/v1/gateways/{gateway}/code", "gina"), 201)["code"])

    def registered(self, name: str) -> tuple[str, IdentityFolder]:
        """A gateway, and the folder of its process."""
        uid, keys = self.gateway(name), KeyPairs.generate()
        answer = json_body(self.api.post(PATH, json=registration(self.code(uid), keys)), 201)
        folder = IdentityFolder(self.folder / uid)
        folder.save(GatewayConfiguration(TENANT, uid, name, answer["address"], answer["authority"], keys))
        return uid, folder

    def status(self, gateway: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json_body(self.api.get(f"/api/v1/gateways/{gateway}/status", "vito"))
        return found

    def order(self, gateway: str, kind: str = "read", key: str = "", **body: object) -> WorkOrder:
        request = OrderRequest(gateway, kind, {"settings": dict(self.settings), **body}, {}, key)
        return WorkOrder(self.platform, GINA, request)


def registration(code: str, keys: KeyPairs) -> dict[str, str]:
    return {
        "code": code,
        "signing_key": keys.public.signing,
        "sealing_key": keys.public.sealing,
        "proof": keys.prove("register", code),
        "version": "9.9",
    }


def run_gateway(folder: IdentityFolder) -> Process:
    """The process of the gateway, connected."""
    process = start_gateway(folder)
    try:
        process.wait_for_line("connected")
    except AssertionError:
        process.process.kill()
        raise
    return process


def start_gateway(folder: IdentityFolder) -> Process:
    return Process(f"gateway run --folder {folder.path}", {})


class Waiter:
    """Waits for an order in a thread."""

    def __init__(self, order: WorkOrder, patience: float = 60, check: Callable[[], None] = lambda: None) -> None:
        self.error: Exception | None = None
        self.result: Mapping[str, Any] = {}

        def wait() -> None:
            try:
                self.result = order.wait(patience, check)
            except Exception as error:  # noqa: BLE001 - the test looks at it
                self.error = error

        self.thread = Thread(target=wait, daemon=True)
        self.thread.start()

    def join(self) -> Mapping[str, Any]:
        self.thread.join(120)
        assert not self.thread.is_alive()
        if self.error:
            raise self.error
        return self.result


def ids_of(order: WorkOrder) -> list[int]:
    """The ids of the rows that have arrived."""
    files = sorted(order.spool.folder.glob("part-*.parquet"))
    return [value for file in files for value in pq.read_table(file, columns=["id"])["id"].to_pylist()]


@contextmanager
def gateway_site(template_file: Path, folder: Path, server: postgres.Server, database: str) -> Iterator[GatewaySite]:
    shutil.copy(template_file, folder / "lakehold.sqlite")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with proxy_to(port) as proxy:
        settings = Settings(
            data=folder / "data",
            database=f"sqlite:///{folder / 'lakehold.sqlite'}",
            private_addresses=True,
            gateway_port=port,
            gateway_address=proxy.address,
        )
        platform = Platform(settings)
        platform.access.create_tenant(TENANT, "Acme", workspaces.models())
        with platform.access.write(TENANT) as session:
            store = session.store
            for member in ("ada", "olga", "gina", "vito", "uma"):
                store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
            store.add(Grant("ada", "owner", TENANT))
            store.create("spaces.space", "Sales", uid="sales", edges={"tenant": TENANT}, creator="olga")
            store.add(Grant("gina", "can_manage", "sales"))
            store.add(Grant("vito", "can_view", "sales"))
        address = f"jdbc:postgresql://127.0.0.1:{server.port}/{database}"
        source = {"connector": "database", "address": address, "user": postgres.USER}
        with serve_gateways(platform), serve_api(platform, TENANT) as api:
            yield GatewaySite(platform, api, proxy, folder, source)
        platform.close()
