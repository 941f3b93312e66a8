"""The SQL editor, as somebody types into it; and the field that is there without it."""

from __future__ import annotations

from playwright.sync_api import Page


def write(page: Page, text: str) -> None:
    """Write over what is there."""
    page.get_by_role("textbox", name="SQL").press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
