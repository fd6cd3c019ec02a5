/** Endpointing: the silence that ends the caller's turn; pure */

import type { EndpointingWaits } from '../turn/turn-rules.ts';
import type { Dictation, DictationKind } from './dictation.ts';

/** A pause of the caller, with the observations that endpointing uses. */
export interface PauseObservation {
  /** How finished the words sound, from 0 to 1. */
  readonly completeness: number;
  readonly isQuestion: boolean;
  /** Turn model's score: chance that the turn is over; null when not scored. */
  readonly turnProbability: number | null;
  /** How far the turn model is to be believed, from 0 to 1. */
  readonly turnTrust: number;
  /** Dictation in progress, whose parts are separated by pauses. */
  readonly dictation: Dictation | null;
  /** This caller's usual pause inside a turn; 0 until one was heard. */
  readonly typicalPauseMs: number;
}

/** How finished a turn is taken to sound as long as its words are not known. */
export const COMPLETENESS_UNKNOWN = 0.5;

/** Upper bound of every wait: after 3 s of silence callers ask whether the agent is there. */
export const SILENCE_MS_CAP = 3000;

/**
 * Silence required between the parts of a dictation. `begun`: it is certainly incomplete, so that waiting costs nothing;
 * `perhaps`: a little more than people pause between groups.
 */
const DICTATION_SILENCE_MS: Readonly<
  Record<DictationKind, Readonly<Record<'begun' | 'perhaps', number>>>
> = {
  // Read out in groups of two to four, often from paper, with 0.5 to 1 s between the groups.
  phone: { begun: 1800, perhaps: 1000 },
  // As a telephone number, but its length is not known: four digits may be all of it.
  digits: { begun: 1500, perhaps: 900 },
  // A letter a second or so, thought about one by one.
  spelling: { begun: 1500, perhaps: 1200 },
  // An address ends with its top-level domain, such as "dot com"; earlier parts are cached.
  email: { begun: 2000, perhaps: 1200 },
  // Street, number, town: each of them a pause.
  address: { begun: 1600, perhaps: 1000 },
};

/** Share of a trusted turn model in how finished a turn sounds; the words have the rest. */
const TURN_MODEL_SHARE = 0.6;

/** Share of the newest pause in the usual one of a dictation. */
const NEWEST_SHARE = 0.3;

/** Usual pause, at least, of a caller whom the agent has cut off: one interruption in a long account is enough. */
const CUT_OFF_USUAL_MS = 1250;

/** Factor on the usual pause after each turn that was not cut off, because the answers after a long story are short. */
const AFTER_TURN_SHARE = 0.8;

/** A pause must be this much longer than the caller's usual one to mean the end. */
const OVER_USUAL = 1.2;

/** Longest wait after a whole statement for the sake of a caller's usual pauses. */
const PATIENCE_MS_MAX = 1500;

/**
 * The more finished the turn sounds, the less silence is needed; hesitant callers get more. Without a score of the turn model,
 * the words decide; a score counts as far as its model is trusted. Never above 3 s.
 */
export function silenceRequiredMs(pause: PauseObservation, waits: EndpointingWaits): number {
  const usualMs = pause.typicalPauseMs * OVER_USUAL;
  const { dictation } = pause;
  if (dictation !== null && dictation.progress !== 'whole') {
    // A comma after a group, or an "and", says that another follows.
    const progress = pause.completeness === 0 ? 'begun' : dictation.progress;
    const partMs = DICTATION_SILENCE_MS[dictation.kind][progress];
    return Math.round(Math.min(SILENCE_MS_CAP, Math.max(partMs, usualMs, waits.silenceMsMin)));
  }
  const trust = pause.turnProbability === null ? 0 : pause.turnTrust;
  const waitMs =
    wordsWaitMs(pause, waits, usualMs) * (1 - trust) + scoredWaitMs(pause, waits, usualMs) * trust;
  return Math.round(Math.min(SILENCE_MS_CAP, waitMs));
}

