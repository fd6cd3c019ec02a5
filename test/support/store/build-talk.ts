/** A call in the store with everything that may hang on one: words, timeline, events, deliveries, SIP messages. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Call } from '../../../src/domain/call/call.ts';
import { addDelivery } from '../webhook/webhook-deliveries.ts';
import { buildEvent } from '../webhook/webhook-world.ts';
import { buildCall } from './build-call.ts';
import type { TestStore } from './test-store.ts';

const SECOND_MS = 1000;

/** Adds a call that was answered and is over, a minute before the store's clock, in the steps in which a server writes it. @param words said on it. */
export async function addTalk(
  store: TestStore,
  fields: Partial<Call> & { readonly id: string },
  words = 'some words',
): Promise<Call> {
  const { accountId = 'acct_1', environment = 'live', id } = fields;
  const startedAt = fields.startedAt ?? new Date(store.clock.now().getTime() - 60 * SECOND_MS);
  const ringing = buildCall({ ...fields, startedAt, createdAt: startedAt });
  const answered = {
    ...ringing,
    status: 'in_progress' as const,
    answeredAt: startedAt,
    recordingFile: join('recordings', `${id}.wav`),
  };
  const over: Call = {
    ...answered,
    status: 'completed',
    endedAt: new Date(startedAt.getTime() + 20 * SECOND_MS),
    endReason: 'user_hangup',
    durationSeconds: 20,
  };
  const event = (kind: 'call.started' | 'call.ended' | 'call.transcribed') => {
    const body = JSON.stringify({ event: kind, data: { callId: id, from: over.from, words } });
    const scope = { accountId, environment };
    return buildEvent({ id: `evt_${kind}_${id}`, kind, ...scope, callId: id, body });
  };
  await store.calls.insert(ringing, []);
  await store.calls.update(answered, [event('call.started')]);
  for (const role of ['agent', 'user'] as const) {
    await store.calls.addTranscriptEntry(id, { role, text: `${role}: ${words}`, at: startedAt });
  }
  await store.calls.addTimelineEntry(id, { at: startedAt, kind: 'answered', details: {} });
  await store.calls.update(over, [event('call.ended')]);
  const analysed = {
    ...over,
    summary: `It was about ${words}`,
    extracted: { words },
    success: { met: true, reason: words },
    intentDetected: 'booking',
  };
  const analysis = { ...analysed, sentiment: 'positive' as const, sentimentScore: 0.9 };
  await store.analyses.finish(analysis, [event('call.transcribed')]);
  await keepMessages(store, over);
  const path = join(store.folder, over.recordingFile ?? '');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `RIFF ${words}`);
  return over;
}

/** Adds 300 talks and lets their rows grow, so that SQLite moves rows between pages. @returns ids of the private ones. */
export async function addManyTalks(
  store: TestStore,
  ofPrivate: { readonly from: string; readonly words: string },
): Promise<readonly string[]> {
  const ids: string[] = [];
  const calls: Call[] = [];
  for (let index = 0; index < 300; index += 1) {
    const [id, isPrivate] = [`call_${index}`, index % 7 === 3];
    const { from, words } = isPrivate ? ofPrivate : { from: '+390611112222', words: 'the weather' };
    calls.push(await addTalk(store, { id, from }, words));
    if (index % 3 === 0) await deliverTalk(store, id);
    if (isPrivate) ids.push(id);
  }
  for (const [index, call] of calls.entries()) {
    await store.calls.update({ ...call, metadata: { dots: '.'.repeat((index * 97) % 700) } }, []);
  }
  return ids;
}

/** Sends the event of a talk to an endpoint, which echoes it. */
export async function deliverTalk(
  store: TestStore,
  callId: string,
  endpointId = 'we_1',
): Promise<void> {
  const ids = { endpointId, eventId: `evt_call.ended_${callId}`, deliveryId: `dlv_${callId}` };
  await addDelivery(store, ids, { status: 'succeeded' });
}

async function keepMessages(store: TestStore, { id, from, to }: Call): Promise<void> {
  const at = store.clock.now();
  const route = { from: '192.0.2.1:5060', to: '192.0.2.2:5060', transport: 'UDP' as const };
  const text = `INVITE sip:${to}@192.0.2.2 SIP/2.0\r\nFrom: <sip:${from}@192.0.2.1>`;
  const messages = [{ at, direction: 'in' as const, ...route, text }];
  await store.sipTraces.keep([{ callId: id, messages, isTruncated: false, keptAt: at }]);
}
