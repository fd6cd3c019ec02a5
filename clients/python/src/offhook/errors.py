"""Errors of the client: one class for each kind of failure, and ``OffhookError`` for all."""

from __future__ import annotations

from typing import List, Literal, Optional, TypedDict

WebhookSignatureReason = Literal[
    "missing-header", "wrong-signature", "too-old", "not-an-event"
]


class ErrorDetail(TypedDict):
    """One wrong field of a request."""

    path: str
    message: str


class OffhookError(Exception):
    """Base of all errors of this library, but those of wrong arguments (``ValueError``)."""

    status: Optional[int] = None
    """HTTP status; None where there was no answer."""


class ApiError(OffhookError):
    """The server answered with an error."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: Optional[str],
        request_id: Optional[str],
        retry_after_seconds: Optional[float],
        details: List[ErrorDetail],
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        """Of ``types.ErrorCode``, or of a newer server; None where a proxy answered."""
        self.request_id = request_id
        """Name it in reports to the operator of the server."""
        self.retry_after_seconds = retry_after_seconds
        self.details = details
        """Of a 400: one for each wrong field."""


class ValidationError(ApiError):
    """400: fields of the request are wrong; ``details`` names them."""


class UnauthorizedError(ApiError):
    """401: the API key is missing, unknown or revoked."""


class ForbiddenError(ApiError):
    """403: the key lacks the scope, or a signed link is not genuine."""


class NotFoundError(ApiError):
    """404: no such resource; ``code`` says of which kind."""


class ConflictError(ApiError):
    """409: the resource exists already, or its state forbids the change."""


class PreconditionFailedError(ApiError):
    """412: the resource is newer than the version of ``if_match``."""


class UnprocessableError(ApiError):
    """422: well-formed, but cannot be carried out."""


class RateLimitedError(ApiError):
    """429: the requests of the hour are used up; see ``retry_after_seconds``."""


class ServerError(ApiError):
    """500, and every 5xx without a class of its own."""


class ServiceUnavailableError(ApiError):
    """503: the server is full, stopping, or its database is unavailable."""


class ConnectionFailedError(OffhookError):
    """No connection, or one that was cut before the answer was whole."""


class RequestTimeoutError(OffhookError):
    """An attempt took longer than the time-out."""


class InvalidResponseError(OffhookError):
    """An answer that no server of this interface gives: ``base_url`` may lead elsewhere."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class WebhookSignatureError(OffhookError):
    """A webhook delivery that must not be trusted. Answer it with 400."""

    def __init__(self, message: str, *, reason: WebhookSignatureReason) -> None:
        super().__init__(message)
        self.reason = reason
