"""Array values as PostgreSQL writes them (`{1,NULL,"a b"}`), turned into JSON with texts as items."""

import json
import re

from lakehold.lake.errors import DataError

_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*+)"|([{},])|([^{},"]++)', re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_BOUNDS = re.compile(rb"(?:\[[-\d:]+\])+=")


def array_to_json(text: bytes) -> bytes:
    """Return an array value as JSON."""
    start = found.end() if (found := _BOUNDS.match(text)) else 0
    parts: list[str] = []
    at = start
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise DataError("An array of the database cannot be read.", "Leave out the column.")
        at = token.end()
        parts.append(_json_part(token))
    return "".join(parts).encode()


def _json_part(token: re.Match[bytes]) -> str:
    quoted, sign, plain = token.groups()
    if sign is not None:
        return {b"{": "[", b"}": "]", b",": ","}[sign]
    if plain is not None:
        return "null" if plain.upper() == b"NULL" else json.dumps(plain.decode())
    return json.dumps(_ESCAPE.sub(rb"\1", quoted).decode())
