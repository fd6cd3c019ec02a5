/** Drafts at a whole server: who is answered by one, and that publishing is whole under kill -9. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { SignedIn } from '../../support/dashboard/signed-in.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { SipWsClient } from '../../support/sip/sip-ws-client.ts';
import { BrowserPeer } from '../../telephony/support/browser-peer.ts';

const NUMBER = '+12025550123';
const LIVE = 'Hello, this is live.';
const DRAFT = 'Hello, this is the draft.';

async function openServer(): Promise<{ readonly server: TestServer; readonly agentId: string }> {
  const server = await (await startServer()).ready();
  onTestFinished(() => server.stop());
  return { server, agentId: await server.createAgent({ phoneNumber: NUMBER, greeting: LIVE }) };
}

/** What the agent of a call says first; waits for it. */
async function greetingOf(server: TestServer, callId: string): Promise<string> {
  let record: object = {};
  for (let tries = 0; tries < 400; tries += 1) {
    const { body } = await server.api('GET', `/api/calls/${callId}`);
    const [first] = (body.transcript ?? []) as readonly { readonly text: string }[];
    if (first !== undefined) return first.text;
    record = body;
    await setTimeout(50);
  }
  throw new Error(`The agent said nothing: ${JSON.stringify(record)}`);
}

/** Calls from the page. @returns the SIP status, and the call's id where it was answered. */
async function callFromPage(server: TestServer, ticket: Awaited<ReturnType<SignedIn['ticket']>>) {
  const sip = await SipWsClient.open(ticket.url, server.baseUrl);
  const browser = new BrowserPeer();
  onTestFinished(async () => {
    await browser.close();
    await sip.close();
  });
  const answer = await sip.invite(ticket.uri, await browser.offer());
  if (answer.status === 200) {
    await browser.take(answer.body.toString());
    await browser.connected();
  }
  const callId = answer.get('x-service-call') ?? '';
  return { status: answer.status, callId, hangUp: () => sip.bye() };
}

/** Calls from the page. @returns the call's id and what the agent said first. */
async function greetedFromPage(
  server: TestServer,
  ticket: Awaited<ReturnType<SignedIn['ticket']>>,
): Promise<readonly [callId: string, greeting: string]> {
  const { callId, hangUp } = await callFromPage(server, ticket);
  const greeting = await greetingOf(server, callId);
  await hangUp();
  return [callId, greeting];
}

test('a call from the page that asks for the draft is answered by it, every other one by the live agent', async () => {
  const { server, agentId } = await openServer();
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  const operator = await SignedIn.at(server);
  const draft = { greeting: DRAFT, phoneNumber: '+12025550124' };
  await server.api('PUT', `/api/agents/${agentId}/draft`, draft);

  const forDraft = await operator.ticket(agentId, { isDraft: true });
  const [triedId, tried] = await greetedFromPage(server, forDraft);
  const [, talked] = await greetedFromPage(server, await operator.ticket(agentId));
  await server.endedCalls();
  const rung = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const answered = await greetingOf(server, await server.callInProgress());
  await rung.hangUp();
  const record = (await server.api('GET', `/api/calls/${triedId}`)).body;

  expect([tried, talked, answered]).toEqual([DRAFT, LIVE, LIVE]);
  // The number of the draft is not the agent's yet.
  expect(record).toMatchObject({ to: NUMBER, agentId });
});

test('a call for a draft that was discarded after the ticket is refused, not answered by the live agent', async () => {
  const { server, agentId } = await openServer();
  const operator = await SignedIn.at(server);
  await server.api('PUT', `/api/agents/${agentId}/draft`, { greeting: DRAFT });
  const ticket = await operator.ticket(agentId, { isDraft: true });
  await server.api('DELETE', `/api/agents/${agentId}/draft`);

  const { status } = await callFromPage(server, ticket);

  expect(status).toBe(404);
});

/** Different in every round, so that kills fall into all parts of saving and publishing. */
const KILLED_AFTER_MS = [1, 3, 5, 8];

/** So many are acknowledged before a kill. */
const PUBLISHED_MIN = 3;

/** Saves and publishes one greeting after the other until the server is killed. @returns the last one that was acknowledged. */
async function publishUntilKilled(
  server: TestServer,
  path: string,
  { from, afterMs }: { readonly from: number; readonly afterMs: number },
): Promise<number> {
  let acknowledged = from;
  try {
    for (;;) {
      const greeting = `Greeting ${acknowledged + 1}`;
      await server.api('PUT', `${path}/draft`, { greeting });
      const { status } = await server.api('POST', `${path}/draft/publish`);
      if (status === 200) acknowledged += 1;
      if (acknowledged === from + PUBLISHED_MIN) {
        void setTimeout(afterMs).then(() => server.kill('SIGKILL'));
      }
    }
  } catch {
    // The server was killed.
    return acknowledged;
  }
}

test('after kill -9 a draft is either there and not live, or live and gone', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-drafts-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const numberOf = (text: unknown) => Number(/Greeting (\d+)/.exec(String(text))?.[1]);
  const rounds: object[] = [];
  let agentId = '';
  let published = 0;
  for (const afterMs of KILLED_AFTER_MS) {
    const server = await (await startServer({ dataDir })).ready();
    if (agentId === '') agentId = await server.createAgent({ greeting: 'Greeting 0' });
    const path = `/api/agents/${agentId}`;
    const acknowledged = await publishUntilKilled(server, path, { from: published, afterMs });
    await server.exited;

    const sqlite = new Sqlite(join(dataDir, 'offhook.db'));
    const agent = sqlite.prepare('select * from agents').get() as Record<string, unknown>;
    const version = sqlite
      .prepare('select greeting from agent_versions order by version desc limit 1')
      .pluck()
      .get();
    const draft = sqlite.prepare('select * from agent_drafts').get() as
      | Record<string, unknown>
      | undefined;
    sqlite.close();
    published = numberOf(agent.greeting);
    const isNext = draft === undefined || numberOf(draft.changes) === published + 1;
    const isOfNow = draft === undefined || draft.based_on_at === agent.updated_at;
    const lost = Math.max(0, acknowledged - published);
    rounds.push({ lost, isNext, isOfNow, isVersion: version === agent.greeting });
  }

  const whole = { lost: 0, isNext: true, isOfNow: true, isVersion: true };
  expect(rounds).toEqual(KILLED_AFTER_MS.map(() => whole));
  expect(published).toBeGreaterThanOrEqual(PUBLISHED_MIN * KILLED_AFTER_MS.length);
});
