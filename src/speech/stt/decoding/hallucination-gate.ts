/** Hallucination gate: empties transcripts that Whisper invents in silence, and says how much voice was without words; pure */
import type { Recognition } from '../pool/recognizer.ts';

/** OpenAI's own threshold. */
const NO_SPEECH_PROBABILITY_MAX = 0.6;

/** Likely silence together with a confidence below this means no words. */
const CONFIDENCE_MIN = 0.5;

/** The shortest word has more. Music, tones and noise that the detector takes for a voice have less: it is never sure. */
const VOICED_MS_MIN = 80;

/** Share of the audio that must be scored for a verdict on the whole. */
const SCORED_SHARE_MIN = 0.5;

/** A shorter text may be a repetitive list of digits. */
const REPEATING_WORDS_MIN = 12;

/** A smaller share of distinct word pairs means that the model repeats itself. */
const DISTINCT_PAIR_SHARE_MIN = 0.3;

/** Voice activity in the same audio. */
export interface VoiceShare {
  readonly scoredMs: number;
  /** Length of the surest voice without a gap: each part weighted by how sure the detector is, from 0 at its threshold to 1. */
  readonly voicedMs: number;
  /** Length of all voice, weighted alike. */
  readonly clearMs: number;
}

/**
 * Empties an improbable text; an empty one gets `clearVoiceMs`.
 *
 * @param voice null without voice activity detection.
 */
export function withoutHallucination(
  recognition: Recognition,
  voice: VoiceShare | null,
): Recognition {
  const isDoubted =
    isProbablySilence(recognition) ||
    isUnvoiced(recognition.audioMs, voice) ||
    isCircular(recognition.text) ||
    isAnnotation(recognition.text);
  const believed = isDoubted
    ? { ...recognition, text: '', words: [], agreedWords: 0 }
    : recognition;
  if (voice === null || believed.text.trim() !== '' || namesSounds(recognition.text))
    return believed;
  return { ...believed, clearVoiceMs: voice.clearMs };
}

function isProbablySilence({ noSpeechProbability, confidence }: Recognition): boolean {
  return noSpeechProbability > NO_SPEECH_PROBABILITY_MAX && confidence < CONFIDENCE_MIN;
}

function isUnvoiced(audioMs: number, voice: VoiceShare | null): boolean {
  if (voice === null || voice.scoredMs < audioMs * SCORED_SHARE_MIN) return false;
  return voice.voicedMs < VOICED_MS_MIN;
}

/** Marks of sounds, as in subtitles, and of silence, as whisper.cpp writes them: `[BLANK_AUDIO]`, `(music playing)`, `*coughs*`. */
const ANNOTATION = /\[[^\]]*\]|\([^)]*\)|\*[^*]*\*/g;

/** whisper.cpp's text where it heard no words, and other recognisers' for words that they could not make out. */
const WORDLESS = /BLANK_AUDIO|inaudible|unintelligible/i;

function namesSounds(text: string): boolean {
  return isAnnotation(text) && !WORDLESS.test(text);
}

/** Whether the text tells of sounds alone; digits in brackets may be an area code. */
function isAnnotation(text: string): boolean {
  const hasWords = (words: string) => /[\p{L}\p{N}]/u.test(words);
  return /\p{L}/u.test(text) && !/\p{N}/u.test(text) && !hasWords(text.replace(ANNOTATION, ''));
}

function isCircular(text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length < REPEATING_WORDS_MIN) return false;
  const pairs = new Set(words.slice(1).map((word, index) => `${words[index]} ${word}`));
  return pairs.size / (words.length - 1) < DISTINCT_PAIR_SHARE_MIN;
}
