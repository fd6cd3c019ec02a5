/** Counts what came and went on a call's line. */
import type { Logger } from '../lib/logger.ts';
import type { AudioStream } from '../media/audio-stream.ts';
import type { CallMetrics } from './call-parts.ts';

/** To be called while the line is still there. Nothing waits for it. */
export function countPackets(
  audio: Pick<AudioStream, 'stats'>,
  { metrics, log }: { readonly metrics: Pick<CallMetrics, 'audio'>; readonly log: Logger },
): void {
  audio.stats().then(
    (stats) => metrics.audio(stats),
    (error: unknown) => log.debug({ err: error }, 'packets of the call were not counted'),
  );
}
