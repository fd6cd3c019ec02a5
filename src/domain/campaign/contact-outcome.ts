/** State of a contact after its call is over, or is taken back. */
import { AGENT_PAUSED, abandonQueued } from '../dialing/outbound-rules.ts';
import type { NewId } from '../ids.ts';
import type { Stores } from '../stores.ts';
import type { Campaign, Contact, ContactCall } from './campaign.ts';

/** The contact after its call: done, or pending for another one; pure. */
export function contactAfter(
  contact: Contact,
  call: ContactCall | undefined,
  { campaign, now }: { readonly campaign: Campaign; readonly now: Date },
): Contact {
  if (call === undefined) {
    return { ...contact, state: 'failed', callId: null, reason: 'Its call was erased.' };
  }
  const { endReason, failureReason: reason } = call;
  const isUnfinished = campaign.status === 'running' || campaign.status === 'paused';
  // It was never dialled: the campaign pauses for its agent, and the number keeps its turn.
  if (reason === AGENT_PAUSED && isUnfinished) return asBeforeCall(contact, now);
  const after = { ...contact, endReason, reason };
  if (call.status === 'completed') return { ...after, state: 'completed' };
  const mayRetry = endReason === 'no_answer' || endReason === 'busy';
  if (!mayRetry || !isUnfinished || contact.attempts > campaign.retriesMax) {
    return { ...after, state: 'failed' };
  }
  const dueAt = new Date(now.getTime() + campaign.retryDelaySeconds * 1000);
  return { ...after, state: 'pending', dueAt };
}

/**
 * Takes back the calls of a campaign that wait to be dialled, so that a paused campaign makes no further call. Run it in the
 * transaction that stops the campaign.
 */
export async function withdrawQueued(
  { calls, campaigns }: Pick<Stores, 'calls' | 'campaigns'>,
  campaignId: string,
  { now, newId }: { readonly now: Date; readonly newId: NewId },
): Promise<void> {
  for (const { callStatus, ...contact } of await campaigns.calling(campaignId)) {
    if (callStatus !== 'queued' || contact.callId === null) continue;
    const change = await calls.change(contact.callId, (call) =>
      call.status === 'queued' ? abandonQueued(call, { now, eventId: newId('evt') }) : undefined,
    );
    if (change !== undefined) await campaigns.saveContact(asBeforeCall(contact, now));
  }
}

/** The contact as if its newest call had not been made. */
function asBeforeCall(contact: Contact, now: Date): Contact {
  const attempts = contact.attempts - 1;
  return { ...contact, state: 'pending', attempts, callId: null, reason: null, dueAt: now };
}
