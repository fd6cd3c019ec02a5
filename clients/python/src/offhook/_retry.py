"""When a failed attempt is repeated, and after which wait; pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal, Optional

from . import errors

RetryRule = Literal["always", "keyed", "refused"]
"""``always``: repeating does no harm. ``keyed``: likewise, thanks to the idempotency key.
``refused``: only where the server says that it did nothing."""

_FIRST_WAIT_SECONDS = 0.5
_WAIT_SECONDS_MAX = 8.0


@dataclass(frozen=True)
class RetryLimits:
    max_retries: int
    max_retry_after: float


def retry_wait(
    error: errors.OffhookError,
    *,
    rule: RetryRule,
    attempt: int,
    chance: float,
    limits: RetryLimits,
) -> Optional[float]:
    """Seconds before the next attempt; None where there is to be none.

    ``attempt`` counts from 0; ``chance`` (0 to 1) spreads the waits of many clients.
    """
    if attempt >= limits.max_retries or not _is_passing(error, rule):
        return None
    asked = error.retry_after_seconds if isinstance(error, errors.ApiError) else None
    if asked is None:
        return back_off(attempt, chance)
    return None if asked > limits.max_retry_after else asked


def back_off(attempt: int, chance: float) -> float:
    """Exponential: half of it is certain, the other half is left to chance."""
    whole = min(_FIRST_WAIT_SECONDS * 2.0**attempt, _WAIT_SECONDS_MAX)
    return whole * (0.5 + chance / 2)


def _is_passing(error: errors.OffhookError, rule: RetryRule) -> bool:
    if isinstance(error, (errors.RateLimitedError, errors.ServiceUnavailableError)):
        return True
    if rule == "refused":
        return False
    if isinstance(error, errors.ConflictError):
        # The first attempt with the key is still running.
        return rule == "keyed" and error.retry_after_seconds is not None
    return isinstance(
        error,
        (errors.ServerError, errors.ConnectionFailedError, errors.RequestTimeoutError),
    )


def retry_after_seconds(header: Optional[str], now: float) -> Optional[float]:
    """Reads ``Retry-After``: seconds, or a date (RFC 9110, 10.2.3)."""
    if header is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", header):
        return float(header)
    try:
        at = parsedate_to_datetime(header).timestamp()
    except (TypeError, ValueError):
        # Neither: as if there were none.
        return None
    return max(0.0, float(math.ceil(at - now)))
