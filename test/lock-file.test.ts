/** What `npm ci` installs does not depend on the Node that runs npm. */
import { expect, test } from 'vitest';
import { readLockFile, withEngines } from './lock-file.ts';

test('the lock file names no engines of optional packages: "npm run lock" takes them out', () => {
  expect(withEngines(readLockFile())).toEqual([]);
});
