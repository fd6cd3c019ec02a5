/** Answering machine detection (AMD): who has answered an outgoing call, by a machine's words and its greeting; pure */
import { languageOf } from '../../lib/language-tag.ts';
import type { AnswerSign } from '../conversation-port.ts';
import { beginVoice, endVoice, hearSound, isSpeaking, lengthOf, type Talk } from './callee-talk.ts';

/** A person says "hello" in less and waits for an answer. */
const HELLO_MS_MAX = 1500;

/** Silence after a hello, and after a longer talk, such as a receptionist's, that tells a person: a machine would go on. */
const AFTER_HELLO_MS = 700;
const AFTER_TALK_MS = 1100;

/** Talk without a pause from which on the callee is a machine. */
const LONG_TALK_MS = 4500;

/** Talk from which on words that are only likely of a machine count. */
const LIKELY_TALK_MS = 2000;

/** Silence after the answer before the agent greets. */
const SILENCE_MS = 2000;

/** Talks that begin later after the greeting answer it: a secretary offers to take a message, and only a tone is a machine's. */
const OWN_TALK_MS = 3000;

/** Time after the answer in which a person may still turn out to be a machine. */
const WATCH_MS = 20_000;

/** A machine speaks before it beeps. */
const TALK_BEFORE_BEEP_MS = 300;

/** The end of a greeting: after silence, or after more silence where a tone was promised. */
const GREETING_OVER_MS = 1500;
const TONE_WAIT_MS = 4000;

/** The longest wait for the end of a machine's greeting, from the answer. */
const GREETING_MS_MAX = 30_000;

/** State of the detection. Instants are `Clock.nowMs()`. */
export interface ScreenState {
  readonly language: string;
  readonly answeredAtMs: number;
  /** The newest talk; null before the first. */
  readonly talk: Talk | null;
  /** Beginning of a tone that may be a beep, until that is known; null without one. */
  readonly toneFromMs: number | null;
  /** When the newest beep was known to be over; null before the first. */
  readonly beepEndedAtMs: number | null;
  readonly isTonePromised: boolean;
  /** From when on the callee may be greeted; null before. */
  readonly greetableAtMs: number | null;
  readonly answeredBy: 'human' | 'machine' | null;
  /** Sign that decided; null while undecided. */
  readonly sign: AnswerSign | null;
}

/** Sounds and words of the callee. */
export type ScreenEvent =
  | { readonly kind: 'voice-started'; readonly atMs: number }
  | { readonly kind: 'voice-stopped'; readonly lastVoicedAtMs: number }
  /** Sound up to `atMs`, voice or not: the mean of its squared samples. */
  | {
      readonly kind: 'sound';
      readonly fromMs: number;
      readonly atMs: number;
      readonly power: number;
    }
  | { readonly kind: 'words'; readonly text: string; readonly atMs: number }
  | { readonly kind: 'beep-began'; readonly atMs: number }
  | { readonly kind: 'beep-ended'; readonly atMs: number }
  | { readonly kind: 'beep-ruled-out'; readonly atMs: number };

/** State at the answer. */
export function openScreen(language: string, answeredAtMs: number): ScreenState {
  return {
    language,
    answeredAtMs,
    talk: null,
    toneFromMs: null,
    beepEndedAtMs: null,
    isTonePromised: false,
    greetableAtMs: null,
    answeredBy: null,
    sign: null,
  };
}

/** Handles an event of the callee's audio; a beep and words may decide at once. */
export function hearCallee(state: ScreenState, event: ScreenEvent): ScreenState {
  const { talk } = state;
  switch (event.kind) {
    case 'voice-started':
      return { ...state, talk: beginVoice(talk, event.atMs) };
    case 'voice-stopped':
      return { ...state, talk: talk && endVoice(talk, event.lastVoicedAtMs) };
    case 'sound':
      return { ...state, talk: talk && hearSound(talk, event) };
    case 'words':
      return hearWords(state, event.text, event.atMs);
    case 'beep-began':
      return { ...state, toneFromMs: event.atMs };
    case 'beep-ended':
      return hearBeep(state, event.atMs);
    case 'beep-ruled-out':
      return { ...state, toneFromMs: null };
    default:
      return event satisfies never;
  }
}

