"""Drafts: forms that were sent but not executed, kept for an hour so that their page shows them filled in again.

A form is kept if its session had expired when it was sent, and while the effects of a change are previewed. A draft is
encrypted, and belongs to the member whom the form was shown to: nobody else who uses the same browser gets it. A cookie
has the ids of the browser's drafts. (Their content does not fit in there: proxies limit the length of headers.)

A draft ends when its page has sent a form, is discarded there, or is left for another page.
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

import sqlalchemy as sa
from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import current_caller, get_platform, retry_when_busy
from lakehold.directory import tenants
from lakehold.directory.platform import Platform
from lakehold.kit.clock import SECOND
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.web import cookies, csrf
from lakehold.web.csrf import FormToken

COOKIE = "lakehold_forms"
MAX_LENGTH = 256 * 1024
"""The longest form that is kept, in characters."""
MAX_DRAFTS = 8
"""How many a member has at most: the oldest ends."""
_SECONDS = 3600
_SCOPE = "lakehold.form_drafts"
_PURPOSE = "form draft"
_SEEN, _NEW = "s", "n"
_ID_BYTES = 16
_NEVER_KEPT = frozenset({csrf.FIELD, "confirmed", "password", "old", "new"})
"""Passwords of accounts are not kept, not even encrypted."""

form_draft_table = sa.Table(
    "form_draft",
    metadata,
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("member", ExactText, nullable=False),
    sa.Column("until", IdType, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)
sa.Index("form_draft_by_member", form_draft_table.c.tenant_id, form_draft_table.c.member, form_draft_table.c.until)
sa.Index("form_draft_by_end", form_draft_table.c.until)


@dataclass(frozen=True, slots=True)
class FormDraft:
    """A form as it was sent."""

    tenant: str
    member: str
    page: str
    """The address of the page with the form."""
    action: str
    """The address that it was sent to."""
    fields: tuple[tuple[str, str], ...] = field(repr=False)
    has_files: bool = False
    """Whether files were sent too, which are not kept."""
    expired: bool = False
    """Whether the session had expired. Otherwise a preview was shown."""


@dataclass(slots=True)
class BrowserDrafts:
    """The drafts of the browser that sends a request, by id."""

    drafts: dict[str, FormDraft]
    seen: set[str]
    """Those that the member has seen: they end when the member goes to another page."""
    is_changed: bool = False

    def drop(self, ids: Iterable[str]) -> None:
        """Forget drafts."""
        for each in ids:
            self.is_changed = self.drafts.pop(each, None) is not None or self.is_changed

    def to_cookie(self) -> str:
        """Return the value of the cookie."""
        return ".".join((_SEEN if each in self.seen else _NEW) + each for each in self.drafts)


def load(request: Request) -> None:
    """Load the drafts that the cookie of a request names."""
    marks = [each for each in request.cookies.get(COOKIE, "").split(".")[-MAX_DRAFTS:] if each]
    found = _select(get_platform(request), [each[1:] for each in marks]) if marks else {}
    request.scope[_SCOPE] = BrowserDrafts(
        found, {each[1:] for each in marks if each[0] == _SEEN}, bool(marks) > bool(found)
    )


def find(request: Request, page: str) -> FormDraft | None:
    """Return the caller's draft for a page that is opened."""
    return next(iter(_own(request, page).values()), None) if request.method == "GET" else None


def keep(request: Request, token: FormToken, form: FormData, action: str, *, expired: bool) -> bool:
    """Keep a submitted form in place of older ones of its page, and return whether that is possible."""
    if not token.member:
        return False
    fields = tuple((name, value) for name, value in form.multi_items() if isinstance(value, str))
    has_files = any(not isinstance(value, str) and value.filename for value in form.values())
    kept = tuple(each for each in fields if each[0] not in _NEVER_KEPT)
    draft = FormDraft(token.tenant, token.member, token.page, action, kept, has_files, expired)
    platform, browser, id_ = get_platform(request), _browser(request), secrets.token_hex(_ID_BYTES)
    body = json.dumps([_PURPOSE, asdict(draft)])
    browser.drop(_of_page(browser, token))
    if len(body) > MAX_LENGTH or not retry_when_busy(lambda: _insert(platform, id_, draft, body)):
        return False
    browser.drafts[id_], browser.is_changed = draft, True
    if not expired:
        browser.seen.add(id_)
    return True


