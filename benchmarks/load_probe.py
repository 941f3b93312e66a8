"""A process of its own that loads the index once: `python -m benchmarks.load_probe <url>` prints seconds and bytes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.facts import TENANT
from lakehold.access.facts.index import FactIndex
from lakehold.access.facts.loader import tenant_number
from lakehold.kit.clock import now
from lakehold.kit.database import Database


def main(url: str) -> None:
    """Load the index, then print seconds and bytes."""
    with Database(url).read() as transaction:
        tenant = tenant_number(transaction, TENANT)
        before = _memory("VmRSS")
        start = perf_counter()
        index = FactIndex.load(transaction, tenant, now())
        seconds = perf_counter() - start
        taken = {"seconds": seconds, "kept": _memory("VmRSS") - before, "peak": _memory("VmHWM") - before}
    assert index.seq > 0
    print(json.dumps(taken))


def _memory(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    main(sys.argv[1])
