"""What the events of ``calls.watch`` have, by their names."""

from __future__ import annotations

from typing import List, Literal, TypedDict, Union

from ._generated.types import CallItem, TimelineEntry, TranscriptEntry


class _LiveCallOptional(CallItem, total=False):
    transcript: List[TranscriptEntry]
    """In a snapshot of one call."""


class LiveCall(_LiveCallOptional):
    """A call in an event; ``hasTranscript`` and ``hasRecording`` are not there."""


class Snapshot(TypedDict):
    calls: List[LiveCall]
    queuedCalls: int


class Said(TypedDict):
    callId: str
    entry: TranscriptEntry


class TimelineAdded(TypedDict):
    callId: str
    entry: TimelineEntry


class Hearing(TypedDict):
    callId: str
    text: str
    """What the caller seems to be saying; the next one replaces it."""


class Level(TypedDict):
    callId: str
    caller: int
    """The loudest 20 ms since the last time, in dBFS."""
    agent: int


class Levels(TypedDict):
    levels: List[Level]


class SnapshotEvent(TypedDict):
    """How each connection begins."""

    event: Literal["snapshot"]
    data: Snapshot


class CallEvent(TypedDict):
    """A call is there, or has changed."""

    event: Literal["call"]
    data: LiveCall


class SaidEvent(TypedDict):
    event: Literal["said"]
    data: Said


class TimelineEvent(TypedDict):
    event: Literal["timeline"]
    data: TimelineAdded


class HearingEvent(TypedDict):
    event: Literal["hearing"]
    data: Hearing


class LevelsEvent(TypedDict):
    event: Literal["levels"]
    data: Levels


LiveEvent = Union[
    SnapshotEvent, CallEvent, SaidEvent, TimelineEvent, HearingEvent, LevelsEvent
]
"""An event, by its name. A newer server may send others, which come as they are."""
