/** Runs an answered call until its end, and ends the record of calls that were never answered. */
import type { Agent } from '../../domain/agent/agent.ts';
import type { Call, EndReason } from '../../domain/call/call.ts';
import type { Failure } from '../../domain/call/call-life.ts';
import { isOver } from '../../domain/call/call-life.ts';
import { CarrierError, type IncomingCall, type Leg } from '../../telephony/carrier.ts';
import type { CallRegistry } from '../call-registry.ts';
import { CallJournal, ended } from './call-journal.ts';
import type { CallParts } from './call-parts.ts';
import { CallSession } from './call-session.ts';
import { CALLER_GAVE_UP, failureOf } from './end-reason.ts';
import { beginningOf, endedEntry } from './session-timeline.ts';

/** Time limit for saving the end of an unanswered call. */
const RECORD_WAIT_MS = 60_000;

interface Held {
  readonly parts: CallParts;
  readonly registry: CallRegistry;
  readonly agent: Agent;
  readonly call: Call;
}

/**
 * Answers a call that rings here, and runs it until its end.
 *
 * @param held.save puts the call on record, where it is not yet.
 */
export async function answerAndHold(
  held: Held & { readonly incoming: IncomingCall; readonly save?: () => Promise<void> },
): Promise<void> {
  const { call, incoming, parts, registry, save } = held;
  const refuse = () => incoming.reject(503);
  registry.add({ callId: call.id, hangUp: refuse, end: async () => refuse() });
  try {
    await save?.();
    const leg = await answerOf(incoming, call, parts);
    if (leg !== undefined) await holdCall({ ...held, leg });
  } finally {
    registry.delete(call.id);
  }
}

/** @returns undefined when the caller gave up; the call is over and on record then. */
async function answerOf(
  incoming: IncomingCall,
  call: Call,
  parts: CallParts,
): Promise<Leg | undefined> {
  let isCancelled = false;
  incoming.onCancelled(() => {
    isCancelled = true;
  });
  try {
    return await incoming.answer({ callId: call.id });
  } catch (error) {
    const isGone = isCancelled || (error instanceof CarrierError && error.sipStatus === 487);
    const isTheirFault = error instanceof CarrierError && error.sipStatus < 500;
    if (!isGone) {
      const facts = { callId: call.id, err: error };
      parts.log[isTheirFault ? 'warn' : 'error'](facts, 'incoming call was not answered');
    }
    const end = isGone
      ? { reason: 'no_answer' as const, failure: CALLER_GAVE_UP }
      : { reason: 'error' as const, failure: failureOf(error) };
    await endUnanswered(parts, call, end);
    return undefined;
  }
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
  const isWritten = await journal.drained(RECORD_WAIT_MS);
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
  await journal.drained(RECORD_WAIT_MS);
}
