"""Collects what is done over HTTP, for the list of last uses. It is written in the background."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from lakehold.catalog.usage import UsageRecorder
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext

_collected: WeakKeyDictionary[Platform, UsageRecorder] = WeakKeyDictionary()


def note(platform: Platform, ctx: RequestContext, action: str, uid: str) -> None:
    """The caller does this now."""
    _of(platform).record(ctx, action, uid)


def write(platform: Platform) -> int:
    """Write what waits."""
    return _of(platform).flush(platform.database)


def _of(platform: Platform) -> UsageRecorder:
    return _collected.setdefault(platform, UsageRecorder())
