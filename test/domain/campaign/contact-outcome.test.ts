import { expect, test } from 'vitest';
import type { Campaign, Contact, ContactCall } from '../../../src/domain/campaign/campaign.ts';
import { contactAfter } from '../../../src/domain/campaign/contact-outcome.ts';
import { newCampaign } from '../../../src/domain/campaign/new-campaign.ts';
import { AGENT_PAUSED } from '../../../src/domain/dialing/outbound-rules.ts';
import { buildAgent } from '../../support/store/build-agent.ts';

const NOW = new Date('2026-11-20T12:00:00.000Z');

const draft = { name: 'Recall', csv: 'to\n+390612345678', callsPerMinute: 10 };
const { campaign } = newCampaign(
  { ...draft, maxConcurrentCalls: 5, retries: { max: 1, delaySeconds: 60 } },
  { id: 'camp_1', agent: buildAgent(), now: NOW },
);

const CALLING: Contact = {
  ...{ campaignId: 'camp_1', position: 1, to: '+390612345678', metadata: {}, overrides: {} },
  ...{ state: 'calling', attempts: 1, callId: 'call_1', endReason: null, reason: null },
  dueAt: NOW,
};

function after(
  call: ContactCall | undefined,
  { attempts = 1, status = 'running' }: { attempts?: number; status?: Campaign['status'] } = {},
): Contact {
  const facts = { campaign: { ...campaign, status }, now: NOW };
  return contactAfter({ ...CALLING, attempts }, call, facts);
}

const failed = (endReason: ContactCall['endReason'], failureReason = 'Why.'): ContactCall => ({
  status: 'failed',
  endReason,
  failureReason,
});

test.each([
  ['an answered call', { status: 'completed', endReason: 'user_hangup', failureReason: null }],
  [
    'a call that a machine took',
    { status: 'completed', endReason: 'agent_hangup', failureReason: null },
  ],
] as const)('contactAfter is done after %s', (_what, call) => {
  expect(after(call)).toMatchObject({ state: 'completed', endReason: call.endReason });
});

test.each([
  'busy',
  'no_answer',
] as const)('contactAfter waits for another call after %s', (reason) => {
  expect(after(failed(reason))).toMatchObject({
    ...{ state: 'pending', attempts: 1, callId: 'call_1', endReason: reason, reason: 'Why.' },
    dueAt: new Date('2026-11-20T12:01:00.000Z'),
  });
});

test.each([
  ['all attempts', failed('busy'), { attempts: 2 }],
  ['an error', failed('error'), {}],
  ['the end of its campaign', failed('busy'), { status: 'cancelled' }],
] as const)('contactAfter gives up after %s', (_what, call, facts) => {
  expect(after(call, facts)).toMatchObject({ state: 'failed', endReason: call.endReason });
});

test('contactAfter keeps the turn of a number whose agent was paused before it was dialled', () => {
  expect(after(failed('error', AGENT_PAUSED))).toMatchObject({
    ...{ state: 'pending', attempts: 0, callId: null, dueAt: NOW },
  });
});

test('contactAfter says that the call was erased', () => {
  expect(after(undefined)).toMatchObject({ state: 'failed', callId: null });
});
