"""The page of access models: the Owner adopts a custom model after its effects were shown."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.directory.caller import Caller
from tests.access.model.test_custom import LIBRARY
from tests.web.conftest import Open
from tests.web.demo import Shop
from tests.web.forms import send

pytestmark = pytest.mark.browser


def test_the_owner_adopts_a_model_after_its_effects_were_shown(open_as: Open, shop: Shop) -> None:
    page = open_as("olga", "/models")
    page.get_by_role("link", name="Adopt model").click()
    page.get_by_label("Model (YAML)").fill(LIBRARY)
    page.get_by_role("button", name="Preview effects").click()
    expect(page.get_by_text("Nobody gains or loses access.")).to_be_visible()
    page.get_by_role("button", name="Adopt model").click()
    expect(page.get_by_text("Library was adopted.")).to_be_visible()
    with shop.platform.read(Caller("corner", "olga")) as ctx:
        assert ctx.view.sources["library"] == LIBRARY


def test_a_text_for_a_built_in_model_is_refused_at_its_field(shop: Shop) -> None:
    source = LIBRARY.replace("model: library", "model: marts")
    answer = send(shop.client("olga"), "/models/adopt", "/models/adopt", source=source, confirmed="1")
    assert answer.status_code == 422
    assert "is built in and cannot be replaced" in answer.text


def test_an_admin_reads_models_and_adopts_none(open_as: Open) -> None:
    page = open_as("adam", "/models")
    expect(page.get_by_role("main")).to_contain_text("Built in")
    expect(page.get_by_role("link", name="Adopt model")).to_have_count(0)
