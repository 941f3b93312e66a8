"""The built files by name: read once, kept in memory, and served so that browsers never ask twice."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from lakehold.kit.errors import NotFoundError

PREFIX = "/static"
STATIC = Path(__file__).with_name("static")
_FOR_EVER = "public, max-age=31536000, immutable"
_PACKED = {".css", ".js", ".svg", ".txt"}


@dataclass(frozen=True, slots=True)
class File:
    """One file that a browser gets."""

    content: bytes
    packed: bytes | None
    """The same with gzip, if that makes it smaller."""
    media: str

    def answer(self, accepts: str) -> Response:
        """With a name that changes with its content, it can be kept for ever."""
        headers = {"Cache-Control": _FOR_EVER, "Vary": "Accept-Encoding"}
        if self.packed is not None and "gzip" in accepts:
            return Response(self.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=self.media)
        return Response(self.content, headers=headers, media_type=self.media)


class Assets:
    """All built files."""

    def __init__(self, names: dict[str, str], files: dict[str, File]) -> None:
        self._names = names
        self._files = files

    @classmethod
    def load(cls, folder: Path = STATIC) -> Assets:
        """Read them, or say how they are made."""
        manifest = folder / "manifest.json"
        if not manifest.exists():
            raise NotFoundError("The web app's files are not built.", "Run: python -m lakehold.web.build.")
        names: dict[str, str] = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        return cls(names, {path.name: _read(path) for path in folder.iterdir() if path != manifest})

    def href(self, name: str) -> str:
        """The address of a file by the name of its source."""
        return f"{PREFIX}/{self._names[name]}"

    def size(self, name: str) -> int:
        """How many bytes a browser has to fetch for it."""
        file = self._files[self._names[name]]
        return len(file.packed or file.content)

    def routes(self) -> APIRouter:
        """The one address under which all of them are."""
        router = APIRouter(prefix=PREFIX, include_in_schema=False)

        @router.get("/{name}")
        async def static_file(request: Request, name: str) -> Response:
            if (file := self._files.get(name)) is None:
                raise HTTPException(404)
            return file.answer(request.headers.get("accept-encoding", ""))

        return router


def _read(path: Path) -> File:
    content = path.read_bytes()
    media = guess_type(path.name)[0] or "application/octet-stream"
    packed = gzip.compress(content, 9, mtime=0) if path.suffix in _PACKED else None
    return File(content, packed, media)
