/** The port through which a conversation speaks: text in, line-rate PCM out; and the cleaning of the text. */
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

/** End of each word of a text, split at blanks, as a share of the text's audio: from 0 to 1, never less than the one before. */
export type WordEnds = readonly number[];

export interface SpeechRequest {
  /** Text as it is written: numbers, dates and the like are the synthesizer's to read out. */
  readonly text: string;
  /** `<locale>-<Name>Neural`, as agents name it; each engine maps it to the nearest voice that it has. */
  readonly voice: string;
  /** BCP 47. */
  readonly language: string;
  /** Spoken forms of words; none unless given. */
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

/** Longer text is cut at a space: about five minutes of speech. */
export const SPOKEN_CHARACTERS_MAX = 4000;

/** Control characters, some of which are commands to espeak-ng, and code points without a character. */
const CONTROLS = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\ufffd]+/gu;

/** Characters inside words that are neither seen nor said. Joiners stay: Persian and Hindi need them. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/** Engines would read emoji out by name. U+FE0F and U+20E3 make one of a plain character. */
const EMOJI =
  /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator})\u200d?|[\ufe0e\ufe0f]|\u20e3/gu;

/** Markdown, whose signs would be read out too. */
const MARKDOWN = /[*`~#_|\\]+/g;

/** `[[` begins phonemes in espeak-ng. Single brackets are not spoken either. */
const BRACKETS = /[[\]{}]+/g;

/** SSML, or text that looks like it. A lone `<` stays: "3 < 4". */
const TAG = /<[/!?]?[A-Za-z][^<>]{0,500}>/g;

/**
 * Cleans a text: no control characters, tags, phoneme escapes, emoji, or Markdown; one line, at most
 * `SPOKEN_CHARACTERS_MAX` long. Empty when nothing is left to say.
 */
export function spokenText(text: string): string {
  const line = text
    // Cut first, so that the work is bounded; twice the limit leaves room for stripped characters.
    .slice(0, 2 * SPOKEN_CHARACTERS_MAX)
    .replace(INVISIBLE, '')
    .replace(CONTROLS, ' ')
    .replace(TAG, ' ')
    .replace(EMOJI, ' ')
    .replace(MARKDOWN, ' ')
    .replace(BRACKETS, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return /[\p{L}\p{N}]/u.test(line) ? shorten(line) : '';
}

function shorten(line: string): string {
  if (line.length <= SPOKEN_CHARACTERS_MAX) {
    return line;
  }
  const cut = line.slice(0, SPOKEN_CHARACTERS_MAX);
  const lastSpace = cut.lastIndexOf(' ');
  return (lastSpace > 0 ? cut.slice(0, lastSpace) : cut).toWellFormed();
}

/** Silence after a clause, in milliseconds; the rest of a reply follows it at once. */
const CLAUSE_PAUSE_MS = 60;

/** Silence after a sentence, in milliseconds. espeak-ng's own is 110 to 330, by voice. */
const SENTENCE_PAUSE_MS = 160;

/** How much silence to leave at the end of a text, in milliseconds. */
export function pauseAfterMs(text: string): number {
  return /[,;:\u2013\u2014-]$/.test(text) ? CLAUSE_PAUSE_MS : SENTENCE_PAUSE_MS;
}
