/** Refuses voices and languages that the server cannot speak, and names the nearest that it can; pure */
import { type ErrorDetail, ServiceError } from '../service-error.ts';
import type { VoiceCatalogue } from './voice-catalogue.ts';

/** What an agent, or a call's overrides, say about speech; what is undefined is not checked. */
export interface SpeechChoice {
  readonly voice?: string | undefined;
  readonly language?: string | undefined;
}

type Known = Pick<VoiceCatalogue, 'list' | 'find' | 'languages'>;

const SUGGESTIONS_MAX = 3;

/**
 * Requires that the voice is listed and that an engine speaks the language.
 *
 * @param at Path of the object that has the fields, with a dot at its end; empty for the body itself.
 * @throws {ServiceError} VALIDATION_ERROR with a detail for each unknown value.
 */
export function requireKnownSpeech(choice: SpeechChoice, voices: Known, at = ''): void {
  const details = [...voiceFaults(choice, voices, at), ...languageFaults(choice, voices, at)];
  const [first] = details;
  if (first === undefined) return;
  throw new ServiceError(
    'VALIDATION_ERROR',
    `Cannot read the body: ${first.path}: ${first.message}`,
    details,
  );
}

function voiceFaults({ voice }: SpeechChoice, voices: Known, at: string): ErrorDetail[] {
  if (voice === undefined || voices.find(voice) !== undefined) return [];
  const near = nearest(
    voice,
    voices.list({}).map(({ id }) => id),
  );
  const message = `expected a voice of GET /api/voices; the nearest: ${near.join(', ')}`;
  return [{ path: `${at}voice`, message }];
}

function languageFaults({ language }: SpeechChoice, voices: Known, at: string): ErrorDetail[] {
  if (language === undefined) return [];
  const [code = ''] = language.toLowerCase().split('-');
  const known = voices.languages();
  if (known.includes(code)) return [];
  const message = `expected a language that this server speaks; the nearest: ${nearest(code, known).join(', ')}`;
  return [{ path: `${at}language`, message }];
}

/** The candidates with the fewest differing letters, case aside; best first, and then by the alphabet. */
export function nearest(text: string, candidates: readonly string[]): readonly string[] {
  return candidates
    .map((candidate) => ({
      candidate,
      distance: editDistance(text.toLowerCase(), candidate.toLowerCase()),
    }))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, SUGGESTIONS_MAX)
    .map(({ candidate }) => candidate);
}

/** Levenshtein's: insertions, deletions and replacements of one character. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 0; at < from.length; at += 1) {
    const next = [at + 1];
    for (let other = 0; other < to.length; other += 1) {
      const replaced = (row[other] ?? 0) + (from[at] === to[other] ? 0 : 1);
      next.push(Math.min(replaced, (row[other + 1] ?? 0) + 1, (next[other] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
