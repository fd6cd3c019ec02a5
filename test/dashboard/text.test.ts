/** The texts of the pages: every language has all of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LANGUAGES, textOf, wordOf } from '../../src/dashboard/text/text.ts';
import { DEFAULT_INTENTS, END_REASONS } from '../../src/domain/call/call.ts';
import { type EngineJob, engineState, type StandIn } from '../../src/domain/call/engine-state.ts';
import { CAMPAIGN_STATUSES, CONTACT_STATES } from '../../src/domain/campaign/campaign.ts';
import { DOWNLOAD_STATES, MODEL_STATES } from '../../src/domain/model-downloads.ts';
import { SMS_STATES } from '../../src/domain/sms/sms-message.ts';

function textsOf(language: string): Readonly<Record<string, string>> {
  const file = join(import.meta.dirname, `../../src/dashboard/text/${language}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

const english = textsOf('en');

test.each(LANGUAGES)('%s has the same keys in the same order', (language) => {
  expect(Object.keys(textsOf(language))).toEqual(Object.keys(english));
});

test.each(LANGUAGES)('%s leaves no text empty, and names the same values', (language) => {
  const names = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  const wrong = Object.entries(textsOf(language)).filter(
    ([key, text]) => text.trim() === '' || String(names(text)) !== String(names(english[key])),
  );

  expect(wrong).toEqual([]);
});

test('textOf puts values in, and leaves what it does not know', () => {
  const text = textOf('de', 'pager.where', { first: 1, last: 50 });

  expect(text).toBe('1–50 von {total}');
});

test('wordOf gives the server’s own word where there is no text', () => {
  expect(wordOf('de', 'state', 'failed')).toBe('fehlgeschlagen');
  expect(wordOf('de', 'state', 'dancing')).toBe('dancing');
});

test.each<[EngineJob, StandIn]>([
  ['vad', 'tiny_model'],
  ['vad', 'no_model'],
  ['stt', 'tiny_model'],
  ['stt', 'no_model'],
  ['turn', 'tiny_model'],
  ['turn', 'no_model'],
  ['tts', 'simple_voice'],
  ['llm', 'rule_book'],
])('every language says what callers notice of %s: %s, and what to do about it', (job, standIn) => {
  const facts = { job, engine: 'one', reason: 'none', isFallback: true, standIn };
  const { replacement } = engineState(facts);
  const how = replacement?.how ?? '';

  for (const language of LANGUAGES) {
    const name = `${job}.${standIn}`;
    expect(wordOf(language, 'limitation', name)).not.toBe(name);
    expect(wordOf(language, 'how', how)).not.toBe(how);
  }
});

test.each<readonly [string, readonly string[]]>([
  ['end', END_REASONS],
  ['intent', DEFAULT_INTENTS],
  ['mood', ['positive', 'neutral', 'negative']],
  ['answeredBy', ['human', 'machine', 'unknown']],
  ['state', ['queued', 'ringing', 'in_progress', 'completed', 'failed']],
  ['state', [...CAMPAIGN_STATUSES, ...CONTACT_STATES]],
  ['state', [...MODEL_STATES, ...DOWNLOAD_STATES]],
  ['state', SMS_STATES],
  ['state', ['ready', 'registering', 'failed', 'unregistered']],
  ['state', ['pending', 'succeeded', 'failed', 'active', 'disabled', 'paused']],
])('every language has its own word for each value of %s: %j', (group, values) => {
  for (const language of LANGUAGES) {
    const texts = textsOf(language);
    expect(values.filter((value) => texts[`${group}.${value}`] === undefined)).toEqual([]);
  }
});
