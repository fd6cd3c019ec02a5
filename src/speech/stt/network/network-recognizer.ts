/** Recognition by servers on the network: the least busy one first, and the local engine for requests that they do not answer. */

import { type Clock, TimeLimit } from '../../../lib/clock.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import type { ServerLease, SpeechServers } from '../../network/speech-servers.ts';
import { agreedWords } from '../decoding/word-times.ts';
import {
  type CallRecognizer,
  type OpenUtterance,
  type PendingRecognition,
  type RecognitionOrder,
  recognitionFailure,
  UtteranceAudio,
  type UtteranceOptions,
} from '../pool/recognition-request.ts';
import type { Recognition, RecognizedWord } from '../pool/recognizer.ts';
import type { RecognitionServer } from './recognition-server.ts';

/** Shorter audio has no word, and servers refuse it. */
const AUDIO_SAMPLES_MIN = 800;

/** Servers that a request tries before the local engine. */
const ATTEMPTS_MAX = 2;

/** Partial requests do not queue behind others: a server with more requests in progress gets none. */
const PARTIAL_LOAD_MAX = 3;

export interface NetworkRecognizerOptions {
  readonly servers: SpeechServers<RecognitionServer>;
  readonly clock: Clock;
  /** Longest wait for the servers' answer. */
  readonly answerMs: number;
  /** Joins the local engine; null while it has no model. */
  readonly local: () => CallRecognizer | null;
  /** Called for each request that the local engine takes over. */
  readonly onFallback?: () => void;
}

/** State of an utterance between requests. */
interface Memory {
  words: readonly RecognizedWord[];
  cancelPartial: () => void;
}

export class NetworkRecognizer {
  readonly #options: NetworkRecognizerOptions;
  #lastId = 0;

  constructor(options: NetworkRecognizerOptions) {
    this.#options = options;
  }

  /** The servers as one call uses them. */
  join(): CallRecognizer {
    const memories = new WeakMap<OpenUtterance, Memory>();
    const caller = {};
    // Joined late: the local engine starts its other processes for it.
    let local: CallRecognizer | null | undefined;
    const localOf = () => {
      local ??= this.#options.local();
      return local;
    };
    return {
      open: (options) => this.#open(options, caller),
      append: (utterance, pcm) => utterance.audio.append(pcm),
      request: (utterance, order) => {
        const memory = memories.get(utterance) ?? { words: [], cancelPartial: () => undefined };
        memories.set(utterance, memory);
        return this.#request({ utterance, order, memory, localOf });
      },
      close: () => undefined,
    };
  }

  #open(options: UtteranceOptions, caller: object): OpenUtterance {
    this.#lastId += 1;
    const audio = new UtteranceAudio();
    return { ...options, id: this.#lastId, caller, audio };
  }

