"""Refusals of the catalog that are not about rights."""

from __future__ import annotations

from lakehold.kit.errors import LakeholdError


class ChangedMeanwhileError(LakeholdError):
    """Somebody else has changed it since it was read."""

    code = "changed_meanwhile"
    status = 412
