import { expect, test } from 'vitest';
import { DatagramSlots } from '../../src/media/linux/datagram-slots.ts';
import { loadLibc } from '../../src/media/linux/libc.ts';
import { writeAddress } from '../../src/media/linux/socket-address.ts';
import { SocketBatch } from '../../src/media/linux/socket-batch.ts';
import { UdpDescriptor } from '../../src/media/linux/udp-descriptor.ts';
import { LOOPBACK, peerAt, sendTo } from './test-sockets.ts';

const PORT = 16_960;
const NO_DESCRIPTOR = 999_999;
const isLinux = process.platform === 'linux';

/** A descriptor on that port that is connected to a far end. */
async function connected(port: number) {
  const libc = await loadLibc();
  const peer = await peerAt();
  const address = new Uint8Array(16);
  writeAddress({ address: LOOPBACK, port }, address);
  const descriptor = new UdpDescriptor(libc, { address });
  writeAddress(peer.address(), address);
  descriptor.connect(address);
  return { libc, peer, descriptor, fd: descriptor.fd };
}

function bytesOf(libc: Awaited<ReturnType<typeof loadLibc>>, kind: 'read' | 'write') {
  const slots = new DatagramSlots(libc);
  const batch = SocketBatch.open(libc, slots, kind);
  if (batch === undefined) throw new Error('no batches here');
  return { slots, batch };
}

test.runIf(isLinux)('SocketBatch sends all but what has no socket any more', async () => {
  const { libc, peer, descriptor, fd } = await connected(PORT);
  const { slots, batch } = bytesOf(libc, 'write');
  const heard: string[] = [];
  peer.on('message', (datagram) => heard.push(datagram.toString()));
  ['one', 'two', 'three'].forEach((text, slot) => {
    slots.view(slot, text.length).set(Buffer.from(text));
    batch.add(slot, slot === 1 ? NO_DESCRIPTOR : fd, text.length);
  });

  batch.run();
  batch.run();
  await expect.poll(() => heard.length).toBe(2);

  expect(heard).toEqual(['one', 'three']);
  batch.close();
  descriptor.close();
});

test.runIf(isLinux)(
  'SocketBatch reads what there is, and says where there is nothing',
  async () => {
    const { libc, peer, descriptor, fd } = await connected(PORT + 2);
    const { slots, batch } = bytesOf(libc, 'read');
    const sizes = new Int32Array(5).fill(77);
    await sendTo(PORT + 2, peer, 'there');
    await sendTo(PORT + 2, peer, '');
    for (const slot of [0, 1, 2, 3]) batch.add(slot, slot === 0 ? NO_DESCRIPTOR : fd, 2048);

    batch.run(sizes);

    expect([...sizes]).toEqual([77, 5, 0, expect.any(Number), 77]);
    expect(sizes[3]).toBeLessThan(0);
    expect(Buffer.from(slots.view(1, 5)).toString()).toBe('there');
    batch.close();
    descriptor.close();
  },
);

test.runIf(isLinux)(
  'SocketBatch has room for as many as there are slots, over and over',
  async () => {
    const { libc, peer, descriptor, fd } = await connected(PORT + 4);
    const { batch } = bytesOf(libc, 'write');
    let heard = 0;
    peer.on('message', () => {
      heard += 1;
    });

    for (let round = 1; round <= 10; round += 1) {
      for (let slot = 0; slot < 64; slot += 1) batch.add(slot, fd, 1);
      batch.run();
      await expect.poll(() => heard).toBe(round * 64);
    }

    batch.close();
    descriptor.close();
  },
);
