"""The files that browsers get: small, ours, kept for ever, and never stale."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from frontend import builder
from frontend.node import FRONT
from lakehold.kit.errors import NotFoundError
from lakehold.web.assets import Assets

ISLANDS = sorted((FRONT / "islands").glob("*.js"))


def test_a_file_is_kept_for_ever_because_its_name_changes_with_it(client: httpx.Client) -> None:
    href = Assets.load().href("app.css")
    assert re.fullmatch(r"/static/app-\w{8}\.css", href)
    answer = client.get(href)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert client.get(href, headers={"Accept-Encoding": "identity"}).text == answer.text


def test_pages_are_not_kept(client: httpx.Client) -> None:
    assert client.get("/ui/patterns").headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["nothing.css", "..%2Fassets.py", "manifest.json", ""])
def test_nothing_else_is_served(client: httpx.Client, name: str) -> None:
    assert client.get(f"/static/{name}").status_code == 404


def test_the_first_page_is_light(client: httpx.Client) -> None:
    assets = Assets.load()
    files = sum(
        assets.size(name) for name in ("app.css", "app.js", "icons.svg", "favicon.svg", "inter-latin-wght-normal.woff2")
    )
    with client.stream("GET", "/ui/patterns/form", headers={"Accept-Encoding": "gzip"}) as page:
        sent = sum(len(part) for part in page.iter_raw())
    assert files + sent < 120_000


def test_everything_that_a_page_names_is_there(client: httpx.Client) -> None:
    named = set(re.findall(r"/static/[\w.-]+", client.get("/ui/patterns").text))
    assert len(named) == 5
    for path in named:
        assert client.get(path).status_code == 200


def test_every_icon_that_a_page_draws_is_there(client: httpx.Client) -> None:
    pages = "".join(client.get(path).text for path in ("/ui/patterns", "/ui/patterns/form", "/ui/patterns/errors/500"))
    sprite = client.get(Assets.load().href("icons.svg")).text
    drawn = set(re.findall(r"icons-\w+\.svg#([\w-]+)", pages))
    assert len(drawn) > 40
    assert not [name for name in drawn if f'id="{name}"' not in sprite]


def test_missing_files_say_how_they_are_made(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"python -m frontend"):
        Assets.load(tmp_path)


def test_what_is_up_to_date_is_not_built_again() -> None:
    assert builder.built_stamp() == builder.expected_stamp()
    assert not builder.build(for_tests=True)


def test_a_changed_source_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.css").write_text("body {}")
    monkeypatch.setattr(builder, "FRONT", tmp_path)
    before = builder.expected_stamp()
    (tmp_path / "app.css").write_text("body { }")
    assert builder.expected_stamp() != before


def test_every_style_is_in_the_sheet() -> None:
    named = re.findall(r"styles/([a-z_]+\.css)", (FRONT / "app.css").read_text(encoding="utf-8"))
    assert sorted(named) == sorted(path.name for path in (FRONT / "styles").glob("*.css"))


def test_our_own_scripts_stay_small() -> None:
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in (*FRONT.glob("*.js"), *ISLANDS)}
    assert max(lines.values()) < 250
    assert sum(lines.values()) < 1_500
