/** The version of this program. */
import { readFileSync } from 'node:fs';

/** Reads the version from `package.json`, such as `1.4.0`. */
export function packageVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
