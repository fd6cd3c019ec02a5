/** An agent's form between the live agent and the draft of the server. */
import { expect, test } from 'vitest';
import {
  begunWith,
  changesToPublish,
  conflictOf,
  isUnsaved,
  outdatedDraft,
  savedAs,
  settledForm,
  tagOf,
} from '../../src/dashboard/agent/agent-changes.ts';
import { keptDraft, NEW_AGENT } from '../../src/dashboard/agent/agent-draft.ts';
import type { Agent, SavedDraft } from '../../src/dashboard/api-types.ts';

const AGENT: Agent = {
  ...{ id: 'agent_1', name: 'Reception', greeting: 'Hello', systemPrompt: 'Be kind.' },
  ...{ voice: 'en-US-JennyNeural', language: 'en-US', phoneNumber: '+390612345678', tools: [] },
  ...{ responsiveness: 'balanced', model: null, smsGateway: null, calendar: null, extract: null },
  successCriteria: null,
  settings: {
    ...{ maxDurationSeconds: 600, silenceTimeoutSeconds: 10, interruptible: true },
    ...{ transferTargets: [], afterTransfer: 'end', transferAcceptance: true, pronunciations: [] },
    voicemail: { action: 'continue', message: null },
  },
  ...{ status: 'active', totalCallsToday: 0, totalMinutesToday: 0, draftAt: 'd1' },
  ...{ createdAt: 'a0', updatedAt: 'a1' },
};

const DRAFT: SavedDraft = {
  changes: { greeting: 'Hi', status: 'paused', settings: { interruptible: false } },
  ...{ basedOnAt: 'a1', by: 'api', updatedAt: 'd1' },
};

const SEEN = { agent: AGENT, draft: DRAFT };

test('begunWith shows the draft over the live agent, with nothing unsaved', () => {
  const form = begunWith(SEEN);

  expect(form.draft).toMatchObject({ greeting: 'Hi', isInterruptible: false, name: 'Reception' });
  expect(form.live).toMatchObject({ greeting: 'Hello', isInterruptible: true });
  expect([isUnsaved(form), tagOf(form)]).toEqual([false, 'a1/d1']);
});

test('changesToPublish is what differs from the live agent, and what the form has no field for', () => {
  const form = begunWith(SEEN);

  const changes = changesToPublish({ ...form, draft: { ...form.draft, name: 'Desk' } });

  expect(changes).toEqual({ ...DRAFT.changes, name: 'Desk' });
});

test('changesToPublish is empty where the form is as the live agent', () => {
  const form = begunWith({ agent: AGENT, draft: undefined });

  expect([changesToPublish(form), tagOf(form)]).toEqual([{}, 'a1']);
});

test('savedAs has nothing unsaved but a number that was taken out', () => {
  const form = begunWith(SEEN);
  const typed = { ...form.draft, name: 'Desk' };

  const saved = savedAs({ ...form, draft: typed }, 'd2');
  const freed = savedAs({ ...form, draft: { ...typed, phoneNumber: '' } }, 'd2');

  expect([isUnsaved(saved), tagOf(saved)]).toEqual([false, 'a1/d2']);
  expect(isUnsaved(freed)).toBe(true);
  expect(freed.begun).toMatchObject({ name: 'Desk', phoneNumber: '+390612345678' });
});

test('settledForm keeps both people’s words where the other one saved a draft', () => {
  const begun = begunWith(SEEN);
  const form = { ...begun, draft: { ...begun.draft, systemPrompt: 'Be brief.' } };
  const theirs = { ...DRAFT, changes: { greeting: 'Hey' }, updatedAt: 'd2' };

  const conflict = conflictOf({ agent: AGENT, draft: theirs }, form);
  const [mine, other] = [
    settledForm(form, conflict, 'mine'),
    settledForm(form, conflict, 'theirs'),
  ];

  expect(conflict.theirs).toMatchObject({ greeting: 'Hey' });
  expect(mine.draft).toMatchObject({ greeting: 'Hey', systemPrompt: 'Be brief.' });
  expect([tagOf(mine), isUnsaved(mine)]).toEqual(['a1/d2', true]);
  expect(other.draft).toMatchObject({ greeting: 'Hey', systemPrompt: 'Be kind.' });
  expect(isUnsaved(other)).toBe(false);
});

test('settledForm keeps the draft where only the live agent was changed', () => {
  const form = begunWith(SEEN);
  const agent = { ...AGENT, greeting: 'Welcome', name: 'Desk', updatedAt: 'a2' };

  const conflict = conflictOf({ agent, draft: DRAFT }, form);
  const [mine, theirs] = [
    settledForm(form, conflict, 'mine'),
    settledForm(form, conflict, 'theirs'),
  ];

  expect(conflict.theirs.greeting).toBe('Welcome');
  expect(mine.draft).toMatchObject({ greeting: 'Hi', name: 'Desk' });
  expect(theirs.draft).toMatchObject({ greeting: 'Welcome', name: 'Desk' });
});

test('outdatedDraft is one that was saved for an earlier agent', () => {
  const outdated = outdatedDraft({ agent: { ...AGENT, updatedAt: 'a2' }, draft: DRAFT });

  expect(outdated?.theirs.greeting).toBe('Hello');
  expect([outdatedDraft(SEEN), outdatedDraft({ ...SEEN, draft: undefined })]).toEqual([
    undefined,
    undefined,
  ]);
});

test('keptDraft takes a form of a page without drafts for one of the live agent', () => {
  const form = { draft: { ...NEW_AGENT, name: 'Desk' }, begun: NEW_AGENT, updatedAt: 'a1' };
  const items = new Map([['offhook.draft.api/agents/1', JSON.stringify(form)]]);
  const box = { getItem: (key: string) => items.get(key) ?? null };
  const storage = { ...box, setItem: () => undefined, removeItem: () => undefined };

  expect(keptDraft(() => storage, 'api/agents/1')).toEqual({ ...form, live: NEW_AGENT });
});
