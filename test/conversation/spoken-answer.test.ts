/** A transfer target that says whether it takes the call. */
import { expect, test } from 'vitest';
import { answerOf, hearAnswer } from '../../src/conversation/spoken-answer.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { ScriptedAudio } from '../call/support/scripted-party.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeListener, utteranceOf } from './support/fake-parts.ts';

test.each([
  ['Yes.', true],
  ['Yeah, sure, thanks.', true],
  ['Yes, put them through.', true],
  ['Ja, gerne.', true],
  ['Sì, certo.', true],
  ['Oui, bien sûr.', true],
  ['Yes, no problem.', true],
  ['No problem.', true],
  ['Sí, ahora mismo.', true],
  ['Sim, agora sim.', true],
  ['Ja, warum nicht?', true],
  ['Sì, non c’è problema.', true],
  ['Oui, pas de problème.', true],
  ['No.', false],
  ['Ahora no.', false],
  ['Not now, please.', false],
  ['Nein, danke.', false],
  ['Non, pas maintenant.', false],
  ['Yes, but not now.', undefined],
  ['Agora estou a ouvir.', undefined],
  ['Hello?', undefined],
  ['', undefined],
  ['Please leave a message after the tone.', undefined],
  ['No one can take your call right now, please leave a message.', undefined],
  ['Thank you.', undefined],
] as const)('answerOf %j is %s', (text, expected) => {
  expect(answerOf(text)).toBe(expected);
});

function listen(options: { readonly hasVoiceDetector?: boolean } = {}) {
  const { hasVoiceDetector = true } = options;
  const clock = new FakeClock();
  const audio = new ScriptedAudio();
  const listener = new FakeListener(clock);
  let closings = 0;
  listener.close = () => {
    closings += 1;
  };
  const answers: boolean[] = [];
  const hearing = { hasVoiceDetector, open: () => listener };
  const stop = hearAnswer({ audio, hearing, language: 'en-US', log: silentLogger }, (isYes) =>
    answers.push(isYes),
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const say = async (text: string | Error) => {
    listener.says = text;
    const source = hasVoiceDetector ? listener : audio;
    source.emit({ kind: 'voice-started', atMs: clock.nowMs() });
    source.emit({ kind: 'voice-stopped', lastVoicedAtMs: clock.nowMs() });
    clock.advance(100);
    await settle();
  };
  return { listener, answers, stop, say, settle, clock, closings: () => closings };
}

test.each([
  true,
  false,
])('hearAnswer tells what was said (voice detector: %s)', async (hasVoiceDetector) => {
  const { answers, say } = listen({ hasVoiceDetector });

  await say('Hello?');
  await say('Yes.');

  expect(answers).toEqual([true]);
});

test('hearAnswer keeps no audio of what was no answer, and goes on after a failure', async () => {
  const { answers, listener, say } = listen();

  await say('Who is it?');
  await say(new Error('no recogniser is ready'));
  const endings = listener.endings;
  await say('No.');

  expect([answers, endings]).toEqual([[false], 2]);
});

test('hearAnswer believes no words that the recogniser is unsure of', async () => {
  const { answers, listener, say } = listen();
  listener.transcribe = async () => utteranceOf('Yes.', 0.4);

  await say('Yes.');

  expect(answers).toEqual([]);
});

test('hearAnswer judges an answer with a pause in it as a whole', async () => {
  const { answers, listener, clock, settle } = listen();
  listener.says = 'Yes, please.';

  for (let part = 0; part < 2; part += 1) {
    listener.emit({ kind: 'voice-started', atMs: clock.nowMs() });
    listener.emit({ kind: 'voice-stopped', lastVoicedAtMs: clock.nowMs() });
  }
  clock.advance(100);
  await settle();

  expect(answers).toEqual([true]);
  expect(listener.begunAtMs).toHaveLength(1);
});

test('hearAnswer hears nothing after it was stopped, and closes once', async () => {
  const { answers, say, stop, closings } = listen();

  stop();
  stop();
  await say('Yes.');

  expect([answers, closings()]).toEqual([[], 1]);
});
