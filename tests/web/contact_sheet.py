"""Pages of every room on one picture: `LAKEHOLD_DEMO=lakehold-demo python -m tests.web.contact_sheet` writes
docs/images/pages.jpg, of the demo company once `lakehold demo` has filled it.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.web import chromium
from tests.web.pictures import take

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PAGES = (
    ("", "/sign-in"),
    ("tara", "/"),
    ("olga", "/workspaces/sales"),
    ("tara", "/resources/daily_sales"),
    ("tara", "/resources/daily_sales/access"),
    ("bella", "/resources/daily_sales/why?action=edit"),
    ("olga", "/requests"),
    ("olga", "/people"),
    ("adam", "/people/erik"),
    ("adam", "/groups/engineers"),
    ("olga", "/workspaces/sales/members"),
    ("olga", "/workspaces/sales/settings"),
    ("olga", "/invites"),
    ("olga", "/reviews"),
    ("olga", "/audit"),
    ("tara", "/profile/tokens"),
    ("erik", "/workspaces/web_shop/data"),
    ("ana", "/resources/shop_service_sales_by_day/sample"),
    ("erik", "/workspaces/web_shop/pipelines/graph"),
    ("erik", "/workspaces/web_shop/sql"),
    ("tara", "/workspaces/sales/overview"),
    ("tara", "/resources/web_sales/mart"),
    ("tara", "/resources/web_sales/quality"),
    ("bella", "/resources/best_cities/report"),
    ("nils", "/"),
    ("nils", "/resources/daily_sales"),
)
_QUALITY = 72


def main() -> None:
    """Take the pictures, and lay them out: light and dark by turns, and some of them narrow."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        take(folder, list(PAGES), playwright)
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.arguments())
        files = [_file(folder, number, member, path) for number, (member, path) in enumerate(PAGES)]
        _lay_out(browser, IMAGES / "pages.jpg", files, 1640, 400)
        browser.close()


def _file(folder: Path, number: int, member: str, path: str) -> Path:
    theme = "dark" if number % 3 == 1 else "light"
    return folder / f"{member or 'nobody'}{path.partition('?')[0].replace('/', '_')}_{theme}.png"


def _lay_out(browser: Browser, to: Path, files: list[Path], width: int, each: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 600})
    pictures = "".join(
        f'<div><img width="{each}" src="data:image/png;base64,{base64.b64encode(file.read_bytes()).decode()}"></div>'
        for file in files
    )
    style = (
        "body{margin:0;display:flex;flex-wrap:wrap;gap:8px;background:#8d949d}"
        f"div{{width:{each}px;max-height:{each}px;overflow:hidden}}img{{display:block}}"
    )
    page.set_content(f"<style>{style}</style>{pictures}", wait_until="load")
    page.screenshot(path=to, type="jpeg", quality=_QUALITY, full_page=True)
    sys.stdout.write(f"{to.name}: {to.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
