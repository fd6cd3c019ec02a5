import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RecordingFailure } from '../../src/media/audio-stream.ts';
import {
  readWavHeader,
  repairWav,
  WAV_HEADER_BYTES,
  wavHeader,
} from '../../src/media/recording/wav-file.ts';
import { WavRecorder } from '../../src/media/recording/wav-recorder.ts';
import { fill, mounted, skipWithoutMount } from '../support/store/small-disk.ts';

const FRAME = 160;

async function freshPath(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'offhook-wav-')), 'call.wav');
}

function recorderFor(path: string) {
  const failures: RecordingFailure[] = [];
  const recorder = new WavRecorder({
    path,
    startedAtMs: 0,
    onFailed: (failure) => failures.push(failure),
  });
  return { recorder, failures };
}

/** Records both sides of a call up to `untilMs`. */
function talk(recorder: WavRecorder, untilMs: number, fromMs = 0): void {
  for (let atMs = fromMs + 20; atMs <= untilMs; atMs += 20) {
    recorder.add('caller', new Int16Array(FRAME).fill(1000), atMs);
    recorder.add('agent', new Int16Array(FRAME).fill(-2000), atMs);
  }
}

test('WavRecorder writes a stereo file with a true header', async () => {
  const path = await freshPath();
  const { recorder } = recorderFor(path);

  talk(recorder, 3000);
  await recorder.close();

  const file = await readFile(path);
  const dataBytes = 3000 * 8 * 4;
  expect(readWavHeader(file)).toEqual({ channels: 2, rateHz: 8000, dataBytes });
  expect(file.length).toBe(WAV_HEADER_BYTES + dataBytes);
  expect([file.readInt16LE(44), file.readInt16LE(46)]).toEqual([1000, -2000]);
});

test('WavRecorder leaves out sound that comes while it is closed, and the file is whole', async () => {
  const path = await freshPath();
  const { recorder, failures } = recorderFor(path);
  talk(recorder, 1240);

  const closed = recorder.close();
  // Enough for another write, before the last one has begun.
  talk(recorder, 1300, 1240);
  await closed;

  const file = await readFile(path);
  const dataBytes = 1240 * 8 * 4;
  expect(readWavHeader(file)).toMatchObject({ dataBytes });
  expect(file.length).toBe(WAV_HEADER_BYTES + dataBytes);
  expect(failures).toEqual([]);
});

