/** An alarm clock of the kernel, exact to some microseconds where a wait counts whole milliseconds. @see timerfd_create(2) */
import { checked, type Libc, newMemory } from './libc.ts';

const MONOTONIC = 1;
const CLOSE_ON_EXEC = 0o2000000;
const NON_BLOCKING = 0o4000;

const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

export class KernelTimer {
  readonly fd: number;
  readonly #libc: Libc;
  /** Interval and first time, each in seconds and nanoseconds of 64 bits, of which the upper halves stay 0. */
  readonly #time = newMemory(8);

  /** @throws {Error} with the system's `code` when it gives no timer, or does not let it be set. */
  constructor(libc: Libc) {
    this.#libc = libc;
    const fd = libc.timerCreate(MONOTONIC, CLOSE_ON_EXEC | NON_BLOCKING);
    this.fd = checked(libc, 'timerfd_create', fd);
    libc.closeWithThread(this.fd, true);
    try {
      this.set(0);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Makes the descriptor readable `delayMs` from now, and not before, whatever was set before. */
  set(delayMs: number): void {
    const ns = Math.max(1, Math.ceil(delayMs * NS_PER_MS));
    this.#time[4] = Math.floor(ns / NS_PER_S);
    this.#time[6] = ns % NS_PER_S;
    checked(this.#libc, 'timerfd_settime', this.#libc.timerSet(this.fd, 0, this.#time, null));
  }

  close(): void {
    this.#libc.closeWithThread(this.fd, false);
    this.#libc.close(this.fd);
  }
}
