"""What a worker's Spark shows to others on its machine and in its network: nothing.

`lakehold up` runs here without `SPARK_LOCAL_IP`, as on any machine, and with home and temporary folders of its own.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.lake.spark import runtime
from lakehold.runs import worker_client
from tests.processes import Process
from tests.runs.workers import worker_environment

pytestmark = pytest.mark.slow

TENANT = "acme"
ED = Caller(TENANT, "ed")
SHUFFLED = "SELECT id % 7, count(DISTINCT id) FROM range(100000) GROUP BY 1"
SECRETS = ("PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "AZURE_CLIENT_SECRET", "GOOGLE_API_KEY", "HADOOP_CREDSTORE_PASSWORD")
LISTENS = {"tcp": "0A", "udp": "07"}
RPC_REQUEST, RPC_RESPONSE, OPEN_BLOCKS = 3, 4, 0


@dataclass(frozen=True)
class Running:
    pids: list[int]
    data: Path
    outside: Path
    """Working, home and temporary folder of all processes, empty before but for the jars."""
    before: set[Path]
    """What was there."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    outside = tmp_path_factory.mktemp("outside")
    platform = Platform(Settings(data=tmp_path_factory.mktemp("private") / "data"))
    platform.database.migrate()
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    with platform.access.write(TENANT) as session:
        session.store.create("lakehouse.lakehouse", "Shop", uid="shop", edges={"tenant": TENANT})
        session.store.create("tenant.member", "Ed", uid="ed", edges={"tenant": TENANT})
        session.store.add(Grant("ed", "member", "shop"))
    link_cache(outside / ".cache")
    before = set(outside.rglob("*"))
    environment = {
        **worker_environment(platform),
        "LAKEHOLD_PORT": "0",
        "LAKEHOLD_SPARK": "local[2]",
        "HOME": str(outside),
        "XDG_CACHE_HOME": str(outside / ".cache"),
        # Java does not take its home from the environment.
        "JAVA_TOOL_OPTIONS": f"-Duser.home={outside}",
        "TMPDIR": str(outside),
        **dict.fromkeys(SECRETS, "not-for-java"),
    }
    with Process("up", environment, folder=outside) as process:
        process.wait_for_line("is ready")
        with worker_client.run_query(platform, ED, uid="one", workspace="Shop", text=SHUFFLED, rows=10) as found:
            assert sum(batch.num_rows for batch in found.batches) == 7
        yield Running(family(process.process.pid), platform.settings.data, outside, before)
    platform.close()


def link_cache(cache: Path) -> None:
    """Link the jars and their archive into a cache of its own: nothing is fetched, and Spark starts as fast as ever."""
    jars, archives = cache / "lakehold" / "jars", cache / "lakehold" / "archives"
    jars.mkdir(parents=True)
    archives.mkdir()
    found = runtime.resolve_jars()
    links = [jars / jar.name for jar in found]
    for link, jar in zip(links, found, strict=True):
        link.symlink_to(jar)
    (archives / runtime.archive_file(links).name).symlink_to(runtime.archive_file(found))


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def listening(pids: list[int], *protocols: str) -> set[tuple[str, int]]:
    """The addresses and ports that these processes listen on."""
    inodes = set()
    for pid in pids:
        for file in Path(f"/proc/{pid}/fd").iterdir():
            try:
                inodes.add(str(file.readlink()))
            except OSError:
                continue
    found = set()
    for protocol, version in product(protocols, ("", "6")):
        for line in Path(f"/proc/net/{protocol}{version}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENS[protocol] and f"socket:[{words[9]}]" in inodes:
                address, _, port = words[1].partition(":")
                found.add((readable(address), int(port, 16)))
    return found


def readable(address: str) -> str:
    """An address of the kernel's table, whose words of four bytes are in the order of this machine."""
    words = bytes.fromhex(address)
    turned = b"".join(words[n : n + 4][::-1] for n in range(0, len(words), 4))
    return str(ipaddress.ip_address(turned))


def javas(pids: list[int]) -> list[int]:
    """The JVMs among them: of the query worker, and of the worker once it stands by."""
    found = [pid for pid in pids if Path(f"/proc/{pid}/exe").resolve().name == "java"]
    assert found
    return found


def test_everything_listens_on_loopback_alone(running: Running) -> None:
    found = listening(running.pids, "tcp")
    assert len(found) >= 4, "the server, the worker, and Spark's own"
    for address, port in found | listening(running.pids, "udp"):
        parsed = ipaddress.ip_address(address)
        mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
        assert (mapped or parsed).is_loopback, f"{address}:{port}"


def test_spark_gives_blocks_to_nobody_without_its_secret(running: Running) -> None:
    found = listening(javas(running.pids), "tcp")
    assert len(found) >= 2
    assert [each for each in found if answers_blocks(*each)] == []


def answers_blocks(address: str, port: int) -> bool:
    """Whether somebody who knows nothing can ask for the blocks of a shuffle, as another executor would."""

    def text(value: str) -> bytes:
        return struct.pack(">i", len(value)) + value.encode()

    blocks = struct.pack(">i", 1) + text("shuffle_0_0_0")
    body = bytes([OPEN_BLOCKS]) + text("app") + text("driver") + blocks
    message = struct.pack(">bqi", RPC_REQUEST, 7, len(body)) + body
    with socket.create_connection((address, port), timeout=20) as opened:
        opened.sendall(struct.pack(">q", 8 + len(message)) + message)
        try:
            answer = opened.recv(4096)
        except OSError:
            return False
    # A response, or a failure that tells that the block was looked for.
    return len(answer) > 8 and (answer[8] == RPC_RESPONSE or b"shuffle_0_0_0" in answer)


def test_java_is_given_no_secret_of_the_platform(running: Running) -> None:
    key = (running.data / "key").read_bytes().strip()
    for pid, place in product(javas(running.pids), ("environ", "cmdline")):
        words = Path(f"/proc/{pid}/{place}").read_bytes()
        assert b"LAKEHOLD_" not in words
        assert b"not-for-java" not in words
        assert key not in words


def test_no_file_lies_outside_the_data_folder(running: Running) -> None:
    left = set(running.outside.rglob("*")) - running.before
    assert sorted(str(path.relative_to(running.outside)) for path in left) == []
    for pid in javas(running.pids):
        assert not list(Path(tempfile.gettempdir()).glob(f"hsperfdata_*/{pid}"))
    written = {file for pid in running.pids for file in open_for_writing(pid)}
    assert len(written) > 3
    assert [file for file in written if not file.startswith(str(running.data))] == []


def open_for_writing(pid: int) -> Iterator[str]:
    """The files on disk that a process has opened to write."""
    for opened in Path(f"/proc/{pid}/fd").iterdir():
        try:
            file = str(opened.readlink()).removesuffix(" (deleted)")
            flags = Path(f"/proc/{pid}/fdinfo/{opened.name}").read_text().split()[3]
        except OSError:
            continue
        if int(flags, 8) & (os.O_WRONLY | os.O_RDWR) and file.startswith("/") and not file.startswith("/dev/"):
            yield file


def test_what_spark_shuffles_is_private(running: Running) -> None:
    scratch = running.data / "scratch"
    found = [scratch, *scratch.rglob("*")]
    assert len(found) > 3
    assert [path for path in found if path.stat().st_mode & 0o077 and not path.is_symlink()] == []
