/** The ledger of events as customers see it, and the cursor that marks a place in it; pure */
import { createHash } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { LedgerPage, ServiceEvent } from '../../domain/webhook/service-event.ts';
import type { eventSchema, ledgerPageSchema } from '../schemas/event-schemas.ts';

export function serializeLedgerPage(
  scope: Scope,
  page: LedgerPage,
): z.infer<typeof ledgerPageSchema> {
  return {
    data: page.events.map(eventView),
    nextCursor: cursorOf(scope, page.nextPosition),
    hasMore: page.hasMore,
  };
}

/** @throws {ServiceError} VALIDATION_ERROR when no page of this account and environment gave the cursor. */
export function positionOf(scope: Scope, cursor: string): number {
  const [digits = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  const position = Number(digits);
  if (!Number.isSafeInteger(position) || cursorOf(scope, position) !== cursor) {
    const message = 'expected a nextCursor that this account and environment was given';
    throw new ServiceError('VALIDATION_ERROR', `Cannot read the query: cursor: ${message}`, [
      { path: 'cursor', message },
    ]);
  }
  return position;
}

/**
 * Base64url of `<position>.<check>`. The check finds mistakes; it keeps no secret, because a page never holds events of
 * other events, at any position.
 */
function cursorOf({ accountId, environment }: Scope, position: number): string {
  const hash = createHash('sha256').update(`${accountId} ${environment} ${position}`);
  const check = hash.digest('base64url').slice(0, 8);
  return Buffer.from(`${position}.${check}`).toString('base64url');
}

/** The envelope is in the bytes that were sent, and nowhere else. */
function eventView(event: ServiceEvent): z.infer<typeof eventSchema> {
  return JSON.parse(event.body) as z.infer<typeof eventSchema>;
}
