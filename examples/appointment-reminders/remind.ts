/**
 * Reminds people of their appointments: one call for each, and one line with its result. Try it, with a server that was
 * started with WEBHOOK_ALLOW_LOCAL=true:
 *
 *     OFFHOOK_KEY=svc_test_… WEBHOOK_SECRET=whsec_… node examples/appointment-reminders/remind.ts
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { argv, env } from 'node:process';
import { buffer } from 'node:stream/consumers';
// In a project of your own: from '@offhook/client'.
import { Offhook, webhooks } from '../../clients/typescript/src/index.ts';

const { OFFHOOK_KEY: apiKey = '', OFFHOOK_URL: baseUrl = 'http://localhost:3000' } = env;
const { WEBHOOK_SECRET: secret = '', PORT = '9001' } = env;

interface Appointment {
  readonly name: string;
  readonly number: string;
  readonly when: string;
}
const file = argv[2] ?? `${import.meta.dirname}/appointments.json`;
const appointments: readonly Appointment[] = JSON.parse(readFileSync(file, 'utf8'));

/** Results by call: a call that was answered has its words, and what they came to, a moment after its end. */
const results = new Map<string, string>();
const server = createServer(async (request, response) => {
  try {
    const { event, data } = await webhooks.verify(await buffer(request), request.headers, secret);
    if (event === 'call.ended' && data.answeredAt === null)
      results.set(data.callId, data.endReason);
    if (event === 'call.transcribed') results.set(data.callId, data.summary ?? 'no summary');
    response.writeHead(204).end();
  } catch {
    // Not ours, or cut off on the way: what is ours comes again.
    response.writeHead(401).end();
  }
}).listen(Number(PORT), '127.0.0.1');

const offhook = new Offhook({ apiKey, baseUrl });
const url = `http://127.0.0.1:${PORT}/`;
const events = ['call.ended', 'call.transcribed'] as const;
const endpoint = await offhook.webhookEndpoints.create({ url, events: [...events] });
const agent = await offhook.agents.create({
  name: 'Reminders',
  greeting: 'Good morning {{name}}. You have an appointment {{when}}. Does it still suit you?',
  systemPrompt: 'You remind {{name}} of an appointment {{when}}, and ask whether it still suits.',
});

const calls = new Map<string, Appointment>();
for (const appointment of appointments) {
  const { name, number: to, when } = appointment;
  const order = { agentId: agent.id, from: '+12025550142', to, metadata: { name, when } };
  calls.set((await offhook.calls.start(order)).callId, appointment);
}

const deadlineMs = performance.now() + 10 * 60_000;
while (results.size < calls.size && performance.now() < deadlineMs) {
  await new Promise((resolve) => setTimeout(resolve, 200));
}
for (const [id, { name }] of calls) console.log(`${name}: ${results.get(id) ?? 'not known yet'}`);
await offhook.webhookEndpoints.delete(endpoint.id);
await offhook.agents.delete(agent.id);
server.close();
