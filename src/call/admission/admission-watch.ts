/** Looks at the headroom every second, and holds whether new calls are taken. */

import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { Notifier } from '../../lib/notifier.ts';
import { type Admission, admits, lookedAt, OPEN } from './admission.ts';
import { type Headroom, type Loads, loadsOf, type Shortage } from './headroom.ts';

const LOOK_MS = 1000;

export class AdmissionWatch {
  /** Rings when calls are taken again. */
  readonly reopened = new Notifier();
  readonly #measure: () => Headroom;
  readonly #clock: Clock;
  readonly #log: Logger;
  #admission: Admission = OPEN;
  #headroom: Headroom | undefined;
  #cancel: () => void = () => undefined;

  /** @param options.measure gives the figures since it was asked last; must be quick. */
  constructor(options: {
    readonly measure: () => Headroom;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#measure = options.measure;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  start(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(LOOK_MS, () => this.#look());
  }

  /** Safe to call twice. */
  stop(): void {
    this.#cancel();
  }

  /** What there is too little of while new calls are refused. */
  get shortage(): Shortage | null {
    return this.#admission.shortage;
  }

  /** As measured last; undefined before the first second is over. */
  get headroom(): Headroom | undefined {
    return this.#headroom;
  }

  admits(callsInProgress: number): boolean {
    return admits(this.#admission, callsInProgress);
  }

  #look(): void {
    this.start();
    this.#headroom = this.#measure();
    const loads = loadsOf(this.#headroom);
    const before = this.#admission;
    this.#admission = lookedAt(before, loads);
    if ((before.shortage === null) !== (this.#admission.shortage === null)) this.#changed(loads);
  }

  /** Once a change, however many calls it meets. */
  #changed(loads: Loads): void {
    const { shortage } = this.#admission;
    if (shortage !== null) {
      this.#log.warn({ shortage, loads }, 'new calls are refused: those in progress need it all');
      return;
    }
    this.#log.info({ loads }, 'new calls are taken again');
    this.reopened.ring();
  }
}
