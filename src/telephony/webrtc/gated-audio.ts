/** A browser call's sound: the media engine's line, which speaks once the browser can hear and ends with the connection. */
import { LinkedAudio } from '../linked-audio.ts';

/** As many words as a greeting of ten minutes is cut into; whoever says more to nobody is not heard to the end. */
const WAITING_MAX = 10_000;

/**
 * The call is answered before sound can flow, for the browser needs the answer to find its way here. What is said in
 * that second waits, so that nobody misses how the greeting begins.
 */
export class GatedAudio extends LinkedAudio {
  /** Undefined once the gate is open. */
  #waiting: (() => void)[] | undefined = [];

  /** Lets out what was said so far, and from now on everything. Safe to call twice. */
  open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const say of waiting) say();
  }

  override begin(generation: number): void {
    this.#pass(() => super.begin(generation));
  }

  override say(generation: number, pcm: Int16Array): void {
    this.#pass(() => super.say(generation, pcm));
  }

  override finish(generation: number): void {
    this.#pass(() => super.finish(generation));
  }

  override drop(generation: number): void {
    this.#pass(() => super.drop(generation));
  }

  override resume(generation: number): void {
    this.#pass(() => super.resume(generation));
  }

  override setInterruptible(isInterruptible: boolean): void {
    this.#pass(() => super.setInterruptible(isInterruptible));
  }

  override sendDigits(digits: string): void {
    this.#pass(() => super.sendDigits(digits));
  }

  #pass(deed: () => void): void {
    if (this.#waiting === undefined) deed();
    else if (this.#waiting.length < WAITING_MAX) this.#waiting.push(deed);
  }
}
