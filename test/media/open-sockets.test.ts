/** Which sockets a media thread gets, and the clock that comes with them. */
import { describe, expect, test } from 'vitest';
import { openSockets } from '../../src/media/open-sockets.ts';
import { ADAPTERS, listeningSocket, newAlarm, peerAt, ringAfter, sendTo } from './test-sockets.ts';

const PORT = 16_930;

describe.each(ADAPTERS)('%s.clock', (_name, open) => {
  test.each([0, 0.4, 1, 7, 25])('rings after %d ms and not before', async (delayMs) => {
    const { sockets } = await listeningSocket(open, PORT);

    const waitedMs = await ringAfter(sockets, delayMs);

    // Readings of the clock are rounded to a microsecond.
    expect(waitedMs).toBeGreaterThanOrEqual(delayMs - 0.001);
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

test('openSockets keeps to Node where there is nothing better, and says why', async () => {
  const loadBest = () => Promise.reject(new Error('Cannot find module'));

  const sockets = await openSockets({ alarm: newAlarm(), isPortable: false, loadBest });

  expect(sockets.report).toEqual({
    name: 'node:dgram',
    reason: 'no system calls: Cannot find module',
    isFallback: true,
  });
});

test('openSockets keeps to Node when that is asked for', async () => {
  const sockets = await openSockets({ alarm: newAlarm(), isPortable: true });

  expect(sockets.report).toMatchObject({ name: 'node:dgram', reason: 'asked for' });
});
