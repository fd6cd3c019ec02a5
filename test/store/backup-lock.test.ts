import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseInUseError, lockDatabase } from '../../src/store/sqlite/sqlite-file.ts';
import { testFolder } from '../support/store/test-store.ts';

const MODULE = join(import.meta.dirname, '../../src/store/sqlite/sqlite-file.ts');

test('lockDatabase is held by one at a time, and free again after release', () => {
  const file = join(testFolder(), 'deep', 'offhook.db');

  const first = lockDatabase(file);
  expect(() => lockDatabase(file)).toThrow(DatabaseInUseError);
  first.release();
  first.release();
  const second = lockDatabase(file);
  second.release();

  expect(readdirSync(join(file, '..'))).toEqual(['offhook.db.lock']);
});

test('lockDatabase is free again when its process was killed', async () => {
  const file = join(testFolder(), 'offhook.db');
  const script = `
    import { lockDatabase } from ${JSON.stringify(MODULE)};
    globalThis.lock = lockDatabase(${JSON.stringify(file)});
    console.log('locked');
    setInterval(() => undefined, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');

  expect(() => lockDatabase(file)).toThrow(DatabaseInUseError);
  holder.kill('SIGKILL');
  await once(holder, 'exit');

  expect(() => lockDatabase(file).release()).not.toThrow();
});
