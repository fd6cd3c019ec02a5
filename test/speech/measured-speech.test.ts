import { expect, test } from 'vitest';
import { ThreadedListener } from '../../src/speech/hearing/threaded-listener.ts';
import { measuredSynthesizer, type Synthesizer } from '../../src/speech/tts/pool/synthesizer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { recognitionOf } from './fake-recognizer-process.ts';

const REPORT = { reason: 'installed', isFallback: false };

function notebook() {
  const noted: string[] = [];
  const times = {
    answered: (job: string, engine: string, tookMs: number) =>
      noted.push(`${job} ${engine} answered in ${tookMs}`),
    failed: (job: string, engine: string) => noted.push(`${job} ${engine} failed`),
  };
  return { times, noted };
}

test('measuredSynthesizer reports the time to the first chunk, once', async () => {
  const { times, noted } = notebook();
  const clock = new FakeClock();
  const synthesizer: Synthesizer = {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    report: () => ({ job: 'tts', engine: 'espeak', ...REPORT }),
    speak: async function* () {
      clock.advance(40);
      yield new Int16Array(160);
      clock.advance(40);
      yield new Int16Array(160);
    },
  };
  const measured = measuredSynthesizer(synthesizer, { times, clock });

  let chunks = 0;
  for await (const _chunk of measured.speak({ text: 'Hi', voice: 'v', language: 'en' }))
    chunks += 1;

  expect(chunks).toBe(2);
  expect(noted).toEqual(['tts espeak answered in 40']);
});

test('ThreadedListener reports what a recognition took that a caller waits for, and one that failed', async () => {
  const clock = new FakeClock();
  const timed: (number | null)[] = [];
  let request = 0;
  const listener = new ThreadedListener({
    ...{ id: 1, clock, post: () => undefined, onClose: () => undefined },
    nextRequest: () => ++request,
    onTimed: (tookMs) => timed.push(tookMs),
  });
  const answer = (tookMs: number) => {
    clock.advance(tookMs);
    const recognition = recognitionOf('yes');
    listener.settle({ kind: 'answer', listener: 1, request, recognition });
  };

  const partial = listener.transcribe({ priority: 'partial' });
  answer(900);
  await partial;
  const final = listener.transcribe({ priority: 'final' });
  answer(35);
  await final;
  const failing = listener.transcribe({ priority: 'final' });
  listener.settle({ kind: 'failed', listener: 1, request, reason: 'every child is gone' });

  await expect(failing).rejects.toThrow('every child');
  expect(timed).toEqual([35, null]);
});
