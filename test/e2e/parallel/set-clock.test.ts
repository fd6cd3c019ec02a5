/** A server whose clock is set by hours during a call, as NTP does on a machine that started with a wrong one. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { describeWithout } from '../../support/server/programs.ts';
import { SandboxClient } from '../../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { testFolder } from '../../support/store/test-store.ts';
import { MISSING_FOR_SETTING, SettableClock } from '../../support/time/settable-clock.ts';
import { WebhookReceiver } from '../../support/webhook/webhook-receiver.ts';

const HOUR_MS = 3_600_000;

/** Between an instant on record and the calendar when a test looks. */
const NEAR_MS = 60_000;

/** A simulated call runs ten times as fast as the calendar, so that its instants are ahead of it. */
const NEAR_SIMULATED_MS = 600_000;

async function openWorld() {
  const clock = new SettableClock(testFolder());
  const environment = {
    ...clock.environment,
    WEBHOOK_ALLOW_LOCAL: 'true',
    WEBHOOK_BACKOFF_SECONDS: '0,3,3,3,3',
  };
  const server = await (await startServer({ environment })).ready();
  onTestFinished(() => server.stop());
  await server.createAgent();
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  return { clock, server, phone, uri: `sip:+12025550123@127.0.0.1:${server.sipPort}` };
}

/** Every instant of a call, in milliseconds: of its record, its words, its timeline and its SIP messages. */
async function instantsOf(server: TestServer, id: string) {
  const get = async (path: string) => (await server.api('GET', `/api/calls/${id}${path}`)).body;
  const [call, events, sip] = [await get(''), await get('/events'), await get('/sip')];
  const { startedAt, answeredAt, endedAt } = call;
  const words = (call.transcript as readonly { readonly timestamp: string }[]) ?? [];
  const timeline = events.data as readonly { readonly timestamp: string }[];
  const messages = sip.messages as readonly { readonly at: string }[];
  return {
    call,
    record: [startedAt, answeredAt, endedAt].map((at) => Date.parse(String(at))),
    words: words.map(({ timestamp }) => Date.parse(timestamp)),
    timeline: timeline.map(({ timestamp }) => Date.parse(timestamp)),
    messages: messages.map(({ at }) => Date.parse(at)),
  };
}

/** @returns the call's id, and its time from the first request to the last. */
async function talk(
  world: Awaited<ReturnType<typeof openWorld>>,
  during: () => void | Promise<void> = () => {},
) {
  const startedAtMs = performance.now();
  const call = await world.phone.call(world.uri);
  const id = await world.server.callInProgress();
  await wait(1500);
  await during();
  await wait(1500);
  await call.hangUp();
  const tookMs = performance.now() - startedAtMs;
  await wait(1000);
  return { id, tookMs };
}

describeWithout(MISSING_FOR_SETTING, 'a clock that is set', () => {
  test.each([
    ['forward', 3 * HOUR_MS],
    ['back', -3 * HOUR_MS],
  ])('%s keeps a call in one piece, and the next call has the new time', async (_way, byMs) => {
    const world = await openWorld();
    const { clock, server } = world;

    const first = await talk(world, () => clock.set(byMs));
    const during = await instantsOf(server, first.id);
    const after = await instantsOf(server, (await talk(world)).id);

    const [startedMs = 0, answeredMs = 0, endedMs = 0] = during.record;
    expect(during.call).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
    expect([startedMs, answeredMs, endedMs]).toEqual(
      during.record.toSorted((one, other) => one - other),
    );
    expect(endedMs - startedMs).toBeLessThan(NEAR_MS);
    expect(during.call.durationSeconds).toBeGreaterThanOrEqual(3);
    // Each started second counts.
    expect(during.call.durationSeconds).toBeLessThanOrEqual(first.tookMs / 1000 + 1);
    const all = [...after.record, ...after.words, ...after.timeline, ...after.messages];
    expect(after.words.length * after.messages.length).toBeGreaterThan(0);
    for (const atMs of all) expect(Math.abs(atMs - clock.nowMs())).toBeLessThan(NEAR_MS);
  });

  test('forward and back lets a simulated call have the new time', async () => {
    const { clock, server } = await openWorld();
    const client = new SandboxClient(server);
    const agentId = await client.createAgent();

    for (const byMs of [3 * HOUR_MS, -3 * HOUR_MS]) {
      clock.set(byMs);
      const [call] = await client.calls('inbound', [{ agentId, scenario: 'friendly' }]);
      const endedMs = Date.parse(call?.endedAt ?? '');

      expect(Math.abs(endedMs - clock.nowMs())).toBeLessThan(NEAR_SIMULATED_MS);
    }
  });

  test('back delays no retry of a webhook by hours', async () => {
    const world = await openWorld();
    const { clock, server } = world;
    let isDown = true;
    const receiver = await WebhookReceiver.open((response) => {
      response.writeHead(isDown ? 503 : 200).end();
    });
    const endpoint = { url: receiver.url, events: ['call.started'] };
    await server.api('POST', '/api/webhooks/endpoints', endpoint);

    await talk(world, async () => {
      await receiver.has(1);
      isDown = false;
      clock.set(-3 * HOUR_MS);
    });
    await receiver.has(2);

    expect(new Set(receiver.ids).size).toBe(1);
    const { body } = await server.api('GET', '/api/webhooks/deliveries');
    expect(body.data).toMatchObject([{ status: 'succeeded', attempts: 2 }]);
  });
});
