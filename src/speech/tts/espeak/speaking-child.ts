/** The process in which espeak-ng is run, or its WASM build is loaded; started by `SynthesizerPool`. */

import { systemClock } from '../../../lib/clock.ts';
import { endProcess, obeyParent, tellParent } from '../../../lib/process/child-supervisor.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import type { SpeakingReply, SpeakingRequest } from '../pool/synthesizer-pool.ts';
import { EspeakProgram } from './espeak-program.ts';
import type { Sentence, SpeakingOrder } from './espeak-voice.ts';
import { type SentenceEngine, SentenceJob, type WaveSink } from './sentence-job.ts';
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
      sink.failed(messageOf(error));
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

// The WASM build makes an error object for each file it looks for in vain, with an unused stack trace.
Error.stackTraceLimit = 0;

const order: SpeakingOrder = JSON.parse(process.argv[2] ?? 'null');
const engine =
  order.engine.kind === 'program'
    ? new EspeakProgram({ ...order.engine, clock: systemClock })
    : new EspeakWasm({ moduleName: order.engine.moduleName });
const cancels = new Map<number, () => void>();

obeyParent(take, () => engine.stop());
void begin();

async function begin(): Promise<void> {
  try {
    await engine.start();
    await proveSpeech();
    reply({ kind: 'ready' });
  } catch (error) {
    reply({ kind: 'unready', reason: messageOf(error) });
  }
}

/** Speaks a test word: finds missing voice files, and warms up the code. */
function proveSpeech(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let hasSound = false;
  const hear = (message: SpeakingReply) => {
    hasSound ||= message.kind === 'audio';
    if (message.kind === 'failed') {
      reject(new Error(message.reason));
    } else if (message.kind === 'ended') {
      hasSound ? resolve() : reject(new Error('it spoke a word without a sound'));
    }
  };
  const sentence = { text: 'Ready.', voice: order.firstVoice, pauseAfterMs: 0 };
  engine.speak(sentence, new SentenceJob({ id: 0, sentence, reply: hear, over: () => undefined }));
  return promise;
}

function take(message: SpeakingRequest<Sentence>): void {
  switch (message.kind) {
    case 'speak':
      speak(message.id, message.sentence);
      break;
    case 'cancel':
      cancels.get(message.id)?.();
      cancels.delete(message.id);
      break;
    case 'stop':
      void endProcess(() => engine.stop());
      break;
    default:
      message satisfies never;
  }
}

function speak(id: number, sentence: Sentence): void {
  const job = new SentenceJob({ id, sentence, reply, over: () => cancels.delete(id) });
  cancels.set(id, engine.speak(sentence, job));
}

function reply(message: SpeakingReply): void {
  tellParent(message);
}
