/**
 * A receptionist who hands callers over to the right colleague, and tells the colleague first who it is (a warm transfer). Try it:
 *
 *     OFFHOOK_KEY=svc_test_… node examples/receptionist/receptionist.ts
 *
 * With a test key a simulated caller asks for a person. With a live key the agent waits for calls to the number instead.
 */
import { argv, env } from 'node:process';
// In a project of your own: from '@offhook/client'.
import { Offhook } from '../../clients/typescript/src/index.ts';

const { OFFHOOK_KEY: apiKey = '', OFFHOOK_URL: baseUrl = 'http://localhost:3000' } = env;

const offhook = new Offhook({ apiKey, baseUrl });
const phoneNumber = argv[2] ?? '+12025550147';
const agent = await offhook.agents.create({
  name: 'Reception',
  greeting: 'Good morning, Miller and Sons. How can I help you?',
  systemPrompt: `You answer the telephone of a bicycle workshop. Answer questions in a sentence or two.
Transfer callers with a repair in hand to the workshop, and questions about invoices to the office.
Always transfer with mode "warm", and sum up in one sentence what the caller wants.`,
  phoneNumber,
  tools: ['transfer_call', 'end_call'],
  settings: {
    // The model sees the labels alone, and can transfer to nothing else.
    transferTargets: [
      { label: 'workshop', number: '+12025550148' },
      { label: 'office', number: '+12025550149' },
    ],
    // A colleague who hangs up first gives the caller back to the agent.
    afterTransfer: 'return',
  },
});
console.log(`${agent.id} answers ${phoneNumber}`);

if (apiKey.startsWith('svc_test_')) {
  const { callId } = await offhook.sandbox.startInboundCall({
    agentId: agent.id,
    scenario: 'transfer',
  });
  for await (const { event, data } of offhook.calls.watch({ callId })) {
    if (event === 'said') console.log(`${data.entry.role}: ${data.entry.text}`);
    if (event === 'call' && data.endedAt !== null) break;
  }
  const { endReason } = await offhook.calls.get(callId);
  console.log(`ended: ${endReason}`);
  await offhook.agents.delete(agent.id);
}
