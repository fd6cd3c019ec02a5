/** What callers hear, and what quality says, where a sandbox refuses system calls of the media thread. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { AudioStats } from '../../../src/media/audio-stream.ts';
import type { SocketsReport } from '../../../src/media/sockets/rtp-sockets.ts';
import type { RefusableCall } from '../../support/server/refused-calls.ts';

const PROGRAM = fileURLToPath(new URL('refused-calls-call.ts', import.meta.url));
const PACKETS = 125;

/** A tenth fewer may be on their way, or late on a busy machine. */
const NEARLY_ALL = PACKETS * 0.9;

interface CallReport {
  readonly sockets: SocketsReport;
  readonly warnings: readonly object[];
  readonly stats: AudioStats;
  readonly heard: number;
}

/** @param port even, for one test alone. */
async function callWithout(refused: readonly RefusableCall[], port: number): Promise<CallReport> {
  const args = [PROGRAM, String(port), String(PACKETS), ...refused];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('MediaEngine', () => {
  test.concurrent.each([
    ['sendto', 16_974],
    ['recvfrom', 16_976],
    ['epoll_wait', 16_978],
  ] as const)("carries sound both ways on Node's sockets, and warns of them, where %s is refused", async (call, port) => {
    const { sockets, warnings, stats, heard } = await callWithout([call], port);

    expect(sockets).toMatchObject({ name: 'node:dgram' });
    expect(warnings).toMatchObject([{ sockets }]);
    expect(stats.packetsReceived).toBeGreaterThan(NEARLY_ALL);
    expect(heard).toBeGreaterThan(NEARLY_ALL);
  });
});
