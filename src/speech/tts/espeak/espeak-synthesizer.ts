/** The voice that is always there: espeak-ng, the program or its WASM build, in child processes. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import { SpeakingChildren } from '../pool/speaking-children.ts';
import type { SpeechRequest, Synthesizer } from '../pool/synthesizer.ts';
import { pauseAfterMs, spokenText } from '../voices/clean-text.ts';
import type { VoiceBook } from '../voices/voice-book.ts';
import type { EspeakEngine, Sentence, SpeakingOrder } from './espeak-messages.ts';
import { chooseEspeakVoice, type EspeakVoice } from './espeak-voice.ts';

/** Sentences asked for and not yet spoken, over all calls. More are refused. */
const SENTENCES_MAX = 500;

const CHILD_FILE = new URL('./speaking-child.ts', import.meta.url);

/** The WASM build takes half a second. */
const START_TIMEOUT_MS = 15_000;

const ANSWER_TIMEOUT_MS = 15_000;

/** Unknown voices that are told of in the log, each once. */
const NOTED_VOICES_MAX = 100;

/** The voice of agents that name none. */
const FIRST_VOICE = { voice: 'en-US-JennyNeural', language: 'en-US' };

export interface EspeakOptions {
  readonly engine: EspeakEngine;
  readonly voices: VoiceBook;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly report: EngineReport;
  /** One child speaks about 100 times as fast as is listened to; the WASM build about 30 times. */
  readonly childCount?: number;
  readonly answerTimeoutMs?: number;
}

export class EspeakSynthesizer implements Synthesizer {
  readonly #options: EspeakOptions;
  readonly #children: SpeakingChildren<Sentence>;
  readonly #noted = new Set<string>();

  constructor(options: EspeakOptions) {
    this.#options = options;
    const { clock, logger, childCount = 1, answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
    const order: SpeakingOrder = {
      engine: options.engine,
      firstVoice: this.#voiceFor(FIRST_VOICE),
    };
    const child = {
      file: CHILD_FILE,
      order,
      engine: 'espeak-ng',
      startTimeoutMs: START_TIMEOUT_MS,
    };
    this.#children = new SpeakingChildren({
      ...{ child, clock, logger, answerTimeoutMs },
      ...{ count: childCount, sentencesMax: SENTENCES_MAX },
    });
  }

  /** @throws {SynthesisError} when espeak-ng cannot speak. */
  start(): Promise<void> {
    return this.#children.start();
  }

  stop(): Promise<void> {
    return this.#children.stop();
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const { signal } = request;
    signal?.throwIfAborted();
    const text = spokenText(request.text);
    if (text === '') {
      return;
    }
    const voice = this.#voiceFor(request);
    yield* this.#children.speak({ text, voice, pauseAfterMs: pauseAfterMs(text) }, { signal });
  }

  /** Gets a voice ready before its first call: its first sound then takes 3 ms instead of 17. */
  warm(request: Pick<SpeechRequest, 'voice' | 'language'>): void {
    this.#children.warm(this.#voiceFor(request));
  }

  report(): EngineReport {
    return this.#options.report;
  }

  #voiceFor(request: Pick<SpeechRequest, 'voice' | 'language'>): EspeakVoice {
    const { voice, hasLanguage } = chooseEspeakVoice(request, this.#options.voices);
    const asked = `${request.voice} ${request.language}`.slice(0, 100);
    if (!hasLanguage && !this.#noted.has(asked) && this.#noted.size < NOTED_VOICES_MAX) {
      this.#noted.add(asked);
      this.#options.logger.warn(
        { voice: request.voice.slice(0, 100), language: request.language.slice(0, 35) },
        'espeak-ng does not speak this language; English stands in',
      );
    }
    return voice;
  }
}
