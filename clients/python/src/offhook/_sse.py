"""Reads Server-Sent Events from pieces of bytes; pure."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Iterator, List, Optional


@dataclass(frozen=True)
class SentEvent:
    event: str
    data: str


class EventTooLong(Exception):
    """An event is longer than the client takes."""


class SseParser:
    """Keeps what is not yet a whole event.

    See https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    """

    def __init__(self, size_max: int) -> None:
        self.retry_ms: Optional[int] = None
        """Reconnection delay that the server asks for; None until it has."""
        self._size_max = size_max
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._event = ""
        self._data: List[str] = []
        self._size = 0

    def push(self, piece: bytes) -> Iterator[SentEvent]:
        """Gives the events that end in the piece; a carriage return at its end waits."""
        *lines, self._rest = re.split(
            r"\r\n|\n|\r(?!\Z)", self._rest + self._decoder.decode(piece)
        )
        for line in lines:
            event = self._line(line)
            if event is not None:
                yield event
        if len(self._rest) + self._size > self._size_max:
            raise EventTooLong

    def _line(self, line: str) -> Optional[SentEvent]:
        if line == "":
            return self._end()
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            self._event = value
        elif name == "retry" and re.fullmatch(r"[0-9]{1,9}", value):
            self.retry_ms = int(value)
        elif name == "data":
            self._data.append(value)
            self._size += len(value)
        return None

    def _end(self) -> Optional[SentEvent]:
        event, data = self._event or "message", self._data
        self._event, self._data, self._size = "", [], 0
        return SentEvent(event, "\n".join(data)) if data else None
