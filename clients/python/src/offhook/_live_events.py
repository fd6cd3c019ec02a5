"""Event streams that connect again after a cut."""

from __future__ import annotations

import asyncio
import json
import random
import time
from typing import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator, cast

import httpx

from ._body import require_type
from ._failures import failures
from ._generated.types import LiveEvent
from ._request import Request
from ._retry import RetryLimits, back_off, retry_wait
from ._sse import EventTooLong, SentEvent, SseParser
from .errors import ConnectionFailedError, InvalidResponseError, OffhookError

_RECONNECT_MS = 2_000
_RECONNECT_MS_MAX = 60_000


class _Reconnection:
    """Decides whether and when to connect again; counts cuts without an event between them."""

    def __init__(self, limits: RetryLimits) -> None:
        self._limits = limits
        self._cuts = 0
        self.asked_ms = _RECONNECT_MS

    def event_came(self) -> None:
        self._cuts = 0

    def wait_after(self, error: OffhookError) -> float:
        """Seconds to wait; raises the error where there is to be no other connection."""
        wait = retry_wait(
            error, rule="always", attempt=self._cuts, chance=random.random(), limits=self._limits
        )
        if wait is None:
            raise error
        if isinstance(error, ConnectionFailedError):
            wait = min(self.asked_ms, _RECONNECT_MS_MAX) / 1000
            if self._cuts > 0:
                wait = max(wait, back_off(self._cuts - 1, random.random()))
        self._cuts += 1
        return wait


class _Reader:
    """Events of one connection."""

    def __init__(self, response: httpx.Response, size_max: int, after: _Reconnection) -> None:
        require_type(response, r"text/event-stream\b")
        self._status = response.status_code
        self._parser = SseParser(size_max)
        self._after = after

    def push(self, piece: bytes) -> Iterator[LiveEvent]:
        try:
            for event in self._parser.push(piece):
                self._after.event_came()
                yield self._live_event(event)
        except EventTooLong as error:
            message = "Cannot read an event: it is too long"
            raise InvalidResponseError(message, status=self._status) from error
        self._after.asked_ms = self._parser.retry_ms or self._after.asked_ms

    def _live_event(self, sent: SentEvent) -> LiveEvent:
        try:
            return cast(LiveEvent, {"event": sent.event, "data": json.loads(sent.data)})
        except (ValueError, RecursionError) as error:
            message = "Cannot read an event: it is no JSON"
            raise InvalidResponseError(message, status=self._status) from error


def _ended() -> ConnectionFailedError:
    return ConnectionFailedError("Cannot go on with the events: the server ended the stream")


class LiveEvents(Iterator[LiveEvent]):
    """The events, one after the other; a newer server may send others, which come as they are.

    Nothing is sent before the first is wanted; ``close``, or the end of a ``with`` block, ends
    the connection.
    """

    def __init__(
        self,
        connect: Callable[[], httpx.Response],
        request: Request,
        *,
        limits: RetryLimits,
        size_max: int,
    ) -> None:
        self._connect = connect
        self._request = request
        self._after = _Reconnection(limits)
        self._size_max = size_max
        self._events = self._all()

    def __iter__(self) -> LiveEvents:
        return self

    def __next__(self) -> LiveEvent:
        return next(self._events)

    def __enter__(self) -> LiveEvents:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._events.close()

    def _all(self) -> Generator[LiveEvent, None, None]:
        while True:
            try:
                yield from self._connection()
            except OffhookError as error:
                time.sleep(self._after.wait_after(error))

    def _connection(self) -> Generator[LiveEvent, None, None]:
        """Always ends with an error."""
        response = self._connect()
        with failures(self._request.operation):
            try:
                reader = _Reader(response, self._size_max, self._after)
                for piece in response.iter_bytes():
                    yield from reader.push(piece)
            finally:
                response.close()
        raise _ended()


class AsyncLiveEvents(AsyncIterator[LiveEvent]):
    """The events, one after the other; a newer server may send others, which come as they are.

    Nothing is sent before the first is wanted; ``aclose``, or the end of an ``async with`` block,
    ends the connection.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[httpx.Response]],
        request: Request,
        *,
        limits: RetryLimits,
        size_max: int,
    ) -> None:
        self._connect = connect
        self._request = request
        self._after = _Reconnection(limits)
        self._size_max = size_max
        self._events = self._all()

    def __aiter__(self) -> AsyncLiveEvents:
        return self

    async def __anext__(self) -> LiveEvent:
        return await self._events.__anext__()

    async def __aenter__(self) -> AsyncLiveEvents:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._events.aclose()

    async def _all(self) -> AsyncGenerator[LiveEvent, None]:
        while True:
            connection = self._connection()
            try:
                async for event in connection:
                    yield event
            except OffhookError as error:
                await asyncio.sleep(self._after.wait_after(error))
            finally:
                await connection.aclose()

    async def _connection(self) -> AsyncGenerator[LiveEvent, None]:
        """Always ends with an error."""
        response = await self._connect()
        with failures(self._request.operation):
            try:
                reader = _Reader(response, self._size_max, self._after)
                async for piece in response.aiter_bytes():
                    for event in reader.push(piece):
                        yield event
            finally:
                await response.aclose()
        raise _ended()
