"""Serves the built static files from memory, with immutable caching."""

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
_IMMUTABLE = "public, max-age=31536000, immutable"
_COMPRESSIBLE = {".css", ".js", ".svg", ".txt"}


@dataclass(frozen=True, slots=True)
class AssetFile:
    """One static file."""

    content: bytes
    gzipped: bytes | None
    """The same with gzip, if that makes it smaller."""
    media_type: str

    def to_response(self, accepts: str) -> Response:
        """Return the file as a response that browsers may cache for ever: its name changes with its content."""
        headers = {"Cache-Control": _IMMUTABLE, "Vary": "Accept-Encoding"}
        if self.gzipped is not None and "gzip" in accepts:
            return Response(self.gzipped, headers={**headers, "Content-Encoding": "gzip"}, media_type=self.media_type)
        return Response(self.content, headers=headers, media_type=self.media_type)


class Assets:
    """All built static files, by name."""

    def __init__(self, names: dict[str, str], files: dict[str, AssetFile]) -> None:
        self._names = names
        self._files = files

    @classmethod
    def load(cls, folder: Path = STATIC) -> Assets:
        """Read the files of a folder; raises an error that names the build command if there are none."""
        manifest = folder / "manifest.json"
        if not manifest.exists():
            raise NotFoundError("The web app's files are not built.", "Run: python -m frontend.")
        names: dict[str, str] = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        return cls(names, {path.name: _load_file(path) for path in folder.iterdir() if path != manifest})

    def href(self, name: str) -> str:
        """Return the URL of a file by the name of its source."""
        return f"{PREFIX}/{self._names[name]}"

    def size(self, name: str) -> int:
        """Return how many bytes a browser downloads for a file."""
        file = self._files[self._names[name]]
        return len(file.gzipped or file.content)

    def routes(self) -> APIRouter:
        """Return the router that serves the files."""
        router = APIRouter(prefix=PREFIX, include_in_schema=False)

        @router.get("/{name}")
        async def static_file(request: Request, name: str) -> Response:
            if (file := self._files.get(name)) is None:
                raise HTTPException(404)
            return file.to_response(request.headers.get("accept-encoding", ""))

        return router


def _load_file(path: Path) -> AssetFile:
    content = path.read_bytes()
    media = guess_type(path.name)[0] or "application/octet-stream"
    packed = gzip.compress(content, 9, mtime=0) if path.suffix in _COMPRESSIBLE else None
    return AssetFile(content, packed, media)
