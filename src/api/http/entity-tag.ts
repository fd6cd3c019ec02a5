/** Entity tags of resources that carry the time of their last change: `ETag` in answers, `If-Match` in changes. */
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../api-env.ts';

/** Two changes never have the same time (see `laterThan`). @returns a strong tag, such as `"2026-11-20T12:00:00.000Z"`. */
export function entityTag(updatedAt: Date | string): string {
  return `"${typeof updatedAt === 'string' ? updatedAt : updatedAt.toISOString()}"`;
}

/**
 * Compares a request's `If-Match` with the resource as it is. A request without the header passes.
 *
 * @param what the resource, such as `the agent`.
 * @throws {ServiceError} PRECONDITION_FAILED when none of the tags is the resource's.
 */
export function requireMatch(context: ApiContext, updatedAt: Date, what: string): void {
  requireTag(context, { tags: [entityTag(updatedAt)], updatedAt, what });
}

/**
 * Compares a request's `If-Match` with a resource that has several entity tags. A tag that a compressing proxy has changed
 * is the same tag.
 *
 * @param state.tags the first is the one to go on with.
 * @see RFC 9110 section 13.1.1
 */
export function requireTag(
  context: ApiContext,
  state: {
    readonly tags: readonly [string, ...string[]];
    readonly updatedAt: Date;
    readonly what: string;
  },
): void {
  const wanted = context.req.header('if-match');
  if (wanted === undefined) return;
  const given = tagsIn(wanted);
  if (given.includes('*') || state.tags.some((tag) => given.includes(tag))) return;
  context.header('ETag', state.tags[0]);
  throw new ServiceError(
    'PRECONDITION_FAILED',
    `Cannot change ${state.what}: it was changed at ${state.updatedAt.toISOString()}, after the version of If-Match`,
  );
}

/** Whether a request's `If-None-Match` names the current version; compared weakly. @see RFC 9110 section 13.1.2 */
export function isHeld(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = tagsIn(ifNoneMatch ?? '');
  return tags.includes(etag) || tags.includes('*');
}

/**
 * Tags of a header as this server gave them. A proxy that compresses answers makes a strong tag weak (nginx: `W/"…"`) or
 * appends the coding (Apache, Caddy: `"…-gzip"`). Ours name versions of a resource in any coding, and none ends in
 * the name of one.
 */
function tagsIn(header: string): readonly string[] {
  return header.split(',').map((tag) =>
    tag
      .trim()
      .replace(/^W\//, '')
      .replace(/-(?:gzip|deflate|br|zstd)"$/, '"'),
  );
}
