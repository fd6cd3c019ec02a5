/** What agents say on every call is spoken before the first one, and no more than that. */
import { expect, test, vi } from 'vitest';
import { startGreetings } from '../../src/call/session/greetings.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { PhraseCache } from '../../src/speech/tts/voices/phrase-cache.ts';
import { ScriptedSynthesizer } from '../support/speech/scripted-synthesizer.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { openTestStore } from '../support/store/test-store.ts';

test('startGreetings goes on with the next phrase where one cannot be spoken', async () => {
  const store = await openTestStore();
  await store.agents.insert(buildAgent({ greeting: 'Hello from one.' }));
  const texts: string[] = [];
  const prepare = async ({ text }: { readonly text: string }) => {
    texts.push(text);
    if (text === 'Hello from one.') throw new Error('no voice');
  };

  const stop = startGreetings({ store, speech: { synthesizer: { prepare } }, log: silentLogger });
  await vi.waitFor(() => expect(texts).toHaveLength(2));
  stop();

  expect(texts[0]).toBe('Hello from one.');
});

test('startGreetings prepares greeting and filler of active live agents, with their pronunciations', async () => {
  const store = await openTestStore();
  const pronunciations = [{ written: 'Hello', spoken: 'hullo' }];
  const agent = buildAgent({ greeting: 'Hello from one.' });
  await store.agents.insert({ ...agent, settings: { ...agent.settings, pronunciations } });
  await store.agents.insert(
    buildAgent({ id: 'agent_2', status: 'paused', greeting: 'Hello from two.' }),
  );
  await store.agents.insert(
    buildAgent({ id: 'agent_3', environment: 'test', greeting: 'Hello from three.' }),
  );
  const synthesizer = new ScriptedSynthesizer();
  const speech = { synthesizer: new PhraseCache({ synthesizer, sizeBytesMax: 1_000_000 }) };

  const stop = startGreetings({ store, speech, log: silentLogger });
  await vi.waitFor(() => expect(synthesizer.finished).toBe(2));
  stop();
  stop();

  expect(synthesizer.asked[0]).toMatchObject({ text: 'Hello from one.', pronunciations });
  for await (const _ of speech.synthesizer.speak({
    ...{ text: 'Hello from one.', voice: agent.voice, language: agent.language, pronunciations },
  }));
  expect(synthesizer.asked).toHaveLength(2);
});
