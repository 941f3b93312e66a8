"""Tenants, members and groups: whom access is about.

- `model.yaml`: the tenant's own access model, on which those of the workspaces stand
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lakehold.access.model.document import load
from lakehold.access.model.schema import Model


@cache
def model() -> Model:
    """The tenant's access model."""
    return load(Path(__file__).with_name("model.yaml"))