/** Silence to wait for, by the words alone. */
function wordsWaitMs(pause: PauseObservation, waits: EndpointingWaits, usualMs: number): number {
  const { silenceMsMin, silenceMsMax, questionMs, statementMs } = waits;
  if (isWhole(pause) || pause.isQuestion) {
    const leastMs = isWhole(pause) ? silenceMsMin : questionMs;
    return Math.max(leastMs, Math.min(usualMs, (silenceMsMin + silenceMsMax) / 2));
  }
  const leastMs = Math.max(statementMs, Math.min(usualMs, PATIENCE_MS_MAX));
  const mostMs = Math.max(silenceMsMax, leastMs);
  return mostMs - (mostMs - leastMs) * pause.completeness;
}

/** Silence to wait for, by words and a trusted turn model: the voice tells an unfinished sentence from the last one. */
function scoredWaitMs(pause: PauseObservation, waits: EndpointingWaits, usualMs: number): number {
  const { silenceMsMin, silenceMsMax } = waits;
  const leastMs = Math.max(silenceMsMin, Math.min(usualMs, (silenceMsMin + silenceMsMax) / 2));
  const words = isWhole(pause) ? 1 : pause.completeness;
  const voice = pause.turnProbability ?? words;
  const finishedness = words * (1 - TURN_MODEL_SHARE) + voice * TURN_MODEL_SHARE;
  return silenceMsMax - (silenceMsMax - leastMs) * finishedness;
}

/** A value that is whole speaks for itself. */
function isWhole({ dictation }: PauseObservation): boolean {
  return dictation?.progress === 'whole';
}

/** Takes one more pause between the parts of a dictation into account. */
export function rememberDictationPause(typicalPauseMs: number, pauseMs: number): number {
  return typicalPauseMs * (1 - NEWEST_SHARE) + Math.max(0, pauseMs) * NEWEST_SHARE;
}

/** Takes one more pause of talk after which the caller went on into account: the longest counts. */
export function rememberPause(typicalPauseMs: number, pauseMs: number): number {
  return Math.max(typicalPauseMs, pauseMs);
}

/** Takes a pause into account that the agent took for the end of the turn. */
export function rememberCutOffPause(typicalPauseMs: number, pauseMs: number): number {
  return Math.max(CUT_OFF_USUAL_MS, rememberPause(typicalPauseMs, pauseMs));
}

/** Takes the end of a turn into account. */
export function forgetSomePause(typicalPauseMs: number): number {
  return typicalPauseMs * AFTER_TURN_SHARE;
}

/** Whether the words end as a question. */
export function isQuestion(text: string): boolean {
  return /\?["')]?$/.test(text.trim());
}

/** Words that lead on to another, by language. One list is looked up for all: callers mix, and few words clash. */
const LEADING_ON_BY_LANGUAGE: Readonly<Record<string, string>> = {
  en:
    'a an the and or but so because if when that which who with for from to at in on of my your his her our ' +
    "is are was i i'm it's um uh er erm hmm maybe",
  es:
    'y o pero porque si que con para de en el la los las un una mi su del cuando donde este eh pues quiero ' +
    'necesito',
  de:
    'und oder aber weil wenn dass mit für von zu der die das dem ein eine einen mein meine ist sind ich bei ' +
    'nach äh ähm',
  fr: 'et ou mais parce si que avec pour le les un une des mon ma au aux dans est sont quand euh alors je',
  it: 'e ma perché se che con per di il lo gli le un una mio della quando',
  pt: 'e mas porque que com para uma meu minha quando',
};

/** They lead on, but also end a sentence: "I think so." A full stop tells. */
const ENDING_TOO = new Set('so that in on her die das sind'.split(' '));

const LEADING_ON = new Set(Object.values(LEADING_ON_BY_LANGUAGE).join(' ').split(' '));

/**
 * Scores how finished a text sounds, from 0 (broken off) to 1 (a whole sentence), by its last word and its punctuation.
 * Recognisers put a full stop only where the voice falls.
 */
export function completenessOf(text: string): number {
  const trimmed = text.trim();
  if (/[!?]["')]?$/.test(trimmed)) return 1;
  if (/[,:;…–—-]$|\.\.\.$/.test(trimmed)) return 0;
  const last = lastWord(trimmed);
  const isStopped = /\.["')]?$/.test(trimmed);
  if (LEADING_ON.has(last) && !(isStopped && ENDING_TOO.has(last))) return 0;
  return isStopped ? 1 : 0.3;
}

function lastWord(text: string): string {
  return /([\p{L}']+)[\s.]*$/u.exec(text.toLowerCase())?.[1] ?? '';
}
