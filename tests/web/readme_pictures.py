"""The pictures of the README: `LAKEHOLD_DEMO=lakehold-demo python -m tests.web.readme_pictures` writes docs/images.

`lakehold demo` has to run meanwhile, with its data loaded: its worker answers the query.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from lakehold.web import app_factory
from tests.web import chromium
from tests.web.demo import Shop
from tests.web.pictures import company
from tests.web.site import running
from tests.web.visitors import visitors

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZE: ViewportSize = {"width": 1280, "height": 800}
PAGES = {
    "data-mart": ("tara", "/resources/web_sales/mart"),
    "why": ("bella", "/resources/daily_sales/why?action=edit"),
    "sql": ("erik", "/workspaces/web_shop/sql"),
}
QUERY = """\
SELECT city, count(*) AS days, sum(amount) AS amount
FROM service.sales_by_day
GROUP BY city
ORDER BY amount DESC"""


def main() -> None:
    """Take a picture of each page."""
    with sync_playwright() as playwright, company() as platform:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.arguments())
        with (
            running(app_factory.create_web_app(platform)) as address,
            visitors(browser, address, Shop(platform, address).cookie_of) as opened,
        ):
            for name, (member, path) in PAGES.items():
                page = opened(member, path)
                page.set_viewport_size(SIZE)
                if name == "sql":
                    _run_query(page)
                file = IMAGES / f"{name}.png"
                page.screenshot(path=file)
                sys.stdout.write(f"{file.name}: {file.stat().st_size:,} bytes\n")
        browser.close()


def _run_query(page: Page) -> None:
    page.locator(".cm-content").click()
    page.keyboard.insert_text(QUERY)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Download CSV").wait_for()


if __name__ == "__main__":
    main()
