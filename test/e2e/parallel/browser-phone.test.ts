/** A browser's call at a whole server, with werift as the browser: ticket, sound, keys, hold, and every way to end it. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../sip/user-agents.ts';
import { SignedIn } from '../../support/dashboard/signed-in.ts';
import { startServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { SipWsClient } from '../../support/sip/sip-ws-client.ts';
import { BrowserPeer } from '../../telephony/support/browser-peer.ts';

let server: TestServer;
let operator: SignedIn;
let agentId: string;
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  server = await (await startServer()).ready();
  agentId = await server.createAgent({ phoneNumber: '+12025550123' });
  operator = await SignedIn.at(server);
});

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

afterAll(async () => {
  await server.stop();
});

async function connect(environment: 'live' | 'test' = 'live', id = agentId) {
  const ticket = await operator.ticket(id, { environment });
  const sip = await SipWsClient.open(ticket.url, server.baseUrl);
  stops.push(() => sip.close());
  return { ticket, sip };
}

async function call() {
  const { ticket, sip } = await connect();
  const browser = new BrowserPeer();
  stops.push(() => browser.close());
  const offer = await browser.offer();
  const answer = await sip.invite(ticket.uri, offer);
  if (answer.status !== 200) throw new Error(`The call was refused with ${answer.status}`);
  await browser.take(answer.body.toString());
  await browser.connected();
  browser.speak();
  return { sip, browser, offer, callId: answer.get('x-service-call') };
}

/** Whether the key stands in the call's transcript; waits for it. */
async function keyHeard(id: string, key: string): Promise<boolean> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { body } = await server.api('GET', `/api/calls/${id}`);
    const texts = (body.transcript as readonly { readonly text: string }[]).map(({ text }) => text);
    if (texts.some((text) => text.startsWith('(pressed') && text.includes(key))) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** Asks as the test environment's own key. */
async function rehearse(method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

async function newestCall(): Promise<Record<string, unknown>> {
  const [newest = {}] = await server.endedCalls();
  return newest;
}

test('a browser hears the greeting, and the call is on record as any other', async () => {
  const { sip, browser } = await call();

  await eventually(() => browser.hasHeardSound, 'the greeting');
  const bye = await sip.bye();
  const record = await newestCall();

  expect(bye.status).toBe(200);
  expect(record).toMatchObject({
    direction: 'inbound',
    from: 'browser',
    to: '+12025550123',
    agentId,
    status: 'completed',
    endReason: 'user_hangup',
  });
});

test('a browser is heard: its keys come by RTP and by INFO, and the agent hangs up with BYE', async () => {
  const { sip, browser } = await call();
  await eventually(() => browser.hasHeardSound, 'the greeting');

  browser.press('5');
  browser.press('#');
  const info = await sip.info('Signal=7\r\nDuration=100\r\n');
  await sip.info('Signal=#\r\nDuration=100\r\n');
  const id = await server.callInProgress();
  const keys = [await keyHeard(id, '5'), await keyHeard(id, '7')];
  await server.api('POST', `/api/calls/${id}/hangup`);
  await sip.expect('BYE');
  const record = await newestCall();

  expect(info.status).toBe(200);
  expect(record).toMatchObject({ id, endReason: 'agent_hangup' });
  expect(keys).toEqual([true, true]);
});

test('two who call the same agent at one time are told each of their own call', async () => {
  const [one, other] = await Promise.all([call(), call()]);
  await eventually(() => one.browser.hasHeardSound && other.browser.hasHeardSound, 'the greetings');

  const pressed = await one.sip.info('Signal=7\r\nDuration=100\r\n');
  await one.sip.info('Signal=#\r\nDuration=100\r\n');
  const isOnes = await keyHeard(one.callId ?? '', '7');
  const { body } = await server.api('GET', `/api/calls/${other.callId}`);
  await Promise.all([one.sip.bye(), other.sip.bye()]);

  expect(pressed.status).toBe(200);
  expect(isOnes).toBe(true);
  expect(one.callId).not.toBe(other.callId);
  expect(body).toMatchObject({ id: other.callId, agentId, from: 'browser' });
  expect(JSON.stringify(body.transcript ?? [])).not.toContain('(pressed');
});

test('a held browser is held, and taken back', async () => {
  const { sip, browser, offer } = await call();

  const held = await sip.reinvite(offer.replace('a=sendrecv', 'a=sendonly'));
  const resumed = await sip.reinvite(offer);
  const heardBefore = browser.heard.length;
  await eventually(() => browser.heard.length > heardBefore + 10, 'sound after the hold');
  await sip.bye();

  expect(held.body.toString()).toContain('a=recvonly');
  expect(resumed.body.toString()).toContain('a=sendrecv');
});

test('a lost connection ends the call as the caller’s own hanging up', async () => {
  const { sip } = await call();
  const id = await server.callInProgress();

  sip.close();
  const record = await newestCall();

  expect(record).toMatchObject({ id, endReason: 'user_hangup' });
});

test('signing out ends the call with BYE, and then the connection', async () => {
  const world = await call();

  await operator.post('/dashboard/logout');
  await world.sip.expect('BYE');
  await eventually(() => world.sip.closedWith === 4001, 'the connection is closed');
  operator = await SignedIn.again(server);

  expect(await newestCall()).toMatchObject({ from: 'browser' });
});

test('a ticket opens one connection, of our own page alone, and calls no other agent', async () => {
  const { ticket, sip } = await connect();
  const fresh = await operator.ticket(agentId);

  const used = SipWsClient.open(ticket.url, server.baseUrl);
  const foreign = SipWsClient.open(fresh.url, 'https://evil.example');
  const noSip = SipWsClient.open(fresh.url, server.baseUrl, 'chat');
  await Promise.allSettled([used, foreign, noSip]);
  const other = await sip.invite('sip:agent_other@offhook.invalid', '');

  await expect(used).rejects.toThrow('401');
  await expect(foreign).rejects.toThrow('403');
  await expect(noSip).rejects.toThrow('400');
  expect(other.status).toBe(403);
});

test('an offer that cannot be met, and a second call at a time, are refused', async () => {
  const { sip, ticket } = await connect();

  // Without a call in progress no load of the machine can refuse it.
  const nonsense = await sip.invite(ticket.uri, 'v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n');
  const { sip: busy } = await call();
  const second = await busy.another().invite(ticket.uri, await new BrowserPeer().offer());

  expect(nonsense.status).toBe(488);
  expect(second.status).toBe(486);
});

test('an agent of the test environment answers, and its call is in that environment', async () => {
  const created = await rehearse('POST', '/api/agents', {
    name: 'Rehearsal',
    greeting: 'Hello from the rehearsal.',
    systemPrompt: 'You rehearse.',
  });
  const id = String(created.id);
  const { sip, ticket } = await connect('test', id);
  const browser = new BrowserPeer();
  stops.push(() => browser.close());

  const answer = await sip.invite(ticket.uri, await browser.offer());
  await browser.take(answer.body.toString());
  await eventually(() => browser.hasHeardSound, 'the greeting');
  await sip.bye();
  const { data } = await rehearse('GET', '/api/calls?limit=1');

  expect(data).toMatchObject([{ agentId: id, from: 'browser', to: id }]);
});

test('readiness says that browsers can call', async () => {
  const response = await fetch(`${server.baseUrl}/readyz`);

  expect(await response.text()).toContain('browser calls');
});
