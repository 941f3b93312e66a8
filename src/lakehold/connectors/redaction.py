"""Redacts the messages of other systems before they are shown in a run.

Members who may see a run need not see the settings of its connectors, which are for those who may edit them. So no
error and no log line names a host, an address, a user or a file of this machine, whichever system repeats them.
"""

import ipaddress
import re

_PLACEHOLDER = "…"
_MAX_IGNORED_LENGTH = 3
"""Shorter words occur within other words: as a host they are redacted only together with their port."""
_AUTHORITY = re.compile(r"(?://|@|host\s*=\s*)([^/;?()\s]+)", re.IGNORECASE)
_WITH_PORT = re.compile(r"(?<![\w.-])[a-z][\w.-]*:\d{2,5}(?!\w)", re.IGNORECASE)
_NUMBERS = re.compile(r"(?<![\w.])\[?([0-9a-f]*(?:[:.][0-9a-f]*){2,}(?:%\w+)?)\]?(?::\d{1,5})?(?!\w)", re.IGNORECASE)
_FILE = re.compile(r"(?<![\w/.:])(?:file:)?/(?:[\w.@+-]+/)+[\w.@+-]*")


def hosts_of_url(url: str) -> tuple[str, ...]:
    """Return the hosts that a URL names, with their ports and without."""
    found = [each.rpartition("@")[2] for part in _AUTHORITY.findall(url) for each in part.split(",")]
    alone = [each.strip("[]") if each.endswith("]") else each.partition(":")[0] for each in found]
    return tuple(each for each in (*found, *alone) if len(each) > _MAX_IGNORED_LENGTH)


def redact(text: str, *hidden: str) -> str:
    """Return the text without these words, and without addresses and file paths."""
    for word in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(word, _PLACEHOLDER)
    text = _FILE.sub(_PLACEHOLDER, text)
    text = _NUMBERS.sub(lambda found: _PLACEHOLDER if _is_address(found[1]) else found[0], text)
    return _WITH_PORT.sub(_PLACEHOLDER, text)


def _is_address(text: str) -> bool:
    # The end of a sentence is none of its own.
    for each in (text, text.rstrip(":."), text.rpartition(":")[0]):
        try:
            ipaddress.ip_address(each.partition("%")[0])
        except ValueError:
            continue
        return True
    return False
