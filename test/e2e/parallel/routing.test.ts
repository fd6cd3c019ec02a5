import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

let server: TestServer;
const phone = new Phone();

beforeAll(async () => {
  server = await (await startServer({ environment: { MAX_CALLS: '1' } })).ready();
  await server.createAgent({ phoneNumber: '+12025550123' });
  const paused = await server.createAgent({ name: 'Night', phoneNumber: '+12025550124' });
  await server.api('PATCH', `/api/agents/${paused}`, { status: 'paused' });
  await phone.start();
});

afterAll(async () => {
  await phone.stop();
  await server.stop();
});

const ring = (number: string) => phone.call(`sip:${number}@127.0.0.1:${server.sipPort}`);

test('a number without an agent is refused with 404', async () => {
  await expect(ring('+12025550199')).rejects.toMatchObject({ sipStatus: 404 });
});

test('a paused agent is refused with 480', async () => {
  await expect(ring('+12025550124')).rejects.toMatchObject({ sipStatus: 480 });
});

test('a call over MAX_CALLS is refused with 503, and taken again when a line is free', async () => {
  const first = await ring('+12025550123');

  await expect(ring('+12025550123')).rejects.toMatchObject({ sipStatus: 503 });
  await first.hangUp();
  await server.endedCalls();
  const next = await ring('+12025550123');

  expect(next.dialog.state).toBe('confirmed');
  await next.hangUp();
});

test('the SIP messages of a call are shown while it goes on, and to its last answer', async () => {
  const ladderOf = async (call: { readonly id: string } | undefined) => {
    const { body } = await server.api('GET', `/api/calls/${call?.id}/sip`);
    const { messages, source } = body as unknown as Ladder;
    const steps = messages.map(({ direction, startLine }) => {
      return `${direction} ${startLine.replace('SIP/2.0 ', '').split(' ')[0]}`;
    });
    return { source, steps: steps.filter((step, at) => step !== steps[at - 1]) };
  };

  await server.endedCalls();
  const call = await ring('+12025550123');
  const { body } = await server.api('GET', '/api/calls?limit=1');
  const live = (body as unknown as { data: { id: string }[] }).data[0];
  await expect.poll(async () => (await ladderOf(live)).steps.at(-1)).toBe('in ACK');
  const during = await ladderOf(live);
  await call.hangUp();
  await expect.poll(async () => (await ladderOf(live)).steps.at(-1)).toBe('out 200');
  const after = await ladderOf(live);

  expect(during.source).toBe('engine');
  expect(during.steps[0]).toBe('in INVITE');
  expect(during.steps).toContain('out 200');
  expect(after.steps.slice(-2)).toEqual(['in BYE', 'out 200']);
});

interface Ladder {
  readonly source: string;
  readonly messages: readonly { readonly direction: string; readonly startLine: string }[];
}
