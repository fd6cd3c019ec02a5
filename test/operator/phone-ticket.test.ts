/** `POST /dashboard/phone`: who gets a ticket to call an agent from the browser, and how long it is good. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { PhoneTickets } from '../../src/operator/operator-sessions.ts';
import { openSignedIn } from '../support/dashboard/dashboard-world.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const LIVE = { accountId: 'acct_main', environment: 'live' } as const;

async function open(given: Parameters<typeof openSignedIn>[0] = {}) {
  const world = await openSignedIn(given);
  const agent = buildAgent({ ...LIVE, id: 'agent_front' });
  await world.store.agents.insert(agent);
  const ask = (body: object, more: object = {}) =>
    world.browser.ask('POST', '/dashboard/phone', {
      body: { ...LIVE, agentId: agent.id, ...body },
      ...more,
    });
  return { ...world, ask };
}

test('POST /dashboard/phone gives a ticket, the address of its WebSocket, and the called agent', async () => {
  const { ask, store } = await open();

  const answer = await ask({}, { headers: { Origin: 'http://localhost' } });
  const body = (await answer.json()) as { readonly ticket: string };

  expect(body).toEqual({
    ticket: expect.stringMatching(/^[\w-]{43}$/),
    expiresAt: new Date(store.clock.nowMs() + 60_000).toISOString(),
    url: `ws://localhost/dashboard/sip?ticket=${body.ticket}`,
    uri: 'sip:agent_front@offhook.invalid',
    domain: 'offhook.invalid',
  });
});

test('POST /dashboard/phone names the way that the page came by, below PUBLIC_URL where it came by that', async () => {
  const { ask } = await open({ publicUrl: 'https://phones.example/desk' });
  const urlFor = async (headers: object) => {
    const { url } = (await (await ask({}, { headers })).json()) as { readonly url: string };
    return url.replace(/\?.*/, '');
  };

  expect(await urlFor({ Origin: 'https://phones.example' })).toBe(
    'wss://phones.example/desk/dashboard/sip',
  );
  expect(await urlFor({ Origin: 'http://localhost' })).toBe('ws://localhost/dashboard/sip');
  expect(await urlFor({})).toBe('wss://phones.example/desk/dashboard/sip');
});

test('POST /dashboard/phone gives a ticket for the draft of an agent that has one', async () => {
  const { ask, store, dashboard } = await open();
  const without = await ask({ draft: true });
  const now = store.clock.now();
  const draft = { changes: { name: 'New' }, basedOnAt: now, by: 'api', updatedAt: now } as const;
  await store.agentDrafts.save('agent_front', draft);

  const { ticket } = (await (await ask({ draft: true })).json()) as { readonly ticket: string };

  expect(without.status).toBe(404);
  expect(dashboard.tickets.take(ticket)).toMatchObject({ agentId: 'agent_front', isDraft: true });
});

test.each([
  ['another account’s agent', { accountId: 'acct_other' }, 404],
  ['the other environment’s agent', { environment: 'test' }, 404],
  ['no agent', { agentId: 'agent_none' }, 404],
  ['no environment', { environment: 'both' }, 400],
  ['an unknown field', { number: '+12025550123' }, 400],
])('POST /dashboard/phone gives no ticket for %s', async (_, body, status) => {
  const { ask } = await open();

  expect((await ask(body)).status).toBe(status);
});

test('POST /dashboard/phone wants a session, its token, and our own page', async () => {
  const { ask, browser } = await open();

  const untold = await ask({}, { csrfToken: null });
  const foreign = await ask({}, { headers: { Origin: 'https://evil.example' } });
  browser.cookie = undefined;
  const stranger = await ask({});

  expect([untold.status, foreign.status, stranger.status]).toEqual([403, 403, 401]);
});

function tickets() {
  const clock = new FakeClock();
  const book = new PhoneTickets({ clock, random: (count) => randomBytes(count) });
  const issue = (agentId: string) =>
    book.issue({ scope: LIVE, agentId, isDraft: false, sessionHash: 'session' }).text;
  return { clock, book, issue };
}

test('PhoneTickets.take gives a ticket out once', () => {
  const { book, issue } = tickets();
  const text = issue('agent_front');

  const [first, second] = [book.take(text), book.take(text)];

  expect(first).toMatchObject({ agentId: 'agent_front', sessionHash: 'session' });
  expect(second).toBeUndefined();
});

test('PhoneTickets.take refuses a ticket that is a minute old', () => {
  const { book, clock, issue } = tickets();
  const [one, other] = [issue('agent_one'), issue('agent_other')];

  clock.advance(59_999);
  const inTime = book.take(one);
  clock.advance(1);

  expect(inTime?.agentId).toBe('agent_one');
  expect(book.take(other)).toBeUndefined();
});

test('PhoneTickets keeps a hundred tickets, the newest', () => {
  const { book, issue } = tickets();

  const texts = Array.from({ length: 101 }, (_, index) => issue(`agent_${index}`));

  expect(
    [texts.at(0), texts.at(1), texts.at(-1)].map((text) => book.take(text ?? '')?.agentId),
  ).toEqual([undefined, 'agent_1', 'agent_100']);
});
