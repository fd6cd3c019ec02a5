/** DTMF by telephone-event packets (RFC 4733): receives each key press once, despite packet loss, and paces the digits to send; pure */
import type { RtpPacket } from './packet.ts';

/** A key press, whole. */
export interface PressedDigit {
  readonly digit: string;
  readonly durationMs: number;
}

interface Press {
  readonly ssrc: number;
  readonly event: number;
  /** RTP timestamp of the newest segment. */
  timestamp: number;
  /** Length of the segments before it; a press of more than 65,535 samples has several. RFC 4733, 2.5.1.3. */
  earlierSamples: number;
  durationSamples: number;
  lastReportAtMs: number;
}

/** Clock of telephone-event where nothing else is agreed. */
const USUAL_CLOCK_HZ = 8000;

/** Longest delay of a report. A timestamp further back is a clock that was set, as FreeSWITCH does within a stream. */
const LATE_MS_MAX = 10_000;

/** Time without a report after which the end reports count as lost: three packets. */
const END_LOST_MS = 60;

/**
 * SSRC, timestamp and event identify a press. It counts once: at its first end report or, where that was lost, at the
 * next press or 60 ms after the last report.
 *
 * @see RFC 4733 section 2.5.2
 */
export class DtmfReceiver {
  readonly #samplesPerMs: number;
  #press: Press | undefined;
  /** Last counted press, whose repeated and late reports are ignored. */
  #counted: Pick<Press, 'ssrc' | 'timestamp'> | undefined;

  /** @param clockHz of the reports. */
  constructor(clockHz = USUAL_CLOCK_HZ) {
    this.#samplesPerMs = clockHz / 1000;
  }

  /** Whether a key is down. */
  get isPressed(): boolean {
    return this.#press !== undefined;
  }

  /** Takes a telephone-event packet. @returns the presses that it completes, at most two. */
  accept(packet: RtpPacket, nowMs: number): readonly PressedDigit[] {
    const report = parseTelephoneEvent(packet.payload);
    if (report === undefined || digitOf(report.event) === undefined) return [];
    if (this.#isOld(packet)) return [];
    const before = this.#continues(packet, report.event) ? [] : this.#count();
    this.#press ??= {
      ssrc: packet.ssrc,
      event: report.event,
      timestamp: packet.timestamp,
      earlierSamples: 0,
      durationSamples: 0,
      lastReportAtMs: nowMs,
    };
    this.#press.durationSamples = Math.max(this.#press.durationSamples, report.durationSamples);
    this.#press.lastReportAtMs = nowMs;
    return report.isEnd ? [...before, ...this.#count()] : before;
  }

  /** @returns a press whose end was lost. Call it about every 20 ms. */
  expire(nowMs: number): readonly PressedDigit[] {
    const press = this.#press;
    return press !== undefined && nowMs - press.lastReportAtMs > END_LOST_MS ? this.#count() : [];
  }

  #isOld(packet: RtpPacket): boolean {
    const newest = this.#press ?? this.#counted;
    if (newest === undefined || newest.ssrc !== packet.ssrc) return false;
    const age = (packet.timestamp - newest.timestamp) | 0;
    const isLate = age < 0 && age >= -LATE_MS_MAX * this.#samplesPerMs;
    return isLate || (age === 0 && this.#press === undefined);
  }

  /** Whether the report continues the press under way; follows it to its next segment. */
  #continues(packet: RtpPacket, event: number): boolean {
    const press = this.#press;
    if (press === undefined || press.ssrc !== packet.ssrc || press.event !== event) return false;
    if (press.timestamp === packet.timestamp) return true;
    const gap = (packet.timestamp - press.timestamp) >>> 0;
    if (gap !== SEGMENT_SAMPLES) return false;
    press.timestamp = packet.timestamp;
    press.earlierSamples += SEGMENT_SAMPLES;
    press.durationSamples = 0;
    return true;
  }

  #count(): readonly PressedDigit[] {
    const press = this.#press;
    if (press === undefined) return [];
    this.#press = undefined;
    this.#counted = { ssrc: press.ssrc, timestamp: press.timestamp };
    const durationMs = (press.earlierSamples + press.durationSamples) / this.#samplesPerMs;
    return [{ digit: digitOf(press.event) ?? '', durationMs: Math.round(durationMs) }];
  }
}

const SEGMENT_SAMPLES = 65_535;

/**
 * One report about a key press. All reports of a press have the RTP timestamp of its beginning.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |     event     |E|R| volume    |          duration             |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *
 * @see RFC 4733 section 2.3
 */
