/** Speaks with espeak-ng's WASM build, in this process: only the speaking child may load this file's engine. */

import type { Sentence } from './espeak-voice.ts';
import type { SentenceEngine, WaveSink } from './sentence-job.ts';
import { EspeakInstance, type EspeakModule, loadModule } from './wasm-instance.ts';

/**
 * One sentence at a time, all on one instance: loading it takes about 80 ms, speaking 10 to 20. A sentence that has
 * begun cannot be stopped: it runs to its end, about a hundred times faster than speech, before the next one.
 */
export class EspeakWasm implements SentenceEngine {
  readonly #moduleName: string;
  #module: EspeakModule | undefined;
  #instance: Promise<EspeakInstance> | undefined;
  readonly #waiting: { readonly sentence: Sentence; readonly sink: WaveSink }[] = [];
  #isSpeaking = false;

  constructor(options: { readonly moduleName: string }) {
    this.#moduleName = options.moduleName;
  }

  async start(): Promise<void> {
    this.#module = await loadModule(this.#moduleName);
    await this.#prepare();
  }

  async stop(): Promise<void> {
    this.#waiting.length = 0;
  }

  speak(sentence: Sentence, sink: WaveSink): () => void {
    const turn = { sentence, sink };
    this.#waiting.push(turn);
    void this.#speakAll();
    return () => {
      const place = this.#waiting.indexOf(turn);
      if (place >= 0) {
        this.#waiting.splice(place, 1);
      }
    };
  }

  async #speakAll(): Promise<void> {
    if (this.#isSpeaking) {
      return;
    }
    this.#isSpeaking = true;
    for (let turn = this.#waiting.shift(); turn !== undefined; turn = this.#waiting.shift()) {
      await this.#speakOne(turn.sentence, turn.sink);
    }
    this.#isSpeaking = false;
  }

  async #speakOne(sentence: Sentence, sink: WaveSink): Promise<void> {
    try {
      const instance = await this.#prepare();
      instance.speak(sentence, (bytes) => sink.wave(bytes));
      sink.ended();
      if (!instance.isUsable) this.#instance = undefined;
    } catch (error) {
      this.#instance = undefined;
      sink.failed(error instanceof Error ? error.message : String(error));
    }
    // Lets a cancel or a new text in before the next sentence.
    await new Promise(setImmediate);
    // The next request reports the failure; until then it must not end the process.
    this.#prepare().catch(() => undefined);
  }

  #prepare(): Promise<EspeakInstance> {
    if (this.#module === undefined) {
      return Promise.reject(new Error('Cannot speak with espeak-ng: its WASM build is not loaded'));
    }
    this.#instance ??= EspeakInstance.make(this.#module);
    return this.#instance;
  }
}
