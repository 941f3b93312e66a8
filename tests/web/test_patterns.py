"""The patterns show everything that there is, and pages are made quickly."""

from __future__ import annotations

import re
from pathlib import Path

import httpx

from lakehold.web.assets import Assets
from lakehold.web.templates import TEMPLATES_DIR, TemplateRenderer

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "web.md"


def macros() -> list[str]:
    return sorted(vars(TemplateRenderer(Assets.load())._environment.globals["ui"]))


def test_every_macro_is_shown() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES_DIR.rglob("*.html"))
    assert len(macros()) > 40
    assert not [name for name in macros() if f"ui.{name}(" not in text]


def test_every_macro_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert not [name for name in macros() if f"`{name}(" not in text]


def test_no_id_is_there_twice(client: httpx.Client) -> None:
    ids = re.findall(r'\sid="([^"]+)"', client.get("/ui/patterns?view_as=1&dialog=1").text)
    assert len(ids) > 50
    assert sorted(ids) == sorted(set(ids))


def test_every_form_that_changes_something_has_its_token(client: httpx.Client) -> None:
    forms = re.findall(r'<form[^>]*method="post".*?</form>', client.get("/ui/patterns?view_as=1").text, re.DOTALL)
    assert len(forms) > 10
    assert all('name="csrf_token"' in form for form in forms)