def finish(request: Request, response: Response, page: str) -> None:
    """End the drafts that this request makes obsolete, and set the cookie if they have changed."""
    browser = _browser(request)
    if request.method == "GET" and _is_page(request, response):
        own = _own(request)
        browser.drop(each for each, draft in own.items() if draft.page != page and each in browser.seen)
        fresh = {each for each, draft in own.items() if draft.page == page} - browser.seen
        browser.seen |= fresh
        browser.is_changed = browser.is_changed or bool(fresh)
    if browser.is_changed and browser.drafts:
        cookies.set_cookie(request, response, COOKIE, browser.to_cookie(), _SECONDS)
    elif browser.is_changed:
        cookies.delete_cookie(request, response, COOKIE)


def end(request: Request, token: FormToken) -> None:
    """Delete the drafts of a page that has sent a form."""
    browser = _browser(request)
    if ids := _of_page(browser, token):
        retry_when_busy(lambda: _delete(get_platform(request), ids))
        browser.drop(ids)


def _browser(request: Request) -> BrowserDrafts:
    found: BrowserDrafts = request.scope.setdefault(_SCOPE, BrowserDrafts({}, set()))
    return found


def _own(request: Request, page: str = "") -> Mapping[str, FormDraft]:
    """Return the caller's drafts, for one page or all."""
    caller = current_caller(request)
    if caller is None or caller.impersonator:
        return {}
    own = _browser(request).drafts.items()
    return {
        id_: draft
        for id_, draft in own
        if (draft.tenant, draft.member) == (caller.tenant, caller.member) and page in {"", draft.page}
    }


def _of_page(browser: BrowserDrafts, token: FormToken) -> list[str]:
    same = (token.tenant, token.member, token.page)
    return [each for each, draft in browser.drafts.items() if (draft.tenant, draft.member, draft.page) == same]


def _is_page(request: Request, response: Response) -> bool:
    """Whether a whole page is shown in the window, and not loaded into another page."""
    is_document = request.headers.get("sec-fetch-dest", "document") == "document"
    is_html = response.headers.get("content-type", "").startswith("text/html")
    return is_document and is_html and "hx-request" not in request.headers


def _select(platform: Platform, ids: list[str]) -> dict[str, FormDraft]:
    c = form_draft_table.c
    query = sa.select(c.id, c.body).where(c.id.in_(ids), c.until > platform.clock())
    with platform.database.read() as transaction:
        rows = {row.id: row.body for row in transaction.connection.execute(query)}
    found = ((each, _decrypt(platform, rows[each])) for each in ids if each in rows)
    return {id_: draft for id_, draft in found if draft}


def _decrypt(platform: Platform, body: str) -> FormDraft | None:
    try:
        purpose, values = json.loads(platform.keys.decrypt(body))
        draft = FormDraft(**values) if purpose == _PURPOSE else None
    except (InvalidInputError, ValueError, TypeError):
        return None  # from before the keys were replaced
    return replace(draft, fields=tuple((name, value) for name, value in draft.fields)) if draft else None


def _insert(platform: Platform, id_: str, draft: FormDraft, body: str) -> bool:
    """Insert a draft. Expired ones are deleted on this occasion, and the oldest of a member who has too many."""
    c, now = form_draft_table.c, platform.clock()
    with platform.database.write() as transaction:
        number = tenants.tenant_number(transaction, draft.tenant)
        mine = sa.and_(c.tenant_id == number, c.member == draft.member)
        newest = sa.select(c.id).where(mine).order_by(c.until.desc()).limit(MAX_DRAFTS - 1)
        kept = [row.id for row in transaction.connection.execute(newest)]
        old = sa.or_(c.until <= now, sa.and_(mine, c.id.not_in(kept)))
        transaction.connection.execute(form_draft_table.delete().where(old))
        values = {"tenant_id": number, "member": draft.member, "until": now + _SECONDS * SECOND}
        body = platform.keys.encrypt(body)
        if number:
            transaction.connection.execute(form_draft_table.insert().values(id=id_, body=body, **values))
    return bool(number)


def _delete(platform: Platform, ids: list[str]) -> None:
    with platform.database.write() as transaction:
        transaction.connection.execute(form_draft_table.delete().where(form_draft_table.c.id.in_(ids)))
