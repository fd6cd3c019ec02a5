/** Templates of agents, and finding voices. */
import { expect, test } from 'vitest';
import { NEW_AGENT, TOOLS } from '../../src/dashboard/agent/agent-draft.ts';
import { isAsTemplate, TEMPLATES, templatePart } from '../../src/dashboard/agent/templates.ts';
import { foundVoices, languagesOf } from '../../src/dashboard/agent/voice-search.ts';
import { LANGUAGES } from '../../src/dashboard/text/text.ts';
import { AGENT_LIMITS } from '../../src/domain/agent/agent-rules.ts';

const ALL = LANGUAGES.flatMap((language) => TEMPLATES.map((name) => [name, language] as const));

test.each(ALL)('the template %s in %s fits what the server takes', (name, language) => {
  const { greeting, systemPrompt, tools, voice, extract } = {
    ...NEW_AGENT,
    ...templatePart(name, language),
  };

  expect(greeting.length).toBeLessThan(AGENT_LIMITS.greetingCharsMax);
  expect(systemPrompt.length).toBeLessThan(AGENT_LIMITS.systemPromptCharsMax);
  expect(tools.filter((tool) => !TOOLS.some((known) => known === tool))).toEqual([]);
  expect(voice.slice(0, 2)).toBe(language);
  expect(() => JSON.parse(extract || '{}')).not.toThrow();
});

test('isAsTemplate tells a text of one’s own from a template', () => {
  const draft = { ...NEW_AGENT, ...templatePart('booking', 'en') };

  expect(isAsTemplate(draft, 'booking', 'en')).toBe(true);
  expect(isAsTemplate(draft, 'survey', 'en')).toBe(false);
  expect(isAsTemplate({ ...draft, greeting: 'Hi' }, 'booking', 'en')).toBe(false);
});

const VOICES = [
  { id: 'en-US-JennyNeural', name: 'Jenny', locale: 'en-US', language: 'en' },
  { id: 'de-DE-KatjaNeural', name: 'Katja', locale: 'de-DE', language: 'de' },
  { id: 'own', name: 'own', locale: 'und', language: 'und' },
];

test.each([
  ['any', '', '', ['en-US-JennyNeural', 'de-DE-KatjaNeural', 'own']],
  ['a language, and voices of none', 'de', '', ['de-DE-KatjaNeural', 'own']],
  ['words in any order', '', 'us jen', ['en-US-JennyNeural']],
  ['nothing', 'de', 'jenny', []],
])('foundVoices finds %s', (_, language, text, ids) => {
  expect(foundVoices(VOICES, { language, text }).map(({ id }) => id)).toEqual(ids);
});

test('languagesOf names each language once, and not the undetermined one', () => {
  expect(languagesOf([...VOICES, ...VOICES])).toEqual(['en', 'de']);
});
