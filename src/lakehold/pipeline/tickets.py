"""What a person's Spark session shows when it asks for a table: who it is, for a short time, and good for nothing else.

A ticket is taken by the catalog in the worker alone. It says whom to ask the access engine about; what they may read is
decided anew each time that it is shown.
"""

from __future__ import annotations

import base64
import binascii
import json

from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.keys import KeyRing

_PREFIX = "lht_"


def ticket(keys: KeyRing, caller: Caller, at: Moment, seconds: int) -> str:
    """A ticket for what the caller does in the next seconds."""
    told = json.dumps({"tenant": caller.tenant, "until": at + seconds * SECOND, "caller": caller.to_stored()})
    body = base64.urlsafe_b64encode(told.encode()).decode()
    return f"{_PREFIX}{body}.{keys.seal(_sealed(body))}"


def caller_of(keys: KeyRing, text: str, at: Moment) -> Caller | None:
    """Whose ticket this is; None if it is none of ours, or too old."""
    body, _, seal = text.removeprefix(_PREFIX).partition(".")
    if not text.startswith(_PREFIX) or not keys.is_sealed(_sealed(body), seal):
        return None
    try:
        told = json.loads(base64.urlsafe_b64decode(body))
    except (binascii.Error, ValueError):
        return None
    if told["until"] < at:
        return None
    return Caller.from_stored(told["tenant"], told["caller"], address="worker")


def _sealed(body: str) -> str:
    return f"ticket {body}"
