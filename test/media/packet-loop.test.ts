/** What the media thread still does while packets come without end, as from a stranger who means no good. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type Libc, PacketLoop } from '../../src/media/sockets/epoll/epoll.ts';

const SOCKET = 50;
const flooded = { fd: SOCKET, read: () => undefined };

/** A system on which one socket always has another datagram, for two seconds. */
function openFlood() {
  const endsAtMs = performance.now() + 2_000;
  const isOn = () => performance.now() < endsAtMs;
  let descriptors = 0;
  const open = () => {
    descriptors += 1;
    return descriptors;
  };
  let hasSocket = false;
  const libc: Libc = {
    socket: open,
    bind: () => 0,
    close: () => 0,
    sendto: () => 0,
    recvfrom: () => 0,
    epollCreate: open,
    epollControl: (_epoll, _operation, fd) => {
      hasSocket ||= fd === SOCKET;
      return 0;
    },
    epollWait: () => (hasSocket && isOn() ? 1 : 0),
    addressOf: () => 0,
    errno: () => 0,
    eventLoopFd: 40,
  };
  const loop = new PacketLoop(libc);
  onTestFinished(() => {
    loop.remove(flooded);
    loop.stop();
  });
  loop.add(flooded);
  return { loop, isOn };
}

test('PacketLoop rings, and gives the event loop its turn, while packets come without end', async () => {
  const { loop, isOn } = openFlood();
  const rung = new Promise<boolean>((resolve) => {
    loop.clock.after(5, () => resolve(isOn()));
  });

  await sleep(50);
  const hadItsTurn = isOn();

  expect(hadItsTurn).toBe(true);
  expect(await rung).toBe(true);
});
