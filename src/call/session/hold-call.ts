/** Runs an answered call until its end, and ends the record of calls that were never answered. */
import type { Agent } from '../../domain/agent/agent.ts';
import type { Call, EndReason } from '../../domain/call/call.ts';
import { ended, type Failure, isOver } from '../../domain/call/call-life.ts';
import type { Leg } from '../../telephony/carrier.ts';
import type { CallRegistry } from '../call-registry.ts';
import { CallJournal } from './call-journal.ts';
import type { CallParts } from './call-parts.ts';
import { CallSession } from './call-session.ts';
import { beginningOf, endedEntry } from './session-timeline.ts';

/** Dependencies and record of one call's session. */
export interface Held {
  readonly parts: CallParts;
  readonly registry: CallRegistry;
  readonly agent: Agent;
  readonly call: Call;
}

/** Runs the session of an answered call. Never rejects: a call that cannot be held is hung up and ends as `error`. */
export async function holdCall(options: Held & { readonly leg: Leg }): Promise<void> {
  const { parts, registry, call, leg } = options;
  try {
    const session = new CallSession(options);
    registry.add(session);
    await session.run();
  } catch (error) {
    parts.log.error({ callId: call.id, err: error }, 'call could not be held');
    // No other code ends this leg.
    leg.hangUp().catch((cause: unknown) => {
      parts.log.warn({ callId: call.id, err: cause }, 'BYE was not answered');
    });
    await endRecord(parts, call.id);
  }
}

/** Ends the record of an unanswered call. Resolves when it is written, or after 60 s. */
export async function endUnanswered(
  parts: CallParts,
  call: Call,
  { reason, failure }: { readonly reason: EndReason; readonly failure?: Failure },
): Promise<void> {
  const { calls, clock, log, metrics, newId } = parts;
  const now = clock.now();
  const facts = { endedAt: now, eventAt: now, reason, failure, eventId: newId('evt') };
  const change = ended(call, facts);
  const journal = new CallJournal({ clock, log });
  journal.write(() => calls.update(change.call, change.events));
  for (const entry of [...beginningOf(change.call), endedEntry(change.call)]) {
    journal.write(() => calls.addTimelineEntry(call.id, entry));
  }
  metrics.callMissed(call.direction, reason);
  const isWritten = await journal.drained();
  if (!isWritten) log.error({ callId: call.id }, 'call record not written, the database refuses');
}

/** Ends the record as it was kept last with `error`, unless it is over. */
async function endRecord(parts: CallParts, callId: string): Promise<void> {
  const { calls, clock, log, newId } = parts;
  const journal = new CallJournal({ clock, log });
  journal.write(async () => {
    const now = clock.now();
    const facts = { endedAt: now, eventAt: now, reason: 'error', eventId: newId('evt') } as const;
    const change = await calls.change(callId, (kept) =>
      isOver(kept.status) ? undefined : ended(kept, facts),
    );
    if (change !== undefined) await calls.addTimelineEntry(callId, endedEntry(change.call));
  });
  await journal.drained();
}
