/** Where a customer may hand a call over to. */
import { expect, test } from 'vitest';
import { type TransferFacts, transferTarget } from '../../src/domain/agent/transfer-rules.ts';
import { ServiceError } from '../../src/domain/service-error.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';

const OURS = '+390698765432';
const TARGET = '+390612345678';
const FOREIGN = '+12025550123';

const FACTS: TransferFacts = {
  call: buildCall({ to: OURS, from: '+4930901820' }),
  agent: buildAgent({ phoneNumber: OURS }),
  account: { allowedCountries: null, transferTargets: [] },
  holderOf: async () => undefined,
};

/** The number that a call may go to, or why it may not. */
async function outcome(to: string, facts: Partial<TransferFacts> = {}): Promise<string> {
  try {
    return await transferTarget(to, { ...FACTS, ...facts });
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code} ${error.message}`;
    throw error;
  }
}

test('transferTarget takes a number of the country of ours', async () => {
  expect(await outcome(TARGET)).toBe(TARGET);
});

test.each([
  ['an emergency number', '112', 'emergency'],
  ['no number', 'the boss', 'expected a possible number'],
  ['another country', FOREIGN, 'country'],
  ['a premium number', '+39899123456', 'kind'],
  ['a satellite', '+881612345678', 'network'],
  ['our own number', OURS, 'loop'],
])('transferTarget refuses %s', async (_what, to, why) => {
  const refusal = await outcome(to);

  expect(refusal).toContain(`UNPROCESSABLE Cannot use to "${to}": `);
  expect(refusal).toContain(why);
});

test('transferTarget refuses the number of another agent', async () => {
  const holderOf = async (number: string) => (number === TARGET ? buildAgent() : undefined);

  expect(await outcome(TARGET, { holderOf })).toContain('loop');
});

test('transferTarget goes by our number on an outbound call', async () => {
  const call = buildCall({ direction: 'outbound', from: '+12025550199', to: TARGET });

  expect(await outcome(FOREIGN, { call })).toBe(FOREIGN);
  expect(await outcome(TARGET, { call })).toContain('country');
});

test('transferTarget takes the countries of the account, where it has a list', async () => {
  const account = { allowedCountries: ['US'], transferTargets: [] };

  expect(await outcome(FOREIGN, { account })).toBe(FOREIGN);
  expect(await outcome(TARGET, { account })).toContain('country');
});

test('transferTarget takes listed numbers alone on a call that has no number of ours', async () => {
  const call = buildCall({ from: 'browser', to: 'agent_1' });
  const agent = buildAgent({ phoneNumber: null });
  const account = { allowedCountries: null, transferTargets: [{ label: 'desk', number: FOREIGN }] };

  expect(await outcome(FOREIGN, { call, agent, account })).toBe(FOREIGN);
  expect(await outcome(TARGET, { call, agent, account })).toContain('country');
});

test('transferTarget accepts any country in the sandbox, but no forbidden number', async () => {
  const call = buildCall({ environment: 'test', to: OURS });

  expect(await outcome(FOREIGN, { call })).toBe(FOREIGN);
  expect(await outcome('+39899123456', { call })).toContain('kind');
});