test('WavRecorder writes for the owner of the process alone', async () => {
  const path = await freshPath();
  const { recorder } = recorderFor(path);

  talk(recorder, 100);
  await recorder.close();

  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('WavRecorder brings file and header up to date while the call goes on', async () => {
  const path = await freshPath();
  const { recorder } = recorderFor(path);
  talk(recorder, 3000);

  // A file is seen to grow in the middle of a write.
  const sizeBytes = () => (existsSync(path) ? statSync(path).size : 0);
  await expect.poll(sizeBytes, { timeout: 10_000 }).toBe(WAV_HEADER_BYTES + 1010 * 8 * 4);
  await recorder.close();
});

test.each([
  [
    'a folder that is not there',
    '/nowhere/call.wav',
    /^Cannot write recording "\/nowhere\/call\.wav": ENOENT/,
  ],
  ['a file in the way', '/dev/null', /^Cannot write recording "\/dev\/null": EEXIST/],
])('WavRecorder reports %s once, and swallows the rest', async (_name, path, reason) => {
  const { recorder, failures } = recorderFor(path);

  talk(recorder, 3000);
  await recorder.close();
  talk(recorder, 3000);
  await recorder.close();

  expect(failures).toEqual([{ reason: expect.stringMatching(reason), recordedMs: 0 }]);
});

test('WavRecorder makes no file for a call without sound', async () => {
  const path = await freshPath();
  const { recorder, failures } = recorderFor(path);

  await recorder.close();

  expect([existsSync(path), failures]).toEqual([false, []]);
});

describe('WavRecorder on a disk that runs full', () => {
  test('keeps what it has written as a file that plays, and says how long that is', async (context) => {
    skipWithoutMount(context, 'tmpfs');
    const disk = mounted({ type: 'tmpfs', sizeMiB: 1 });
    fill(disk, { leaveKiB: 64 });
    const path = join(disk, 'call.wav');
    const { recorder, failures } = recorderFor(path);

    talk(recorder, 1300);
    await untilLarger(path, WAV_HEADER_BYTES);
    talk(recorder, 3000, 1300);
    await recorder.close();

    const file = await readFile(path);
    const { dataBytes = 0 } = readWavHeader(file) ?? {};
    expect(failures).toEqual([
      { reason: expect.stringContaining('ENOSPC'), recordedMs: dataBytes / 32 },
    ]);
    expect(dataBytes).toBeGreaterThan(32_000);
    expect(file.length).toBe(WAV_HEADER_BYTES + dataBytes);
  });

  test('leaves no file where not even the first second has room', async (context) => {
    skipWithoutMount(context, 'tmpfs');
    const disk = mounted({ type: 'tmpfs', sizeMiB: 1 });
    fill(disk);
    const path = join(disk, 'call.wav');
    const { recorder, failures } = recorderFor(path);

    talk(recorder, 3000);
    await recorder.close();

    expect(failures).toMatchObject([{ recordedMs: 0 }]);
    expect(existsSync(path)).toBe(false);
  });
});

test('repairWav gives a file back its sizes that a crash cut off', async () => {
  const path = await freshPath();
  const { recorder } = recorderFor(path);
  talk(recorder, 1000);
  await recorder.close();
  await appendFile(path, Buffer.alloc(1003, 7));

  const repair = await repairWav(path);

  const file = await readFile(path);
  expect(repair).toEqual({ outcome: 'repaired', soundMs: 1031.25 });
  expect(file.length).toBe(WAV_HEADER_BYTES + 32_000 + 1000);
  expect(readWavHeader(file)?.dataBytes).toBe(33_000);
  expect(file.readUInt32LE(4)).toBe(file.length - 8);
});

test.each([
  ['a file that is whole', 32_000, { outcome: 'whole', soundMs: 1000 }],
  ['a header without sound', 0, { outcome: 'empty', soundMs: 0 }],
  ['a header and half a frame', 2, { outcome: 'empty', soundMs: 0 }],
  ['a file cut off in the header', -10, { outcome: 'empty', soundMs: 0 }],
  ['a file of no bytes', -WAV_HEADER_BYTES, { outcome: 'empty', soundMs: 0 }],
])('repairWav leaves %s as it is', async (_name, dataBytes, expected) => {
  const path = await freshPath();
  await writeFile(path, wavHeader({ channels: 2, rateHz: 8000 }, Math.max(0, dataBytes)));
  await truncate(path, WAV_HEADER_BYTES + dataBytes);
  const before = await stat(path);

  const repair = await repairWav(path);

  expect(repair).toEqual(expected);
  expect((await stat(path)).size).toBe(before.size);
});

test.each([
  ['something else', Buffer.from('something else entirely, and long enough to hold a header')],
  ['sound without channels', wavHeader({ channels: 0, rateHz: 8000 }, 4)],
  ['sound of no time', wavHeader({ channels: 2, rateHz: 0 }, 4)],
])('repairWav leaves files alone that are no WAV: %s', async (_name, bytes) => {
  const path = await freshPath();
  await writeFile(path, bytes);

  const repair = await repairWav(path);

  expect(repair).toEqual({ outcome: 'not-wav', soundMs: 0 });
  expect(await readFile(path)).toEqual(bytes);
});

const hasSox = isInstalled('soxi');

test.runIf(hasSox)('sox reads a recording that was cut off in mid-call', async () => {
  const path = await freshPath();
  const { recorder } = recorderFor(path);
  talk(recorder, 3000);
  await untilLarger(path, WAV_HEADER_BYTES);

  const shape = execFileSync('soxi', [path], { encoding: 'utf8' });

  expect(shape).toMatch(/Channels\s+: 2[\s\S]*Duration\s+: 00:00:0[1-3]/);
  await recorder.close();
});

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Waits for the file system, not for a time: returns once the file has grown over `size`. */
async function untilLarger(path: string, size: number): Promise<number> {
  for (;;) {
    const now = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    if (now > size) return now;
  }
}
