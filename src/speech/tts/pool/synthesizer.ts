/** The port through which a conversation speaks: text in, line-rate PCM out. */
import type { Clock } from '../../../lib/clock.ts';
import type { ModelTimes } from '../../../lib/metrics/model-metrics.ts';
import type { EngineReport } from '../../hearing/hearing.ts';

/** Synthesis failed: no voice for the language, a process that ended, or a timeout. */
export class SynthesisError extends Error {
  override readonly name = 'SynthesisError';
}

/** Replacement for a written word that is pronounced differently. */
export interface Pronunciation {
  readonly written: string;
  readonly spoken: string;
}

/**
 * For each word of a text, as blanks part it, the share of the text's audio after which the word has been said whole:
 * from 0 to 1, never less than for the word before.
 */
export type WordEnds = readonly number[];

export interface SpeechRequest {
  /** As it is written: numbers, dates and the like are the synthesizer's to read out. */
  readonly text: string;
  /** `<locale>-<Name>Neural`, as agents name it; each engine maps it to the nearest voice that it has. */
  readonly voice: string;
  /** BCP 47. */
  readonly language: string;
  /** None unless given. */
  readonly pronunciations?: readonly Pronunciation[];
  /** Receives the ends of the words as soon as they are known, and again when they are known more exactly. */
  readonly onWords?: (ends: WordEnds) => void;
  readonly signal?: AbortSignal;
}

/** Properties of a request that select the voice. */
export type VoiceChoice = Pick<SpeechRequest, 'voice' | 'language'>;

/** Turns text into speech. */
export interface Synthesizer {
  start(): Promise<void>;

  /** Stops its processes within 2 s. Safe to call twice. */
  stop(): Promise<void>;

  /**
   * Synthesizes; each chunk is passed on as soon as it exists.
   *
   * @returns PCM chunks: 8 kHz, mono, signed 16-bit, any length; leaving the loop early stops the engine.
   * @throws {SynthesisError}
   */
  speak(request: SpeechRequest): AsyncIterable<Int16Array>;

  report(): EngineReport;

  /** Whether the engine has the voice's language; absent where it has every language. */
  canSpeak?(choice: VoiceChoice): boolean;

  /** Report on the engine for this voice, where engines differ by voice. */
  reportFor?(choice: VoiceChoice): EngineReport;
}

/** The same synthesizer with another way to speak. */
export function speakingBy(synthesizer: Synthesizer, speak: Synthesizer['speak']): Synthesizer {
  return {
    start: () => synthesizer.start(),
    stop: () => synthesizer.stop(),
    report: () => synthesizer.report(),
    reportFor: (choice) => synthesizer.reportFor?.(choice) ?? synthesizer.report(),
    speak,
  };
}

/** Reports how long the first chunk of each request takes. */
export function measuredSynthesizer(
  synthesizer: Synthesizer,
  { times, clock }: { readonly times: ModelTimes; readonly clock: Clock },
): Synthesizer {
  const measured = speakingBy(synthesizer, async function* (request) {
    const { engine } = measured.reportFor?.(request) ?? measured.report();
    const startMs = clock.nowMs();
    let hasSpoken = false;
    try {
      for await (const chunk of synthesizer.speak(request)) {
        if (!hasSpoken) times.answered('tts', engine, clock.nowMs() - startMs);
        hasSpoken = true;
        yield chunk;
      }
    } catch (error) {
      if (request.signal?.aborted !== true) times.failed('tts', engine);
      throw error;
    }
  });
  return measured;
}
