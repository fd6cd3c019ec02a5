import { expect, test } from 'vitest';
import { ReceiveRing } from '../../src/media/buffers/receive-ring.ts';
import type { Hearing, SpeechListener, Utterance } from '../../src/speech/hearing/hearing.ts';
import { MeasuredHearing } from '../../src/speech/hearing/measured-hearing.ts';
import { MeasuredSynthesizer } from '../../src/speech/tts/pool/measured-synthesizer.ts';
import type { Synthesizer } from '../../src/speech/tts/pool/synthesizer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

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

test('MeasuredSynthesizer reports the time to the first chunk, once', async () => {
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
  const measured = new MeasuredSynthesizer({ synthesizer, times, clock });

  let chunks = 0;
  for await (const _chunk of measured.speak({ text: 'Hi', voice: 'v', language: 'en' }))
    chunks += 1;

  expect(chunks).toBe(2);
  expect(noted).toEqual(['tts espeak answered in 40']);
});

test('MeasuredHearing reports what a recognition took that a caller waits for, and one that failed', async () => {
  const { times, noted } = notebook();
  const answers: (() => Promise<Utterance>)[] = [
    () => Promise.resolve({ text: 'ye', tookMs: 900 } as Utterance),
    () => Promise.resolve({ text: 'yes', tookMs: 35 } as Utterance),
    () => Promise.reject(new Error('every child is gone')),
  ];
  const ear = { transcribe: () => answers.shift()?.() } as unknown as SpeechListener;
  const hearing = {
    reports: () => [{ job: 'stt', engine: 'whisper', ...REPORT }],
    open: () => ear,
  } as unknown as Hearing;
  const measured = new MeasuredHearing({ hearing, times });

  const opened = measured.open({ ring: new ReceiveRing(), language: 'en' });
  await opened.transcribe({ priority: 'partial' });
  await opened.transcribe({ priority: 'final' });
  await expect(opened.transcribe({ priority: 'final' })).rejects.toThrow('every child');

  expect(noted).toEqual(['stt whisper answered in 35', 'stt whisper failed']);
});
