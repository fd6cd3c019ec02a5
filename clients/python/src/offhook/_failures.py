"""Turns errors of httpx into errors of this library."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

import httpx

from .errors import ConnectionFailedError, InvalidResponseError, RequestTimeoutError


@contextmanager
def failures(operation: str) -> Iterator[None]:
    """Catches what httpx raises within."""
    what = f'Cannot do "{operation}"'
    try:
        yield
    except httpx.TimeoutException as error:
        raise RequestTimeoutError(f"{what}: nothing came within the time-out") from error
    except httpx.TransportError as error:
        raise ConnectionFailedError(f"{what}: no connection, or it was cut") from error
    except httpx.DecodingError as error:
        message = f"{what}: the body does not match its Content-Encoding"
        raise InvalidResponseError(message, status=200) from error
