/** Asks a call's line, while it is still there, what came and went on it. */
import type { Logger } from '../../lib/logger.ts';
import type { AudioStats, AudioStream } from '../../media/audio-stream.ts';

/** To be called while the line is still there. Nothing waits for it. @param options.onStats takes the last figures. */
export function countPackets(
  audio: Pick<AudioStream, 'stats'>,
  { onStats, log }: { readonly onStats: (stats: AudioStats) => void; readonly log: Logger },
): void {
  audio
    .stats()
    .then(onStats, (error: unknown) => {
      log.debug({ err: error }, 'packets of the call were not counted');
    })
    .catch((error: unknown) => {
      log.error({ err: error }, 'packets of the call were not kept');
    });
}
