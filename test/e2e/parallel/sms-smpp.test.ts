/** A message of a call over SMPP, with the report that it was delivered, against a server of another maker. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { startServer } from '../../support/server/server.ts';
import { PASSWORD, SmppServer, SYSTEM_ID, takes } from '../../support/sms/smpp-server.ts';

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
    { id: 'told', when: { tool: 'send_sms' }, say: 'That was the message.' },
  ],
  otherwise: { say: 'Hello.' },
};

async function openWorld() {
  const smpp = await SmppServer.open(takes('m-1'));
  const folder = mkdtempSync(join(tmpdir(), 'offhook-script-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'book.json');
  writeFileSync(file, JSON.stringify(BOOK));
  const environment = { SCRIPT_FILE: file, WEBHOOK_ALLOW_LOCAL: 'true' };
  const server = await (await startServer({ environment })).ready();
  onTestFinished(() => server.stop());
  const made = await server.api('POST', '/api/sms-gateways', {
    ...{ name: 'smpp', kind: 'smpp', from: NUMBER, url: `smpp://127.0.0.1:${smpp.port}` },
    ...{ username: SYSTEM_ID, secret: PASSWORD },
  });
  expect(made).toMatchObject({ status: 201, body: { kind: 'smpp', hasSecret: true } });
  await server.createAgent({ greeting: 'Hello.', tools: ['send_sms'], phoneNumber: NUMBER });
  return { smpp, server };
}

test('an agent sends a message over SMPP, and the call shows that it was delivered', async () => {
  const { smpp, server } = await openWorld();
  const phone = new Phone({ number: CALLER });
  await phone.start();
  onTestFinished(() => phone.stop());
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const shown = async () => JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body);
  await expect.poll(shown, { timeout: 10_000 }).toContain('Hello.');

  call.line.press('5#');
  await expect.poll(shown, { timeout: 15_000 }).toContain('That was the message.');
  const status = await smpp.report('m-1', 'DELIVRD');
  await call.hangUp();

  expect(smpp.submitted).toMatchObject([
    { destination_addr: CALLER.slice(1), short_message: { message: 'Market Square 12' } },
  ]);
  expect(status).toBe(0);
  expect((await server.api('GET', `/api/calls/${id}`)).body.messages).toMatchObject([
    { text: 'Market Square 12', status: 'delivered', gateway: 'smpp' },
  ]);
  expect(server.output).not.toContain(PASSWORD);
});