/** Decides by the form of the first talk, once time has passed. */
export function judgeCallee(state: ScreenState, nowMs: number): ScreenState {
  const { talk, greetableAtMs, answeredBy } = state;
  if (answeredBy === 'machine') return state;
  if (talk === null) {
    const isSilent = greetableAtMs === null && nowMs - state.answeredAtMs >= SILENCE_MS;
    return isSilent ? { ...state, greetableAtMs: nowMs } : state;
  }
  // A callee who has been greeted answers, and may do so at length.
  const isFirst = greetableAtMs === null || talk.fromMs < greetableAtMs;
  if (isFirst && lengthOf(talk, nowMs) >= LONG_TALK_MS) {
    return decided(state, 'machine', 'long_talk', nowMs);
  }
  if (answeredBy !== null || isSpeaking(talk) || state.toneFromMs !== null) return state;
  const isHello = lengthOf(talk, nowMs) <= HELLO_MS_MAX;
  const isWaiting = nowMs - talk.lastVoicedAtMs >= (isHello ? AFTER_HELLO_MS : AFTER_TALK_MS);
  return isWaiting ? decided(state, 'human', 'short_talk', nowMs) : state;
}

/** Whether the callee is to be greeted, because a person has answered, or no one speaks. */
export function mayGreet({ answeredBy, greetableAtMs }: ScreenState): boolean {
  return answeredBy !== 'machine' && greetableAtMs !== null;
}

/** Whether the decision about the callee is final. */
export function isSettled({ answeredBy, answeredAtMs }: ScreenState, nowMs: number): boolean {
  return answeredBy === 'machine' || nowMs - answeredAtMs >= WATCH_MS;
}

/** Whether a machine's greeting is over, so that it records. */
export function isGreetingOver(state: ScreenState, nowMs: number): boolean {
  const { answeredAtMs, beepEndedAtMs, isTonePromised, talk, toneFromMs } = state;
  if (nowMs - answeredAtMs >= GREETING_MS_MAX) return true;
  if (toneFromMs !== null) return false;
  const lastMs = talk === null ? answeredAtMs : talk.lastVoicedAtMs;
  // A beep between two parts of a greeting ends neither. Detectors may take the beep for a voice.
  if (beepEndedAtMs !== null && beepEndedAtMs >= lastMs) return true;
  if (talk !== null && isSpeaking(talk)) return false;
  return nowMs - lastMs >= (isTonePromised ? TONE_WAIT_MS : GREETING_OVER_MS);
}

/** A beep is a machine's if the machine has spoken before it. */
function hearBeep(state: ScreenState, atMs: number): ScreenState {
  const { talk, toneFromMs } = state;
  const heard = { ...state, toneFromMs: null, beepEndedAtMs: atMs };
  const hasSpoken =
    talk !== null && toneFromMs !== null && talk.fromMs + TALK_BEFORE_BEEP_MS <= toneFromMs;
  return hasSpoken ? decided(heard, 'machine', 'beep', atMs) : heard;
}

function hearWords(state: ScreenState, text: string, atMs: number): ScreenState {
  const found = machineSignIn(text, state.language);
  if (found === undefined) return state;
  const heard = found === 'tone' ? { ...state, isTonePromised: true } : state;
  const { talk, greetableAtMs } = state;
  const fromMs = talk?.fromMs ?? atMs;
  const isMachines = {
    tone: true,
    sure: greetableAtMs === null || fromMs <= greetableAtMs + OWN_TALK_MS,
    likely: greetableAtMs === null && talk !== null && lengthOf(talk, atMs) >= LIKELY_TALK_MS,
  };
  return isMachines[found] ? decided(heard, 'machine', 'words', atMs) : heard;
}

/** A machine is never taken for a person again. */
function decided(
  state: ScreenState,
  answeredBy: 'human' | 'machine',
  sign: AnswerSign,
  atMs: number,
): ScreenState {
  if (state.answeredBy === 'machine') return state;
  const greetableAtMs =
    answeredBy === 'human' ? (state.greetableAtMs ?? atMs) : state.greetableAtMs;
  return { ...state, answeredBy, sign, greetableAtMs };
}

/** Patterns for `folded` text with a space at both ends. */
interface MachineWords {
  /** Phrases of machines that persons hardly ever say. */
  readonly sure: RegExp;
  /** Phrases that secretaries say too: they count only in a talk that begins the call and does not wait for an answer. */
  readonly likely: RegExp;
  /** The machine is going to beep. They count as sure. */
  readonly tone: RegExp;
}