  /** A newer request of the utterance ends a partial one. */
  #request({ utterance, order, memory, localOf }: Inquiry): PendingRecognition {
    memory.cancelPartial();
    const { promise, resolve, reject } = Promise.withResolvers<Recognition>();
    const end = new AbortController();
    const cancel = (reason = 'it was cancelled') => {
      const error = recognitionFailure(reason);
      reject(error);
      end.abort(error);
    };
    memory.cancelPartial =
      order.priority === 'partial' ? () => cancel('a newer request came') : () => undefined;
    const pcm = utterance.audio.slice(0, utterance.audio.length);
    this.#recognize({ utterance, order, pcm, localOf, signal: end.signal }).then((recognition) => {
      const agreed = agreedWords(recognition.words, memory.words);
      memory.words = recognition.words;
      resolve({ ...recognition, agreedWords: agreed });
    }, reject);
    return { answer: promise, cancel: () => cancel() };
  }

  async #recognize(question: Question): Promise<Recognition> {
    const { pcm, utterance } = question;
    if (pcm.length < AUDIO_SAMPLES_MIN) return nothingIn(pcm, utterance.language);
    const faults: string[] = [];
    const recognition = await this.#askServers(question, faults);
    question.signal.throwIfAborted();
    return recognition ?? this.#askLocal(question, faults);
  }

  /** @returns null when no server answered in time; `faults` then has the reasons. */
  async #askServers(question: Question, faults: string[]): Promise<Recognition | null> {
    const { clock, answerMs } = this.#options;
    const tried = new Set<RecognitionServer>();
    using limit = new TimeLimit(clock, answerMs, { reason: `no answer within ${answerMs} ms` });
    while (tried.size < ATTEMPTS_MAX && !limit.isOver) {
      const lease = this.#lend(question, tried);
      if (lease === null) return null;
      tried.add(lease.server);
      const recognition = await this.#ask(question, lease, limit.signal).catch((error: unknown) => {
        question.signal.throwIfAborted();
        faults.push(`${lease.server.address}: ${messageOf(error)}`);
        return null;
      });
      if (recognition !== null) return recognition;
    }
    return null;
  }

  /** @throws {RecognitionError} for a partial request while every server that works is busy. */
  #lend(
    { order, utterance: { language } }: Question,
    tried: ReadonlySet<RecognitionServer>,
  ): ServerLease<RecognitionServer> | null {
    const { servers } = this.#options;
    const deaf = servers.servers.filter((server) => server.hears?.(language) === false);
    const except = new Set([...tried, ...deaf]);
    if (order.priority !== 'partial') return servers.lend(except);
    const lease = servers.lend(except, PARTIAL_LOAD_MAX);
    const areBusy = lease === null && servers.working.some((server) => !except.has(server));
    if (areBusy) throw recognitionFailure('the servers are busy');
    return lease;
  }

  async #ask(
    { utterance, pcm, signal }: Question,
    lease: ServerLease<RecognitionServer>,
    late: AbortSignal,
  ): Promise<Recognition> {
    const { clock } = this.#options;
    const { language, prompt } = utterance;
    const startMs = clock.nowMs();
    try {
      const recognition = await lease.server.recognize({
        ...{ pcm, language, signal: AbortSignal.any([signal, late]) },
        ...(prompt !== undefined && { prompt }),
      });
      lease.answered(clock.nowMs() - startMs);
      return recognition;
    } catch (error) {
      const fault = late.aborted ? late.reason : error;
      if (signal.aborted) lease.dropped();
      else lease.failed(messageOf(fault));
      throw fault;
    }
  }

  /** Gives the same audio to the local engine. */
  async #askLocal(question: Question, faults: readonly string[]): Promise<Recognition> {
    const { utterance, order, pcm, signal, localOf } = question;
    const local = localOf();
    if (local === null) {
      const states = this.#options.servers
        .states()
        .map(({ address, fault }) => `${address}: ${fault}`);
      const why = (faults.length > 0 ? faults : states).join('; ');
      throw recognitionFailure(`no server answers (${why}), and no local engine is loaded`);
    }
    if (order.priority !== 'partial') this.#options.onFallback?.();
    const { language, prompt } = utterance;
    const copy = local.open({ language, ...(prompt !== undefined && { prompt }) });
    local.append(copy, pcm);
    const { answer, cancel } = local.request(copy, { priority: order.priority });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await answer;
    } finally {
      signal.removeEventListener('abort', cancel);
      local.close(copy);
    }
  }
}

interface Inquiry {
  readonly utterance: OpenUtterance;
  readonly order: RecognitionOrder;
  readonly memory: Memory;
  readonly localOf: () => CallRecognizer | null;
}

interface Question extends Omit<Inquiry, 'memory'> {
  /** The utterance's audio at the time of the request. */
  readonly pcm: Int16Array;
  readonly signal: AbortSignal;
}

function nothingIn(pcm: Int16Array, language: string): Recognition {
  const audioMs = pcm.length / 8;
  return { text: '', words: [], confidence: 0, language, noSpeechProbability: 1, audioMs };
}
