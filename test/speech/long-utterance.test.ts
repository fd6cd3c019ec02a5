/** Utterances that outgrow the recogniser's 30 s. */
import { expect, test } from 'vitest';
import { LongUtterance } from '../../src/speech/hearing/call-listener.ts';
import { UtteranceAudio } from '../../src/speech/stt/pool/recognition-request.ts';
import { startPool } from './started-pool.ts';

async function startOne() {
  const { pool, at } = await startPool(1);
  return { child: at(0), call: pool.join() };
}

const loudMs = (ms: number) =>
  Int16Array.from({ length: ms * 8 }, (_, index) => (index % 2 === 0 ? 8000 : -8000));

function speak(utterance: LongUtterance, ms: number): void {
  for (let spoken = 0; spoken < ms; spoken += 100) utterance.append(loudMs(100));
}

test('LongUtterance goes on in a new part at the first pause after 25 s', async () => {
  const { child, call } = await startOne();
  const utterance = new LongUtterance(call, { language: 'en' });
  speak(utterance, 10_000);
  utterance.append(new Int16Array(800));
  speak(utterance, 16_000);
  const before = child.requests.length;

  utterance.append(new Int16Array(800));
  speak(utterance, 1000);
  const asked = utterance.transcribe({ priority: 'final' });
  child.answers('My name is Alice Smith.');
  child.answers('Goodbye.');

  const heard = await asked.answer;
  expect(before).toBe(0);
  expect(heard.text).toBe('My name is Alice Smith. Goodbye.');
  expect(heard.audioMs).toBe(2000);
});

test('LongUtterance cuts speech without a pause before the window is full', async () => {
  const { child, call } = await startOne();
  const utterance = new LongUtterance(call, { language: 'en' });

  speak(utterance, 29_400);
  const before = child.requests.length;
  speak(utterance, 100);

  expect(before).toBe(0);
  expect(child.requests.length).toBe(1);
});

test('LongUtterance fails as a whole when a part could not be recognised', async () => {
  const { child, call } = await startOne();
  const utterance = new LongUtterance(call, { language: 'en' });
  speak(utterance, 30_000);
  const asked = utterance.transcribe({ priority: 'final' });

  child.says({ kind: 'failed', request: child.newestRequest, reason: 'out of memory' });
  child.answers('Goodbye.');

  await expect(asked.answer).rejects.toThrow('out of memory');
});

test('LongUtterance has a part that failed recognised once more when it is asked again', async () => {
  const { child, call } = await startOne();
  const utterance = new LongUtterance(call, { language: 'en' });
  speak(utterance, 29_500);
  child.says({ kind: 'failed', request: child.newestRequest, reason: 'it answered 500' });
  await new Promise((resolve) => setImmediate(resolve));
  speak(utterance, 1000);

  const asked = utterance.transcribe({ priority: 'final' });
  child.answers('My name is Alice Smith.');
  child.answers('Goodbye.');

  expect((await asked.answer).text).toBe('My name is Alice Smith. Goodbye.');
});

test('UtteranceAudio leaves out what comes after 30 s', () => {
  const audio = new UtteranceAudio();

  for (let part = 0; part < 31; part += 1) audio.append(new Int16Array(8000).fill(part));

  expect(audio.length).toBe(240_000);
  expect(audio.slice(239_999, 300_000)).toEqual(Int16Array.of(29));
});

test('LongUtterance counts the times of words from the start of the utterance, past its first part too', async () => {
  const { child, call } = await startOne();
  const utterance = new LongUtterance(call, { language: 'en' });
  const answer = (word: string, audioMs: number) =>
    child.says({
      kind: 'answer',
      request: child.newestRequest,
      recognition: {
        ...{ text: word, confidence: 1, language: 'en', noSpeechProbability: 0, audioMs },
        words: [{ text: word, confidence: 1, startMs: 500, endMs: 900 }],
      },
    });
  speak(utterance, 26_000);
  utterance.append(new Int16Array(800));
  answer('Hello', 26_100);
  speak(utterance, 2000);
  const asked = utterance.transcribe({ priority: 'final' });
  answer('Goodbye', 2000);

  const { words } = await asked.answer;

  expect(words.map(({ text, startMs, endMs }) => ({ text, startMs, endMs }))).toEqual([
    { text: 'Hello', startMs: 500, endMs: 900 },
    { text: 'Goodbye', startMs: 26_600, endMs: 27_000 },
  ]);
});
