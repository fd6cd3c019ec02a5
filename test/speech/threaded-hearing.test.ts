/** The whole ear on our own tiny models: a call's ring, the hearing thread, the recogniser's child, and the words. */
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { ReceiveRing } from '../../src/media/buffers/receive-ring.ts';
import { RecognitionError } from '../../src/speech/hearing/hearing.ts';
import { phraseSaying } from './spoken-phrases.ts';
import { hearingWith, speak, voiceOf } from './whole-ear.ts';

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

test('Hearing that could not start says so to whoever asks again, and begins nothing anew', async () => {
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
  const ear = hearing.open({ ring: heard, language: 'en' });
  const started = voiceOf(ear, 'voice-started');
  const pcm = phraseSaying('What are your opening hours?');
  const beganAtMs = systemClock.nowMs() - pcm.length / 8;
  speak(heard, pcm);

  const event = await started;
  ear.beginUtterance(event.kind === 'voice-started' ? event.atMs : 0);
  const utterance = await ear.transcribe({ priority: 'final' });

  expect(utterance.text).toBe('What are your opening hours?');
  expect(utterance.language).toBe('en');
  expect(utterance.words.map(({ text }) => text)).toEqual(utterance.text.split(' '));
  expect(utterance.tookMs).toBeGreaterThan(0);
  // The fixture's voice begins about 300 ms after its start.
  expect(event.kind === 'voice-started' && event.atMs - beganAtMs).toBeGreaterThan(200);
  expect(event.kind === 'voice-started' && event.atMs - beganAtMs).toBeLessThan(450);
  ear.close();
});

test('Hearing tells when a voice stopped, also when no more audio comes', async () => {
  const heard = new ReceiveRing();
  const ear = hearing.open({ ring: heard, language: 'en' });
  const stopped = voiceOf(ear, 'voice-stopped');
  const pcm = phraseSaying('Transfer me to a person.');

  speak(heard, pcm.subarray(0, 10_000));
  const event = await stopped;

  const gapMs = event.kind === 'voice-stopped' ? heard.endAtMs - event.lastVoicedAtMs : -1;
  expect(gapMs).toBeGreaterThanOrEqual(0);
  expect(gapMs).toBeLessThan(64);
  ear.close();
});

test('Hearing keeps two callers apart', async () => {
  const texts = ['My name is Alice Smith.', 'Yes, please.'];
  const calls = texts.map((text) => {
    const heard = new ReceiveRing();
    const ear = hearing.open({ ring: heard, language: 'en' });
    ear.beginUtterance(0);
    speak(heard, phraseSaying(text));
    return ear;
  });

  const utterances = await Promise.all(calls.map((ear) => ear.transcribe({ priority: 'final' })));

  expect(utterances.map(({ text }) => text)).toEqual(texts);
  for (const ear of calls) ear.close();
});

test('Hearing hears the second utterance of a call without the first', async () => {
  const heard = new ReceiveRing();
  const ear = hearing.open({ ring: heard, language: 'en' });
  ear.beginUtterance(0);
  speak(heard, phraseSaying('Goodbye.'));
  const first = await ear.transcribe({ priority: 'final' });
  ear.endUtterance();

  ear.beginUtterance(systemClock.nowMs() + 300);
  // The thread answers in order: once this is answered, it has begun the utterance.
  await ear.transcribe({ priority: 'partial' });
  speak(heard, phraseSaying('No, thank you.'));
  const second = await ear.transcribe({ priority: 'final' });

  expect([first.text, second.text]).toEqual(['Goodbye.', 'No, thank you.']);
  ear.close();
});

test('Hearing answers a request although the utterance is ended at once', async () => {
  const heard = new ReceiveRing();
  const ear = hearing.open({ ring: heard, language: 'es' });
  ear.beginUtterance(0);
  speak(heard, phraseSaying('Quiero una cita.'));

  const asked = ear.transcribe({ priority: 'final' });
  ear.endUtterance();

  expect((await asked).text).toBe('Quiero una cita.');
  ear.close();
});

test('SpeechListener.transcribe rejects with the reason of its signal', async () => {
  const ear = hearing.open({ ring: new ReceiveRing(), language: 'en' });
  ear.beginUtterance(0);
  const abort = new AbortController();

  const asked = ear.transcribe({ priority: 'speculative', signal: abort.signal });
  abort.abort(new Error('the caller spoke on'));

  await expect(asked).rejects.toThrow('the caller spoke on');
  ear.close();
});

test('SpeechListener.transcribe rejects when the wait is over', async () => {
  const heard = new ReceiveRing();
  const ear = hearing.open({ ring: heard, language: 'en' });
  ear.beginUtterance(0);
  speak(heard, phraseSaying('Goodbye.'));

  const asked = ear.transcribe({ priority: 'final', timeoutMs: 0 });

  // Either the wait is over, or the recognisers know before that it will be.
  await expect(asked).rejects.toThrow(/no answer within 0 ms|takes longer than 0 ms/);
  ear.close();
});

test('SpeechListener.transcribe rejects when no utterance has begun, and when the ear is closed', async () => {
  const ear = hearing.open({ ring: new ReceiveRing(), language: 'en' });

  const early = ear.transcribe({ priority: 'final' });
  await expect(early).rejects.toThrow('no utterance has begun');
  ear.close();
  const late = ear.transcribe({ priority: 'final' });

  await expect(late).rejects.toThrow(RecognitionError);
});
