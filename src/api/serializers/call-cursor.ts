/** Cursor of the list of calls: the position of a page's last call; pure */
import { z } from '@hono/zod-openapi';
import type { CallPosition } from '../../domain/call/call.ts';

/** Unix milliseconds and the call's id. */
const POSITION = /^(\d{1,15})\.(call_[0-9A-Za-z]{1,64})$/;

/** Base64url of `<milliseconds>.<id>`. It keeps no secret: a page holds calls of its own scope, at any position. */
export function callCursorOf({ at, id }: CallPosition): string {
  return Buffer.from(`${at.getTime()}.${id}`).toString('base64url');
}

/** A cursor of a query, as the position that it stands for. */
export const callCursorSchema = z
  .string()
  .min(1)
  .max(150)
  .transform((text, context): CallPosition => {
    const [, milliseconds, id] =
      POSITION.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
    const position = { at: new Date(Number(milliseconds)), id: id ?? '' };
    if (id !== undefined && callCursorOf(position) === text) return position;
    context.addIssue({ code: 'custom', message: 'expected the nextCursor of a page of calls' });
    return z.NEVER;
  });