interface TelephoneEvent {
  /** 0 to 15 are digits; others, such as 16 for a hook flash, are ignored. */
  readonly event: number;
  readonly isEnd: boolean;
  /** Since the press began, in samples, 65,535 at most. */
  readonly durationSamples: number;
}

const DIGITS = '0123456789*#ABCD';
const IS_END = 0x80;
/** A tone of -10 dBm0, as carriers play it. */
const VOLUME = 10;

/** @returns undefined when the payload is too short. */
export function parseTelephoneEvent(payload: Uint8Array): TelephoneEvent | undefined {
  const [event, flags, high, low] = payload;
  if (event === undefined || flags === undefined || high === undefined || low === undefined) {
    return undefined;
  }
  return { event, isEnd: (flags & IS_END) !== 0, durationSamples: (high << 8) | low };
}

/** The payload of a telephone-event packet. @see RFC 4733 section 2.3 */
export function writeTelephoneEvent(report: TelephoneEvent): Uint8Array {
  const { event, isEnd, durationSamples } = report;
  const flags = VOLUME | (isEnd ? IS_END : 0);
  return Uint8Array.of(event, flags, durationSamples >> 8, durationSamples & 0xff);
}

/** @returns undefined for other events. */
export function digitOf(event: number): string | undefined {
  return DIGITS[event];
}

/** @returns undefined for characters other than 0-9 * # A-D (small letters too). */
export function eventOf(digit: string): number | undefined {
  const event = digit.length === 1 ? DIGITS.indexOf(digit.toUpperCase()) : -1;
  return event < 0 ? undefined : event;
}

/** A packet to send. `timestampOffset` is the time since the press began, in samples of 8 kHz. */
interface DtmfPacket {
  readonly digit: string;
  readonly payload: Uint8Array;
  readonly hasMarker: boolean;
  readonly timestampOffset: number;
}

/** A minute of digits. */
const QUEUE_MAX = 375;

const PACKET_SAMPLES = 160;
/** 100 ms: the shortest that every exchange understands, with a margin. */
const PRESS_PACKETS = 5;
/** The end is sent three times, since packets may be lost. RFC 4733, 2.5.1.4. */
const END_PACKETS = 3;
/** 60 ms of pause; the two repeated ends fall into it. */
const PAUSE_PACKETS = 1;
const STEPS = PRESS_PACKETS + END_PACKETS + PAUSE_PACKETS - 1;

/** `w`: half a second in which no key is down. Stands in the queue as an event that no key has. */
const WAIT = 'w';
const WAIT_EVENT = -1;
const WAIT_STEPS = 25;

/** Length of a press, in samples. */
export const PRESS_SAMPLES = PRESS_PACKETS * PACKET_SAMPLES;

/** Queue of digits, each sent as a press of 100 ms and a pause. @see RFC 4733 section 2.5.1 */
export class DtmfSender {
  #events: readonly number[] = [];
  #step = 0;

  /** Whether digits are queued. */
  get isBusy(): boolean {
    return this.#events.length > 0;
  }

  /** Queues digits (0-9 * # A-D, `w` for a pause); drops other characters and digits beyond a minute. */
  add(digits: string): void {
    const events = [...digits]
      .map((character) => (character.toLowerCase() === WAIT ? WAIT_EVENT : eventOf(character)))
      .filter((event) => event !== undefined);
    this.#events = [...this.#events, ...events].slice(0, QUEUE_MAX);
  }

  /**
   * @param clockHz of telephone-event.
   * @returns the packet of this 20 ms; undefined in pauses and when the queue is empty.
   */
  next(clockHz = USUAL_CLOCK_HZ): DtmfPacket | undefined {
    const [event] = this.#events;
    if (event === undefined) return undefined;
    const step = this.#step;
    this.#step = (step + 1) % (event === WAIT_EVENT ? WAIT_STEPS : STEPS);
    if (this.#step === 0) this.#events = this.#events.slice(1);
    const isDown = event !== WAIT_EVENT && step < STEPS - PAUSE_PACKETS;
    return isDown ? packetAt(event, step, clockHz / USUAL_CLOCK_HZ) : undefined;
  }
}

/** @param ticks of the clock in a sample of 8 kHz. */
function packetAt(event: number, step: number, ticks: number): DtmfPacket {
  const spoken = Math.min(step + 1, PRESS_PACKETS);
  const isEnd = step + 1 >= PRESS_PACKETS;
  const durationSamples = spoken * PACKET_SAMPLES * ticks;
  const payload = writeTelephoneEvent({ event, isEnd, durationSamples });
  const digit = digitOf(event) ?? '';
  return { digit, payload, hasMarker: step === 0, timestampOffset: step * PACKET_SAMPLES };
}
