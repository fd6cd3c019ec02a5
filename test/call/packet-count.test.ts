import { expect, test } from 'vitest';
import { countPackets } from '../../src/call/session/call-quality.ts';
import type { Logger } from '../../src/lib/logger.ts';
import type { AudioStats } from '../../src/media/audio-stream.ts';

const STATS: AudioStats = {
  ...{ packetsReceived: 1, packetsSent: 1, packetsLost: 0, packetsRejected: 0, jitterMs: 0 },
};

function levelsLog(): { readonly log: Logger; readonly levels: string[] } {
  const levels: string[] = [];
  const log: Logger = {
    debug: () => levels.push('debug'),
    info: () => levels.push('info'),
    warn: () => levels.push('warn'),
    error: () => levels.push('error'),
    child: () => log,
  };
  return { log, levels };
}

test.each([
  {
    what: 'notes in passing that a line is gone',
    stats: () => Promise.reject(new Error('gone')),
    level: 'debug',
  },
  {
    what: 'says loudly that figures could not be kept',
    stats: () => Promise.resolve(STATS),
    level: 'error',
  },
])('countPackets $what', async ({ stats, level }) => {
  const { log, levels } = levelsLog();
  const onStats = () => {
    throw new TypeError('a fault of ours');
  };

  countPackets({ stats }, { onStats, log });

  await expect.poll(() => levels).toEqual([level]);
});
