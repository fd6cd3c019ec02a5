/** Downloads of models for tests that download nothing. */
import type { ModelDownload, ModelDownloads } from '../../../src/domain/model-downloads.ts';
import type { Clock } from '../../../src/lib/clock.ts';

/** Has one download, which has ended. */
export function idleDownloads(clock: Pick<Clock, 'now'>): ModelDownloads {
  const download: ModelDownload = {
    ...{ id: 'dl_1', profile: 'small', modelId: null, state: 'completed', files: [] },
    ...{ startedAt: clock.now(), endedAt: clock.now(), problem: null },
    ...{ doneBytes: 1, totalBytes: 1, bytesPerSecond: 0 },
  };
  return {
    newest: download,
    catalogue: async () => ({ profiles: [], models: [], isRestartNeeded: false }),
    start: async () => download,
    cancel: async () => undefined,
  };
}
