/** Timeline of one call: events with their times, without spoken words or DTMF digits. */
import type { ConversationEvent, TurnTimes } from '../../conversation/conversation-port.ts';
import type { Call, CallStore, TimelineEntry } from '../../domain/call/call.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { RecordingFailure } from '../../media/audio-stream.ts';
import type { Leg } from '../../telephony/carrier.ts';
import type { CallJournal } from './call-journal.ts';
import type { CallMetrics, Recordings } from './call-parts.ts';
import { tenths } from './call-quality.ts';

/** Most DTMF entries on a timeline: a faulty telephone presses keys for hours. */
const KEYS_MAX = 100;

type Details = TimelineEntry['details'];

/**
 * How the timeline of a call begins: its ringing, unless it is an outgoing call, which rings somewhere else, if at all; and its
 * answer, if there was one.
 */
export function beginningOf({ direction, startedAt, answeredAt }: Call): readonly TimelineEntry[] {
  const ringAt = direction === 'outbound' ? null : startedAt;
  return [
    ...(ringAt === null ? [] : [{ at: ringAt, kind: 'ringing', details: {} }]),
    ...(answeredAt === null ? [] : [{ at: answeredAt, kind: 'answered', details: {} }]),
  ];
}

/** How the timeline of a call ends. @throws {Error} when the call is not over. */
export function endedEntry({ id, endedAt, endReason, ...call }: Call): TimelineEntry {
  if (endedAt === null) throw new Error(`Cannot tell the end of call "${id}": it is not over`);
  const { answeredAt, answeredBy, failureReason, sipStatus } = call;
  const details = { endReason, answeredAt, answeredBy, failureReason, sipStatus };
  return { at: endedAt, kind: 'ended', details };
}

interface TimelineOptions {
  readonly callId: string;
  readonly calls: Pick<CallStore, 'addTimelineEntry'>;
  readonly clock: Clock;
  readonly journal: CallJournal;
}

/** Writes by the call's journal, in order with all else of its record. */
export class SessionTimeline {
  readonly #options: TimelineOptions;
  #keys = 0;
  #endsAt: Date | undefined;
  #isOver = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** Adds an entry at the current time, or at the call's end if that is earlier. */
  add(kind: string, details: Details = {}): void {
    const now = this.#options.clock.now();
    const at = this.#endsAt !== undefined && this.#endsAt < now ? this.#endsAt : now;
    this.#write({ at, kind, details });
  }

  answered(call: Call): void {
    for (const entry of beginningOf(call)) this.#write(entry);
  }

  /** Says that a key was pressed, and not which: it may be one of a card number. */
  key(): void {
    this.#keys += 1;
    if (this.#keys <= KEYS_MAX) this.add('digit');
  }

  /** Adds a tool run without its arguments, which are callers' words. */
  tool(run: Extract<ConversationEvent, { readonly kind: 'tool' }>): void {
    const { name, outcome, problem } = run;
    const why = problem === undefined ? {} : { problem };
    this.add('tool', { name, outcome, tookMs: tenths(run.tookMs), ...why });
  }

  turn(times: TurnTimes): void {
    this.add(
      'turn',
      Object.fromEntries(
        Object.entries(times).map(([name, of]) => [name, typeof of === 'number' ? tenths(of) : of]),
      ),
    );
  }

  /** Sets the end; entries that are added later get the same time. @returns the end. */
  ends(at: Date): Date {
    this.#endsAt = at;
    return at;
  }

  ended(call: Call): void {
    this.#write(endedEntry(call));
    this.#isOver = true;
  }

  #write(entry: TimelineEntry): void {
    const { callId, calls, journal } = this.#options;
    if (!this.#isOver) journal.write(() => calls.addTimelineEntry(callId, entry));
  }
}

/** Recording fields of a call's record. */
type RecordingFacts = Pick<Call, 'recordingFile' | 'recordingTruncated'>;

interface RecordingOptions {
  readonly recordings: Recordings;
  readonly metrics: Pick<CallMetrics, 'recordingFailed'>;
  readonly timeline: SessionTimeline;
  readonly log: Logger;
}

/** Recording of one call: start, failure, and the facts for its record. */
export class SessionRecording {
  readonly #options: RecordingOptions;
  /** Why it did not begin. */
  #refusal: string | undefined;
  #file: string | null = null;
  #isCutShort = false;

  constructor(options: RecordingOptions) {
    this.#options = options;
  }

  /** @returns the file; null when the call cannot be recorded, which is no reason not to talk. */
  start(callId: string, leg: Leg): string | null {
    try {
      this.#file = this.#options.recordings.start(callId, leg);
    } catch (error) {
      this.#refusal = messageOf(error);
      this.#options.log.warn({ reason: this.#refusal }, 'the call is not recorded');
    }
    return this.#file;
  }

  /** Puts a recording that did not begin on the timeline; called once the answer is on it. */
  answered(): void {
    if (this.#refusal === undefined) return;
    this.#options.metrics.recordingFailed('not_begun');
    this.#options.timeline.add('recording_failed', { reason: this.#refusal });
  }

  /** It ended before the call did. */
  failed({ reason, recordedMs }: RecordingFailure): void {
    this.#isCutShort = recordedMs > 0;
    this.#options.log.error({ reason, recordedMs }, 'recording stopped, the call goes on');
    this.#options.metrics.recordingFailed(this.#isCutShort ? 'cut_short' : 'not_begun');
    const truncated = this.#isCutShort ? { recordingTruncated: true, recordedMs } : {};
    this.#options.timeline.add('recording_failed', { reason, ...truncated });
  }

  /** The recording's file, null without audio: the disk was full, or the call ended at once. */
  kept(): RecordingFacts {
    const recordingFile =
      this.#file !== null && this.#options.recordings.hasSound(this.#file) ? this.#file : null;
    return { recordingFile, recordingTruncated: recordingFile !== null && this.#isCutShort };
  }
}
