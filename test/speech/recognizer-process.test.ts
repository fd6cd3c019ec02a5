/** A real recogniser in a real child process, and its death in mid-utterance. */
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import {
  forkRecognizer,
  type RecognizerProcess,
} from '../../src/speech/stt/pool/recognizer-lane.ts';
import { RecognizerPool } from '../../src/speech/stt/pool/recognizer-pool.ts';
import { whisperEngine } from '../../src/speech/stt/recognizer-engines.ts';
import { phraseSaying, TINY_WHISPER_DIR } from './spoken-phrases.ts';

const processes: RecognizerProcess[] = [];
let pool: RecognizerPool | null = null;

afterEach(async () => {
  await pool?.stop();
  processes.length = 0;
});

async function startPool(size = 1): Promise<RecognizerPool> {
  pool = new RecognizerPool({
    size,
    clock: systemClock,
    moduleUrl: whisperEngine.moduleUrl,
    note: () => undefined,
    fork: () => {
      const process = forkRecognizer();
      processes.push(process);
      return process;
    },
  });
  await pool.start([TINY_WHISPER_DIR]);
  return pool;
}

test('RecognizerPool answers although its child is killed in mid-utterance', async () => {
  const lane = (await startPool()).join();
  const pcm = phraseSaying('I have a question about my bill.');
  const utterance = lane.open({ language: 'en' });
  lane.append(utterance, pcm.subarray(0, 12_000));

  processes[0]?.kill();
  lane.append(utterance, pcm.subarray(12_000));
  const heard = await lane.request(utterance, { priority: 'final' }).answer;

  expect(heard.text).toBe('I have a question about my bill.');
  expect(processes.length).toBe(2);
});

test('RecognizerPool answers although its child is killed with the request under way', async () => {
  const lane = (await startPool()).join();
  const utterance = lane.open({ language: 'en' });
  lane.append(utterance, phraseSaying('Goodbye.'));
  const asked = lane.request(utterance, { priority: 'final' });

  processes[0]?.kill();

  expect((await asked.answer).text).toBe('Goodbye.');
});

test('RecognizerPool serves several calls at once, each with its own words', async () => {
  const two = await startPool(2);
  const texts = ['Goodbye.', 'Yes, please.', 'My name is Alice Smith.', 'Transfer me to a person.'];

  const answers = texts.map((text) => {
    const lane = two.join();
    const utterance = lane.open({ language: 'en' });
    lane.append(utterance, phraseSaying(text));
    return lane.request(utterance, { priority: 'final' }).answer;
  });

  const heard = await Promise.all(answers);
  expect(heard.map(({ text }) => text)).toEqual(texts);
});

test('RecognizerPool serves ten calls on two processes evenly, and all of them', async () => {
  const two = await startPool(2);
  const order: number[] = [];

  const calls = Array.from({ length: 10 }, async (_, call) => {
    const desk = two.join();
    const texts: string[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const utterance = desk.open({ language: 'en' });
      desk.append(utterance, phraseSaying('Goodbye.'));
      const { text } = await desk.request(utterance, { priority: 'final' }).answer;
      desk.close(utterance);
      texts.push(text);
      order.push(call);
    }
    return texts;
  });

  const heard = await Promise.all(calls);
  expect(heard.flat()).toEqual(Array(30).fill('Goodbye.'));
  // Every call has an answer before any has its third, except one whose process a busy machine may have delayed.
  const third = order.findIndex(
    (call, index) => order.slice(0, index).filter((other) => other === call).length === 2,
  );
  expect(new Set(order.slice(0, third)).size).toBeGreaterThanOrEqual(9);
});

test('RecognizerPool goes on in the other process when one is killed in mid-word', async () => {
  const two = await startPool(2);
  const desk = two.join();
  const pcm = phraseSaying('I have a question about my bill.');
  const utterance = desk.open({ language: 'en' });
  desk.append(utterance, pcm.subarray(0, 12_000));
  await desk.request(utterance, { priority: 'partial' }).answer;

  processes[0]?.kill();
  desk.append(utterance, pcm.subarray(12_000));
  const heard = await desk.request(utterance, { priority: 'final' }).answer;

  expect(heard.text).toBe('I have a question about my bill.');
});
