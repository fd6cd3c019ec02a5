/**
 * `npm run lock`: takes the engines of optional packages out of the lock file. npm skips an optional package without a word where
 * the Node that runs npm is older than they say, and then the native part of Rolldown is missing; ours runs on Node 24.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LOCK_FILE = join(import.meta.dirname, '../package-lock.json');

interface LockedPackage {
  readonly optional?: boolean;
  engines?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export function readLockFile(): LockFile {
  return JSON.parse(readFileSync(LOCK_FILE, 'utf8')) as LockFile;
}

/** Optional packages with engines, by their folders. */
export function withEngines({ packages }: LockFile): string[] {
  return Object.entries(packages).flatMap(([folder, { optional, engines }]) =>
    optional === true && engines !== undefined ? [folder] : [],
  );
}

if (import.meta.main) {
  const lock = readLockFile();
  for (const folder of withEngines(lock)) delete lock.packages[folder]?.engines;
  writeFileSync(LOCK_FILE, `${JSON.stringify(lock, undefined, 2)}\n`);
}
