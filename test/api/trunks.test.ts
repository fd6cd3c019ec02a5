import { describe, expect, test } from 'vitest';
import type { TrunkState, Trunks } from '../../src/domain/dialing/trunk.ts';
import { addKey, FOREIGN_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const ADMIN_KEY = `svc_live_${'7'.repeat(32)}`;

const NUMBER = '+390612345678';

const TRUNK: TrunkState = {
  name: 'acme',
  source: 'file',
  account: null,
  proxy: 'sip.example.com:5060',
  domain: null,
  transport: 'udp',
  username: 'joe',
  hasPassword: true,
  realm: null,
  register: true,
  registerExpiresSeconds: 300,
  optionsIntervalSeconds: 30,
  callerId: null,
  allowedSources: ['203.0.113.0/24'],
  srtp: 'off',
  transfer: 'auto',
  acceptTransfers: false,
  callerIdHeader: 'pai',
  callsPerSecond: null,
  advertisedAddress: null,
  state: 'ready',
  detail: 'registered with sip.example.com:5060',
  expiresAt: new Date('2026-11-20T12:05:00.000Z'),
  numbers: [NUMBER, '+39069*'],
  codecs: ['PCMU', 'PCMA'],
  addressInUse: { address: '203.0.113.10', source: 'carrier' },
  callsInProgress: 2,
  maxCalls: null,
  price: {
    inbound: null,
    outbound: { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0 },
  },
};

const TRUNKS: Trunks = {
  list: () => [TRUNK],
  numbers: [NUMBER, '+39069*', '+390698765432'],
  trunksOf: (number) => (number.startsWith('+3906') ? ['acme'] : []),
  accountOf: (number) => (number.startsWith('+3906') ? null : undefined),
};

async function openWorld() {
  const api = await openTestApi({ trunks: TRUNKS });
  const scope = { accountId: 'acct_main', environment: 'live' } as const;
  await addKey(api.store, ADMIN_KEY, { ...scope, scopes: ['admin'] });
  const numbers = async (key?: string, query = '') => {
    const options = key === undefined ? {} : { key };
    return (await api.json('GET', `/api/phone-numbers${query}`, options)).body;
  };
  return { api, numbers };
}

describe('GET /api/trunks', () => {
  test('answers with every trunk, to a key with the scope admin', async () => {
    const { api } = await openWorld();

    const { status, body } = await api.json('GET', '/api/trunks', { key: ADMIN_KEY });

    expect(status).toBe(200);
    const expiresAt = '2026-11-20T12:05:00.000Z';
    expect(body).toEqual({ data: [{ ...TRUNK, expiresAt, callsMax: null }] });
  });

  test('answers 403 to a key that may do everything else', async () => {
    const { api } = await openWorld();

    expect((await api.request('GET', '/api/trunks')).status).toBe(403);
  });

  test('shows nothing but what it documents, whatever else a trunk has', async () => {
    const more = { ...TRUNK, password: 'the-password' };
    const api = await openTestApi({ trunks: { ...TRUNKS, list: () => [more] } });
    const scopes = ['admin'] as const;
    await addKey(api.store, ADMIN_KEY, { accountId: 'acct_main', environment: 'live', scopes });

    const response = await api.request('GET', '/api/trunks', { key: ADMIN_KEY });

    expect(await response.text()).not.toContain('the-password');
  });
});

describe('GET /api/phone-numbers', () => {
  test('lists the numbers of trunks and agents, with the agent that answers', async () => {
    const { api, numbers } = await openWorld();
    const own = { accountId: 'acct_main', name: 'Till' };
    await api.store.agents.insert(buildAgent({ ...own, phoneNumber: NUMBER }));
    await api.store.agents.insert(
      buildAgent({ ...own, id: 'agent_2', phoneNumber: '+12025550123' }),
    );
    await api.store.agents.insert(buildAgent({ ...own, id: 'agent_3' }));

    const body = await numbers();

    const till = { agentName: 'Till', isTaken: true };
    const unassigned = { agentId: null, agentName: null, isTaken: false };
    const free = { trunks: ['acme'], accountId: 'acct_main', ...unassigned };
    expect(body).toEqual({
      data: [
        { number: '+12025550123', trunks: [], accountId: null, agentId: 'agent_2', ...till },
        { number: NUMBER, trunks: ['acme'], accountId: 'acct_main', agentId: 'agent_1', ...till },
        { number: '+39069*', ...free },
        { number: '+390698765432', ...free },
      ],
      total: 4,
      limit: 100,
      offset: 0,
    });
  });

  test('says that another account has taken a number, and not who', async () => {
    const { api, numbers } = await openWorld();
    await api.store.agents.insert(
      buildAgent({ accountId: 'acct_foreign', name: 'Theirs', phoneNumber: NUMBER }),
    );

    const body = await numbers();

    expect(body.data[0]).toEqual({
      number: NUMBER,
      trunks: ['acme'],
      accountId: 'acct_main',
      agentId: null,
      agentName: null,
      isTaken: true,
    });
    expect(JSON.stringify(body)).not.toContain('Theirs');
    expect((await numbers(FOREIGN_KEY)).data[0]).toMatchObject({ agentName: 'Theirs' });
  });

  test('lists to the sandbox the numbers of its agents alone', async () => {
    const { api, numbers } = await openWorld();
    const sandboxed = { accountId: 'acct_main', environment: 'test', phoneNumber: NUMBER } as const;
    await api.store.agents.insert(buildAgent(sandboxed));

    expect(await numbers(TEST_KEY)).toMatchObject({
      total: 1,
      data: [{ number: NUMBER, trunks: [], agentId: 'agent_1', isTaken: true }],
    });
    expect((await numbers()).data[0]).toMatchObject({ agentId: null, isTaken: false });
  });

  test('pages', async () => {
    const { numbers } = await openWorld();

    expect(await numbers(undefined, '?limit=1&offset=1')).toMatchObject({
      data: [{ number: '+39069*' }],
      total: 3,
      limit: 1,
      offset: 1,
    });
  });

  test.each([
    '?limit=501',
    '?limit=0',
    '?offset=-1',
    '?agentId=a',
  ])('answers 400 to %s', async (query) => {
    const { api } = await openWorld();

    expect((await api.request('GET', `/api/phone-numbers${query}`)).status).toBe(400);
  });

  test('needs agents:read', async () => {
    const { api } = await openWorld();
    const key = `svc_live_${'6'.repeat(32)}`;
    const scopes = ['agents:write', 'calls:read'] as const;
    await addKey(api.store, key, { accountId: 'acct_main', environment: 'live', scopes });

    expect((await api.request('GET', '/api/phone-numbers', { key })).status).toBe(403);
  });
});
