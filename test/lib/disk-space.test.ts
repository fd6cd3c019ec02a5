import { expect, test } from 'vitest';
import { DiskSpace } from '../../src/lib/disk-space.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { testFolder } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const MIB = 1024 * 1024;

/** A disk whose free space the test sets; an Error is what the file system answers with. */
function openDisk({ freeMinMb = 512 } = {}) {
  const clock = new FakeClock();
  const logged: string[] = [];
  const log: Logger = {
    ...silentLogger,
    warn: (_fields, message) => logged.push(`warn ${message}`),
    info: (_fields, message) => logged.push(`info ${message}`),
  };
  const answers = { free: (1000 * MIB) as number | Error };
  const freeBytesOf = async () => {
    if (answers.free instanceof Error) throw answers.free;
    return answers.free;
  };
  const disk = new DiskSpace({ folder: '/data', freeMinMb, freeBytesOf, clock, log });
  /** Sets what is free, and lets the next look see it. */
  const look = async (free: number | Error) => {
    answers.free = free;
    clock.advance(5000);
    for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
  };
  return { disk, clock, logged, look };
}

test('DiskSpace tells free bytes of a real folder', async () => {
  const disk = new DiskSpace({
    folder: testFolder(),
    freeMinMb: 0,
    clock: new FakeClock(),
    log: silentLogger,
  });

  await disk.start();
  disk.stop();

  expect(disk.freeBytes).toBeGreaterThan(MIB);
  expect(disk.isShort).toBe(false);
});

test('DiskSpace is short below the bound, not at it, and says so once', async () => {
  const { disk, logged, look } = openDisk();
  await disk.start();

  await look(512 * MIB);
  const atBound = disk.isShort;
  await look(512 * MIB - 1);
  await look(100 * MIB);
  const below = [disk.isShort, disk.state];
  await look(600 * MIB);

  expect(atBound).toBe(false);
  expect(below).toEqual([true, '100 MB free, less than DISK_FREE_MIN_MB (512)']);
  expect([disk.isShort, disk.state]).toEqual([false, '600 MB free']);
  expect(logged).toEqual([
    'warn the disk is nearly full: new calls are not recorded',
    'info the disk has room again: new calls are recorded',
  ]);
});

test('DiskSpace is never short with the bound 0', async () => {
  const { disk, look } = openDisk({ freeMinMb: 0 });
  await disk.start();

  await look(0);

  expect(disk.isShort).toBe(false);
});

test('DiskSpace is not short where the file system does not answer, and says why', async () => {
  const { disk, look } = openDisk();
  await disk.start();

  await look(new Error('ENOSYS: function not implemented, statfs'));

  expect([disk.isShort, disk.freeBytes]).toEqual([false, undefined]);
  expect(disk.state).toBe('free space is unknown: ENOSYS: function not implemented, statfs');
});

test('DiskSpace looks no more once it is stopped, also when stopped twice', async () => {
  const { disk, clock, look } = openDisk();
  await disk.start();

  disk.stop();
  disk.stop();
  await look(0);

  expect([disk.isShort, clock.waiting]).toEqual([false, 0]);
});

test('DiskSpace says large amounts in gigabytes', async () => {
  const { disk, look } = openDisk();
  await disk.start();

  await look(72.9 * 1024 * MIB);

  expect(disk.state).toBe('72 GB free');
});
