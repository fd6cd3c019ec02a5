/** The recording of one call, which may fail without the call noticing. */
import type { Call } from '../../domain/call/call.ts';
import type { Logger } from '../../lib/logger.ts';
import type { RecordingFailure } from '../../media/audio-stream.ts';
import type { Leg } from '../../telephony/carrier.ts';
import type { CallMetrics, Recordings } from './call-parts.ts';
import type { SessionTimeline } from './session-timeline.ts';

/** What a call's record says of its recording. */
type RecordingFacts = Pick<Call, 'recordingFile' | 'recordingTruncated'>;

export class SessionRecording {
  readonly #recordings: Recordings;
  readonly #metrics: Pick<CallMetrics, 'recordingFailed'>;
  readonly #timeline: SessionTimeline;
  readonly #log: Logger;
  /** Why it did not begin. */
  #refusal: string | undefined;
  #file: string | null = null;
  #isCutShort = false;

  constructor(options: {
    readonly recordings: Recordings;
    readonly metrics: Pick<CallMetrics, 'recordingFailed'>;
    readonly timeline: SessionTimeline;
    readonly log: Logger;
  }) {
    this.#recordings = options.recordings;
    this.#metrics = options.metrics;
    this.#timeline = options.timeline;
    this.#log = options.log;
  }

  /** @returns the file; null when the call cannot be recorded, which is no reason not to talk. */
  start(callId: string, leg: Leg): string | null {
    try {
      this.#file = this.#recordings.start(callId, leg);
    } catch (error) {
      this.#refusal = error instanceof Error ? error.message : String(error);
      this.#log.warn({ reason: this.#refusal }, 'the call is not recorded');
    }
    return this.#file;
  }

  /** Puts a recording that did not begin on the timeline; called once the answer is on it. */
  answered(): void {
    if (this.#refusal === undefined) return;
    this.#metrics.recordingFailed('not_begun');
    this.#timeline.add('recording_failed', { reason: this.#refusal });
  }

  /** It ended before the call did. */
  failed({ reason, recordedMs }: RecordingFailure): void {
    this.#isCutShort = recordedMs > 0;
    this.#log.error({ reason, recordedMs }, 'recording stopped, the call goes on');
    this.#metrics.recordingFailed(this.#isCutShort ? 'cut_short' : 'not_begun');
    const truncated = this.#isCutShort ? { recordingTruncated: true, recordedMs } : {};
    this.#timeline.add('recording_failed', { reason, ...truncated });
  }

  /** What there is of it: a disk that was full from the beginning, or a call that was over at once, leaves no sound. */
  kept(): RecordingFacts {
    const recordingFile =
      this.#file !== null && this.#recordings.hasSound(this.#file) ? this.#file : null;
    return { recordingFile, recordingTruncated: recordingFile !== null && this.#isCutShort };
  }
}
