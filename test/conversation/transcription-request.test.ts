/** Which requests for the caller's words are given up, and which are done. */
import { expect, test } from 'vitest';
import { TranscriptionRequest } from '../../src/conversation/turn/transcription-request.ts';
import type { TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeEar } from './support/fake-parts.ts';

function listen(log = silentLogger) {
  const clock = new FakeClock(0);
  const ear = new FakeEar(clock);
  ear.says = 'When do you open?';
  const signals: (AbortSignal | undefined)[] = [];
  const transcribe = ear.transcribe.bind(ear);
  ear.transcribe = (request) => {
    signals.push(request.signal);
    return transcribe(request);
  };
  const told: TurnEvent[] = [];
  const tell = (event: TurnEvent) => void told.push(event);
  return { clock, ear, told, signals, takingDown: new TranscriptionRequest({ ear, log, tell }) };
}

test('TranscriptionRequest gives up a request that is under way for the next one', async () => {
  const { clock, told, signals, takingDown } = listen();
  const first = takingDown.request(1, 'speculative');
  const second = takingDown.request(2, 'final');

  clock.advance(80);
  await Promise.all([first, second]);

  expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  expect(told).toMatchObject([{ kind: 'transcribed', attempt: 2 }]);
});

test('TranscriptionRequest has nothing to give up once the words have come', async () => {
  const { clock, signals, takingDown } = listen();
  const request = takingDown.request(1, 'final');
  clock.advance(80);
  await request;

  takingDown.cancel();

  expect(signals[0]?.aborted).toBe(false);
});

test.each([
  ['final', ['warn']],
  ['partial', ['debug']],
] as const)('TranscriptionRequest tells that a %s request has failed, and has nothing to give up then', async (priority, expected) => {
  const logged: string[] = [];
  const { clock, ear, told, signals, takingDown } = listen({
    ...silentLogger,
    warn: () => logged.push('warn'),
    debug: () => logged.push('debug'),
  });
  ear.says = new Error('no memory');
  const request = takingDown.request(1, priority);
  clock.advance(80);
  await request;

  takingDown.cancel();

  expect(told).toEqual([{ kind: 'transcription-failed', attempt: 1 }]);
  expect([logged, signals[0]?.aborted]).toEqual([expected, false]);
});