const ENGLISH: MachineWords = {
  sure: anyOf(
    'leave (a|me a|us a|your) (brief |short |detailed )?message',
    'leave (me |us )?your name and',
    'record your message',
    'voice ?mail',
    'mailbox',
    'answering machine',
    'voice messag(e|ing) system',
    'can(not| t) (take your call|come to the phone)',
    'not able to (take your call|come to the phone)',
    'number you (have )?(dialed|dialled|called) is not',
  ),
  likely: anyOf('you (have|ve) reached', 'is (not available|unavailable)', 'no ?one is available'),
  tone: anyOf('(after|at) the (tone|beep)', 'after the signal'),
};

const BY_LANGUAGE: Readonly<Record<string, MachineWords>> = {
  en: ENGLISH,
  de: {
    sure: anyOf(
      'hinterlassen sie (eine|uns eine|mir eine|ihre) nachricht',
      'hinterlasst eine nachricht',
      'eine nachricht (hinterlassen|nach dem)',
      'mailbox',
      'anrufbeantworter',
      'sprachbox',
    ),
    likely: anyOf('nicht (zu erreichen|erreichbar)', 'leider nicht da'),
    tone: anyOf('nach dem (ton|signalton|piepton|pieps)'),
  },
  es: {
    sure: anyOf(
      '(dej|grab)(a|e) (un|su|tu) mensaje',
      'buzon de voz',
      'contestador automatico',
      'apagado o fuera de cobertura',
    ),
    likely: anyOf('no (esta disponible|puedo atender|podemos atender|hay nadie disponible)'),
    tone: anyOf(
      '(despues de|tras|al) ((oir|escuchar) )?la senal',
      '(despues del|tras el|al oir el) (tono|pitido)',
    ),
  },
  fr: {
    sure: anyOf('laisse(z|r|z moi) (un|votre) message', '(boite|messagerie) vocale', 'repondeur'),
    likely: anyOf('pas (disponible|joignable)', 'vous etes bien chez'),
    tone: anyOf('apres (le (bip|signal)|la tonalite)'),
  },
  it: {
    sure: anyOf(
      '(lasci|lascia|lasciate|lasciare) (un|il (suo|tuo|vostro)) messaggio',
      'segreteria telefonica',
      'casella vocale',
    ),
    likely: anyOf('non (e (al momento )?(raggiungibile|disponibile)|posso rispondere)'),
    tone: anyOf('dopo il (segnale|bip|tono)'),
  },
  pt: {
    sure: anyOf(
      '(deixe|deixar) (uma|a sua|sua) mensagem',
      'caixa (postal|de correio)',
      'correio de voz',
    ),
    likely: anyOf('nao (esta disponivel|posso atender|podemos atender)'),
    tone: anyOf('(apos o|depois do) (sinal|bip)'),
  },
  nl: {
    sure: anyOf(
      '(laat|spreek) (een|uw) bericht',
      'bericht in te spreken',
      'voicemail',
      'antwoordapparaat',
    ),
    likely: anyOf('niet (bereikbaar|beschikbaar|aanwezig)'),
    tone: anyOf('na de (piep|toon|pieptoon)', 'na het signaal'),
  },
  ru: {
    sure: anyOf(
      'оставьте (ваше |свое )?(голосовое )?сообщение',
      'голосов(ая почта|ои почты)',
      'автоответчик',
    ),
    likely: anyOf('(недоступен|недоступна|не отвечает|вне зоны деиствия)'),
    tone: anyOf('после (звукового )?(сигнала|гудка)'),
  },
};

/** Signs of a machine in the words of a callee; each stronger sign includes the weaker ones. */
type MachineSign = 'tone' | 'sure' | 'likely';

const ORDER: readonly MachineSign[] = ['tone', 'sure', 'likely'];

/** The strongest sign of a machine in the words; undefined without one. English ones count in every language: networks announce in it. */
export function machineSignIn(text: string, language: string): MachineSign | undefined {
  const said = ` ${folded(text)} `;
  const tables = [BY_LANGUAGE[languageOf(language)] ?? ENGLISH, ENGLISH];
  return ORDER.find((sign) => tables.some((words) => words[sign].test(said)));
}

/** Whole words, in these forms. */
function anyOf(...forms: readonly string[]): RegExp {
  return new RegExp(` (${forms.join('|')}) `);
}

/** Text without case, accents and punctuation. */
function folded(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
