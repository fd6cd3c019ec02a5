/** Hears whether the target of a transfer says yes or no, outside of the talk with the caller. */
import type { Logger } from '../lib/logger.ts';
import type { AudioStream } from '../media/audio-stream.ts';
import type { Hearing, VoiceEvent } from '../speech/hearing/hearing.ts';
import { TranscriptionRequest } from './turn/transcription-request.ts';
import type { TurnEventOf } from './turn/turn-event.ts';
import { isAgreement, SURE_CONFIDENCE, spokenWords } from './turn/unsure-words.ts';

/** Longer sentences are no answer: a mailbox may say "no" in the middle of one. */
const WORDS_MAX = 6;

/** Words by language; all of them count in every call. */
const REFUSALS = new Set(
  Object.values({
    en: 'no nope nah not',
    es: 'no',
    de: 'nein nee nicht',
    fr: 'non pas',
    it: 'no non',
    pt: 'não nao',
  })
    .join(' ')
    .split(' '),
);

/** These mean yes, although a word of refusal is in them. */
const NO_OBJECTIONS =
  /\b(no problem|no worries|why not|no hay problema|cómo no|por qué no|warum nicht|pas de problème|pas de souci|pourquoi pas|non c['’]è problema|perché no|não há problema|porque não)\b/giu;

/** Whether the text is a yes or a no; undefined where it is neither, or both. */
export function answerOf(text: string): boolean | undefined {
  const plain = text.normalize('NFC').replace(NO_OBJECTIONS, 'yes');
  const words = spokenWords(plain);
  const [first = ''] = words;
  if (isAgreement(plain)) return true;
  if (words.length === 0 || words.length > WORDS_MAX) return undefined;
  const isYes = isAgreement(first);
  const isNo = words.some((word) => REFUSALS.has(word));
  return isYes === isNo ? undefined : isYes;
}

/** Audio, speech recognition and language for a spoken answer. */
export interface AnswerOptions {
  readonly audio: AudioStream;
  readonly hearing: Pick<Hearing, 'open' | 'hasVoiceDetector'>;
  /** BCP 47. */
  readonly language: string;
  readonly log: Logger;
}

/** Listens from now on; `onAnswer` may be called more than once. @returns a function that stops it; safe to call twice. */
export function hearAnswer(
  { audio, hearing, language, log }: AnswerOptions,
  onAnswer: (isYes: boolean) => void,
): () => void {
  const listener = hearing.open({ ring: audio.heard, language });
  let state: 'quiet' | 'speaking' | 'paused' | 'over' = 'quiet';
  let attempt = 0;
  const judge = (event: Words) => {
    if (state === 'over' || event.attempt !== attempt) return;
    const isSure = event.kind === 'transcribed' && event.confidence >= SURE_CONFIDENCE;
    const isYes = isSure ? answerOf(event.text) : undefined;
    if (isYes !== undefined) onAnswer(isYes);
    if (state !== 'paused') return;
    state = 'quiet';
    listener.endUtterance();
  };
  const transcription = new TranscriptionRequest({
    ...{ listener, language, log },
    tell: (event) => {
      if (event.kind === 'transcribed' || event.kind === 'transcription-failed') judge(event);
    },
  });
  const onVoice = (event: VoiceEvent) => {
    if (state === 'over') return;
    if (event.kind === 'voice-started') {
      if (state === 'quiet') listener.beginUtterance(event.atMs);
      state = 'speaking';
    } else if (event.kind !== 'turn-scored' && state === 'speaking') {
      state = 'paused';
      attempt += 1;
      void transcription.request(attempt, 'final');
    }
  };
  if (hearing.hasVoiceDetector) listener.onVoice(onVoice);
  else {
    audio.onEvent((event) => {
      if (event.kind === 'voice-started' || event.kind === 'voice-stopped') onVoice(event);
    });
  }
  return () => {
    if (state === 'over') return;
    state = 'over';
    transcription.cancel();
    listener.close();
  };
}

type Words =
  | Omit<TurnEventOf<'transcribed'>, 'atMs'>
  | Omit<TurnEventOf<'transcription-failed'>, 'atMs'>;
