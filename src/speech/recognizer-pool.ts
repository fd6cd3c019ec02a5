/** The recogniser processes: a call sticks to the one that had the fewest calls when it began. */
import type { Clock } from '../lib/clock.ts';
import { type Note, RecognizerLane } from './recognizer-lane.ts';
import type { LoadOutcome } from './recognizer-messages.ts';
import type { RecognizerProcess } from './recognizer-process.ts';

export class RecognizerPool {
  readonly #lanes: readonly RecognizerLane[];

  /** @param options.size processes, 1 at least. */
  constructor(options: {
    size: number;
    fork: () => RecognizerProcess;
    clock: Clock;
    moduleUrl: string;
    note: Note;
  }) {
    this.#lanes = Array.from({ length: options.size }, () => new RecognizerLane(options));
  }

  /** Starts one process to see which model can be loaded, then the others with that one. */
  async start(models: readonly string[]): Promise<LoadOutcome> {
    const [first, ...others] = this.#lanes;
    const outcome = (await first?.start(models)) ?? { model: null, failures: [] };
    const { model } = outcome;
    if (model !== null) await Promise.all(others.map((lane) => lane.start([model])));
    return outcome;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.stop()));
  }

  /** Takes a lane for a call; give it back with `leave`. */
  join(): RecognizerLane {
    const lane = this.#lanes.reduce((least, other) => (other.calls < least.calls ? other : least));
    lane.calls += 1;
    return lane;
  }

  leave(lane: RecognizerLane): void {
    lane.calls -= 1;
  }
}
