/** What a request is for: host, path and query, as they stand in its first line and its `Host`; pure */
import { getPath } from 'hono/utils/url';

/** A host or path that is none. */
export class TargetError extends Error {}

export interface RequestTarget {
  readonly host: string;
  /** Decoded, but for what would read as another path. */
  readonly path: string;
  /** What stands after the question mark; empty without one. */
  readonly queryText: string;
}

/** With a port that an address would not leave out, or refuse. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;

/** Nothing in it has to be decoded, removed or escaped. */
const PLAIN_TARGET = /^\/[!$&-;=?@A-Z[\]_a-z~]*$/;

const DOT_SEGMENT = /\/\.\.?(?:[/?]|$)/;

/**
 * Reads the target of a request.
 *
 * @param target as in the first line: `/path?query`, or a whole address.
 * @param host as the header says.
 * @throws {TargetError} when no address can be made of them.
 */
export function requestTarget(target: string, host: string): RequestTarget {
  if (PLAIN_HOST.test(host) && PLAIN_TARGET.test(target) && !DOT_SEGMENT.test(target)) {
    const end = target.indexOf('?');
    if (end === -1) return { host, path: target, queryText: '' };
    return { host, path: target.slice(0, end), queryText: target.slice(end + 1) };
  }
  return targetOf(urlOf(target, host));
}

function urlOf(target: string, host: string): URL {
  const [path = ''] = target.split('?');
  if (path.includes('\\')) throw new TargetError('The path has a backslash');
  const isWhole = /^https?:\/\//i.test(target);
  if (!isWhole && target !== '' && !target.startsWith('/')) throw new TargetError('No path');
  const text = isWhole ? target : `http://${host}${target}`;
  if (!URL.canParse(text)) throw new TargetError('No address');
  const url = new URL(text);
  const name = host.replace(/:\d+$/, '');
  // Such as `a/b` or `user@a`, of which an address makes another host.
  if (!isWhole && url.hostname.length !== host.length && url.hostname !== name.toLowerCase()) {
    throw new TargetError('The host is none');
  }
  return url;
}

function targetOf(url: URL): RequestTarget {
  // All that is asked of the request is its address.
  const path = getPath({ url: url.href } as Request);
  return { host: url.host, path, queryText: url.search.slice(1) };
}
