/** A recogniser's child process that does what the test says. */

import type { Loaded, LoadOrder, StopOrder } from '../../src/speech/stt/pool/model-process.ts';
import type { FromChild, Recognition, ToChild } from '../../src/speech/stt/pool/recognizer.ts';
import type { RecognizerProcess } from '../../src/speech/stt/pool/recognizer-lane.ts';

export class FakeRecognizerProcess implements RecognizerProcess {
  readonly received: (ToChild | LoadOrder | StopOrder)[] = [];
  isKilled = false;
  #messageListeners: ((message: FromChild | Loaded) => void)[] = [];
  #exitListeners: ((how: string) => void)[] = [];

  send(message: ToChild | LoadOrder | StopOrder): void {
    this.received.push(message);
  }

  onMessage(listener: (message: FromChild | Loaded) => void): void {
    this.#messageListeners.push(listener);
  }

  onExit(listener: (how: string) => void): void {
    this.#exitListeners.push(listener);
  }

  kill(): void {
    this.isKilled = true;
    this.exit('signal SIGKILL');
  }

  /** Ends, as a crash or a kill from outside would end it. */
  exit(how: string): void {
    const listeners = this.#exitListeners;
    this.#exitListeners = [];
    for (const listener of listeners) listener(how);
  }

  says(message: FromChild | Loaded): void {
    for (const listener of this.#messageListeners) listener(message);
  }

  loads(model = 'model'): void {
    this.says({ kind: 'loaded', outcome: { model, failures: [] } });
  }

  /** Answers the newest request. */
  answers(text: string): void {
    this.says({ kind: 'answer', request: this.newestRequest, recognition: recognitionOf(text) });
  }

  get newestRequest(): number {
    return this.requests.at(-1) ?? -1;
  }

  get requests(): number[] {
    return this.received.flatMap((message) =>
      message.kind === 'transcribe' ? [message.request] : [],
    );
  }

  get kinds(): string[] {
    return this.received.map(({ kind }) => kind);
  }

  /** Samples that it was sent of one utterance. */
  samplesOf(utterance: number): number[] {
    return this.received.flatMap((message) =>
      message.kind === 'audio' && message.utterance === utterance ? Array.from(message.pcm) : [],
    );
  }
}

export function recognitionOf(text: string): Recognition {
  return {
    text,
    words: [],
    confidence: 0.9,
    language: 'en',
    noSpeechProbability: 0,
    audioMs: 1000,
  };
}
