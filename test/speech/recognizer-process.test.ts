/** A real recogniser in a real child process, and its death in mid-utterance. */
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { RecognizerPool } from '../../src/speech/recognizer-pool.ts';
import { forkRecognizer, type RecognizerProcess } from '../../src/speech/recognizer-process.ts';
import { whisperEngine } from '../../src/speech/whisper/whisper-engine.ts';
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
