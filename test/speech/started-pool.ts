/** A recogniser pool of fake processes, started as far as a test wants. */

import type { LoadOutcome } from '../../src/speech/models/model-files.ts';
import type {
  CallRecognizer,
  RecognitionOrder,
} from '../../src/speech/stt/pool/recognition-request.ts';
import { RecognizerPool } from '../../src/speech/stt/pool/recognizer-pool.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeRecognizerProcess } from './fake-recognizer-process.ts';

/** A second of audio. */
export const second = new Int16Array(8000).fill(7);

/** A pool whose first process has loaded its model, with no call yet. */
export async function startFirst(size: number) {
  const clock = new FakeClock(1000);
  const processes: FakeRecognizerProcess[] = [];
  const notes: string[] = [];
  const outcomes: LoadOutcome[] = [];
  const pool = new RecognizerPool({
    size,
    clock,
    moduleUrl: 'file:///engine.ts',
    note: (_, message) => notes.push(message),
    onOutcome: (outcome) => outcomes.push(outcome),
    fork: () => {
      const process = new FakeRecognizerProcess();
      processes.push(process);
      return process;
    },
  });
  const started = pool.start(['model']);
  processes[0]?.loads();
  await started;
  return {
    pool,
    clock,
    processes,
    notes,
    outcomes,
    at: (index: number) => processes[index] as FakeRecognizerProcess,
  };
}

/** A pool whose processes have their model. */
export async function startPool(size: number) {
  const started = await startFirst(size);
  started.pool.join();
  for (const process of started.processes.slice(1)) process.loads();
  return started;
}

/** Says a second and asks for its words. */
export function ask(desk: CallRecognizer, order: Partial<RecognitionOrder> = {}) {
  const utterance = desk.open({ language: 'en' });
  desk.append(utterance, second);
  return desk.request(utterance, { priority: 'final', ...order });
}
