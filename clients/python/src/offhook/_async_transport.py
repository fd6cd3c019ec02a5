"""Sends requests with asyncio: retries, time-outs, and errors of answers."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any, Awaitable, Callable, Mapping, Optional, TypeVar

import httpx

from ._api_errors import api_error, redirect_error
from ._body import ERROR_BYTES_MAX, Body, parse_json, require_json_type
from ._download import AsyncDownload
from ._failures import failures
from ._live_events import AsyncLiveEvents
from ._pages import AsyncPageRequest
from ._request import Request, RequestOptions, Scalar, Settings, content_of, headers_of, key_of
from ._retry import retry_wait
from .errors import OffhookError

T = TypeVar("T")


class AsyncTransport:
    """The requests of one client."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self.settings = settings
        self._http = http

    async def json(
        self,
        request: Request,
        options: Optional[RequestOptions] = None,
        changed: Optional[Mapping[str, Scalar]] = None,
    ) -> Any:
        """The answer as JSON; ``changed`` takes the place of parameters of the query."""
        chosen: RequestOptions = options or {}

        async def once(key: Optional[str]) -> Any:
            deadline = time.monotonic() + chosen.get("timeout", self.settings.timeout)
            response = await self.open(request, chosen, key=key, changed=changed)
            with failures(request.operation):
                try:
                    require_json_type(response)
                    body = await _read(response, self.settings.max_response_bytes, deadline)
                finally:
                    await response.aclose()
            return parse_json(body, response.status_code)

        return await self._repeated(request, chosen, once)

    async def nothing(self, request: Request, options: Optional[RequestOptions] = None) -> None:
        """An answer without a body."""
        chosen: RequestOptions = options or {}

        async def once(key: Optional[str]) -> None:
            response = await self.open(request, chosen, key=key)
            await response.aclose()

        await self._repeated(request, chosen, once)

    def pages(
        self, request: Request, options: Optional[RequestOptions] = None
    ) -> AsyncPageRequest[Any]:
        async def load(changed: Mapping[str, Scalar]) -> Any:
            return await self.json(request, options, changed)

        return AsyncPageRequest(request, load)

    async def download(
        self, request: Request, options: Optional[RequestOptions] = None
    ) -> AsyncDownload:
        chosen: RequestOptions = options or {}

        async def once(key: Optional[str]) -> AsyncDownload:
            response = await self.open(request, chosen, key=key)
            return await AsyncDownload.opened(response, request)

        return await self._repeated(request, chosen, once)

    def live_events(
        self, request: Request, options: Optional[RequestOptions] = None
    ) -> AsyncLiveEvents:
        chosen: RequestOptions = options or {}
        return AsyncLiveEvents(
            lambda: self.open(request, chosen),
            request,
            limits=self.settings.limits(chosen),
            size_max=self.settings.max_response_bytes,
        )

    async def open(
        self,
        request: Request,
        options: RequestOptions,
        *,
        key: Optional[str] = None,
        changed: Optional[Mapping[str, Scalar]] = None,
    ) -> httpx.Response:
        """One attempt, up to the headers of a good answer; the caller closes it."""
        timeout = options.get("timeout", self.settings.timeout)
        with failures(request.operation):
            sent = self._http.build_request(
                request.method,
                self.settings.url(request, changed),
                headers=headers_of(request, self.settings, key),
                content=content_of(request),
                timeout=timeout,
            )
            # The key must not follow a redirect to another server.
            response = await self._http.send(sent, stream=True, follow_redirects=False)
            if response.is_success:
                return response
            try:
                if response.status_code < 400:
                    raise redirect_error(request.operation, response.status_code)
                body = await _read(response, ERROR_BYTES_MAX, time.monotonic() + timeout)
            finally:
                await response.aclose()
            raise api_error(request.operation, response, body, time.time())

    async def _repeated(
        self,
        request: Request,
        options: RequestOptions,
        once: Callable[[Optional[str]], Awaitable[T]],
    ) -> T:
        """Attempts until one succeeds, or its failure is for good."""
        key = key_of(request, options)
        attempt = 0
        while True:
            try:
                return await once(key)
            except OffhookError as error:
                wait = retry_wait(
                    error,
                    rule=request.retry,
                    attempt=attempt,
                    chance=random.random(),
                    limits=self.settings.limits(options),
                )
                if wait is None:
                    raise
            await asyncio.sleep(wait)
            attempt += 1


async def _read(response: httpx.Response, size_max: int, deadline: float) -> bytes:
    body = Body(response.status_code, size_max, deadline)
    async for piece in response.aiter_bytes():
        body.add(piece)
    return body.whole()
