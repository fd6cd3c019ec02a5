/** A call whose agent has documents: the passage reaches the model, its answer the caller, its source the timeline. */
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { makeEmbeddingModel } from '../../llm/support/tiny-embedding-model.ts';
import { startEmbeddings } from '../../support/knowledge/embedding-double.ts';
import { startScriptedOllama } from '../../support/server/scripted-ollama.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';

const HOURS =
  '# Branches\n\n## Rome\n\nFor callers who pressed 5: the branch in Rome opens at nine.';

const OTHER = '# Garden\n\nRoses need water every second day in summer.';

/** Says what the passages tell of the caller's keys. @returns every last message that the model was shown. */
async function openWorld(settings: Readonly<Record<string, string>> = {}) {
  const shown: string[] = [];
  const environment = await startScriptedOllama(({ content }) => {
    shown.push(content);
    const hour = /opens at (\w+)/.exec(content)?.[1];
    return { content: hour === undefined ? 'I do not know.' : `We open at ${hour}.` };
  });
  const server = await (
    await startServer({ environment: { ...environment, ...settings } })
  ).ready();
  onTestFinished(() => server.stop());
  const agentId = await server.createAgent({ greeting: 'Hello.' });
  return { server, agentId, shown };
}

async function add(server: TestServer, agentId: string, name: string, text: string) {
  const made = await server.api('POST', `/api/agents/${agentId}/knowledge`, { name, text });
  expect(made.status).toBe(201);
}

async function ring(server: TestServer) {
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  await expect.poll(() => wordsOf(server, id), { timeout: 10_000 }).toContain('Hello.');
  return { call, id };
}

/** Presses another key every few seconds: on a busy machine a look-up may come too late for a turn, and is left out. */
async function askUntil(
  { server, call, id }: Awaited<ReturnType<typeof ring>> & { readonly server: TestServer },
  words: string,
): Promise<void> {
  let key = 4;
  const ask = () => {
    key = (key + 1) % 10;
    call.line.press(`${key}#`);
    return wordsOf(server, id);
  };
  await expect.poll(ask, { timeout: 60_000, interval: 4_000 }).toContain(words);
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
}

test('a caller hears what the newest version of a document says, and the timeline names passage and version', async () => {
  const { server, agentId, shown } = await openWorld();
  await add(server, agentId, 'Hours', HOURS.replace('nine', 'seven'));
  await add(server, agentId, 'Hours', HOURS);
  await add(server, agentId, 'Flowers', OTHER);
  const { call, id } = await ring(server);

  await askUntil({ server, call, id }, 'open at nine.');
  const events = await server.api('GET', `/api/calls/${id}/events`);
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  await call.hangUp();

  const [asked = ''] = shown.filter((content) => content.includes('[Hours'));
  expect(asked).toContain('[Hours, Branches › Rome] For callers who pressed 5');
  expect(asked).not.toMatch(/seven|Roses/);
  const sources = [{ document: 'Hours', version: 2, passage: 1 }];
  const timeline = events.body.data as unknown as readonly object[];
  expect(timeline).toContainEqual(
    expect.objectContaining({ kind: 'knowledge', details: { sources } }),
  );
  expect(metrics).toMatch(/offhook_knowledge_lookups_total\{result="found"\} [1-9]/);
  expect(metrics).toMatch(/offhook_knowledge_lookups_total\{result="failed"\} 0/);
  expect(server.output).not.toMatch(/branch in Rome|pressed 5/);
});

test('a deleted document is not found any more, by the call in progress neither', async () => {
  const { server, agentId, shown } = await openWorld();
  await add(server, agentId, 'Hours', HOURS);
  const { call, id } = await ring(server);
  const list = await server.api('GET', `/api/agents/${agentId}/knowledge`);
  const [{ id: documentId }] = list.body.data as unknown as [{ id: string }];

  await server.api('DELETE', `/api/agents/${agentId}/knowledge/${documentId}`);
  await askUntil({ server, call, id }, 'do not know.');
  const events = JSON.stringify((await server.api('GET', `/api/calls/${id}/events`)).body);
  await call.hangUp();

  expect(events).not.toContain('"knowledge"');
  expect(shown.some((content) => content.includes('Rome'))).toBe(false);
});

test('with an embedding model a passage is found that shares no word with the caller', async () => {
  const embeddings = await startEmbeddings();
  const { server, agentId, shown } = await openWorld({
    ...{ KNOWLEDGE_EMBEDDINGS: 'ollama', KNOWLEDGE_EMBEDDINGS_MODEL: 'tiny' },
    KNOWLEDGE_EMBEDDINGS_URL: embeddings.url,
  });
  await add(server, agentId, 'Shop', 'The shop opens at nine.');
  const embedded = () => embeddings.requests.some(({ input }) => input[0]?.includes('nine'));
  await expect.poll(embedded, { timeout: 10_000 }).toBe(true);
  const { call, id } = await ring(server);

  await askUntil({ server, call, id }, 'open at nine.');
  const ready = JSON.stringify(await (await fetch(`${server.baseUrl}/readyz`)).json());
  await call.hangUp();

  expect(shown.some((content) => content.includes('[Shop] The shop opens'))).toBe(true);
  expect(ready).toContain(
    '"name":"knowledge embeddings","isOk":true,"state":"ollama/tiny answers"',
  );
});

test('with an embedding model of its own the server finds such a passage', async () => {
  const { modelsDir } = makeEmbeddingModel('tiny');
  const { server, agentId, shown } = await openWorld({
    ...{ KNOWLEDGE_EMBEDDINGS: 'onnx', KNOWLEDGE_EMBEDDINGS_MODEL: 'tiny', MODELS_DIR: modelsDir },
  });
  await add(server, agentId, 'Shop', 'The shop opens at nine.');
  const state = async () => JSON.stringify(await (await fetch(`${server.baseUrl}/readyz`)).json());
  await expect.poll(state, { timeout: 30_000 }).toContain('"state":"onnx/tiny answers"');
  const { call, id } = await ring(server);

  await askUntil({ server, call, id }, 'open at nine.');
  await call.hangUp();

  expect(shown.some((content) => content.includes('[Shop] The shop opens'))).toBe(true);
});

test('a model that is not there is named with its command, and calls go on', async () => {
  const { modelsDir } = makeEmbeddingModel('other');
  const { server } = await openWorld({ KNOWLEDGE_EMBEDDINGS: 'onnx', MODELS_DIR: modelsDir });
  const state = async () => JSON.stringify(await (await fetch(`${server.baseUrl}/readyz`)).json());

  await expect
    .poll(state, { timeout: 30_000 })
    .toContain('npm run models -- --only multilingual-e5-small');
  expect(await state()).toContain('documents are searched by their words alone');
});
