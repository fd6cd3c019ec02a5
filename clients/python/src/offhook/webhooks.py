"""Checks that webhook deliveries come from the server, and are new."""

from __future__ import annotations

import hmac
import json
import re
import time
from typing import Mapping, Optional, Sequence, Union, cast

from ._generated.types import WebhookEvent
from .errors import WebhookSignatureError, WebhookSignatureReason

_AGE_SECONDS_MAX = 300


def verify(
    raw_body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    now: Optional[float] = None,
) -> WebhookEvent:
    """Gives the event of a delivery that is genuine: HMAC-SHA256 over the timestamp, a dot and the
    raw body, compared in constant time, at most five minutes old.

    ``raw_body`` is the body as it came, before any parser has touched it. Names of headers may be
    in any case. ``secret`` is ``whsec_…``, or several while it is being changed.

    Raises ``WebhookSignatureError`` when it is not; ``reason`` says why.
    """
    timestamp = _header(headers, "x-service-timestamp")
    signature = _header(headers, "x-service-signature")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    secrets = [secret] if isinstance(secret, str) else list(secret)
    # All are tried, so that the time does not tell which one it was.
    matches = [_is_signed(timestamp, body, signature, each) for each in secrets]
    if not any(matches):
        raise _refused("wrong-signature", "its signature is not of this secret and body")
    if _is_old(timestamp, time.time() if now is None else now):
        raise _refused("too-old", f"its timestamp is over {_AGE_SECONDS_MAX} seconds away")
    return _event(body)


def _is_signed(timestamp: str, body: bytes, signature: str, secret: str) -> bool:
    if secret == "":
        raise ValueError("Cannot verify a webhook: the secret is empty")
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + body, "sha256").hexdigest()
    return hmac.compare_digest(expected.encode(), signature.lower().encode())


def _is_old(timestamp: str, now: float) -> bool:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return True
    return abs(int(now) - int(timestamp)) > _AGE_SECONDS_MAX


def _event(body: bytes) -> WebhookEvent:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _refused("not-an-event", "its body is no JSON") from error
    if isinstance(event, dict) and isinstance(event.get("event"), str):
        return cast(WebhookEvent, event)
    raise _refused("not-an-event", "its body names no event")


def _header(headers: Mapping[str, str], name: str) -> str:
    for each, value in headers.items():
        if each.lower() == name and isinstance(value, str):
            return value
    raise _refused("missing-header", f"it has no {name}")


def _refused(reason: WebhookSignatureReason, why: str) -> WebhookSignatureError:
    return WebhookSignatureError(f"Cannot trust the webhook: {why}", reason=reason)
