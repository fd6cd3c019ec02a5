/** The recording of one call, which may fail without the call noticing. */
import type { Logger } from '../lib/logger.ts';
import type { Leg } from '../telephony/carrier.ts';
import type { Recordings } from './call-parts.ts';
import type { SessionTimeline } from './session-timeline.ts';

export class SessionRecording {
  readonly #recordings: Recordings;
  readonly #timeline: SessionTimeline;
  readonly #log: Logger;

  constructor(options: {
    readonly recordings: Recordings;
    readonly timeline: SessionTimeline;
    readonly log: Logger;
  }) {
    this.#recordings = options.recordings;
    this.#timeline = options.timeline;
    this.#log = options.log;
  }

  /** @returns the file; null when the call cannot be recorded, which is no reason not to talk. */
  start(callId: string, leg: Leg): string | null {
    try {
      return this.#recordings.start(callId, leg);
    } catch (error) {
      this.#log.error({ err: error }, 'the call is not recorded');
      return null;
    }
  }

  /** It ended before the call did. */
  failed(reason: string): void {
    this.#log.error({ reason }, 'recording stopped, the call goes on');
    this.#timeline.add('recording_failed', { reason });
  }

  /** What is left of it at the end: a disk that was full from the beginning, or a call that was over at once, leaves no file. */
  kept(file: string | null): string | null {
    return file !== null && this.#recordings.exists(file) ? file : null;
  }
}
