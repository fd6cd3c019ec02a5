"""The clients."""

from __future__ import annotations

from typing import Optional

import httpx

from ._async_transport import AsyncTransport
from ._generated.async_resources import AsyncResources
from ._generated.resources import Resources
from ._request import Settings
from ._transport import Transport

_MAX_RESPONSE_BYTES = 32 * 1024 * 1024


class Offhook(Resources):
    """A client of one server, with one API key. Threads may share it.

    ``close``, or the end of a ``with`` block, closes its connections, but not those of an
    ``http_client`` that it was given.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        max_retry_after: float = 60.0,
        max_response_bytes: int = _MAX_RESPONSE_BYTES,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        settings = Settings(
            api_key, base_url, timeout, max_retries, max_retry_after, max_response_bytes
        )
        self._http = http_client or httpx.Client()
        self._is_own = http_client is None
        super().__init__(Transport(settings, self._http))

    def close(self) -> None:
        """Safe to call twice."""
        if self._is_own:
            self._http.close()

    def __enter__(self) -> Offhook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncOffhook(AsyncResources):
    """A client of one server, with one API key, for asyncio.

    ``aclose``, or the end of an ``async with`` block, closes its connections, but not those of an
    ``http_client`` that it was given.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        max_retry_after: float = 60.0,
        max_response_bytes: int = _MAX_RESPONSE_BYTES,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        settings = Settings(
            api_key, base_url, timeout, max_retries, max_retry_after, max_response_bytes
        )
        self._http = http_client or httpx.AsyncClient()
        self._is_own = http_client is None
        super().__init__(AsyncTransport(settings, self._http))

    async def aclose(self) -> None:
        """Safe to call twice."""
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self) -> AsyncOffhook:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
