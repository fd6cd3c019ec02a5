/** Which requests for the caller's words are given up, and which are done. */
import { expect, test } from 'vitest';
import { TranscriptionRequest } from '../../src/conversation/turn/transcription-request.ts';
import type { TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeListener } from './support/fake-parts.ts';

function listen(log = silentLogger, language = 'en-US') {
  const clock = new FakeClock(0);
  const listener = new FakeListener(clock);
  listener.says = 'When do you open?';
  const signals: (AbortSignal | undefined)[] = [];
  const transcribe = listener.transcribe.bind(listener);
  listener.transcribe = (request) => {
    signals.push(request.signal);
    return transcribe(request);
  };
  const told: TurnEvent[] = [];
  const tell = (event: TurnEvent) => void told.push(event);
  return {
    clock,
    listener,
    told,
    signals,
    transcription: new TranscriptionRequest({ listener, language, log, tell }),
  };
}

test('TranscriptionRequest gives up a request that is under way for the next one', async () => {
  const { clock, told, signals, transcription } = listen();
  const first = transcription.request(1, 'speculative');
  const second = transcription.request(2, 'final');

  clock.advance(80);
  await Promise.all([first, second]);

  expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  expect(told).toMatchObject([{ kind: 'transcribed', attempt: 2 }]);
});

test('TranscriptionRequest has nothing to give up once the words have come', async () => {
  const { clock, signals, transcription } = listen();
  const request = transcription.request(1, 'final');
  clock.advance(80);
  await request;

  transcription.cancel();

  expect(signals[0]?.aborted).toBe(false);
});

test.each([
  ['final', ['warn']],
  ['partial', ['debug']],
] as const)('TranscriptionRequest tells that a %s request has failed, and has nothing to give up then', async (priority, expected) => {
  const logged: string[] = [];
  const { clock, listener, told, signals, transcription } = listen({
    ...silentLogger,
    warn: () => logged.push('warn'),
    debug: () => logged.push('debug'),
  });
  listener.says = new Error('no memory');
  const request = transcription.request(1, priority);
  clock.advance(80);
  await request;

  transcription.cancel();

  expect(told).toEqual([{ kind: 'transcription-failed', attempt: 1 }]);
  expect([logged, signals[0]?.aborted]).toEqual([expected, false]);
});

test.each([
  ['en-US', 1],
  ['EN', 1],
  ['de-DE', 0.5],
])('TranscriptionRequest for an agent of %s takes English words for %s as sure', async (language, share) => {
  const { clock, told, transcription } = listen(silentLogger, language);
  const request = transcription.request(1, 'final');
  clock.advance(80);
  await request;

  expect(told).toMatchObject([{ kind: 'transcribed', confidence: 0.9 * share }]);
});

test('TranscriptionRequest knows a language by either of its codes', async () => {
  const { clock, listener, told, transcription } = listen(silentLogger, 'nb-NO');
  const transcribe = listener.transcribe.bind(listener);
  listener.transcribe = async (request) => ({ ...(await transcribe(request)), language: 'no' });
  const request = transcription.request(1, 'final');
  clock.advance(80);
  await request;

  expect(told).toMatchObject([{ kind: 'transcribed', confidence: 0.9 }]);
});
