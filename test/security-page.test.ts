/** `docs/security.md` names the test of each promise: the tests must be there. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('docs/security.md names tests that exist, at least one in each row of a promise', () => {
  const page = readFileSync('docs/security.md', 'utf8');
  const rows = page.split('\n').filter((line) => /^\| .* \| .*test.* \|$/.test(line));
  const named = rows.flatMap((row) =>
    [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file),
  );
  const promises = page.match(/^\| Promise \| Test \|$/gm) ?? [];

  expect(rows.length).toBeGreaterThan(3 * promises.length);
  expect(named.filter((file) => !existsSync(file ?? ''))).toEqual([]);
});
