"""How the receiver of a batch knows whose it is, and whether it has it already.

- `Lakehold-Timestamp`: when it was sent, in seconds since 1970
- `Lakehold-Signature`: `v1=` and, in hexadecimal, the HMAC-SHA256 under the shared secret of the timestamp, a dot and
  the body, byte by byte. A receiver computes the same, compares in constant time, and refuses old timestamps.
- `Lakehold-Batch`: the number of the batch in its delivery, from 1
- `Idempotency-Key`: the same whenever this batch is sent. A receiver that has taken the key before answers 200 and does
  nothing.
"""

from __future__ import annotations

import hashlib
import hmac

OURS = frozenset({"lakehold-timestamp", "lakehold-signature", "lakehold-batch", "idempotency-key"})
"""The names of headers that nobody else may set."""


def headers(secret: str, at: int, body: bytes, *, key: str, batch: int) -> dict[str, str]:
    """The headers of a batch; without a secret it is not signed."""
    made = {"Idempotency-Key": key, "Lakehold-Batch": str(batch)}
    if secret:
        sealed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
        made |= {"Lakehold-Timestamp": str(at), "Lakehold-Signature": f"v1={sealed}"}
    return made
