/** Messages by SIP MESSAGE over the trunk that the call came by: out, and STOP back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { UserAgent } from '../../../src/sip/user-agent.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';

const CALLER = '+12025550199';

const BOOK = {
  name: 'address',
  rules: [
    {
      id: 'send',
      when: { regex: '5' },
      call: { tool: 'send_sms', arguments: { text: 'Market Square 12' } },
    },
    {
      id: 'other',
      when: { regex: '6' },
      call: { tool: 'send_sms', arguments: { text: 'We open at nine' } },
    },
    { id: 'told', when: { tool: 'send_sms' }, say: 'That was the message.' },
  ],
  otherwise: { say: 'Hello.' },
};

async function startCarrier() {
  const listen = [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }] as const;
  const peer = new UserAgent({ listen, product: 'carrier' });
  await peer.start();
  onTestFinished(() => peer.stop());
  const texts: string[] = [];
  peer.on('request', ({ request, respond }) => {
    texts.push(`${request.method} ${request.uri} ${request.body.toString()}`);
    respond(202);
  });
  return { peer, texts, hostPort: `127.0.0.1:${peer.addresses[0]?.port}` };
}

async function startWithTrunk(hostPort: string): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-script-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'book.json');
  writeFileSync(file, JSON.stringify(BOOK));
  const server = await (await startServer({ environment: { SCRIPT_FILE: file } })).ready();
  onTestFinished(() => server.stop());
  const trunk = {
    name: 'carrier',
    proxy: hostPort,
    numbers: [NUMBER],
    allowedSources: ['127.0.0.1'],
  };
  expect(await server.api('POST', '/api/trunks', trunk)).toMatchObject({ status: 201 });
  const gateway = { name: 'trunk', kind: 'sip', from: NUMBER };
  expect(await server.api('POST', '/api/sms-gateways', gateway)).toMatchObject({
    status: 201,
    body: { kind: 'sip', preset: null, callbackUrl: null },
  });
  await server.createAgent({ greeting: 'Hello.', tools: ['send_sms'], phoneNumber: NUMBER });
  return server;
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
}

test('an agent sends a message over the trunk of its number; after STOP from there it sends no other one', async () => {
  const { peer, texts, hostPort } = await startCarrier();
  const server = await startWithTrunk(hostPort);
  const phone = new Phone({ number: CALLER });
  await phone.start();
  onTestFinished(() => phone.stop());
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const told = async () => (await wordsOf(server, id)).split('the message').length - 1;
  await expect.poll(() => wordsOf(server, id), { timeout: 10_000 }).toContain('Hello.');

  call.line.press('5#');
  await expect.poll(told, { timeout: 15_000 }).toBe(1);
  const { status } = await peer.request({
    ...{ method: 'MESSAGE', uri: `sip:${NUMBER}@127.0.0.1:${server.sipPort}` },
    ...{ from: `<sip:${CALLER}@carrier.example>`, contentType: 'text/plain', body: 'Stop' },
  });
  call.line.press('6#');
  await expect.poll(told, { timeout: 15_000 }).toBe(2);
  await call.hangUp();

  expect(texts).toEqual([`MESSAGE sip:${CALLER}@${hostPort} Market Square 12`]);
  expect(status).toBe(200);
  expect((await server.api('GET', '/api/sms-opt-outs')).body).toMatchObject({
    data: [{ number: CALLER }],
  });
  expect((await server.api('GET', `/api/calls/${id}`)).body.messages).toMatchObject([
    { text: 'Market Square 12', status: 'sent', gateway: 'trunk' },
  ]);
});
