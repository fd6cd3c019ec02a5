/** Tells a path that stays inside a folder from one that may lead out of it; pure */

const LENGTH_MAX = 200;

/** No control characters, no backslash (a separator elsewhere), no colon (a drive, a stream). */
const PART = /^[A-Za-z0-9._+-][A-Za-z0-9._+ -]*$/;

/**
 * Whether a path, relative and with `/` between its parts, names something below the folder that it is meant for, on
 * every operating system and whatever is made of it.
 */
export function isSafePath(path: string): boolean {
  if (path.length === 0 || path.length > LENGTH_MAX) return false;
  return path
    .split('/')
    .every((part) => PART.test(part) && !/^\.+$/.test(part) && !/[. ]$/.test(part));
}
