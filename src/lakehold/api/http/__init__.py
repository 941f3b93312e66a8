"""The HTTP frame that all endpoints share.

- `app`: creates and configures the FastAPI application, its uvicorn server and its OpenAPI document
- `routing`: routers and routes; runs an endpoint in its transaction and responds after the commit
- `dependencies`: the request contexts and the platform, as FastAPI dependencies
- `authentication`: identifies the caller by API token or session cookie
- `middleware`: request ids, body limits, request log, metrics, last-resort error handling
- `problems`: HTTP-specific errors, and every error as problem+json
- `models`: base classes and field types of request and response models; ETag and If-Match
- `paging`: pages by cursor
- `idempotency`: Idempotency-Key
- `health`: `/healthz`, `/readyz` and `/metrics`
- `json_logging`: log lines in JSON
"""
