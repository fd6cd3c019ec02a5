import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Whether a process that loads the file has loaded Node's own fetch. */
const LOADS_FETCH =
  "await import(process.argv[1]); console.log(process.moduleLoadList.join().includes('undici'))";

test('createServer comes without the whole of fetch', async () => {
  const file = new URL('../../src/lib/node-http.ts', import.meta.url).href;

  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--input-type=module', '-e', LOADS_FETCH, file],
  ]);

  expect(stdout.trim()).toBe('false');
});
