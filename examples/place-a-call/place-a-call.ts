/**
 * Places a call, prints the words as they are said, and then what became of the call. Try it:
 *
 *     OFFHOOK_KEY=svc_test_… node examples/place-a-call/place-a-call.ts +12025550105
 *
 * With a test key the last two digits choose what happens; 05 is somebody who books an appointment.
 */
import { argv, env } from 'node:process';
// In a project of your own: from '@offhook/client'.
import { Offhook } from '../../clients/typescript/src/index.ts';

const { OFFHOOK_KEY: apiKey = '', OFFHOOK_URL: baseUrl = 'http://localhost:3000' } = env;
const to = argv[2] ?? '+12025550105';

const offhook = new Offhook({ apiKey, baseUrl });
const agent = await offhook.agents.create({
  name: 'Recall',
  greeting: 'Good morning, this is the dental practice. Is this a good moment?',
  systemPrompt: 'You call patients who are due for a check-up, and offer them an appointment.',
  tools: ['book_appointment'],
});
const { callId } = await offhook.calls.start({ agentId: agent.id, from: '+12025550142', to });
console.log('calling', callId);

for await (const { event, data } of offhook.calls.watch({ callId })) {
  if (event === 'said') console.log(`${data.entry.role}: ${data.entry.text}`);
  if (event === 'call' && data.endedAt !== null) break;
}

const call = await offhook.calls.get(callId);
console.log(`ended: ${call.status}, ${call.endReason}, ${call.durationSeconds} s`);
await offhook.agents.delete(agent.id);
