/** Which outgoing calls may be asked for, and how they join and leave the queue. */
import { expect, test } from 'vitest';
import { type Account, KEEP_CALLS } from '../../src/domain/account/account.ts';
import {
  abandonQueued,
  estimatedStartMs,
  type OutboundDraft,
  type OutboundFacts,
  queueCall,
  requireOutbound,
  type WayOut,
} from '../../src/domain/dialing/outbound-rules.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';

const FROM = '+390698765432';
const TO = '+390612345678';
const NOW = new Date('2026-11-20T12:00:00.000Z');

const ACCOUNT: Account = {
  id: 'acct_1',
  name: 'Dentist',
  plan: 'business',
  minutesIncluded: 1000,
  transferTargets: [],
  allowedCountries: null,
  callingHours: null,
  retention: KEEP_CALLS,
  createdAt: NOW,
};

const FACTS: OutboundFacts = {
  id: 'call_1',
  now: NOW,
  agent: buildAgent({ phoneNumber: FROM }),
  account: ACCOUNT,
  hasTrunkFor: () => true,
  ownerOf: async () => undefined,
  holderOf: async () => undefined,
};

const queue = (draft: Partial<OutboundDraft> = {}, facts: Partial<OutboundFacts> = {}) =>
  queueCall({ to: TO, ...draft }, { ...FACTS, ...facts });

const sandboxed = (phoneNumber: string | null) => buildAgent({ environment: 'test', phoneNumber });

test('queueCall makes the record of a call that waits, from the number of the agent', async () => {
  const overrides = { greeting: 'Good morning', maxDurationSeconds: undefined };

  const call = await queue({ metadata: { customer: 7 }, overrides });

  expect(call).toEqual({
    ...buildCall({ direction: 'outbound', status: 'queued', from: FROM, to: TO, createdAt: NOW }),
    carrierCallSid: null,
    startedAt: null,
    expiresAt: new Date(NOW.getTime() + 600_000),
    metadata: { customer: 7 },
    overrides: { greeting: 'Good morning' },
  });
});

test('queueCall takes the number that the request names before the agent’s', async () => {
  expect((await queue({ from: '+390687654321' })).from).toBe('+390687654321');
});

test('queueCall lets a call wait for as long as it was asked for', async () => {
  expect((await queue({ expiresInSeconds: 30 })).expiresAt).toEqual(
    new Date(NOW.getTime() + 30_000),
  );
});

test.each([
  [
    'a paused agent',
    {},
    { agent: buildAgent({ status: 'paused', phoneNumber: FROM }) },
    'CONFLICT',
    'paused',
  ],
  ['a call from nowhere', {}, { agent: buildAgent() }, 'UNPROCESSABLE', 'from is missing'],
  ['a call from no number', { from: 'me' }, {}, 'UNPROCESSABLE', 'E.164'],
  ['a call from the police', { from: '112' }, {}, 'UNPROCESSABLE', 'emergency'],
  [
    'a call from a number without a trunk',
    {},
    { hasTrunkFor: () => false },
    'UNPROCESSABLE',
    'no trunk',
  ],
  [
    'a call from a number of another account',
    { from: '+390611111111' },
    { holderOf: async () => buildAgent({ accountId: 'acct_2' }) },
    'UNPROCESSABLE',
    'not a number of this account',
  ],
  ['a call to no number', { to: '12345678' }, {}, 'UNPROCESSABLE', 'E.164'],
  ['a call to the police', { to: '+39112' }, {}, 'UNPROCESSABLE', 'emergency and short numbers'],
  ['a call abroad', { to: '+4930123456' }, {}, 'UNPROCESSABLE', 'country'],
  [
    'a call to a country that is not on the list of the account',
    {},
    { account: { ...ACCOUNT, allowedCountries: ['DE'] } },
    'UNPROCESSABLE',
    'country',
  ],
  [
    'a call to a number that rings here',
    {},
    { holderOf: async (number: string) => (number === TO ? buildAgent() : undefined) },
    'UNPROCESSABLE',
    'loop',
  ],
  ['a call to itself', { to: FROM }, {}, 'UNPROCESSABLE', 'loop'],
  [
    'a call to the agent, from another number',
    { to: FROM, from: '+390687654321' },
    {},
    'UNPROCESSABLE',
    'loop',
  ],
] as const)('queueCall refuses %s', async (_what, draft, facts, code, message) => {
  await expect(queue(draft, facts)).rejects.toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(message) }),
  );
});

