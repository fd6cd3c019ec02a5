/** A far end that moves its call to another party: what is heard, and what is on record. */
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { describeWith } from '../../support/server/programs.ts';
import {
  COLLEAGUE,
  NUMBER,
  openTransferWorld,
  type TransferWorld,
} from '../../support/server/transfer-world.ts';
import { Baresip } from '../../support/sip/baresip.ts';

const SCRIPT = {
  name: 'moved',
  rules: [
    { id: 'moved', when: { regex: 'another person is on the line' }, say: 'This is the office.' },
  ],
  otherwise: { say: '…' },
};

const open = () => openTransferWorld(SCRIPT, {}, { acceptTransfers: true });

const refer = (call: PhoneCall, number: string) =>
  call.dialog.request('REFER', { headers: { 'Refer-To': `<sip:${number}@127.0.0.1>` } });

const agentSaid = async ({ server }: TransferWorld, id: string) => {
  const { body } = await server.api('GET', `/api/calls/${id}`);
  const transcript = body.transcript as readonly { speaker: string; text: string }[];
  return JSON.stringify(transcript);
};

test('a call goes on with the number of a REFER: one record, the agent greets, and no log has the number', async () => {
  const world = await open();
  const { server, ringing, kindsOf } = world;
  await server.createAgent({ greeting: 'Hello.' });
  const { call, id } = await world.call();
  const rings = ringing();

  const emergency = await refer(call, '112');
  const abroad = await refer(call, '+390687654321');
  const { status } = await refer(call, COLLEAGUE);
  const theirs = await (await rings).answer();
  await call.ended;
  await expect
    .poll(() => agentSaid(world, id), { timeout: 10_000 })
    .toContain('This is the office');
  const during = await server.api('GET', `/api/calls/${id}`);
  await theirs.hangUp();
  const records = await server.endedCalls();
  const kinds = await kindsOf(id);

  expect([emergency.status, abroad.status, status]).toEqual([403, 403, 202]);
  expect(during.body).toMatchObject({ status: 'in_progress', endReason: null });
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(kinds.filter((kind) => kind.startsWith('far_end'))).toEqual([
    'far_end_transfer_failed',
    'far_end_transfer_failed',
    'far_end_transfer',
  ]);
  expect(theirs.line.heard.some(({ isVoiced }) => isVoiced)).toBe(true);
  expect(server.output).not.toMatch(/2025550177|390687654321/);
});

test('a call goes on with the party that replaces its far end, on one record', async () => {
  const world = await open();
  const { server, colleague, kindsOf } = world;
  await server.createAgent({ greeting: 'Hello.' });
  const { call, id } = await world.call();
  const { callId, localTag, remoteTag } = call.dialog.data;

  const theirs = await colleague.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`, {
    headers: { Replaces: `${callId};to-tag=${remoteTag};from-tag=${localTag}` },
  });
  await call.ended;
  await expect
    .poll(() => agentSaid(world, id), { timeout: 10_000 })
    .toContain('This is the office');
  await server.api('POST', `/api/calls/${id}/hangup`);
  const end = await theirs.ended;
  const records = await server.endedCalls();

  expect(end).toMatchObject({ cause: 'remote-bye' });
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject({ id, status: 'completed', endReason: 'agent_hangup' });
  expect(await kindsOf(id)).toContain('far_end_transfer');
});

test('a call whose far end leaves after its REFER waits for the number, and ends where that refuses', async () => {
  const world = await open();
  const { server, ringing, kindsOf } = world;
  await server.createAgent({ greeting: 'Hello.' });
  const { call, id } = await world.call();
  const rings = ringing();

  await refer(call, COLLEAGUE);
  const { reject } = await rings;
  await call.hangUp();
  await setTimeout(500);
  const waiting = await server.api('GET', `/api/calls/${id}`);
  reject(486);
  const [record] = await server.endedCalls();

  expect(waiting.body).toMatchObject({ status: 'in_progress' });
  expect(record).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(await kindsOf(id)).toContain('far_end_transfer_failed');
});

describeWith(['baresip'], 'baresip as a far end that transfers', () => {
  test('the call of a baresip goes on with the number that it transfers to', async () => {
    const world = await open();
    const { server, ringing, kindsOf } = world;
    await server.createAgent({ greeting: 'Hello.' });
    const baresip = await Baresip.start('+12025550188');
    await baresip.dial(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
    const id = await server.callInProgress();
    const rings = ringing();

    const transferred = baresip.transfer(`sip:${COLLEAGUE}@127.0.0.1`);
    const theirs = await (await rings).answer();
    await transferred;
    await expect
      .poll(() => agentSaid(world, id), { timeout: 10_000 })
      .toContain('This is the office');
    await theirs.hangUp();
    const records = await server.endedCalls();

    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
    expect(await kindsOf(id)).toContain('far_end_transfer');
    await baresip.remove();
  });
});
