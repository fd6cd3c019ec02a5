/** Embeddings of passages and questions: computed behind the calls, joined with words, left out where they are late. */
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { EmbeddingResult } from '../../src/lib/metrics/model-metrics.ts';
import type { Embedder } from '../../src/llm/embeddings/embedder.ts';
import { EmbeddingServer } from '../../src/llm/embeddings/embedding-server.ts';
import { OnnxEmbedder } from '../../src/llm/embeddings/onnx/onnx-embedder.ts';
import { KnowledgeSearch } from '../../src/store/knowledge/knowledge-search.ts';
import { AgentSearch } from '../../src/tool/knowledge/agent-search.ts';
import { PassageEmbedder } from '../../src/tool/knowledge/passage-embedder.ts';
import { makeEmbeddingModel } from '../llm/support/tiny-embedding-model.ts';
import { type Mischief, startEmbeddings } from '../support/knowledge/embedding-double.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { saveKnowledge } from '../support/store/build-knowledge.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const TEXT =
  '# Fees\n\nA visit is ninety euros.\n\n# Times\n\nOpen from nine.\n\n# Pets\n\nA cat may come along.';

const LIMIT_MS = 5000;

async function openWorld(mischief?: Mischief) {
  const store = await openTestStore();
  await store.agents.insert(buildAgent({ id: 'agent_1' }));
  const server = await startEmbeddings(mischief);
  const clock = new FakeClock();
  const index = new KnowledgeSearch({ file: store.file, clock: systemClock, log: silentLogger });
  onTestFinished(() => index.stop());
  const results: EmbeddingResult[] = [];
  const counts = { embedded: (result: EmbeddingResult) => void results.push(result) };
  const embedderOf = (model: string) =>
    new EmbeddingServer({ protocol: 'ollama', url: server.url, model });
  const searchBy = (embedder: Embedder | undefined, searchClock = systemClock) =>
    new AgentSearch({
      ...{ agentId: 'agent_1', language: 'en-US', index, embedder, counts },
      ...{ clock: searchClock, log: silentLogger },
    });
  const run = (embedder: Embedder) => {
    const embeddings = new PassageEmbedder({
      ...{ store: store.knowledge, embedder, clock, log: silentLogger },
    });
    onTestFinished(() => embeddings.stop());
    embeddings.start();
    return embeddings;
  };
  const left = async (model: string) => (await store.knowledge.withoutVector(model, 100)).length;
  return { store, server, clock, index, results, embedderOf, searchBy, run, left };
}

test('a passage is found by its meaning that shares no word with the question', async () => {
  const { store, embedderOf, searchBy, run, left, results } = await openWorld();
  await saveKnowledge(store, TEXT);
  const embedder = embedderOf('tiny');
  run(embedder);
  await expect.poll(() => left('ollama/tiny')).toBe(0);

  const byWords = await searchBy(undefined).find('How expensive?', LIMIT_MS);
  const [first, ...others] = await searchBy(embedder).find('How expensive?', LIMIT_MS);

  expect(byWords).toEqual([]);
  expect(first?.text).toBe('A visit is ninety euros.');
  expect(others).toEqual([]);
  expect(results).toEqual(['used']);
});

test('a model in a process of our own finds a passage by its meaning', async () => {
  const { store, searchBy, run, left, results } = await openWorld();
  await saveKnowledge(store, TEXT);
  const { modelsDir } = makeEmbeddingModel('tiny');
  const options = { model: 'tiny', modelsDir, clock: systemClock, log: silentLogger };
  const embedder = new OnnxEmbedder(options);
  onTestFinished(() => embedder.stop());
  const embeddings = run(embedder);
  await expect.poll(() => left('onnx/tiny'), { timeout: 20_000 }).toBe(0);

  const [first] = await searchBy(embedder).find('How expensive?', LIMIT_MS);

  expect(results).toEqual(['used']);
  expect(first?.text).toBe('A visit is ninety euros.');
  expect(embeddings.report()).toEqual({ state: 'onnx/tiny answers' });
});