test('queueCall lets an account call where its list says', async () => {
  const account = { ...ACCOUNT, allowedCountries: ['DE', 'IT'] };

  expect((await queue({ to: '+4930123456' }, { account })).to).toBe('+4930123456');
});

test.each([
  ['the number of its agent', '+15550100001', undefined],
  ['the number of the request', null, '+15550100001'],
])('queueCall places sandbox calls from %s, without a trunk', async (_what, phoneNumber, from) => {
  const facts = { agent: sandboxed(phoneNumber), hasTrunkFor: () => false };

  expect((await queue({ to: '+15550100005', from }, facts)).from).toBe('+15550100001');
});

test.each([
  'live',
  'test',
] as const)('queueCall refuses a %s call that has no number to come from', async (environment) => {
  const agent = buildAgent({ environment, phoneNumber: null });

  await expect(queue({}, { agent })).rejects.toThrow(
    expect.objectContaining({
      code: 'UNPROCESSABLE',
      message: 'Cannot start the call: from is missing, and the agent has no phoneNumber',
    }),
  );
});

test('queueCall lets sandbox calls go to every country, and to no emergency number', async () => {
  const facts = { agent: sandboxed('+15550100001') };

  expect((await queue({ to: '+4930123400' }, facts)).to).toBe('+4930123400');
  await expect(queue({ to: '911' }, facts)).rejects.toThrow('emergency');
});

test('requireOutbound refuses the plans that have no outbound calls', () => {
  expect(() => requireOutbound({ ...ACCOUNT, plan: 'starter' }, ['starter'])).toThrow(
    expect.objectContaining({ code: 'FORBIDDEN' }),
  );
  expect(() => requireOutbound(ACCOUNT, ['starter'])).not.toThrow();
});

test('abandonQueued ends a queued call as unanswered, with its event', async () => {
  const { call, events } = abandonQueued(await queue(), { now: NOW, eventId: 'evt_1' });

  expect(call).toMatchObject({
    status: 'failed',
    endReason: 'no_answer',
    failureReason: 'The call was hung up before it was dialled.',
    endedAt: NOW,
    startedAt: NOW,
  });
  expect(events.map(({ kind }) => kind)).toEqual(['call.ended']);
});

test('abandonQueued says what the call has waited for', async () => {
  const waiting = {
    ...(await queue()),
    failureReason: 'All lines of the trunk "main" are in use.',
  };

  const { call } = abandonQueued(waiting, { now: NOW, eventId: 'evt_1' });

  expect(call.failureReason).toBe(
    'The call was hung up before it was dialled. All lines of the trunk "main" are in use.',
  );
});

const WAY: WayOut = {
  callsAhead: 0,
  nextDialAtMs: 0,
  callsPerSecond: 5,
  linesFree: 10,
  linesTotal: 10,
  lineHeldMs: 60_000,
};

test.each([
  ['at once when nothing is in the way', {}, 0],
  ['when the pace allows', { nextDialAtMs: 1_000_150 }, 150],
  ['after those ahead, at the pace', { callsAhead: 8 }, 1600],
  ['when the first line gets free', { linesFree: 0 }, 6000],
  ['when as many lines got free as calls wait', { linesFree: 0, callsAhead: 9 }, 60_000],
  [
    'when the lines that are free now are taken by those ahead',
    { linesFree: 4, callsAhead: 4 },
    6000,
  ],
  [
    'at the pace, where lines get free faster',
    { linesFree: 1, callsAhead: 100, linesTotal: 1000 },
    20_000,
  ],
  [
    'at the pace, without a limit of lines',
    { linesFree: Infinity, linesTotal: Infinity, callsAhead: 999 },
    199_800,
  ],
])('estimatedStartMs: %s', (_what, way, expected) => {
  expect(estimatedStartMs({ ...WAY, ...way }, 1_000_000) - 1_000_000).toBe(expected);
});

test('queueCall looks up who holds the called number, and not its own agent again', async () => {
  const looked: string[] = [];
  const holderOf = async (number: string) => {
    looked.push(number);
    return undefined;
  };

  await queue({}, { holderOf });

  expect(looked).toEqual([TO]);
});
