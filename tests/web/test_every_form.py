"""Every form is sent as a browser without scripts sends it, and is answered with a page.

Forms are found on all pages, so a new one is sent without being named here. That they do what they say is tested in
their rooms.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial

import httpx
import pytest

from tests.web.crawler.company import ALL, CrawledCompany, prepare_company
from tests.web.crawler.forms import Form, forms_in
from tests.web.crawler.links import links_in
from tests.web.crawler.templates import AddressTemplates
from tests.web.demo import Shop

pytestmark = pytest.mark.slow

ANSWERS = {200, 303, 403, 409, 422}
"""To a form that is sent as it was shown: asked about, done, refused, or not filled in yet."""
LAST = [
    "/link/{secret}",
    "/view-as",
    "/profile/password",
    "/profile/sign-ins/{sign_in}/end",
    "/profile/sign-ins/end",
    "/sign-out",
]
"""After these, nothing else could be sent: they change who one is."""
FEWEST = 70
"""How many forms there are at least, or the round has not seen what it should."""

Found = dict[str, tuple[httpx.Client, str, Form]]
"""By the template of where it is sent: whose it is, where exactly, and the form."""


def test_every_form_is_answered_with_a_page(shop: Shop) -> None:
    found = forms_of(shop, prepare_company(shop))
    assert len(found) >= FEWEST
    wrong = []
    for template in sorted(found, key=lambda each: (LAST.index(each) + 1 if each in LAST else 0, each)):
        client, to, form = found[template]
        answer = sent(client, to, form)
        if not is_fine(answer, template):
            wrong.append(f"{answer.status_code} {to}: {answer.text[:200]}")
    assert wrong == []


def is_fine(answer: httpx.Response, template: str) -> bool:
    is_expected = answer.status_code in ANSWERS or (answer.status_code == 401 and template == "/sign-in")
    is_page = answer.has_redirect_location or answer.text.lstrip().startswith("<!doctype html>")
    return is_expected and is_page and "did not come from our own pages" not in answer.text


def forms_of(shop: Shop, here: CrawledCompany) -> Found:
    """One for each address, whoever is shown it first."""
    posts, found = AddressTemplates(ALL, "POST"), Found()
    for member, starts in {"": ["/sign-in", *here.mailed_addresses], **here.starts}.items():
        here.tracker.visit_all(starts, partial(_look, here, posts, found, shop.client(member)))
    return found


def _look(
    here: CrawledCompany, posts: AddressTemplates, found: Found, client: httpx.Client, address: str, _led_by: str
) -> list[str]:
    answer = client.get(address, follow_redirects=True)
    at = answer.url.raw_path.decode()
    if answer.status_code != 200 or not here.tracker.is_new(at):
        return []
    here.tracker.mark_visited(at)
    for form in forms_in(answer.text, at):
        for to in (form.action, *form.elsewhere):
            found.setdefault(posts.match(to), (client, to, form))
    return links_in(answer.text, at)


def sent(client: httpx.Client, to: str, form: Form) -> httpx.Response:
    fields = defaultdict[str, list[str]](list)
    for name, value in form.fields:
        fields[name].append(value)
    files = dict.fromkeys(form.files, ("rows.csv", b"day,amount\n"))
    return client.post(to, data=fields, files=files or None)
