"""Requests before they are sent; pure, but for the random idempotency key."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from typing import Dict, Literal, Mapping, Optional, TypedDict, Union
from urllib.parse import quote, urlencode

import httpx

from ._retry import RetryLimits, RetryRule
from ._version import VERSION

Scalar = Union[str, int, float, bool]


class RequestOptions(TypedDict, total=False):
    """Options of a single request."""

    timeout: float
    """Seconds; of downloads and event streams the longest wait for the headers and each piece."""
    max_retries: int
    idempotency_key: str
    """Of POST: 1 to 255 visible ASCII characters, a random UUID unless given."""


@dataclass(frozen=True)
class Request:
    """What a method knows of its request."""

    operation: str
    """Name of the method; paths have people's numbers in them, so errors name this."""
    method: str
    path: str
    retry: RetryRule
    query: Optional[Mapping[str, Optional[Scalar]]] = None
    body: Optional[object] = None
    if_match: Optional[str] = None
    paging: Literal["offset", "cursor"] = "offset"
    accept: str = "application/json"


@dataclass(frozen=True)
class Settings:
    """Settings of a client."""

    api_key: str
    base_url: str
    timeout: float
    max_retries: int
    max_retry_after: float
    max_response_bytes: int

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[!-~]+", self.api_key):
            raise ValueError("Cannot use the API key: it is empty or has blanks")
        try:
            is_url = httpx.URL(self.base_url).scheme in ("http", "https")
        except httpx.InvalidURL:
            is_url = False
        if not is_url:
            raise ValueError(f'Cannot use the base URL "{self.base_url}": expected https://…')

    def limits(self, options: RequestOptions) -> RetryLimits:
        return RetryLimits(options.get("max_retries", self.max_retries), self.max_retry_after)

    def url(self, request: Request, changed: Optional[Mapping[str, Scalar]] = None) -> str:
        """``changed`` takes the place of parameters of the query."""
        query = {**(request.query or {}), **(changed or {})}
        given = {name: _text(value) for name, value in query.items() if value is not None}
        text = f"?{urlencode(given)}" if given else ""
        return self.base_url.rstrip("/") + request.path + text


def headers_of(request: Request, settings: Settings, key: Optional[str]) -> Dict[str, str]:
    accept = request.accept
    if accept != "application/json":
        # Errors are JSON, also where the answer is not.
        accept = f"{accept}, application/json;q=0.9"
    headers = {
        "Authorization": f"Bearer {settings.api_key}",
        "Accept": accept,
        "User-Agent": f"offhook-python/{VERSION}",
    }
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    if request.if_match is not None:
        headers["If-Match"] = _visible("if_match", request.if_match)
    if key is not None:
        headers["X-Idempotency-Key"] = _visible("idempotency_key", key)
    return headers


def content_of(request: Request) -> Optional[bytes]:
    return None if request.body is None else json.dumps(request.body, allow_nan=False).encode()


def key_of(request: Request, options: RequestOptions) -> Optional[str]:
    """The caller's own idempotency key, or a new one; None where the operation takes none."""
    if request.retry != "keyed":
        return None
    return options.get("idempotency_key") or str(uuid.uuid4())


def segment(name: str, value: Union[str, int]) -> str:
    """A value as a segment of a path; refused when it is empty, or would lead to another path."""
    text = str(value)
    if text in ("", ".", ".."):
        raise ValueError(f'Cannot use "{text}" as {name}: it names no resource')
    return quote(text, safe="")


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _visible(name: str, value: str) -> str:
    """The value of a header; refused before anything is sent where it has other characters."""
    if not re.fullmatch(r"[ -~]+", value):
        raise ValueError(f"Cannot use the {name}: it is empty, or not all visible ASCII characters")
    return value
