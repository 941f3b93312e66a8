"""Copies Avro files value by value, as their own schema says, so that single values can be replaced.

Everything else stays as it is: fields and ids that no library here knows are copied too.
"""

import io
import json
import zlib
from collections.abc import Callable
from typing import Any

from lakehold.lake.errors import DataError

_MAGIC, _SYNC_SIZE = b"Obj\x01", 16
_SIZES = {"null": 0, "boolean": 1, "float": 4, "double": 8}

Value = int | bytes
ReplaceValue = Callable[[str, Value], Value]
"""Returns the value of a field, or another one; texts are UTF-8. Fields come in the order of the schema."""


def read_header(source: io.BytesIO) -> dict[str, bytes]:
    """Read the header up to its end: the schema, the codec, and what else the writer has noted."""
    if source.read(len(_MAGIC)) != _MAGIC:
        raise DataError("A file of the table is not Avro.", "Copy the warehouse again.")
    found: dict[str, bytes] = {}
    while count := _read_long(source):
        if count < 0:
            _read_long(source)
        for _ in range(abs(count)):
            name = source.read(_read_long(source)).decode()
            found[name] = source.read(_read_long(source))
    return found


def copy_avro(content: bytes, replace: ReplaceValue) -> bytes:
    """Return the file with the values that `replace` returns."""
    source, target = io.BytesIO(content), io.BytesIO()
    header = read_header(source)
    codec = header.get("avro.codec", b"null").decode()
    if codec not in {"null", "deflate"}:
        raise DataError(f"A manifest is compressed by {codec}, which cannot be rewritten.", "Use gzip for Avro files.")
    sync = source.read(_SYNC_SIZE)
    target.write(content[: source.tell()])
    schema = json.loads(header["avro.schema"])
    while source.tell() < len(content):
        count, size = _read_long(source), _read_long(source)
        block = source.read(size)
        copy = _BlockCopy(io.BytesIO(zlib.decompress(block, -15) if codec == "deflate" else block), replace)
        for _ in range(count):
            copy.copy_value(schema, "")
        made = copy.target.getvalue()
        made = zlib.compress(made, wbits=-15) if codec == "deflate" else made
        target.write(_to_long(count) + _to_long(len(made)) + made + sync)
        source.seek(_SYNC_SIZE, io.SEEK_CUR)
    return target.getvalue()


class _BlockCopy:
    """Copies the values of one block."""

    def __init__(self, source: io.BytesIO, replace: ReplaceValue) -> None:
        self.source = source
        self.target = io.BytesIO()
        self._replace = replace
        self._named: dict[str, Any] = {}

    def copy_value(self, schema: Any, name: str) -> None:  # noqa: ANN401 - JSON
        """Copy one value of a field."""
        if isinstance(schema, list):
            self.copy_value(schema[self._copy_long()], name)
            return
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(schema, dict) and "name" in schema:
            self._named[schema["name"]] = schema
        match kind:
            case "record":
                for field in schema["fields"]:
                    self.copy_value(field["type"], field["name"])
            case "array" | "map":
                self._copy_items(schema, name, keyed=kind == "map")
            case "fixed":
                self.target.write(self.source.read(schema["size"]))
            case "enum":
                self._copy_long()
            case "int" | "long":
                self.target.write(_to_long(int(self._replace(name, _read_long(self.source)))))
            case "string" | "bytes":
                value = self._replace(name, self.source.read(_read_long(self.source)))
                assert isinstance(value, bytes)  # noqa: S101 - a text for a text
                self.target.write(_to_long(len(value)) + value)
            case str() if kind in _SIZES:
                self.target.write(self.source.read(_SIZES[kind]))
            case str():
                self.copy_value(self._named[kind], name)
            case _:
                self.copy_value(kind, name)

    def _copy_items(self, schema: Any, name: str, *, keyed: bool) -> None:  # noqa: ANN401 - JSON
        while count := _read_long(self.source):
            if count < 0:
                _read_long(self.source)
            self.target.write(_to_long(abs(count)))
            for _ in range(abs(count)):
                if keyed:
                    self.copy_value("bytes", "")
                self.copy_value(schema["values" if keyed else "items"], name)
        self.target.write(_to_long(0))

    def _copy_long(self) -> int:
        found = _read_long(self.source)
        self.target.write(_to_long(found))
        return found


def _read_long(source: io.BytesIO) -> int:
    found = shift = 0
    while True:
        (byte,) = source.read(1)
        found |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the last byte has no high bit
            return (found >> 1) ^ -(found & 1)
        shift += 7


def _to_long(number: int) -> bytes:
    rest, found = (number << 1) ^ (number >> 63), bytearray()
    while rest > 0x7F:  # noqa: PLR2004 - as above
        found.append((rest & 0x7F) | 0x80)
        rest >>= 7
    found.append(rest)
    return bytes(found)
