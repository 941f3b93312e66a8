"""Words of others, as they may stand in a run.

Who may see a run need not see the settings of what was run: those are for who may edit it. So no error and no line of a
log names a host, an address, a user or a file of this machine, whoever repeats them. Who may edit has them in the form.
"""

from __future__ import annotations

import ipaddress
import re

_VEIL = "…"
_PASSED_OVER = 3
"""So short a word stands in others; of a host it is veiled with its port alone."""
_AUTHORITY = re.compile(r"(?://|@|host\s*=\s*)([^/;?()\s]+)", re.IGNORECASE)
_WITH_PORT = re.compile(r"(?<![\w.-])[a-z][\w.-]*:\d{2,5}(?!\w)", re.IGNORECASE)
_NUMBERS = re.compile(r"(?<![\w.])\[?([0-9a-f]*(?:[:.][0-9a-f]*){2,}(?:%\w+)?)\]?(?::\d{1,5})?(?!\w)", re.IGNORECASE)
_FILE = re.compile(r"(?<![\w/.:])(?:file:)?/(?:[\w.@+-]+/)+[\w.@+-]*")


def hosts(url: str) -> tuple[str, ...]:
    """The hosts that an address names, with their ports and without."""
    found = [each.rpartition("@")[2] for part in _AUTHORITY.findall(url) for each in part.split(",")]
    alone = [each.strip("[]") if each.endswith("]") else each.partition(":")[0] for each in found]
    return tuple(each for each in (*found, *alone) if len(each) > _PASSED_OVER)


def user(name: str) -> tuple[str, ...]:
    """A user, as databases name one."""
    return (f'"{name}"', f"'{name}'") if name else ()


def veiled(text: str, *hidden: str) -> str:
    """The text without these words, and without addresses and files."""
    for word in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(word, _VEIL)
    text = _FILE.sub(_VEIL, text)
    text = _NUMBERS.sub(lambda found: _VEIL if _is_address(found[1]) else found[0], text)
    return _WITH_PORT.sub(_VEIL, text)


def _is_address(text: str) -> bool:
    # The end of a sentence is none of its own.
    for each in (text, text.rstrip(":."), text.rpartition(":")[0]):
        try:
            ipaddress.ip_address(each.partition("%")[0])
        except ValueError:
            continue
        return True
    return False
