/** Calls on a whole server where every packet that leaves the machine is counted; to be started behind the gap. */
import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { SandboxClient } from '../server/sandbox-client.ts';
import { startServer, type TestServer } from '../server/server.ts';

const QUIET_MS = 400;
const WAIT_MS_MAX = 15_000;

/** Long enough for a delivery, an analysis, and whatever a part does by itself after a call. */
const AFTERWARDS_MS = 1500;

/** Packets that tried to leave, by the firewall's counter. */
function packetsOut(): number {
  const text = execFileSync('nft', ['-j', 'list', 'chain', 'inet', 'gap', 'out']).toString();
  return Number(/"packets": ?(\d+)/.exec(text)?.[1] ?? NaN);
}

/** Their destinations, for the error message. */
function targetsOut(): string {
  const text = execFileSync('nft', ['list', 'set', 'inet', 'gap', 'targets']).toString();
  return /elements = \{([^}]*)/.exec(text)?.[1] ?? 'over IPv6';
}

/** The one receiver that the operator has named. */
async function openReceiver() {
  const events: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    events.push(JSON.parse(Buffer.concat(chunks).toString()).event);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { events, server, url: `http://127.0.0.1:${port}/hook` };
}

/** Rings, listens to the greeting, says something, and listens to the answer. @returns what the record has. */
async function ringIn(server: TestServer): Promise<unknown> {
  const phone = new Phone();
  await phone.start();
  const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
  const listener = new Listener(call.line);
  await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
  const { lastVoicedAtMs } = await call.line.speak(phraseSaying('What are your opening hours?'));
  await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
  await call.hangUp();
  await phone.stop();
  const [ended] = await server.endedCalls();
  const { body } = await server.api('GET', `/api/calls/${ended?.id}`);
  return (body.transcript as { role: string }[]).map(({ role }) => role);
}

/** Waits for an event up to a limit; the caller checks `events`. */
async function delivered(events: readonly string[], wanted: string): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS_MAX;
  while (!events.includes(wanted) && performance.now() < deadlineMs) await wait(50);
}

async function useServer(url: string, events: readonly string[]) {
  const server = await startServer({ environment: { WEBHOOK_ALLOW_LOCAL: 'true' } });
  try {
    await server.ready();
    const endpoint = { url, events: ['call.started', 'call.ended'] };
    await server.api('POST', '/api/webhooks/endpoints', endpoint);
    await server.createAgent();
    const roles = await ringIn(server);
    const client = new SandboxClient(server);
    const agentId = await client.createAgent();
    const [simulated] = await client.calls('outbound', [{ agentId, to: '+12025550105' }]);
    await delivered(events, 'call.ended');
    await wait(AFTERWARDS_MS);
    return { roles, endReason: simulated?.endReason };
  } finally {
    await server.stop();
  }
}

const receiver = await openReceiver();
const before = packetsOut();
const heard = await useServer(receiver.url, receiver.events);
const packets = packetsOut() - before;
const targets = targetsOut();
receiver.server.close();

// Shows that the counter counts: the look-up of a name has no DNS server.
const asked = packetsOut();
await lookup('example.com').catch(() => undefined);
const control = packetsOut() - asked;
process.stdout.write(
  JSON.stringify({ ...heard, events: receiver.events, packets, targets, control }),
);
process.exit(0);
