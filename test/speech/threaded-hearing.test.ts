/** Speech recognition with our own tiny models: a call's receive ring, the hearing thread, the recogniser's child, and the words. */
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { RecognitionError } from '../../src/speech/hearing/hearing.ts';
import { phraseSaying } from './spoken-phrases.ts';
import { hearingWith, speak, voiceOf } from './tiny-model-hearing.ts';

const hearing = hearingWith();

beforeAll(() => hearing.start());
afterAll(() => hearing.stop());

test('Hearing reports stand-ins, and says what they are', () => {
  expect(hearing.hasVoiceDetector).toBe(true);
  expect(hearing.reports()).toMatchObject([
    {
      job: 'vad',
      engine: 'silero',
      isFallback: false,
      reason: expect.stringContaining('its model comes with Offhook'),
    },
    { job: 'stt', engine: 'whisper', isFallback: true },
  ]);
  expect(hearing.reports()[1]?.reason).toContain('a closed set of phrases only');
});

test('Hearing asked again to start waits for the start that has begun', () => {
  expect(hearing.start()).toBe(hearing.start());
});

test('Hearing rejects every later start after a failed one, without another attempt', async () => {
  const without = hearingWith({ stt: 'whisper' });
  const threads: Worker[] = [];
  const note = (worker: Worker) => threads.push(worker);
  process.on('worker', note);

  const first = await without.start().catch((error: unknown) => error);
  const second = await without.start().catch((error: unknown) => error);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('worker', note);
  await without.stop();

  expect(first).toBeInstanceOf(Error);
  expect(second).toBe(first);
  expect(threads).toHaveLength(1);
});

test('Hearing tells when a voice began and gives its words', async () => {
  const heard = new ReceiveRing();
  const listener = hearing.open({ ring: heard, language: 'en' });
  const started = voiceOf(listener, 'voice-started');
  const pcm = phraseSaying('What are your opening hours?');
  const beganAtMs = systemClock.nowMs() - pcm.length / 8;
  speak(heard, pcm);

  const event = await started;
  listener.beginUtterance(event.kind === 'voice-started' ? event.atMs : 0);
  const utterance = await listener.transcribe({ priority: 'final' });

  expect(utterance.text).toBe('What are your opening hours?');
  expect(utterance.language).toBe('en');
  expect(utterance.words.map(({ text }) => text)).toEqual(utterance.text.split(' '));
  expect(utterance.tookMs).toBeGreaterThan(0);
  // The fixture's voice begins about 300 ms after its start.
  expect(event.kind === 'voice-started' && event.atMs - beganAtMs).toBeGreaterThan(200);
  expect(event.kind === 'voice-started' && event.atMs - beganAtMs).toBeLessThan(450);
  listener.close();
});

test('Hearing tells when a voice stopped, also when no more audio comes', async () => {
  const heard = new ReceiveRing();
  const listener = hearing.open({ ring: heard, language: 'en' });
  const stopped = voiceOf(listener, 'voice-stopped');
  const pcm = phraseSaying('Transfer me to a person.');

  speak(heard, pcm.subarray(0, 10_000));
  const event = await stopped;

  const gapMs = event.kind === 'voice-stopped' ? heard.endAtMs - event.lastVoicedAtMs : -1;
  expect(gapMs).toBeGreaterThanOrEqual(0);
  expect(gapMs).toBeLessThan(64);
  listener.close();
});

test('Hearing keeps two callers apart', async () => {
  const texts = ['My name is Alice Smith.', 'Yes, please.'];
  const calls = texts.map((text) => {
    const heard = new ReceiveRing();
    const listener = hearing.open({ ring: heard, language: 'en' });
    listener.beginUtterance(0);
    speak(heard, phraseSaying(text));
    return listener;
  });

  const utterances = await Promise.all(
    calls.map((listener) => listener.transcribe({ priority: 'final' })),
  );

  expect(utterances.map(({ text }) => text)).toEqual(texts);
  for (const listener of calls) listener.close();
});

test('Hearing hears the second utterance of a call without the first', async () => {
  const heard = new ReceiveRing();
  const listener = hearing.open({ ring: heard, language: 'en' });
  listener.beginUtterance(0);
  speak(heard, phraseSaying('Goodbye.'));
  const first = await listener.transcribe({ priority: 'final' });
  listener.endUtterance();

  listener.beginUtterance(systemClock.nowMs() + 300);
  // The thread answers in order: once this is answered, it has begun the utterance.
  await listener.transcribe({ priority: 'partial' });
  speak(heard, phraseSaying('No, thank you.'));
  const second = await listener.transcribe({ priority: 'final' });

  expect([first.text, second.text]).toEqual(['Goodbye.', 'No, thank you.']);
  listener.close();
});

test('Hearing answers a request although the utterance is ended at once', async () => {
  const heard = new ReceiveRing();
  const listener = hearing.open({ ring: heard, language: 'es' });
  listener.beginUtterance(0);
  speak(heard, phraseSaying('Quiero una cita.'));

  const asked = listener.transcribe({ priority: 'final' });
  listener.endUtterance();

  expect((await asked).text).toBe('Quiero una cita.');
  listener.close();
});

test('SpeechListener.transcribe rejects with the reason of its signal', async () => {
  const listener = hearing.open({ ring: new ReceiveRing(), language: 'en' });
  listener.beginUtterance(0);
  const abort = new AbortController();

  const asked = listener.transcribe({ priority: 'speculative', signal: abort.signal });
  abort.abort(new Error('the caller spoke on'));

  await expect(asked).rejects.toThrow('the caller spoke on');
  listener.close();
});

test('SpeechListener.transcribe rejects when the wait is over', async () => {
  const heard = new ReceiveRing();
  const listener = hearing.open({ ring: heard, language: 'en' });
  listener.beginUtterance(0);
  speak(heard, phraseSaying('Goodbye.'));

  const asked = listener.transcribe({ priority: 'final', timeoutMs: 0 });

  // Either the wait is over, or the recognisers know before that it will be.
  await expect(asked).rejects.toThrow(/no answer within 0 ms|takes longer than 0 ms/);
  listener.close();
});

test('SpeechListener.transcribe rejects when no utterance has begun, and when the listener is closed', async () => {
  const listener = hearing.open({ ring: new ReceiveRing(), language: 'en' });

  const early = listener.transcribe({ priority: 'final' });
  await expect(early).rejects.toThrow('no utterance has begun');
  listener.close();
  const late = listener.transcribe({ priority: 'final' });

  await expect(late).rejects.toThrow(RecognitionError);
});
