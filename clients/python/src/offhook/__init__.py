"""Client of Offhook, a self-hosted phone server for voice agents."""

from . import types, webhooks
from ._client import AsyncOffhook, Offhook
from ._download import AsyncDownload, Download
from ._live_events import AsyncLiveEvents, LiveEvents
from ._pages import AsyncPage, AsyncPageRequest, Page
from ._request import RequestOptions
from ._version import VERSION as __version__
from .errors import (
    ApiError,
    ConflictError,
    ConnectionFailedError,
    ErrorDetail,
    ForbiddenError,
    InvalidResponseError,
    NotFoundError,
    OffhookError,
    PreconditionFailedError,
    RateLimitedError,
    RequestTimeoutError,
    ServerError,
    ServiceUnavailableError,
    UnauthorizedError,
    UnprocessableError,
    ValidationError,
    WebhookSignatureError,
)

__all__ = [
    "ApiError",
    "AsyncDownload",
    "AsyncLiveEvents",
    "AsyncOffhook",
    "AsyncPage",
    "AsyncPageRequest",
    "ConflictError",
    "ConnectionFailedError",
    "Download",
    "ErrorDetail",
    "ForbiddenError",
    "InvalidResponseError",
    "LiveEvents",
    "NotFoundError",
    "Offhook",
    "OffhookError",
    "Page",
    "PreconditionFailedError",
    "RateLimitedError",
    "RequestOptions",
    "RequestTimeoutError",
    "ServerError",
    "ServiceUnavailableError",
    "UnauthorizedError",
    "UnprocessableError",
    "ValidationError",
    "WebhookSignatureError",
    "__version__",
    "types",
    "webhooks",
]
