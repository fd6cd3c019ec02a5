/**
 * Gives an agent a document, and asks it a question in writing. Try it:
 *
 *     OFFHOOK_KEY=svc_live_… node examples/knowledge/add-knowledge.ts "What does a cleaning cost?"
 *
 * A rule book answers where the server has no language model; it reads no documents, and the last line says so.
 */
import { readFileSync } from 'node:fs';
import { argv, env } from 'node:process';
// In a project of your own: from '@offhook/client'.
import { Offhook } from '../../clients/typescript/src/index.ts';

const { OFFHOOK_KEY: apiKey = '', OFFHOOK_URL: baseUrl = 'http://localhost:3000' } = env;
const question = argv[2] ?? 'What does a cleaning cost?';

const offhook = new Offhook({ apiKey, baseUrl });
const agent = await offhook.agents.create({
  name: 'Reception',
  greeting: 'Good morning, how can I help?',
  systemPrompt: 'You answer the telephone of a dentist. Be brief, and say so when you do not know.',
});
// The same name again makes the next version of the document.
const text = readFileSync(`${import.meta.dirname}/prices.md`, 'utf8');
const document = await offhook.knowledge.add(agent.id, { name: 'Prices', text });
console.log(`${document.name}: version ${document.version}, ${document.passages} passages`);

const messages = [{ role: 'user' as const, text: question }];
const { reply, promptUsed } = await offhook.agents.chat(agent.id, { messages });
console.log(`agent: ${reply}`);
if (!promptUsed) console.log('(by the rule book: no language model is set up)');
await offhook.agents.delete(agent.id);
