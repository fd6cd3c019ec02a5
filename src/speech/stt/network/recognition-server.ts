/** The port of a recogniser on the network, and how the answers of such servers are read. */
import { languageOf } from '../../../lib/language-tag.ts';
import type { SpeechServer } from '../../network/speech-servers.ts';
import { Upsampler } from '../features/resampler.ts';
import type { Recognition, RecognizedWord } from '../pool/recognizer.ts';

export interface RecognitionRequest {
  /** 8 kHz, mono, signed 16-bit. */
  readonly pcm: Int16Array;
  /** ISO 639-1 or BCP 47. */
  readonly language: string;
  /** Names that are likely to be said. */
  readonly prompt?: string;
  readonly signal: AbortSignal;
}

export interface RecognitionServer extends SpeechServer {
  /** Whether it recognises the language, as the newest probe found; absent where servers do not tell. */
  hears?(language: string): boolean;

  /**
   * Recognises an utterance.
   *
   * @throws {Error} naming the fault.
   * @throws the signal's reason when aborted.
   */
  recognize(request: RecognitionRequest): Promise<Recognition>;
}

export interface RecognitionServerOptions {
  /** Default: the protocol's own. */
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Exports of an engine's module. */
export interface RecognitionServerModule {
  openRecognitionServer(address: string, options: RecognitionServerOptions): RecognitionServer;
}

/** The servers of one engine, as the hearing thread gets them. */
export interface RecognitionServersOrder {
  readonly moduleUrl: string;
  readonly addresses: readonly string[];
  readonly options: RecognitionServerOptions;
  /** Longest wait for an answer before the local engine takes over. */
  readonly answerMs: number;
}

/** A second of silence, for probes: 8 kHz, mono, signed 16-bit. */
export const PROBE_PCM = new Int16Array(8000);

/** Sample rate that every server takes without resampling. */
export const WIDEBAND_HZ = 16_000;

/** @param pcm 8 kHz, mono, signed 16-bit. @returns the same at 16 kHz. */
export function wideband(pcm: Int16Array): Int16Array<ArrayBuffer> {
  return Int16Array.from(new Upsampler().push(pcm), (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))),
  );
}

/** Longer texts are no transcript of 30 s, and longer lists not of one. */
const TEXT_CHARACTERS_MAX = 4000;
const LIST_MAX = 1000;

interface Segment {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** exp of the mean token log-probability; undefined where the server gives none. */
  readonly confidence: number | undefined;
  readonly noSpeechProbability: number | undefined;
}

/**
 * Reads `json` and `verbose_json`. Without segments the confidence is 1: the server gives none.
 *
 * @param asked the request's language and length.
 * @throws {Error} when the answer is of another form.
 * @see OpenAI API reference, "The transcription object (Verbose JSON)"
 */
export function recognitionOf(
  answer: unknown,
  asked: { readonly language: string; readonly audioMs: number },
): Recognition {
  const { text, language, segments, words } = fieldsOf(answer);
  if (typeof text !== 'string' || text.length > TEXT_CHARACTERS_MAX) {
    throw new Error('it answered without a transcript');
  }
  const trimmed = text.trim();
  const parts = listOf(segments).map(segmentOf);
  const timed = listOf(words).flatMap((word) => timedWord(word, parts));
  const confidence = meanConfidence(parts);
  // Word lists of some servers leave words out; the text is the truth.
  const isWhole = timed.length === wordsIn(trimmed).length;
  return {
    text: trimmed,
    words: isWhole ? timed : wordsIn(trimmed).map((word) => ({ text: word, confidence })),
    confidence,
    language: codeOf(language) ?? asked.language,
    noSpeechProbability: silenceOf(trimmed, parts),
    audioMs: asked.audioMs,
  };
}

/** Whisper's servers name languages in English, such as `english`; only codes are used. */
function codeOf(language: unknown): string | undefined {
  return typeof language === 'string' && /^[a-z]{2,3}([-_]|$)/i.test(language)
    ? languageOf(language)
    : undefined;
}

function segmentOf(segment: unknown): Segment {
  const {
    text,
    start,
    end,
    avg_logprob: logProbability,
    no_speech_prob: noSpeech,
  } = fieldsOf(segment);
  const probability = numberOf(logProbability);
  return {
    text: typeof text === 'string' ? text : '',
    startMs: 1000 * (numberOf(start) ?? 0),
    endMs: 1000 * (numberOf(end) ?? 0),
    confidence: probability === undefined ? undefined : Math.exp(Math.min(0, probability)),
    noSpeechProbability: shareOf(noSpeech),
  };
}

/** A word is as sure as the server says, else as its segment. */
function timedWord(word: unknown, segments: readonly Segment[]): readonly RecognizedWord[] {
  const { word: text, start, end, probability } = fieldsOf(word);
  const [from, to] = [numberOf(start), numberOf(end)];
  if (typeof text !== 'string' || text.trim() === '' || from === undefined || to === undefined) {
    return [];
  }
  const [startMs, endMs] = [Math.round(1000 * from), Math.round(1000 * to)];
  const middleMs = (startMs + endMs) / 2;
  const home = segments.find((one) => one.startMs <= middleMs && middleMs <= one.endMs);
  const confidence = shareOf(probability) ?? home?.confidence ?? meanConfidence(segments);
  return [{ text: text.trim(), confidence, startMs, endMs }];
}

/** Mean of the segments, weighted by their letters; 1 where none has a confidence. */
function meanConfidence(segments: readonly Segment[]): number {
  const scored = segments.filter(({ confidence }) => confidence !== undefined);
  const weights = scored.map(({ text }) => Math.max(1, text.length));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return 1;
  const sum = scored.reduce(
    (logs, { confidence = 1 }, index) => logs + Math.log(confidence) * (weights[index] ?? 0),
    0,
  );
  return Math.exp(sum / total);
}

/** The surest segment counts: one with speech makes it speech. */
function silenceOf(text: string, segments: readonly Segment[]): number {
  if (text === '') return 1;
  const scores = segments.flatMap(({ noSpeechProbability }) => noSpeechProbability ?? []);
  return scores.length === 0 ? 0 : Math.min(...scores);
}

function wordsIn(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, LIST_MAX) : [];
}

/** A probability; the server's number, cut to 0 to 1. */
function shareOf(value: unknown): number | undefined {
  const number = numberOf(value);
  return number === undefined ? undefined : Math.max(0, Math.min(1, number));
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
