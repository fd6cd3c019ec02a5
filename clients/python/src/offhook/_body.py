"""Reads bodies of answers; pure."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import httpx

from .errors import InvalidResponseError, RequestTimeoutError

ERROR_BYTES_MAX = 1024 * 1024
"""Longest body of an error that is read."""

_JSON_TYPE = r"application/([\w.-]+\+)?json\b"


class Body:
    """Collects a body up to a size, within the time of an attempt."""

    def __init__(self, status: int, size_max: int, deadline: float) -> None:
        self._status = status
        self._size_max = size_max
        self._deadline = deadline
        self._pieces = bytearray()

    def add(self, piece: bytes) -> None:
        if time.monotonic() > self._deadline:
            raise RequestTimeoutError("Cannot read the answer: it was not whole in time")
        if len(self._pieces) + len(piece) > self._size_max:
            message = f"Cannot read the answer: it is over {self._size_max} bytes long"
            raise InvalidResponseError(message, status=self._status)
        self._pieces += piece

    def whole(self) -> bytes:
        return bytes(self._pieces)


def require_type(response: httpx.Response, expected: str) -> None:
    """Refuses an answer whose content type does not begin with the expression."""
    found = response.headers.get("content-type", "")
    if not re.match(expected, found, re.IGNORECASE):
        message = f'Cannot read the answer: its content type is "{found[:100]}"'
        raise InvalidResponseError(message, status=response.status_code)


def require_json_type(response: httpx.Response) -> None:
    require_type(response, _JSON_TYPE)


def parse_json(body: bytes, status: int) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        message = "Cannot read the answer: it is no well-formed JSON"
        raise InvalidResponseError(message, status=status) from error
