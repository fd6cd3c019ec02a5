/** Ten callers who speak at the same moment: those who are answered last wait no more than twice as long as the first. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const CALLS = 10;
const TURNS = 3;
const QUIET_MS = 400;
const WAIT_MS_MAX = 15_000;

/** Longest wait over shortest; leaves room for the pause that ends a turn, and for other work on the machine. */
const SPREAD_MAX = 2;

/** Short, so that the next turn comes soon. */
const SCRIPT = {
  name: 'short answers',
  rules: [{ id: 'anything', when: { any: true }, say: 'Yes.' }],
  otherwise: { say: 'Yes.' },
};

const folder = mkdtempSync(join(tmpdir(), 'offhook-script-'));
let server: TestServer;
const phone = new Phone();

beforeAll(async () => {
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify(SCRIPT));
  server = await (await startServer({ environment: { SCRIPT_FILE: script } })).ready();
  await server.createAgent({ phoneNumber: '+12025550123', greeting: 'Hello.' });
  await phone.start();
});

afterAll(async () => {
  await phone.stop();
  await server.stop();
  rmSync(folder, { recursive: true });
});

interface Caller {
  readonly call: PhoneCall;
  readonly listener: Listener;
}

async function ringAndListen(): Promise<Caller> {
  const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
  const listener = new Listener(call.line);
  await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
  return { call, listener };
}

/** From the last voiced packet of the caller to the first of the answer. */
async function waitForAnswer({ call, listener }: Caller): Promise<number> {
  const { lastVoicedAtMs } = await call.line.speak(phraseSaying('What are your opening hours?'));
  await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
  return (listener.firstVoicedAfter(lastVoicedAtMs) ?? Number.POSITIVE_INFINITY) - lastVoicedAtMs;
}

test('ten calls that speak at once are answered evenly', async () => {
  const callers = await Promise.all(Array.from({ length: CALLS }, ringAndListen));

  const turns: number[][] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    turns.push(await Promise.all(callers.map(waitForAnswer)));
  }
  await Promise.all(callers.map(({ call }) => call.hangUp()));

  // The quietest turn: a neighbour on the machine is not the server's unevenness.
  const spreads = turns.map((waits) => Math.max(...waits) / Math.min(...waits));
  process.stdout.write(`waits of ten calls at once, ms: ${JSON.stringify(turns.map(round))}\n`);
  expect(Math.min(...spreads)).toBeLessThanOrEqual(SPREAD_MAX);
});

function round(waits: readonly number[]): number[] {
  return waits.map(Math.round).toSorted((one, other) => one - other);
}