test('a passage that words and meaning find comes first, and both lists are in the result', async () => {
  const { store, embedderOf, searchBy, run, left } = await openWorld();
  await saveKnowledge(store, `${TEXT}\n\n# More\n\nWhat may a child have along?`);
  const embedder = embedderOf('tiny');
  run(embedder);
  await expect.poll(() => left('ollama/tiny')).toBe(0);

  const found = await searchBy(embedder).find('May my dog come along?', LIMIT_MS);

  expect(found.map(({ text }) => text)).toEqual([
    'A cat may come along.',
    'What may a child have along?',
  ]);
});

test.each([
  ['does not answer', () => true, 'late'],
  ['fails', (response) => Boolean(response.writeHead(500).end()), 'failed'],
] as readonly (readonly [
  string,
  Mischief,
  EmbeddingResult,
])[])('where the server %s, the words alone count, in time', async (_case, mischief, result) => {
  const { store, embedderOf, searchBy, results } = await openWorld(mischief);
  await saveKnowledge(store, TEXT);

  const found = await searchBy(embedderOf('tiny')).find('How many euros?', 300);

  expect(found).toMatchObject([{ text: 'A visit is ninety euros.' }]);
  expect(results).toEqual([result]);
});

test('new versions are embedded, vectors of deleted passages are removed, a new model embeds all again', async () => {
  const { store, clock, embedderOf, run, left, searchBy } = await openWorld();
  await saveKnowledge(store, TEXT);
  run(embedderOf('tiny'));
  await expect.poll(() => left('ollama/tiny')).toBe(0);

  await saveKnowledge(store, 'Dogs pay nothing.');
  expect(await left('ollama/tiny')).toBe(1);
  clock.advance(5000);
  await expect.poll(() => left('ollama/tiny')).toBe(0);

  expect(await left('ollama/other')).toBe(1);
  expect(await searchBy(embedderOf('other')).find('expensive', LIMIT_MS)).toEqual([]);
  await store.knowledge.delete(SCOPE, 'agent_1', 'doc_1');
  expect(await searchBy(embedderOf('tiny')).find('expensive', LIMIT_MS)).toEqual([]);
});

test('a vector that is a part of a larger array is kept by itself', async () => {
  const { store, index } = await openWorld();
  await saveKnowledge(store, TEXT);
  const vector = Float32Array.of(0, 1, 0, 9, 9).subarray(1, 3);
  const [passage] = await store.knowledge.withoutVector('tiny', 1);

  await store.knowledge.saveVectors('tiny', [{ id: passage?.id ?? 0, vector }]);
  index.prepare();
  const question = { model: 'tiny', vector: Float32Array.of(1, 0) };

  expect(await index.nearest('agent_1', question, 9)).toMatchObject([{ id: passage?.id }]);
});

test('vectors of passages that are gone meanwhile are not kept', async () => {
  const { store } = await openWorld();
  await saveKnowledge(store, TEXT);
  const vectors = [1, 99].map((id) => ({ id, vector: Float32Array.of(1) }));

  await store.knowledge.saveVectors('ollama/tiny', vectors);

  expect((await store.knowledge.withoutVector('ollama/tiny', 9)).map(({ id }) => id)).toEqual([
    2, 3,
  ]);
});

test('a server that fails is asked again later, and the report says what is the matter', async () => {
  let isDown = true;
  const { store, clock, server, embedderOf, run, left } = await openWorld((response) => {
    if (isDown) response.writeHead(500).end();
    return isDown;
  });
  await saveKnowledge(store, TEXT);
  const embeddings = run(embedderOf('tiny'));
  await expect.poll(() => embeddings.report().state).toContain('answered 500; documents are');
  const asked = server.requests.length;

  isDown = false;
  clock.advance(29_000);
  expect(server.requests.length).toBe(asked);
  clock.advance(1000);
  await expect.poll(() => left('ollama/tiny')).toBe(0);

  expect(embeddings.report().state).toBe('ollama/tiny answers');
});

test('many passages are sent in batches of sixteen', async () => {
  const { store, clock, server, embedderOf, run, left } = await openWorld();
  const text = Array.from({ length: 40 }, (_, number) => `# Heading ${number}\n\nOpen.`).join(
    '\n\n',
  );
  await saveKnowledge(store, text);

  run(embedderOf('tiny'));
  const leftNow = async () => {
    clock.advance(1);
    return left('ollama/tiny');
  };
  await expect.poll(leftNow, { timeout: 20_000 }).toBe(0);

  expect(server.requests.map(({ input }) => input.length)).toEqual([16, 16, 8]);
});
