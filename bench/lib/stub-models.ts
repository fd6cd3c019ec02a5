/** Models that answer after a fixed time: what is left of a reply's delay is the server's own. */
import { systemClock } from '../../src/lib/clock.ts';
import type { LanguageModel, ModelEvent, ModelRequest } from '../../src/llm/language-model.ts';
import { LINE_RATE_HZ } from '../../src/media/audio-stream.ts';
import { decodeG711 } from '../../src/media/dsp/g711.ts';
import type {
  EngineReport,
  Hearing,
  SpeechListener,
  Utterance,
} from '../../src/speech/hearing/hearing.ts';
import type { SpeechRequest, Synthesizer } from '../../src/speech/tts/pool/synthesizer.ts';
import type { StubClock } from './stub-clock.ts';
import type { StubTimes } from './stub-times.ts';

/** Voice up to this long, with the pause after it, is taken for a "mm-hm". */
const BACKCHANNEL_MS_MAX = 450;

/** The low bits of a reply's bytes tell it from the reply before it. */
const MARKS = 7;

/** Marks a reply to what was only half of the caller's words. */
const HALF_MARK = 7;

const HALF = 'mm-hm';

/** The tool that the model asks in every turn, where the agent has it. */
export const LOOK_UP = 'look_up';

/** What is answered where a schema is given: to the question what a call that is over was about. */
const ANALYSIS = JSON.stringify({
  summary: 'The caller asked what there is to tell.',
  sentiment: 'neutral',
  sentimentScore: 0.5,
  intent: 'other',
});

export interface StubOptions {
  readonly clock: StubClock;
  readonly times: StubTimes;
  /** Answers come up to so much later than the fixed time, by chance, so that packets do not march in step. */
  readonly spreadMs: number;
}

/** Every utterance says one of two things, by its length. */
export class StubHearing implements Hearing {
  readonly hasVoiceDetector = false;
  readonly turnTrust = 0;
  readonly #clock: StubClock;
  readonly #spreadMs: number;
  readonly #times: StubTimes;

  constructor({ clock, spreadMs, times }: StubOptions) {
    this.#clock = clock;
    this.#times = times;
    this.#spreadMs = spreadMs;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  open({ language }: { readonly language: string }): SpeechListener {
    let begunAtMs = 0;
    return {
      onVoice: () => undefined,
      beginUtterance: (fromMs) => {
        begunAtMs = fromMs;
      },
      transcribe: async ({ signal }) => {
        const audioMs = systemClock.nowMs() - begunAtMs;
        await this.#clock.wait(this.#times.hearing + Math.random() * this.#spreadMs, signal);
        return utteranceOf(audioMs, language, this.#times.hearing);
      },
      endUtterance: () => undefined,
      close: () => undefined,
    };
  }

  reports(): readonly EngineReport[] {
    return [reportOf('vad'), reportOf('stt')];
  }
}

function utteranceOf(audioMs: number, language: string, tookMs: number): Utterance {
  const text = audioMs < BACKCHANNEL_MS_MAX ? HALF : 'What would you tell me next, please?';
  const rest = { words: [], confidence: 1, noSpeechProbability: 0 };
  return { text, language, audioMs, tookMs, ...rest };
}

/** Answers one sentence, never the same twice, so that no cache knows it. */
export class StubModel implements LanguageModel {
  readonly name = 'stub';
  readonly #clock: StubClock;
  readonly #times: StubTimes;
  #answers = 0;

  constructor({ clock, times }: StubOptions) {
    this.#clock = clock;
    this.#times = times;
  }

  async *stream({ messages, schema, signal, tools }: ModelRequest): AsyncIterable<ModelEvent> {
    await this.#clock.wait(this.#times.thinking, signal);
    if (schema !== undefined) {
      yield { kind: 'text', text: ANALYSIS };
      return;
    }
    this.#answers += 1;
    if (messages.at(-1)?.role === 'user' && tools?.some(({ name }) => name === LOOK_UP)) {
      const call = { id: `call_${this.#answers}`, name: LOOK_UP, arguments: {} };
      yield { kind: 'tool-call', call };
      return;
    }
    const turn = messages.filter(({ role }) => role === 'user').length;
    const isHalf = messages.at(-1)?.content.endsWith(HALF) ?? false;
    const mark = isHalf ? HALF_MARK : turn % MARKS;
    yield { kind: 'text', text: `Answer ${this.#answers} has the mark ${mark}.` };
  }

  async check(): Promise<void> {}
}

/** Speaks every text as the same tone, marked as the model says. */
export class StubSynthesizer implements Synthesizer {
  readonly #clock: StubClock;
  readonly #replyMs: number;
  readonly #spreadMs: number;
  readonly #times: StubTimes;

  constructor({ clock, spreadMs, times, replyMs }: StubOptions & { readonly replyMs: number }) {
    this.#clock = clock;
    this.#replyMs = replyMs;
    this.#times = times;
    this.#spreadMs = spreadMs;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async *speak({ text, signal }: SpeechRequest): AsyncIterable<Int16Array> {
    await this.#clock.wait(this.#times.voicing + Math.random() * this.#spreadMs, signal);
    yield tone(Number(/(\d)\.$/.exec(text)?.[1] ?? 0), this.#replyMs);
  }

  report(): EngineReport {
    return reportOf('tts');
  }
}

/** 500 Hz whose every µ-law byte ends in the mark. */
function tone(mark: number, lengthMs: number): Int16Array {
  const bytes = new Uint8Array((lengthMs * LINE_RATE_HZ) / 1000);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = 0x10 | mark | (index & 8 ? 0x80 : 0);
  }
  return decodeG711('PCMU', bytes);
}

function reportOf(job: EngineReport['job']): EngineReport {
  return { job, engine: 'stub', reason: 'this is a benchmark', isFallback: false };
}
