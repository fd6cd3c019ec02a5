/** Which sockets a media thread gets, and the clock that comes with them. */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Libc, loadLibc } from '../../src/media/sockets/epoll/epoll.ts';
import { EpollSockets } from '../../src/media/sockets/epoll/epoll-sockets.ts';
import { openSockets } from '../../src/media/sockets/open-sockets.ts';
import { ADAPTERS, listeningSocket, peerAt, ringAfter, sendTo } from './test-sockets.ts';

const PORT = 16_930;
const OPERATION_NOT_PERMITTED = 1;

const descriptors = () => readdirSync('/proc/self/fd').length;

describe.each(ADAPTERS)('%s.clock', (name, open) => {
  test.each([0, 0.4, 1, 7, 25])('rings after %d ms and not before', async (delayMs) => {
    const { sockets } = await listeningSocket(open, PORT);

    const waitedMs = await ringAfter(sockets, delayMs);

    // Node's timers count whole milliseconds; readings of the clock are rounded to a microsecond.
    const earlyMsMax = name === 'NodeSockets' ? 1 : 0.001;
    expect(waitedMs).toBeGreaterThanOrEqual(delayMs - earlyMsMax);
  });

  test('does not ring when that was cancelled', async () => {
    const { sockets } = await listeningSocket(open, PORT);
    let hasRung = false;
    const cancel = sockets.clock.after(3, () => {
      hasRung = true;
    });

    cancel();
    cancel();
    await ringAfter(sockets, 6);

    expect(hasRung).toBe(false);
  });

  test('rings in order, and lets packets in meanwhile', async () => {
    const { sockets, taken } = await listeningSocket(open, PORT);
    const peer = await peerAt();
    const rung: string[] = [];
    await sendTo(PORT, peer, 'meanwhile');

    sockets.clock.after(12, () => rung.push(`second, ${taken.length} taken`));
    sockets.clock.after(4, () => rung.push('first'));
    await ringAfter(sockets, 20);

    expect(rung).toEqual(['first', 'second, 1 taken']);
  });
});

test.runIf(process.platform === 'linux')(
  'openSockets gives the sockets of the system where a packet goes there and back',
  async () => {
    const sockets = await openSockets();
    onTestFinished(() => sockets.stop());

    expect(sockets.report).toEqual({ name: 'epoll', reason: 'system calls by koffi' });
  },
);

describe.runIf(process.platform === 'linux')('openSockets where the system refuses', () => {
  const refused = { errno: () => OPERATION_NOT_PERMITTED };

  test.each([
    ['socket', { socket: () => -1 }, 'socket EPERM'],
    ['bind', { bind: () => -1 }, 'bind EPERM'],
    ['sendto', { sendto: () => -1 }, 'the system did not send a trial packet'],
    ['recvfrom', { recvfrom: () => -1 }, 'a trial packet had no answer within 2000 ms'],
    ['epoll_wait', { epollWait: () => -1 }, 'a trial packet had no answer within 2000 ms'],
    ['epoll_ctl', { epollControl: () => -1 }, 'epoll_ctl EPERM'],
  ] satisfies [
    string,
    Partial<Libc>,
    string,
  ][])('%s keeps to Node, says why, and leaves no descriptor open', async (_call, calls, reason) => {
    const libc = { ...(await loadLibc()), ...calls, ...refused };
    const before = descriptors();

    const sockets = await openSockets(async () => new EpollSockets(libc));
    await sleep(1);

    expect(sockets.report).toEqual({
      name: 'node:dgram',
      reason: `no system calls: ${reason}`,
    });
    expect(descriptors()).toBe(before);
  });
});

test('openSockets keeps to Node where there is nothing better, and says why', async () => {
  const loadBest = () => Promise.reject(new Error('Cannot find module'));

  const sockets = await openSockets(loadBest);

  expect(sockets.report).toEqual({
    name: 'node:dgram',
    reason: 'no system calls: Cannot find module',
  });
});
