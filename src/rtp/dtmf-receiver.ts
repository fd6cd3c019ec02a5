/** Turns the many reports of each pressed key into one digit, whatever got lost; pure */
import type { RtpPacket } from './packet.ts';
import { digitOf, parseTelephoneEvent } from './telephone-event.ts';

export interface PressedDigit {
  readonly digit: string;
  readonly durationMs: number;
}

interface Press {
  readonly ssrc: number;
  readonly event: number;
  /** Of the press's newest segment. */
  timestamp: number;
  /** Of the segments before it: a press of more than 65,535 samples is sent in several. RFC 4733, 2.5.1.3. */
  earlierSamples: number;
  durationSamples: number;
  lastReportAtMs: number;
}

const SAMPLES_PER_MS = 8;

/** Reports arrive late by 10 s at most. A timestamp further back is a clock that was set: FreeSWITCH does so within a stream. */
const LATE_SAMPLES_MAX = 10_000 * SAMPLES_PER_MS;

const NONE: readonly PressedDigit[] = [];

/** Three packet times: the end reports were lost when nothing more has come for so long. */
const END_LOST_MS = 60;

/**
 * A press is known by SSRC, timestamp and event. It counts once: at its first end report, when the end was lost at
 * the next press, or when no report has come for 60 ms.
 *
 * @see RFC 4733 section 2.5.2
 */
export class DtmfReceiver {
  #press: Press | undefined;
  /** The last press that was counted: its repeated and late reports mean nothing. */
  #counted: Pick<Press, 'ssrc' | 'timestamp'> | undefined;

  /** Whether a key is down, as far as is known. */
  get isPressed(): boolean {
    return this.#press !== undefined;
  }

  /** Takes a telephone-event packet; returns the presses that it completes, at most two. */
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

  /** Returns the press whose end was lost, once it is certain. Call it about every 20 ms. */
  expire(nowMs: number): readonly PressedDigit[] {
    const press = this.#press;
    return press !== undefined && nowMs - press.lastReportAtMs > END_LOST_MS ? this.#count() : NONE;
  }

  #isOld(packet: RtpPacket): boolean {
    const newest = this.#press ?? this.#counted;
    if (newest === undefined || newest.ssrc !== packet.ssrc) return false;
    const age = (packet.timestamp - newest.timestamp) | 0;
    const isLate = age < 0 && age >= -LATE_SAMPLES_MAX;
    return isLate || (age === 0 && this.#press === undefined);
  }

  /** Whether the report is about the press that is under way; moves on to its next segment if it opens one. */
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
    const durationMs = (press.earlierSamples + press.durationSamples) / SAMPLES_PER_MS;
    return [{ digit: digitOf(press.event) ?? '', durationMs: Math.round(durationMs) }];
  }
}

const SEGMENT_SAMPLES = 65_535;
