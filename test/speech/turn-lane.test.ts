/** The queue of the turn detector, and pending requests when its process dies. */
import { expect, test } from 'vitest';
import type { Loaded, LoadOrder, StopOrder } from '../../src/speech/stt/pool/model-process.ts';
import {
  type FromTurnChild,
  type ToTurnChild,
  TurnLane,
  type TurnProcess,
} from '../../src/speech/turn-detection/turn-detector.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

class FakeTurnProcess implements TurnProcess {
  readonly received: (ToTurnChild | LoadOrder | StopOrder)[] = [];
  #listener: (message: FromTurnChild | Loaded) => void = () => undefined;
  #exitListeners: ((how: string) => void)[] = [];

  send(message: ToTurnChild | LoadOrder | StopOrder): void {
    this.received.push(message);
    if (message.kind === 'stop') this.exit('exit code 0');
  }

  onMessage(listener: (message: FromTurnChild | Loaded) => void): void {
    this.#listener = listener;
  }

  onExit(listener: (how: string) => void): void {
    this.#exitListeners.push(listener);
  }

  kill(): void {
    this.exit('signal SIGKILL');
  }

  exit(how: string): void {
    for (const listener of this.#exitListeners.splice(0)) listener(how);
  }

  says(message: FromTurnChild | Loaded): void {
    this.#listener(message);
  }

  /** Answers what it was asked last. */
  answers(probability: number): void {
    this.says({ kind: 'scored', request: this.asked.at(-1) ?? -1, probability });
  }

  get asked(): number[] {
    return this.received.flatMap((message) => (message.kind === 'score' ? [message.request] : []));
  }
}

async function openLane() {
  const clock = new FakeClock();
  const processes: FakeTurnProcess[] = [];
  const notes: string[] = [];
  const lane = new TurnLane({
    clock,
    moduleUrl: 'file:///engine.ts',
    note: (_fields, message) => notes.push(message),
    fork: () => {
      const process = new FakeTurnProcess();
      processes.push(process);
      return process;
    },
  });
  const newest = () => processes.at(-1) as FakeTurnProcess;
  const started = lane.start(['model']);
  newest().says({ kind: 'loaded', outcome: { model: 'model', failures: [] } });
  await started;
  return { clock, lane, notes, newest };
}

const PCM = new Int16Array(800);

test('TurnLane asks for one score at a time', async () => {
  const { lane, newest } = await openLane();
  const scores = [lane.score(1, PCM), lane.score(2, PCM)];
  const askedAtOnce = newest().asked.length;
  newest().answers(0.9);
  newest().answers(0.1);

  expect(await Promise.all(scores)).toEqual([0.9, 0.1]);
  expect(askedAtOnce).toBe(1);
});

test('TurnLane forgets an older pause of the same call for a newer one', async () => {
  const { lane, newest } = await openLane();
  const busy = lane.score(1, PCM);
  const older = lane.score(2, PCM);
  const newer = lane.score(2, PCM);
  newest().answers(0.5);
  newest().answers(0.7);

  expect(await Promise.all([busy, older, newer])).toEqual([0.5, null, 0.7]);
});

test('TurnLane does without a score while its process is dead, and starts another', async () => {
  const { clock, lane, notes, newest } = await openLane();
  const scores = [lane.score(1, PCM), lane.score(2, PCM)];
  newest().exit('signal SIGKILL');
  const meanwhile = lane.score(3, PCM);
  clock.advance(1000);
  newest().says({ kind: 'loaded', outcome: { model: 'model', failures: [] } });
  const after = lane.score(1, PCM);
  newest().answers(0.8);

  expect(await Promise.all([...scores, meanwhile, after])).toEqual([null, null, null, 0.8]);
  expect(notes).toEqual(['Turn detector ended: starting another']);
});

test('TurnLane replaces a process that hangs', async () => {
  const { clock, lane, newest } = await openLane();
  const first = newest();
  const score = lane.score(1, PCM);
  clock.advance(5000);

  expect(await score).toBeNull();
  expect(newest()).not.toBe(first);
});

test('TurnLane goes on after a failed score', async () => {
  const { lane, notes, newest } = await openLane();
  const failing = lane.score(1, PCM);
  newest().says({ kind: 'failed', request: newest().asked[0] ?? 0, reason: 'out of memory' });
  const next = lane.score(1, PCM);
  newest().answers(0.4);

  expect(await Promise.all([failing, next])).toEqual([null, 0.4]);
  expect(notes).toEqual(['Turn detector failed: the words alone decide']);
});

test('TurnLane answers null when more calls wait than it can serve in time', async () => {
  const { lane } = await openLane();
  for (let listener = 0; listener < 33; listener += 1) void lane.score(listener, PCM);

  expect(await lane.score(99, PCM)).toBeNull();
});

test('TurnLane.stop answers all requests and ends the process', async () => {
  const { lane, newest } = await openLane();
  const scores = [lane.score(1, PCM), lane.score(2, PCM)];
  await lane.stop();

  expect(await Promise.all(scores)).toEqual([null, null]);
  expect(newest().received.at(-1)?.kind).toBe('stop');
});
