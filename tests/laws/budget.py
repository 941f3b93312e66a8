"""The number of examples of a property. `LAWS=10 pytest tests/laws` tries ten times as many."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_FACTOR = float(os.environ.get("LAWS", "1"))
# A model is a text that has to be read, and a company takes some hundred draws: slow to make, and not by mistake.
_EXPECTED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


def examples(number: int) -> settings:
    """Try a law on about this many examples."""
    return settings(max_examples=max(1, round(number * _FACTOR)), suppress_health_check=_EXPECTED)
