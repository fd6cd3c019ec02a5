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
 * @see RFC 9110 section 13.1.1
 */
export function requireMatch(context: ApiContext, updatedAt: Date, what: string): void {
  const wanted = context.req.header('if-match');
  if (wanted === undefined) return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (tags.includes('*') || tags.includes(entityTag(updatedAt))) return;
  context.header('ETag', entityTag(updatedAt));
  throw new ServiceError(
    'PRECONDITION_FAILED',
    `Cannot change ${what}: it was changed at ${updatedAt.toISOString()}, after the version of If-Match`,
  );
}
