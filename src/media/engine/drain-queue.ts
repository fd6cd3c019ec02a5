/** Ports of calls that are over, and the way to have one of them back early when no other is left. */
import type { MediaWorkerHandle } from './media-worker-handle.ts';

interface Draining {
  readonly worker: Pick<MediaWorkerHandle, 'tell'>;
  /** Set while its worker is being asked. */
  answer?: (isFree: boolean) => void;
}

/** So many are asked for one port: where all of them still hear packets, the call is refused. */
const ASKED_MAX = 8;

/** The lines whose ports drain, in the order of their closing. */
export class DrainQueue {
  readonly #lines = new Map<number, Draining>();

  /** A line has been closed, and drains from now on. */
  add(line: number, worker: Pick<MediaWorkerHandle, 'tell'>): void {
    this.#lines.set(line, { worker });
  }

  /** A line's ports are free (`isFree`), or its worker was asked for them and keeps them. */
  settle(line: number, isFree: boolean): void {
    const draining = this.#lines.get(line);
    if (draining === undefined) return;
    this.#lines.delete(line);
    draining.answer?.(isFree);
    // To the end: others are asked before it is asked again.
    if (!isFree) this.#lines.set(line, { worker: draining.worker });
  }

  /** Asks for the ports of the line that has drained longest and on which nothing arrives. @returns whether some are free now. */
  async reclaim(): Promise<boolean> {
    for (let asked = 0; asked < ASKED_MAX; asked += 1) {
      const next = [...this.#lines].find(([, { answer }]) => answer === undefined);
      if (next === undefined) return false;
      const [line, draining] = next;
      const isFree = await new Promise<boolean>((resolve) => {
        draining.answer = resolve;
        draining.worker.tell({ kind: 'reclaim', line });
      });
      if (isFree) return true;
    }
    return false;
  }
}
