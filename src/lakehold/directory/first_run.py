"""The first run: whoever comes first to an empty installation names its tenant and becomes the Owner."""

from __future__ import annotations

from collections.abc import Iterable

from lakehold.access.model.schema import AccessModel
from lakehold.directory import tenants
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.tenants import Founded, Founding
from lakehold.directory.visit import Visit

_PREFIX = "lhf_"
_ABOUT = "first run"


def is_open(platform: Platform) -> bool:
    """Whether nobody has come yet."""
    with platform.database.read() as transaction:
        return tenants.is_first(transaction)


def secret(platform: Platform) -> str:
    """What whoever started the installation is told, and whoever only finds its address is not: the first to come must
    be somebody who was meant to.
    """
    return f"{_PREFIX}{platform.keys.seal(_ABOUT)}"


def need_secret(platform: Platform, given: str) -> None:
    """Refuse whoever was not told."""
    if not platform.keys.is_sealed(_ABOUT, given.removeprefix(_PREFIX)):
        raise UnauthorizedError(
            "This is not the link that sets this installation up.", "Run `lakehold up` and use the one it prints."
        )


def begin(platform: Platform, models: Iterable[AccessModel], wanted: Founding, visit: Visit | None = None) -> Founded:
    """Make the first tenant and its Owner. Of two who come at the same moment one is refused."""
    return tenants.found(platform, models, wanted, first=True, visit=visit)
