/** A trunk's numbers belong to accounts: another account neither calls from them nor answers them. */
import { expect, test } from 'vitest';
import type { Trunks } from '../../src/domain/dialing/trunk.ts';
import {
  addKey,
  FOREIGN_KEY,
  LIVE_KEY,
  openTestApi,
  type TestApi,
} from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';

/** Of the first account, `acct_main`. */
const OPERATOR_KEY = `svc_live_${'9'.repeat(32)}`;
const OPERATOR_TEST_KEY = `svc_test_${'8'.repeat(32)}`;
/** Of `acct_foreign`. */
const FOREIGN_ADMIN_KEY = `svc_live_${'7'.repeat(32)}`;

const [OF_MAIN, OF_FOREIGN, OFF_TRUNK] = ['+390612345678', '+390698765432', '+12025550123'];

/** One trunk is the first account's, since it names none; the other is that of `acct_foreign`. */
const TRUNKS: Trunks = {
  list: () => [],
  numbers: [OF_MAIN, OF_FOREIGN],
  trunksOf: (number) => (number.startsWith('+39') ? ['acme'] : []),
  accountOf: (number) => {
    if (!number.startsWith('+39')) return undefined;
    return number === OF_FOREIGN ? 'acct_foreign' : null;
  },
};

const AGENT = { name: 'Desk', greeting: 'Hello.', systemPrompt: 'Be brief.' };

async function openWorld() {
  const api = await openTestApi({ trunks: TRUNKS });
  const scopes = ['admin'] as const;
  const [main, foreign] = [{ accountId: 'acct_main' }, { accountId: 'acct_foreign' }];
  await addKey(api.store, OPERATOR_KEY, { ...main, environment: 'live', scopes });
  await addKey(api.store, OPERATOR_TEST_KEY, { ...main, environment: 'test', scopes });
  await addKey(api.store, FOREIGN_ADMIN_KEY, { ...foreign, environment: 'live', scopes });
  return api;
}

const createAgent = (api: TestApi, phoneNumber: string, key?: string) =>
  api.json('POST', '/api/agents', { body: { ...AGENT, phoneNumber }, ...(key && { key }) });

const assign = (api: TestApi, number: string, accountId: string, key = OPERATOR_KEY) =>
  api.json('PUT', `/api/phone-numbers/${number}`, { key, body: { accountId } });

const unassign = (api: TestApi, number: string, key = OPERATOR_KEY) =>
  api.request('DELETE', `/api/phone-numbers/${number}`, { key });

test('POST /api/agents answers 422 to a number of a trunk of another account', async () => {
  const api = await openWorld();

  const { status, body } = await createAgent(api, OF_MAIN, FOREIGN_KEY);

  expect([status, body.error.code]).toEqual([422, 'UNPROCESSABLE']);
  expect(body.error.message).toBe(
    `Cannot use phoneNumber "${OF_MAIN}": it is not a number of this account`,
  );
});

test.each([
  ['the account that its trunk names', OF_FOREIGN, FOREIGN_KEY],
  ['the first account where its trunk names none', OF_MAIN, LIVE_KEY],
  ['the first account where no trunk has it', OFF_TRUNK, LIVE_KEY],
  ['another account where no trunk has it', OFF_TRUNK, FOREIGN_KEY],
])('POST /api/agents gives a number to %s', async (_case, number, key) => {
  const api = await openWorld();

  expect((await createAgent(api, number, key)).status).toBe(201);
});

test('PATCH /api/agents/{agentId} and a restored version answer 422 to a number of another account', async () => {
  const api = await openWorld();
  const { body: agent } = await createAgent(api, OFF_TRUNK, FOREIGN_KEY);
  const path = `/api/agents/${agent.id}`;
  await api.request('DELETE', `${path}/phone-number`, { key: FOREIGN_KEY });
  await assign(api, OFF_TRUNK, 'acct_main');

  const body = { phoneNumber: OF_MAIN };
  const patched = await api.json('PATCH', path, { body, key: FOREIGN_KEY });
  const restored = await api.json('POST', `${path}/versions/1/restore`, { key: FOREIGN_KEY });

  expect([patched.status, restored.status]).toEqual([422, 422]);
});

test('PATCH of an agent that holds a number of another account may leave the number as it is', async () => {
  const api = await openWorld();
  const held = { id: 'agent_old', accountId: 'acct_foreign', phoneNumber: OF_MAIN };
  await api.store.agents.insert(buildAgent(held));

  const body = { name: 'Renamed', phoneNumber: OF_MAIN };
  const options = { body, key: FOREIGN_KEY };
  const { status } = await api.json('PATCH', '/api/agents/agent_old', options);

  expect(status).toBe(200);
});

