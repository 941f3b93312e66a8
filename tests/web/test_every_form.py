"""Every form is sent as a browser without scripts sends it, and is answered with a page. If its session has expired,
it is there again afterwards, as it was filled in.

Forms are found on all pages, so a new one is sent without being named here. That they do what they say is tested in
their rooms.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from html import unescape
from urllib.parse import unquote

import httpx
import pytest

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.web import form_filler
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


@pytest.mark.rare
def test_every_form_is_there_again_after_its_session_has_expired(shop: Shop) -> None:
    wrong, seen = [], 0
    for template, (client, to, form) in sorted(forms_of(shop, prepare_company(shop)).items()):
        page = json.loads(shop.platform.keys.decrypt(dict(form.fields)["csrf_token"]))[-1]
        if SESSION_COOKIE not in client.cookies or template == "/sign-out" or template.startswith("/ui/"):
            continue  # it needs no session
        sent = change(client.get(page).text, to, form)
        with shop.client() as expired:
            answer = expired.post(to, data=sent, files=dict.fromkeys(form.files, ("a.csv", b"a")) or None)
            client.cookies.update(expired.cookies)
        again = client.get(page).text
        left = values(again, to, sent)
        seen += 1
        if not answer.headers.get("location", "").startswith("/sign-in") or left != sent:
            wrong.append((template, page, {n: (v, left.get(n)) for n, v in sent.items() if left.get(n) != v}))
    assert seen >= FEWEST - 10
    assert wrong == []


def change(html: str, to: str, form: Form) -> dict[str, list[str]]:
    """What somebody sends who changes every field of a form."""
    found = defaultdict[str, list[str]](list)
    for each in controls(html, to, dict(form.fields)):
        match each.type:
            case "checkbox" if "checked" not in each.attributes:
                found[each.name].append(each.value)
            case "radio":
                found[each.name] = [each.value]
            case "select" if each.options:
                found[each.name].append(each.options[-1].value)
            case "hidden":
                found[each.name].append(each.value)
            case "date":
                found[each.name].append("2031-05-04")
            case "text" | "search" | "email" | "number" | "url" | "time":
                found[each.name].append("7")
            case "textarea":
                found[each.name].append("seven\r\neight")
    return dict(found)


def values(html: str, to: str, sent: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What a form would send, with the token that it was sent with."""
    found = defaultdict[str, list[str]](list)
    for each in controls(html, to, {name: some[0] for name, some in sent.items() if some}):
        match each.type:
            case "checkbox" | "radio":
                found[each.name] += [each.value] if "checked" in each.attributes else []
            case "select":
                chosen = [option.value for option in each.options if "selected" in option.attributes]
                found[each.name] += chosen or [option.value for option in each.options[:1]]
            case "textarea":
                found[each.name].append(unescape(html[each.end : each.content_end]))
            case "submit" | "button" | "file" | "password":
                pass
            case _:
                found[each.name].append(each.value)
    return {name: some for name, some in found.items() if some} | {"csrf_token": list(sent["csrf_token"])}


def controls(html: str, to: str, sent: Mapping[str, str]) -> list[form_filler._Control]:
    """The named controls of the form that is sent to an address."""
    forms = form_filler._FormParser(html).forms.values()
    form = form_filler._best_form(forms, unquote(to), {name: [value] for name, value in sent.items()})
    return [each for each in form.controls if each.name] if form else []


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
