"""Pictures of pages of the demo company, to look at: `python -m tests.web.pictures FOLDER tara /people olga /audit …`.

Each page is taken wide and narrow, light and dark.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

from lakehold.demo import furnishing
from lakehold.directory.installation import Installation
from lakehold.kit.settings import Settings
from lakehold.web import site
from tests.web import chromium
from tests.web.demo import Shop
from tests.web.site import running
from tests.web.visitors import visitors


def take(folder: Path, asked: list[tuple[str, str]], playwright: Playwright) -> None:
    """The pictures of pages, each as somebody sees it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        house = Installation(Settings(data=Path(data)))
        house.database.migrate()
        furnishing.load(house)
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.arguments())
        with (
            running(site.application(house)) as address,
            visitors(browser, address, Shop(house, address).cookie_of) as opened,
        ):
            for member, path in asked:
                for theme in ("light", "dark"):
                    for narrow in (False, True):
                        page = opened(member, path, theme=theme, narrow=narrow, refused=True)
                        name = f"{member or 'nobody'}{path.partition('?')[0].replace('/', '_')}_{theme}"
                        file = folder / f"{name}{'_narrow' if narrow else ''}.png"
                        page.screenshot(path=file, full_page=True)
                        sys.stdout.write(f"{file}\n")
        browser.close()
        house.close()


if __name__ == "__main__":
    words = sys.argv[2:]
    with sync_playwright() as started:
        take(Path(sys.argv[1]), list(zip(words[::2], words[1::2], strict=True)), started)