test('POST /api/calls/outbound answers 422 to a `from` of another account', async () => {
  const api = await openWorld();
  const { body: agent } = await createAgent(api, OF_FOREIGN, FOREIGN_KEY);
  const start = (from: string) => {
    const body = { agentId: agent.id, to: '+390622222222', from };
    return api.json('POST', '/api/calls/outbound', { body, key: FOREIGN_KEY });
  };

  const [own, foreign] = [await start(OF_FOREIGN), await start(OF_MAIN)];

  expect([own.status, foreign.status]).toEqual([202, 422]);
  expect(foreign.body.error.message).toBe(
    `Cannot use from "${OF_MAIN}": it is not a number of this account`,
  );
});

test('An assigned number is its account’s alone, and its trunk’s again without the assignment', async () => {
  const api = await openWorld();

  const { status, body } = await assign(api, OF_MAIN, 'acct_foreign');
  const [byMain, byForeign] = [
    await createAgent(api, OF_MAIN),
    await createAgent(api, OF_MAIN, FOREIGN_KEY),
  ];
  const held = await unassign(api, OF_MAIN);
  const path = `/api/agents/${byForeign.body.id}/phone-number`;
  await api.request('DELETE', path, { key: FOREIGN_KEY });
  const freed = await unassign(api, OF_MAIN);
  const again = await createAgent(api, OF_MAIN, FOREIGN_KEY);

  const facts = { number: OF_MAIN, trunks: ['acme'], accountId: 'acct_foreign' };
  expect(status).toBe(200);
  expect(body).toEqual({ ...facts, agentId: null, agentName: null, isTaken: false });
  expect([byMain.status, byForeign.status]).toEqual([422, 201]);
  expect([held.status, freed.status, again.status]).toEqual([409, 204, 422]);
});

test('PUT /api/phone-numbers/{number} takes the beginning of numbers and a star; a longer one counts first', async () => {
  const api = await openWorld();
  await assign(api, '+39*', 'acct_main');
  await assign(api, '+3906123*', 'acct_foreign');

  const statuses = [
    (await createAgent(api, OF_MAIN, FOREIGN_KEY)).status,
    (await createAgent(api, OF_FOREIGN, FOREIGN_KEY)).status,
    (await createAgent(api, OF_FOREIGN, LIVE_KEY)).status,
  ];

  expect(statuses).toEqual([201, 422, 201]);
});

test('PUT /api/phone-numbers/{number} answers 409 while an agent of another account holds the number', async () => {
  const api = await openWorld();
  await createAgent(api, OF_MAIN);

  const exact = await assign(api, OF_MAIN, 'acct_foreign');
  const covered = await assign(api, '+39061*', 'acct_foreign');

  expect([exact.status, covered.status]).toEqual([409, 409]);
  expect(exact.body.error.message).toContain('an agent of another account holds');
  expect((await unassign(api, OF_MAIN)).status).toBe(404);
});

test.each([
  ['an admin key of another account', FOREIGN_ADMIN_KEY],
  ['a test key of the first account', OPERATOR_TEST_KEY],
  ['a key without admin', LIVE_KEY],
])('Numbers are not assigned by %s', async (_case, key) => {
  const api = await openWorld();

  const put = await assign(api, OF_MAIN, 'acct_foreign', key);
  const removed = await unassign(api, OF_MAIN, key);

  expect([put.status, removed.status]).toEqual([403, 403]);
});

test.each([
  ['no number', 'abc', 'acct_main'],
  ['an impossible number', '+3906', 'acct_main'],
  ['an unknown account', OF_MAIN, 'acct_none'],
])('PUT /api/phone-numbers/{number} answers 422 to %s', async (_case, number, accountId) => {
  const api = await openWorld();

  expect((await assign(api, number, accountId)).status).toBe(422);
});

test('DELETE /api/phone-numbers/{number} answers 404 where nothing is assigned', async () => {
  const api = await openWorld();

  expect((await unassign(api, OF_MAIN)).status).toBe(404);
});

test('GET /api/phone-numbers shows an account its own numbers, and all to the operator', async () => {
  const api = await openWorld();
  await assign(api, '+49*', 'acct_foreign');
  const list = async (key: string) => {
    const { body } = await api.json('GET', '/api/phone-numbers', { key });
    const data = body.data as unknown as readonly { number: string; accountId: string | null }[];
    return data.map(({ number, accountId }) => [number, accountId]);
  };

  const lists = [await list(OPERATOR_KEY), await list(LIVE_KEY), await list(FOREIGN_ADMIN_KEY)];

  const main = [OF_MAIN, 'acct_main'];
  const foreign = [
    [OF_FOREIGN, 'acct_foreign'],
    ['+49*', 'acct_foreign'],
  ];
  expect(lists).toEqual([[main, ...foreign], [main], foreign]);
});
