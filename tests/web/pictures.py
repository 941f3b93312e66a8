"""Pictures of pages of the demo company, to look at: `python -m tests.web.pictures FOLDER tara /people olga /audit …`.

Each page is taken wide and narrow, light and dark. With `LAKEHOLD_DEMO` set to the folder of one that `lakehold demo`
has filled, it is that company, with rows and runs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

from lakehold.cli import demo
from lakehold.demo import activity
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.web import app_factory
from tests.web import chromium
from tests.web.demo import Shop
from tests.web.site import running
from tests.web.visitors import visitors


def take(folder: Path, asked: list[tuple[str, str]], playwright: Playwright) -> None:
    """The pictures of pages, each as somebody sees it."""
    folder.mkdir(parents=True, exist_ok=True)
    with company() as platform:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.arguments())
        with (
            running(app_factory.create_web_app(platform)) as address,
            visitors(browser, address, Shop(platform, address).cookie_of) as opened,
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


@contextmanager
def company() -> Iterator[Platform]:
    """The one that is asked for, or a new one."""
    with tempfile.TemporaryDirectory() as new:
        filled = os.environ.get("LAKEHOLD_DEMO", "")
        platform = Platform(demo.demo_settings(Path(filled)) if filled else Settings(data=Path(new)))
        platform.database.migrate()
        if not filled:
            activity.load_with_activity(platform)
        yield platform
        platform.close()


if __name__ == "__main__":
    words = sys.argv[2:]
    with sync_playwright() as started:
        take(Path(sys.argv[1]), list(zip(words[::2], words[1::2], strict=True)), started)
