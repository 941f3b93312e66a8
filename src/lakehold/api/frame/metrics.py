"""What Prometheus asks for: how many requests, of which route, with which status, and how long they took; and the runs
of all workers.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from lakehold.runs.run_table import RunMetrics

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_RUNS = {
    "runs": "Runs, by kind and state.",
    "run_seconds": "How long they took in all.",
    "run_rows": "Rows that they moved.",
    "run_bad_rows": "Rows that were kept aside.",
}
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The figures of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "lakehold_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "lakehold_request_seconds",
            "How long requests took.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )

        self._runs = {
            name: Gauge(f"lakehold_{name}", words, ("kind", "state"), registry=self.registry)
            for name, words in _RUNS.items()
        }

    def runs(self, found: Iterable[RunMetrics]) -> None:
        """The runs as they are now."""
        for gauge in self._runs.values():
            gauge.clear()
        for each in found:
            values = (each.count, each.seconds, each.rows, each.bad)
            for gauge, value in zip(self._runs.values(), values, strict=True):
                gauge.labels(each.kind, each.state).set(value)

    def seen(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """All figures, as Prometheus reads them."""
        return generate_latest(self.registry)
