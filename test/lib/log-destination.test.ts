import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { LogDestination, type LostLines } from '../../src/lib/logger.ts';

const LINE = `${'x'.repeat(999)}\n`;

/** More than waits in memory and fits into a pipe. */
const TOO_MANY = 2000;

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function opened(path: string, flags: number): number {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** A destination whose notes about lost lines go into it, as the log's do. */
function destinationOn(fd: number) {
  const losses: LostLines[] = [];
  const destination = new LogDestination({ fd, clock: systemClock });
  destination.onLoss((lost) => {
    losses.push(lost);
    destination.write(`lost ${lost.lines}\n`);
  });
  return { destination, losses };
}

/** Both ends, neither of which blocks. */
function pipe(): { readonly reading: number; readonly writing: number } {
  const path = join(scratch(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reading = opened(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reading, writing: opened(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

function fillPipe(fd: number, pageBytes: number): void {
  const page = Buffer.alloc(pageBytes, 'p');
  try {
    for (;;) writeSync(fd, page);
  } catch (error) {
    expect(error).toMatchObject({ code: 'EAGAIN' });
  }
}

/** What a pipe has now. */
function readAll(fd: number): string {
  const buffer = Buffer.alloc(65_536);
  try {
    return buffer.toString('latin1', 0, readSync(fd, buffer));
  } catch {
    // EAGAIN: it is empty.
    return '';
  }
}

test('LogDestination writes lines in their order', async () => {
  const file = join(scratch(), 'log');
  const { destination } = destinationOn(opened(file, constants.O_CREAT | constants.O_WRONLY));
  const lines = Array.from({ length: 500 }, (_, n) => `line ${n}\n`);

  for (const line of lines) destination.write(line);

  await expect.poll(() => readFileSync(file, 'utf8')).toBe(lines.join(''));
});

test('LogDestination loses what does not fit into memory while the reader stands still, and says so once', async () => {
  const { reading, writing } = pipe();
  const { destination, losses } = destinationOn(writing);

  for (let n = 0; n < TOO_MANY; n += 1) destination.write(LINE);
  const { linesLost } = destination;
  let text = '';
  await expect
    .poll(() => (text += readAll(reading)), { interval: 5, timeout: 20_000 })
    .toMatch(/lost/);

  expect(linesLost).toBeGreaterThan(800);
  expect(losses).toEqual([{ lines: linesLost, reason: 'the reader is too slow' }]);
  expect(text).toBe(`${LINE.repeat(TOO_MANY - linesLost)}lost ${linesLost}\n`);
});

test('LogDestination reports a loss also where memory was full to the last byte', async () => {
  const { reading, writing } = pipe();
  const { destination, losses } = destinationOn(writing);
  const [pageBytes, leftBytes, memoryBytes] = [4096, 4, 1024 * 1024];
  fillPipe(writing, pageBytes);
  readSync(reading, Buffer.alloc(pageBytes));

  destination.write(`${'a'.repeat(pageBytes + leftBytes - 1)}\n`);
  await setTimeout(20);
  destination.write(`${'b'.repeat(memoryBytes - leftBytes - 1)}\n`);
  for (const line of ['1\n', '2\n', '3\n']) destination.write(line);
  let text = '';
  await expect
    .poll(
      () => {
        text = `${text}${readAll(reading)}`.slice(-20);
        return text;
      },
      { interval: 5, timeout: 20_000 },
    )
    .toMatch(/lost/);

  expect(text.slice(-9)).toBe('b\nlost 3\n');
  expect(losses).toEqual([{ lines: 3, reason: 'the reader is too slow' }]);
});

test('LogDestination keeps trying where nothing can be written, and throws nothing', async () => {
  const { destination } = destinationOn(opened('/dev/full', constants.O_WRONLY));

  for (let n = 0; n < TOO_MANY; n += 1) destination.write(LINE);
  await setTimeout(20);

  destination.flush();
  expect(destination.linesLost).toBeGreaterThan(800);
});

test('LogDestination writes what waits when it is flushed, as far as it is taken at once', () => {
  const { reading, writing } = pipe();
  const { destination } = destinationOn(writing);

  destination.write('first\n');
  for (let n = 0; n < 200; n += 1) destination.write(LINE);
  destination.flush();

  expect(readAll(reading).length).toBeGreaterThan(60_000);
});
