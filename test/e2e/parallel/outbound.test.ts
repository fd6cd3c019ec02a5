/** Outgoing calls through a trunk, with sipp as the carrier, against the real server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeWith } from '../../support/server/programs.ts';
import { LIVE_KEY, startServer, type TestServer } from '../../support/server/server.ts';
import { CALLEE, SippCarrier } from '../../support/sip/sipp-uas.ts';

const FROM = '+12025550123';

interface CallItem {
  readonly id: string;
  readonly to: string;
  readonly status: string;
  readonly endReason: string | null;
  readonly endedAt: string | null;
  readonly hasRecording: boolean;
}

async function openWorld(trunk: Readonly<Record<string, unknown>> = {}) {
  const carrier = await SippCarrier.start();
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-outbound-'));
  const SIP_TRUNKS = carrier.trunkFile([FROM], { callsPerSecond: 20, ...trunk });
  const environment = { SIP_TRUNKS, RTP_PORTS: '26000-26999' };
  const start = async () => (await startServer({ dataDir, environment })).ready();
  const world = { carrier, start, server: await start() };
  onTestFinished(async () => {
    await world.server.stop();
    await carrier.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return world;
}

async function dial(server: TestServer, agentId: string, to: string): Promise<string> {
  const { status, body } = await server.api('POST', '/api/calls/outbound', { agentId, to });
  if (status !== 202) throw new Error(`Cannot start the call: ${JSON.stringify(body)}`);
  return String(body.callId);
}

async function callsOf(server: TestServer): Promise<readonly CallItem[]> {
  const { body } = await server.api('GET', '/api/calls?limit=100');
  return body.data as readonly CallItem[];
}

/** Asks again and again until the calls are as they should be. */
async function until(
  server: TestServer,
  isThere: (calls: readonly CallItem[]) => boolean,
  timeoutMs = 30_000,
): Promise<readonly CallItem[]> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const calls = await callsOf(server);
    if (isThere(calls)) return calls;
    if (performance.now() > deadlineMs) {
      throw new Error(`The calls did not come to be so: ${JSON.stringify(calls)}`);
    }
    // Often enough for the eye, seldom enough for the rate limit.
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

const isOver = ({ endedAt }: CallItem) => endedAt !== null;

describeWith(['sipp'], 'sipp as the carrier of outgoing calls', () => {
  test('20 calls in a row are placed in order, and each ends for its own reason', async () => {
    const { carrier, server } = await openWorld();
    const agentId = await server.createAgent();
    const kinds = [
      ['friendly', 'completed user_hangup'],
      ['busy', 'failed busy'],
      ['declined', 'failed busy'],
      ['away', 'failed no_answer'],
      ['unknown', 'failed error'],
      ['broken', 'failed error'],
      ['silent', 'failed no_answer'],
      ['early', 'completed user_hangup'],
      ['friendly', 'completed user_hangup'],
      ['friendly', 'completed user_hangup'],
    ] as const;
    const plan = [...kinds, ...kinds].map(([kind, expected], index) => ({
      to: `+1212555${10 + index}${CALLEE[kind]}`,
      expected,
    }));

    for (const { to } of plan) await dial(server, agentId, to);
    const calls = await until(server, (all) => all.every(isOver), 90_000);

    const byNumber = new Map(calls.map((call) => [call.to, call]));
    const found = plan.map(({ to }) => byNumber.get(to));
    expect(found.map((call) => `${call?.status} ${call?.endReason}`)).toEqual(
      plan.map(({ expected }) => expected),
    );
    expect(carrier.invited()).toEqual(plan.map(({ to }) => to));
    expect(carrier.cancelled().toSorted()).toEqual(
      plan.map(({ to }) => to).filter((to) => to.endsWith(CALLEE.silent)),
    );
    expect(
      found.filter((call) => call?.status === 'completed').every((call) => call?.hasRecording),
    ).toBe(true);
    const shown = await server.api('GET', `/api/calls/${found[0]?.id}`);
    expect(shown.body.recordingUrl).toEqual(expect.stringContaining('/recording?'));
  });

  test('the hang-up ends a call in progress, one that rings, and one that waits', async () => {
    const { carrier, server } = await openWorld({ maxCalls: 2 });
    const agentId = await server.createAgent();
    const numbers = [CALLEE.patient, CALLEE.silent, CALLEE.friendly].map(
      (digits) => `+121255510${digits}`,
    );
    const ids: string[] = [];
    for (const to of numbers) ids.push(await dial(server, agentId, to));
    await until(server, (all) => {
      const statusOf = (to: string | undefined) => all.find((call) => call.to === to)?.status;
      return statusOf(numbers[0]) === 'in_progress' && carrier.invited().length === 2;
    });

    const statuses: unknown[] = [];
    for (const id of ids.toReversed()) {
      const { status, body } = await server.api('POST', `/api/calls/${id}/hangup`);
      statuses.push([status, body.status]);
    }
    const calls = await until(server, (all) => all.every(isOver));

    expect(statuses).toEqual([
      [202, 'failed'],
      [202, 'ringing'],
      [202, 'in_progress'],
    ]);
    expect(ids.map((id) => calls.find((call) => call.id === id)?.endReason)).toEqual([
      'agent_hangup',
      'no_answer',
      'no_answer',
    ]);
    expect(carrier.invited()).toEqual(numbers.slice(0, 2));
  });

  test('after kill -9 what waited is placed once, and what rang is not dialled again', async () => {
    const world = await openWorld({ maxCalls: 3 });
    const { carrier } = world;
    const agentId = await world.server.createAgent();
    const ringing = [1, 2, 3].map((index) => `+12125551${index}${CALLEE.silent}`);
    const waiting = [4, 5, 6, 7, 8].map((index) => `+12125551${index}${CALLEE.friendly}`);
    for (const to of [...ringing, ...waiting]) await dial(world.server, agentId, to);
    await until(world.server, () => carrier.invited().length === 3);
    const before = await callsOf(world.server);

    world.server.kill('SIGKILL');
    await world.server.exited;
    world.server = await world.start();
    const calls = await until(world.server, (all) => all.every(isOver));

    const outcomeOf = (to: string) => {
      const call = calls.find((each) => each.to === to);
      return `${call?.status} ${call?.endReason}`;
    };
    expect(before.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill('queued'),
      ...Array(3).fill('ringing'),
    ]);
    expect(ringing.map(outcomeOf)).toEqual(Array(3).fill('failed error'));
    expect(waiting.map(outcomeOf)).toEqual(Array(5).fill('completed user_hangup'));
    expect(carrier.invited()).toEqual([...ringing, ...waiting]);
  });

  test('100 racing requests with one idempotency key make one INVITE', async () => {
    const { carrier, server } = await openWorld();
    const agentId = await server.createAgent();
    const to = `+121255510${CALLEE.friendly}`;
    const ask = () =>
      fetch(`${server.baseUrl}/api/calls/outbound`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${LIVE_KEY}`,
          'content-type': 'application/json',
          'x-idempotency-key': 'race',
        },
        body: JSON.stringify({ agentId, to }),
      });

    const responses = await Promise.all(Array.from({ length: 100 }, ask));
    const calls = await until(server, (all) => all.length > 0 && all.every(isOver));

    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202]));
    expect(calls).toHaveLength(1);
    expect(carrier.invited()).toEqual([to]);
  });
});
