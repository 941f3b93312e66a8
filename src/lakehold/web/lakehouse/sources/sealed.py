"""A secret that was filled in, while the form is not right yet: only we can open it, and only for who filled it in.

It comes back with the form instead of the secret itself, which is in no page.
"""

from __future__ import annotations

import json

from starlette.datastructures import FormData

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.keys import KeyRing

_FOR = "a form's secret"
_LASTS = 3600 * SECOND


def filled(platform: Platform, caller: Caller, sent: FormData) -> tuple[str, str]:
    """The secret of a form, typed now or before; and as the page may have it, should the form be shown again."""
    at = platform.clock()
    secret = str(sent.get("secret", "")) or opened(platform.keys, caller, str(sent.get("kept", "")), at)
    return secret, closed(platform.keys, caller, secret, at)


def closed(keys: KeyRing, caller: Caller, secret: str, at: Moment) -> str:
    """The secret as a page may have it."""
    if not secret:
        return ""
    return keys.encrypt(json.dumps([_FOR, caller.tenant, caller.member, at + _LASTS, secret]))


def opened(keys: KeyRing, caller: Caller, kept: str, at: Moment) -> str:
    """The secret itself; empty if it is somebody else's, too old, or none of ours."""
    if not kept:
        return ""
    try:
        told = json.loads(keys.decrypt(kept))
    except (InvalidInputError, ValueError):
        return ""
    if not isinstance(told, list) or told[:3] != [_FOR, caller.tenant, caller.member] or told[3] < at:
        return ""
    return str(told[4])
