"""REST under `/api/v1`, AuthZEN under `/access/v1`: the services over HTTP, and nothing that decides by itself.

- `frame`: what every endpoint stands on; `access`: questions to the engine; `authzen`: the same by the standard
- `directory`, `catalog`: the endpoints of those rooms' nouns, one file for each noun
- `routers`: the one list of all routers; a router that is in it is served, documented, fuzzed and crawled

How an endpoint is written::

    from lakehold.api.frame.etags import IfMatch, Tagged
    from lakehold.api.frame.models import Answer, Body, IdText, NameText
    from lakehold.api.frame.paging import Page, Paged
    from lakehold.api.frame.routes import problems, router
    from lakehold.api.frame.works import Creating, Reading, Writing

    routes = router("/api/v1/groups", "Groups")  # the whole prefix; then name it in `lakehold.api.routers`

    class NewGroup(Body):  # bodies: unknown fields are refused, lengths limited
        name: NameText

    class Group(Tagged):  # an answer that has an ETag; `Answer` for one that has none
        id: IdText
        name: NameText

    @routes.post("", status_code=201)
    def create_group(work: Creating, body: NewGroup) -> Group:
        "First line: the summary. The name of the function: the operation's id, unique in the whole API."

    @routes.patch("/{group}", responses=problems(412, 428))
    def rename_group(work: Writing, group: IdText, body: NewGroup, seen: IfMatch) -> Group:
        "Rename a group."
        work.need("edit", group)       # the right first: 404 or 403 …
        seen.need(show(work, group))   # … then the state: 428 without If-Match, 412 if it was changed meanwhile
        work.rename(group, body.name)
        return show(work, group)

- Endpoints are plain functions (`def`). They run in a thread, inside the caller's transaction, which is committed
  before the answer is sent; on `BusyError` the whole endpoint runs again, so it must not change what it was given.
- `Reading`, `Writing`: a `Work` of the caller. `Creating`: the same with `Idempotency-Key`, for every POST that makes
  something. `House`: the installation, for endpoints that need no sign-in; these open transactions of their own
  (`with house.read(…)`), and `works.retried(do)` repeats what was too late.
- Who calls is found in the same transaction from `Authorization: Bearer lh_…` or the cookie; `frame.callers` is the one
  place that asks the directory. Changes by cookie need the header `X-CSRF-Token` (`callers.csrf_of`).
- An endpoint returns an `Answer`, a `Page`, None (then say `status_code=204`) or a `Response` of its own, and raises
  `LakeholdError`s; every error becomes problem+json in `frame.problems`. Never raise `HTTPException`.
- Lists take `paged: Paged`. From the engine: `work.session.list(…, limit=paged.limit, after=paged.after)` and
  `Page(items=…, next=page.after)`. From a table: `paged.start(name, int)` gives the key to begin behind, fetch
  `paged.limit + 1` rows, then `paged.page(name, rows, key, show)`. `name` names the list and all its filters.
- Texts are `IdText`, `NameText`, `Word`, `PlainText`, `Search`, times `Time` and `models.told(moment)`. Every text
  field has `examples`; those of bodies and answers are put together from them. `batches.each` does many or none.
- What may not be seen answers 404, by `work.see`/`work.need`. Answers name and count only what the caller may see: the
  side-door crawler calls every operation of the document and looks.
- Secrets come in headers, bodies or a path parameter, never in a query; the log has the route's template only.
"""
