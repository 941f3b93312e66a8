"""Copies Avro files value by value, as their own schema says, so that single values can be replaced.

Everything else stays as it is: fields and ids that no library here knows are copied too.
"""

import io
import json
import zlib
from collections.abc import Callable
from typing import Any

from pyiceberg.avro.decoder import BinaryDecoder, StreamingBinaryDecoder
from pyiceberg.avro.encoder import BinaryEncoder

from lakehold.lake.errors import DataError

_MAGIC, _SYNC_SIZE = b"Obj\x01", 16
_SIZES = {"null": 0, "boolean": 1, "float": 4, "double": 8}

Value = int | bytes
ReplaceValue = Callable[[str, Value], Value]
"""Returns the value of a field, or another one; texts are UTF-8. Fields come in the order of the schema."""


def read_header(content: bytes) -> tuple[dict[str, bytes], BinaryDecoder]:
    """Return the schema, the codec, and what else the writer has noted; and the decoder of what follows."""
    if not content.startswith(_MAGIC):
        raise DataError("A file of the table is not Avro.", "Copy the warehouse again.")
    source, found = StreamingBinaryDecoder(content), dict[str, bytes]()
    source.skip(len(_MAGIC))
    while count := _read_count(source):
        for _ in range(count):
            name = source.read_utf8()
            found[name] = source.read_bytes()
    return found, source


def copy_avro(content: bytes, replace: ReplaceValue) -> bytes:
    """Return the file with the values that `replace` returns."""
    header, source = read_header(content)
    codec = header.get("avro.codec", b"null").decode()
    if codec not in {"null", "deflate"}:
        raise DataError(f"A manifest is compressed by {codec}, which cannot be rewritten.", "Use gzip for Avro files.")
    sync = source.read(_SYNC_SIZE)
    output = io.BytesIO()
    target = BinaryEncoder(output)
    target.write(content[: source.tell()])
    schema = json.loads(header["avro.schema"])
    while source.tell() < len(content):
        count, block = source.read_int(), source.read_bytes()
        copy = _BlockCopy(zlib.decompress(block, -15) if codec == "deflate" else block, replace)
        for _ in range(count):
            copy.copy_value(schema, "")
        block = copy.output.getvalue()
        target.write_int(count)
        target.write_bytes(zlib.compress(block, wbits=-15) if codec == "deflate" else block)
        target.write(sync)
        source.skip(_SYNC_SIZE)
    return output.getvalue()


class _BlockCopy:
    """Copies the values of one block."""

    def __init__(self, block: bytes, replace: ReplaceValue) -> None:
        self.output = io.BytesIO()
        self._source = StreamingBinaryDecoder(block)
        self._target = BinaryEncoder(self.output)
        self._replace = replace
        self._named: dict[str, Any] = {}

    def copy_value(self, schema: Any, name: str) -> None:  # noqa: ANN401 - JSON
        """Copy one value of a field."""
        if isinstance(schema, list):
            self.copy_value(schema[self._copy_int()], name)
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
                self._target.write(self._source.read(schema["size"]))
            case "enum":
                self._copy_int()
            case "int" | "long":
                self._target.write_int(int(self._replace(name, self._source.read_int())))
            case "string" | "bytes":
                value = self._replace(name, self._source.read_bytes())
                assert isinstance(value, bytes)  # noqa: S101 - a text for a text
                self._target.write_bytes(value)
            case str() if kind in _SIZES:
                self._target.write(self._source.read(_SIZES[kind]))
            case str():
                self.copy_value(self._named[kind], name)
            case _:
                self.copy_value(kind, name)

    def _copy_items(self, schema: Any, name: str, *, keyed: bool) -> None:  # noqa: ANN401 - JSON
        while count := _read_count(self._source):
            self._target.write_int(count)
            for _ in range(count):
                if keyed:
                    self.copy_value("bytes", "")
                self.copy_value(schema["values" if keyed else "items"], name)
        self._target.write_int(0)

    def _copy_int(self) -> int:
        found = self._source.read_int()
        self._target.write_int(found)
        return found


def _read_count(source: BinaryDecoder) -> int:
    """Return how many items follow; if the number is negative, their size in bytes comes first."""
    count = source.read_int()
    if count < 0:
        source.skip_int()
    return abs(count)
