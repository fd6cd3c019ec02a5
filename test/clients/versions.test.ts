/** A library says its version in several places. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VERSION } from '../../clients/typescript/src/version.ts';

const CLIENTS = join(import.meta.dirname, '../../clients');

/** What the expression finds in a file. */
function found(file: string, expression: RegExp): string | undefined {
  return expression.exec(readFileSync(join(CLIENTS, file), 'utf8'))?.[1];
}

test('the TypeScript client has the version of its package', () => {
  expect(VERSION).toBe(found('typescript/package.json', /"version": "(.+)"/));
});

test('the Python client has the version of its package', () => {
  const version = found('python/pyproject.toml', /^version = "(.+)"$/m);

  expect(version).toMatch(/^\d/);
  expect(found('python/src/offhook/_version.py', /^VERSION = "(.+)"$/m)).toBe(version);
});

test('the PHP and Ruby clients have a version', () => {
  expect(found('php/src/Version.php', /TEXT = '(\d.+)'/)).toBeDefined();
  expect(found('ruby/lib/offhook/version.rb', /VERSION = '(\d.+)'/)).toBeDefined();
});
