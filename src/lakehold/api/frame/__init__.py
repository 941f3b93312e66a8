"""What every endpoint stands on; the conventions are told in `lakehold.api`.

- `app`: the application, from an installation
- `routes`: the router and the route: an endpoint inside its transaction, answered after the commit
- `works`: `Reading`, `Writing`, `Creating`: what an endpoint asks for to do its work in
- `callers`: who calls, from what the request shows
- `door`: the outermost layer: request id, size of bodies, log, metrics, last resort
- `problems`: every error as problem+json
- `models`, `paging`, `etags`, `idempotency`, `batches`: what requests and answers are made of
- `health`: `/healthz`, `/readyz`, `/metrics`
- `openapi`: the complete document
- `server`: how the application is served
"""
