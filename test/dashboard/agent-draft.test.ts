/** What an agent's form sends, and what it keeps. */
import { expect, test } from 'vitest';
import {
  changesOf,
  keepDraft,
  keptDraft,
  NEW_AGENT,
} from '../../src/dashboard/agent/agent-draft.ts';

const BEGUN = { ...NEW_AGENT, name: 'Reception', greeting: 'Hello', systemPrompt: 'You are kind.' };

/** A browser's storage. */
function box() {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, text: string) => void items.set(key, text),
    removeItem: (key: string) => void items.delete(key),
  };
}

test.each([
  ['nothing', {}, {}],
  ['a word', { greeting: 'Hi' }, { greeting: 'Hi' }],
  ['a setting', { maxDurationSeconds: '60' }, { settings: { maxDurationSeconds: 60 } }],
  ['a language model', { model: 'small:1b' }, { model: 'small:1b' }],
  ['a list', { tools: ['end_call'] }, { tools: ['end_call'] }],
])('changesOf sends only what was changed: %s', (_, changed, expected) => {
  expect(changesOf({ ...BEGUN, ...changed }, BEGUN)).toEqual(expected);
});

test('changesOf sends null for the language model of the server', () => {
  expect(changesOf(BEGUN, { ...BEGUN, model: 'small:1b' })).toEqual({ model: null });
});

test('keepDraft keeps a form that was changed, and forgets one that was not', () => {
  const storage = box();
  const draft = { ...BEGUN, greeting: 'Hi' };
  const changed = { begun: BEGUN, live: BEGUN, draft, updatedAt: 'then' };

  keepDraft(() => storage, 'api/agents/1', changed);
  const kept = keptDraft(() => storage, 'api/agents/1');
  const other = keptDraft(() => storage, 'api/agents/2');
  keepDraft(() => storage, 'api/agents/1', { ...changed, draft: BEGUN });

  expect(kept).toEqual(changed);
  expect(other).toBeUndefined();
  expect(storage.items.size).toBe(0);
});

test('keptDraft takes text that it cannot read for none', () => {
  const storage = box();
  storage.setItem('offhook.draft.api/agents/1', '{"half');

  expect(keptDraft(() => storage, 'api/agents/1')).toBeUndefined();
});
