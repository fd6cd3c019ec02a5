/** The watchdog on processes of its own, whose main threads hang in different ways. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const PROGRAM = 'test/support/time/hanging-program.ts';

const run = (...words: string[]) =>
  spawnSync(process.execPath, [PROGRAM, ...words], { encoding: 'utf8', timeout: 20_000 });

test.each([
  ['waits for a lock', 'wait', /^ {4}at waitsForever \(file:.*hanging-program\.ts:\d+:\d+\)$/m],
  ['is in an expression', 'expression', /^ {4}at readsForever \(file:.*:\d+:\d+\)$/m],
  ['waits for the system', 'system', /^ {4}in native code$/m],
])('a main thread that %s ends the process, which says where', (_, way, place) => {
  const { signal, stdout, stderr } = run(way);

  expect([signal, stdout]).toEqual(['SIGKILL', '']);
  expect(stderr).toContain('The main thread has hung for 1.2 s');
  expect(stderr).toMatch(place);
});

test('a main thread that is busy for less than the limit goes on', () => {
  const { status, stdout, stderr } = run('busy');

  expect([status, stdout, stderr]).toEqual([0, 'went on\n', '']);
});

test('once stopped it watches no more', () => {
  const hung = spawnSync(process.execPath, [PROGRAM, 'wait', 'stopped'], { timeout: 4000 });

  expect([hung.signal, hung.stderr.toString()]).toEqual(['SIGTERM', '']);
});

test('under a debugger, which may hold the thread, it does not watch', () => {
  const hung = spawnSync(process.execPath, ['--inspect=127.0.0.1:0', PROGRAM, 'wait'], {
    timeout: 4000,
  });

  expect(hung.stderr.toString()).not.toContain('has hung');
  expect(hung.signal).toBe('SIGTERM');
});
