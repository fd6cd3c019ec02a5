/** The utterances of one lane: what of them its child knows, and what it is still to be sent. */
import type { LaneUtterance } from './lane-request.ts';
import type { ToChild } from './recognizer-messages.ts';

export class LaneUtterances {
  readonly #send: (message: ToChild) => void;
  readonly #known = new Map<number, LaneUtterance>();

  constructor(send: (message: ToChild) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#known.size;
  }

  get all(): readonly LaneUtterance[] {
    return [...this.#known.values()];
  }

  add(utterance: LaneUtterance): void {
    this.#known.set(utterance.id, utterance);
  }

  /** Has the child know the audio up to `end`. */
  sendAudio(utterance: LaneUtterance, end: number): void {
    const { id, language, prompt, audio } = utterance;
    if (utterance.sent < 0) {
      const told = prompt === undefined ? {} : { prompt };
      this.#send({ kind: 'open', utterance: id, language, ...told });
      utterance.sent = 0;
    }
    if (end <= utterance.sent) return;
    const pcm = audio.slice(utterance.sent, end);
    this.#send({ kind: 'audio', utterance: id, pcm });
    utterance.sent += pcm.length;
  }

  /** Forgets an utterance, here and in the child. */
  forget(utterance: LaneUtterance): void {
    if (!this.#known.delete(utterance.id)) return;
    if (utterance.sent >= 0) this.#send({ kind: 'close', utterance: utterance.id });
    utterance.sent = -1;
  }

  /** The child is gone, with all that it knew. */
  childGone(): void {
    for (const utterance of this.#known.values()) utterance.sent = -1;
  }
}
