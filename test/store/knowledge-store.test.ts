/** Documents of agents in the database: versions, limits, erasure, and the search in its thread. */
import { readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { KNOWLEDGE_LIMITS } from '../../src/domain/knowledge/knowledge.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { KnowledgeSearch } from '../../src/store/knowledge/knowledge-search.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { saveKnowledge } from '../support/store/build-knowledge.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;
const FIRST = { agentId: 'agent_1', documentId: 'doc_1' };

async function openWorld() {
  const store = await openTestStore();
  await store.agents.insert(buildAgent({ id: 'agent_1' }));
  await store.agents.insert(buildAgent({ id: 'agent_2', phoneNumber: null }));
  const search = new KnowledgeSearch({ file: store.file, clock: systemClock, log: silentLogger });
  onTestFinished(() => search.stop());
  return { store, search };
}

test('a passage is found by any of its words, in another form, with its document, version and place', async () => {
  const { store, search } = await openWorld();
  await saveKnowledge(
    store,
    '# Hours\n\nWe open at nine.\n\n# Returns\n\nGoods come back in 30 days.',
  );

  const found = await search.find('agent_1', 'Until when can I return something?', 3);

  const place = { documentName: 'Opening hours', version: 1, number: 2, heading: 'Returns' };
  expect(found).toEqual([{ id: 2, ...place, text: 'Goods come back in 30 days.' }]);
});

test.each([
  ['no word', '?! …'],
  ['operators', 'NEAR( "a" OR agent_id : * -nine'],
  ['a quote', '"'],
  ['no text', ''],
  ['a very long speech', 'and so on '.repeat(5000)],
])('a question of %s is answered without an error', async (_case, question) => {
  const { store, search } = await openWorld();
  await saveKnowledge(store, 'We open at nine.');

  const found = await search.find('agent_1', question, 3);

  expect(found.length).toBe(question.includes('nine') ? 1 : 0);
});

test('an agent finds nothing of another, whatever the question names', async () => {
  const { store, search } = await openWorld();
  await saveKnowledge(store, 'The secret is tea.');

  expect(await search.find('agent_2', 'secret tea agent_1', 3)).toEqual([]);
  expect(await search.find('AGENT_1', 'secret tea', 3)).toEqual([]);
});

test('a changed text is the next version, which alone is found; the same text changes nothing', async () => {
  const { store, search } = await openWorld();
  await saveKnowledge(store, 'We open at nine.');
  const now = new Date(5000);

  const second = await saveKnowledge(store, 'We open at ten.', { id: 'doc_2', now });
  const again = await saveKnowledge(store, 'We open at ten.', { id: 'doc_3', now: new Date(9000) });

  expect(second).toMatchObject({ id: 'doc_1', version: 2, createdAt: new Date(0), updatedAt: now });
  expect(again).toEqual(second);
  expect(await search.find('agent_1', 'nine', 3)).toEqual([]);
  expect(await search.find('agent_1', 'ten', 3)).toMatchObject([{ version: 2, number: 1 }]);
  const kept = await store.knowledge.find(SCOPE, FIRST);
  expect(kept).toMatchObject({
    text: 'We open at ten.',
    versions: [{ version: 2 }, { version: 1 }],
  });
  expect((await store.knowledge.find(SCOPE, FIRST, 1))?.text).toBe('We open at nine.');
  expect(await store.knowledge.find(SCOPE, FIRST, 7)).toBeUndefined();
});

test('the newest versions are kept, up to a number', async () => {
  const { store } = await openWorld();
  for (let version = 1; version <= 8; version += 1) await saveKnowledge(store, `Text ${version}.`);

  const kept = await store.knowledge.find(SCOPE, FIRST);

  expect(kept?.versions.map(({ version }) => version)).toEqual([8, 7, 6, 5, 4]);
});

test.each([
  ['the document is deleted', 'document'],
  ['its agent is deleted', 'agent'],
])('nothing of a document is left in the database once %s', async (_case, what) => {
  const { store, search } = await openWorld();
  await saveKnowledge(store, '# Xylophone\n\nThe quixotic zebra.');
  await saveKnowledge(store, '# Xylophone\n\nThe quixotic gnu.');

  if (what === 'agent') await store.agents.delete(SCOPE, 'agent_1');
  else expect(await store.knowledge.delete(SCOPE, 'agent_1', 'doc_1')).toBe(true);

  expect(await search.find('agent_1', 'quixotic', 3)).toEqual([]);
  expect((await store.knowledge.list(SCOPE, 'agent_1', { limit: 9, offset: 0 })).total).toBe(0);
  await search.stop();
  await store.close();
  expect(readFileSync(store.file, 'latin1')).not.toMatch(/quixot|zebra|gnu|xylophon/i);
  const sqlite = new Sqlite(store.file);
  onTestFinished(() => void sqlite.close());
  sqlite.exec("insert into knowledge_index (knowledge_index) values ('integrity-check')");
});

test('an account and an environment see no document of another', async () => {
  const { store } = await openWorld();
  await saveKnowledge(store, 'We open at nine.');

  for (const scope of [
    { ...SCOPE, environment: 'test' },
    { ...SCOPE, accountId: 'acct_2' },
  ] as const) {
    expect(await store.knowledge.find(scope, FIRST)).toBeUndefined();
    expect(await store.knowledge.delete(scope, 'agent_1', 'doc_1')).toBe(false);
    expect((await store.knowledge.list(scope, 'agent_1', { limit: 9, offset: 0 })).total).toBe(0);
  }
  expect(await store.knowledge.find(SCOPE, { ...FIRST, agentId: 'agent_2' })).toBeUndefined();
});

test('an agent has so many documents and no more, and a new version of one of them fits', async () => {
  const { store } = await openWorld();
  const { agentDocumentsMax } = KNOWLEDGE_LIMITS;
  for (let count = 1; count <= agentDocumentsMax; count += 1) {
    await saveKnowledge(store, 'Text.', { id: `doc_${count}`, name: `Document ${count}` });
  }

  const oneMore = saveKnowledge(store, 'Text.', { id: 'doc_0', name: 'One more' });

  await expect(oneMore).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(saveKnowledge(store, 'Other.', { name: 'Document 7' })).resolves.toBeTruthy();
  await expect(
    saveKnowledge(store, 'Text.', { id: 'doc_a', agentId: 'agent_2' }),
  ).resolves.toBeTruthy();
});

test('an agent has so much text and no more', async () => {
  const { store } = await openWorld();
  const content = { text: 'x'.repeat(KNOWLEDGE_LIMITS.agentCharsMax - 3), passages: [] };
  const draft = {
    ...SCOPE,
    agentId: 'agent_1',
    mediaType: 'text/plain',
    now: new Date(0),
  } as const;
  await store.knowledge.save({ ...draft, id: 'doc_1', name: 'All' }, content);

  const more = saveKnowledge(store, 'Text.', { id: 'doc_2', name: 'More' });

  await expect(more).rejects.toThrow('3000002 characters of text, and 3000000 is the most');
});

test('a search thread that fails is replaced, at most every five seconds', async () => {
  const { store } = await openWorld();
  const clock = new FakeClock();
  const file = `${store.folder}/none.db`;
  const search = new KnowledgeSearch({ file, clock, log: silentLogger });
  onTestFinished(() => search.stop());
  const failure = () =>
    search.find('agent_1', 'nine', 3).then(
      () => 'found',
      (error: Error) => error.message,
    );

  expect(await failure()).toMatch(/the thread has ended$/);
  expect(await failure()).toMatch(/the search thread has failed$/);
  clock.advance(5000);
  expect(await failure()).toMatch(/the thread has ended$/);
});
