import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exact-imports-test-'));
  writeFileSync(join(folder, 'file.mjs'), 'export const url = import.meta.url;');
  writeFileSync(join(folder, 'required.cjs'), "exports.name = require('./other').name;");
  writeFileSync(join(folder, 'other.cjs'), "exports.name = 'other';");
  writeFileSync(join(folder, 'other.js'), "exports.name = 'other.js';");
  symlinkSync('file.mjs', join(folder, 'link.mjs'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What the program prints that runs in the folder, with `trustImports` at hand, in a process of its own. */
async function outputOf(program: string): Promise<string> {
  const file = join(folder, 'main.mjs');
  const hooks = new URL('../../src/lib/exact-imports.ts', import.meta.url).href;
  writeFileSync(file, `import { trustImports } from '${hooks}';\n${program}`);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  return stdout.trim();
}

test('trustImports has a relative import name its file, and Node looks again once it is over', async () => {
  const output = await outputOf(`
    const distrust = trustImports();
    const { url: trusted } = await import('./link.mjs');
    distrust();
    distrust();
    const { url: looked } = await import('./link.mjs?again');
    console.log(trusted.split('/').at(-1), looked.split('/').at(-1));
  `);

  expect(output).toBe('link.mjs file.mjs?again');
});

test('trustImports leaves packages, parts of Node and what is required to Node', async () => {
  const output = await outputOf(`
    trustImports();
    const { sep } = await import('node:path');
    const { name } = await import('./required.cjs');
    const missing = await import('no-such-package').catch(({ code }) => code);
    console.log(sep, name, missing);
  `);

  expect(output).toBe('/ other.js ERR_MODULE_NOT_FOUND');
});
