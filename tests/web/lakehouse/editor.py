"""The SQL editor as a user types into it, and its fallback without scripts."""

from __future__ import annotations

from playwright.sync_api import Page


def write_sql(page: Page, text: str) -> None:
    """Write over what is there."""
    page.get_by_role("textbox", name="SQL").press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
