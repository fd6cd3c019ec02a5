/** Doubts what a recogniser says it heard: Whisper makes up sentences when nobody speaks; pure */
import type { Recognition } from '../pool/recognizer.ts';

/** OpenAI's own threshold. */
const NO_SPEECH_PROBABILITY_MAX = 0.6;

/** With both silence likely and words unsure, there were none. */
const CONFIDENCE_MIN = 0.5;

/** Two detector windows: the shortest word there is. */
const VOICED_MS_MIN = 64;

/** Less than this share of the audio scored says nothing about the whole. */
const SCORED_SHARE_MIN = 0.5;

/** From here on, repetition is no list of digits any more. */
const REPEATING_WORDS_MIN = 12;

/** Below this share of different pairs of words, the model went round in circles. */
const DISTINCT_PAIR_SHARE_MIN = 0.3;

/** What the voice detector found in the same audio. */
export interface VoiceShare {
  readonly scoredMs: number;
  readonly voicedMs: number;
}

/**
 * Empties the text when it is not to be believed.
 *
 * @param voice null when no detector listens.
 */
export function withoutHallucination(
  recognition: Recognition,
  voice: VoiceShare | null,
): Recognition {
  const isDoubted =
    isProbablySilence(recognition) ||
    isUnvoiced(recognition.audioMs, voice) ||
    isCircular(recognition.text);
  return isDoubted ? { ...recognition, text: '', words: [], agreedWords: 0 } : recognition;
}

function isProbablySilence({ noSpeechProbability, confidence }: Recognition): boolean {
  return noSpeechProbability > NO_SPEECH_PROBABILITY_MAX && confidence < CONFIDENCE_MIN;
}

function isUnvoiced(audioMs: number, voice: VoiceShare | null): boolean {
  if (voice === null || voice.scoredMs < audioMs * SCORED_SHARE_MIN) return false;
  return voice.voicedMs < VOICED_MS_MIN;
}

function isCircular(text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length < REPEATING_WORDS_MIN) return false;
  const pairs = new Set(words.slice(1).map((word, index) => `${words[index]} ${word}`));
  return pairs.size / (words.length - 1) < DISTINCT_PAIR_SHARE_MIN;
}
