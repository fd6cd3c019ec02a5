/** Browser calls and the telephone network: transferred through a trunk, and accepted without one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Phone, type RingingCall } from '../../../examples/phone/phone.ts';
import { eventually } from '../../sip/user-agents.ts';
import { SignedIn } from '../../support/dashboard/signed-in.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { SipWsClient } from '../../support/sip/sip-ws-client.ts';
import { BrowserPeer } from '../../telephony/support/browser-peer.ts';
import { everyoneHears } from '../../telephony/tones.ts';

const AGENT_NUMBER = '+12025550123';
const COLLEAGUE = '+12025550177';

/** What a browser says. */
const TONE_HZ = 400;

let server: TestServer;
let agentId: string;
let operator: SignedIn;
const colleague = new Phone();
const folder = mkdtempSync(join(tmpdir(), 'offhook-transfer-'));
const rung: RingingCall[] = [];

beforeAll(async () => {
  await colleague.start();
  colleague.onRinging((call) => rung.push(call));
  const SIP_TRUNKS = join(folder, 'trunks.json');
  const trunk = {
    name: 'office',
    proxy: colleague.hostPort(),
    numbers: [AGENT_NUMBER],
    allowedSources: ['127.0.0.1'],
  };
  writeFileSync(SIP_TRUNKS, JSON.stringify([trunk]));
  server = await (await startServer({ environment: { SIP_TRUNKS } })).ready();
  agentId = await server.createAgent({ phoneNumber: AGENT_NUMBER });
  operator = await SignedIn.at(server);
});

afterAll(async () => {
  await colleague.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ['cold', 'transferred'],
  ['three-way', 'user_hangup'],
])('a browser’s caller has a second party called (%s), is heard there, and ends it by closing the page', async (mode, endReason) => {
  rung.length = 0;
  const ticket = await operator.ticket(agentId);
  const sip = await SipWsClient.open(ticket.url, server.baseUrl);
  const browser = new BrowserPeer();
  await browser.take((await sip.invite(ticket.uri, await browser.offer())).body.toString());
  await browser.connected();
  browser.speak();
  const id = await server.callInProgress();

  const wish = { to: COLLEAGUE, mode };
  const asked = await server.api('POST', `/api/calls/${id}/transfer`, wish);
  await eventually(() => rung.length === 1, 'the colleague is rung');
  const call = await rung[0]?.answer();
  if (call === undefined) throw new Error('the colleague was not rung');
  await everyoneHears([call.line, TONE_HZ]);
  sip.close();
  await eventually(() => call.dialog.state === 'ended', 'the colleague is hung up on');
  await browser.close();
  const [record] = await server.endedCalls();

  expect(asked.status).toBe(202);
  expect(record).toMatchObject({ id, endReason });
});

test('a browser’s call needs neither drachtio nor FreeSWITCH, where both are set and out of reach', async () => {
  const environment = { TELEPHONY: 'drachtio', DRACHTIO_PORT: '1', FREESWITCH_PORT: '1' };
  const alone = await startServer({ environment });
  onTestFinished(() => alone.stop());
  // It is never ready, for its carriers are away.
  while (!alone.output.includes('/#/setup?token=')) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const agentId = await alone.createAgent({ phoneNumber: AGENT_NUMBER });
  const ticket = await (await SignedIn.at(alone)).ticket(agentId);
  const sip = await SipWsClient.open(ticket.url, alone.baseUrl);
  const browser = new BrowserPeer();

  const answer = await sip.invite(ticket.uri, await browser.offer());
  await browser.take(answer.body.toString());
  await eventually(() => browser.hasHeardSound, 'the greeting');
  sip.close();
  await browser.close();

  expect(answer.status).toBe(200);
});
