"""Files, and sound that goes on."""

from __future__ import annotations

import os
import re
from typing import AsyncIterator, Iterator, Optional, Union

import httpx

from ._body import require_type
from ._failures import failures
from ._request import Request

PathLike = Union[str, "os.PathLike[str]"]


class _Head:
    """What the headers say."""

    def __init__(self, response: httpx.Response) -> None:
        size = response.headers.get("content-length")
        self.content_type: str = response.headers.get("content-type", "")
        self.size_bytes: Optional[int] = None if size is None else int(size)
        """None where the server does not say it, as for the sound of a call in progress."""


class Download(_Head):
    """What is being downloaded. It can be read once: whole, to a file, or piece by piece; each
    closes it, and so does the end of a ``with`` block."""

    def __init__(self, response: httpx.Response, request: Request) -> None:
        try:
            require_type(response, re.escape(request.accept) + r"\b")
        except Exception:
            response.close()
            raise
        super().__init__(response)
        self._response = response
        self._operation = request.operation

    def __enter__(self) -> Download:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the download. Safe to call twice."""
        self._response.close()

    def iter_bytes(self) -> Iterator[bytes]:
        """The pieces as they come."""
        with failures(self._operation):
            try:
                yield from self._response.iter_bytes()
            finally:
                self.close()

    def read(self) -> bytes:
        """The whole, in memory."""
        return b"".join(self.iter_bytes())

    def save(self, path: PathLike) -> None:
        """Writes it to a file; after an error the file holds what came before."""
        with open(path, "wb") as file:
            for piece in self.iter_bytes():
                file.write(piece)


class AsyncDownload(_Head):
    """What is being downloaded. It can be read once: whole, to a file, or piece by piece; each
    closes it, and so does the end of an ``async with`` block."""

    def __init__(self, response: httpx.Response, request: Request) -> None:
        super().__init__(response)
        self._response = response
        self._operation = request.operation

    @classmethod
    async def opened(cls, response: httpx.Response, request: Request) -> AsyncDownload:
        try:
            require_type(response, re.escape(request.accept) + r"\b")
        except Exception:
            await response.aclose()
            raise
        return cls(response, request)

    async def __aenter__(self) -> AsyncDownload:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the download. Safe to call twice."""
        await self._response.aclose()

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        """The pieces as they come."""
        with failures(self._operation):
            try:
                async for piece in self._response.aiter_bytes():
                    yield piece
            finally:
                await self.aclose()

    async def read(self) -> bytes:
        """The whole, in memory."""
        return b"".join([piece async for piece in self.iter_bytes()])

    async def save(self, path: PathLike) -> None:
        """Writes it to a file; after an error the file holds what came before."""
        with open(path, "wb") as file:
            async for piece in self.iter_bytes():
                file.write(piece)
