"""Makes errors of answers."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, Type

import httpx

from . import errors
from ._retry import retry_after_seconds

_CLASS_OF_CODE: Dict[str, Type[errors.ApiError]] = {
    "VALIDATION_ERROR": errors.ValidationError,
    "UNAUTHORIZED": errors.UnauthorizedError,
    "FORBIDDEN": errors.ForbiddenError,
    "NOT_FOUND": errors.NotFoundError,
    "AGENT_NOT_FOUND": errors.NotFoundError,
    "CALL_NOT_FOUND": errors.NotFoundError,
    "VOICE_NOT_FOUND": errors.NotFoundError,
    "WEBHOOK_ENDPOINT_NOT_FOUND": errors.NotFoundError,
    "CONFLICT": errors.ConflictError,
    "PRECONDITION_FAILED": errors.PreconditionFailedError,
    "UNPROCESSABLE": errors.UnprocessableError,
    "RATE_LIMITED": errors.RateLimitedError,
    "INTERNAL_ERROR": errors.ServerError,
    "SERVICE_UNAVAILABLE": errors.ServiceUnavailableError,
}

_CLASS_OF_STATUS: Dict[int, Type[errors.ApiError]] = {
    400: errors.ValidationError,
    401: errors.UnauthorizedError,
    403: errors.ForbiddenError,
    404: errors.NotFoundError,
    409: errors.ConflictError,
    412: errors.PreconditionFailedError,
    422: errors.UnprocessableError,
    429: errors.RateLimitedError,
    503: errors.ServiceUnavailableError,
}


def api_error(
    operation: str, response: httpx.Response, body: bytes, now: float
) -> errors.ApiError:
    """The error of an answer from 400 on; ``body`` is an envelope where the server answered."""
    status, headers = response.status_code, response.headers
    envelope = _envelope(body)
    code = _text(envelope.get("code"))
    details = envelope.get("details")
    message = _text(envelope.get("message"))
    return _class_of(code, status)(
        message or f'Cannot do "{operation}": the answer is {status}',
        status=status,
        code=code,
        request_id=_text(envelope.get("requestId")) or headers.get("x-request-id"),
        retry_after_seconds=retry_after_seconds(headers.get("retry-after"), now),
        details=details if isinstance(details, list) else [],
    )


def redirect_error(operation: str, status: int) -> errors.InvalidResponseError:
    message = "the answer is a redirect; is base_url the address of the server itself?"
    return errors.InvalidResponseError(f'Cannot do "{operation}": {message}', status=status)


def _class_of(code: Optional[str], status: int) -> Type[errors.ApiError]:
    if code in _CLASS_OF_CODE:
        return _CLASS_OF_CODE[code]
    fallback = errors.ServerError if status >= 500 else errors.ApiError
    return _CLASS_OF_STATUS.get(status, fallback)


def _envelope(body: bytes) -> Dict[str, Any]:
    """The fields below ``error``; none where the body is another thing, such as a proxy's page."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {}


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None
