/** The time line of a recording: how it lies to the call's events, and which stretch of it is drawn; pure */
import type { TimelineEntry } from './api-types.ts';

/** Part of a recording, in milliseconds after its beginning. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Shortest stretch: the outline of a recording has no finer details. */
const STRETCH_MS_MIN = 1000;

/** Steps that a clock is read in. */
const STEPS_MS = [
  100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  1_800_000,
] as const;

/**
 * The instant of the recording's first sample, since the epoch: that of the answer.
 *
 * The server starts the recording and stamps `answered` in one step, and the recording begins at the instant of its start: an
 * event stamped T is heard at T − `answered` in it, give or take a millisecond. Sound is placed by the clock: the
 * caller's where it arrived, the agent's in the 20 ms before its packet left. A side is moved by up to 60 ms to join
 * packets that came unevenly, and by up to a second after a burst. An entry of the transcript has the stamp of its first
 * sound. A simulated call has a faster clock, for both its sound and its events.
 *
 * @param startedAt of the call, where no answer is on record.
 */
export function recordingOriginMs(
  timeline: readonly TimelineEntry[],
  startedAt: string | null,
): number {
  const answered = timeline.find(({ kind }) => kind === 'answered')?.timestamp;
  return Date.parse(answered ?? startedAt ?? new Date(0).toISOString());
}

/** All of a recording; at least so long that it can be drawn. */
export function wholeOf(durationMs: number): Stretch {
  return { fromMs: 0, toMs: Math.max(durationMs, STRETCH_MS_MIN) };
}

/** Position of an instant: 0 at the left edge, 1 at the right; beyond them where it is not in the stretch. */
export function shareAt({ fromMs, toMs }: Stretch, atMs: number): number {
  return (atMs - fromMs) / (toMs - fromMs);
}

/** The instant at a place; the reverse of `shareAt`. */
export function msAt({ fromMs, toMs }: Stretch, share: number): number {
  return fromMs + share * (toMs - fromMs);
}

/** Nearer by `factor` (further away below 1), with `aroundMs` kept where it is, as far as the recording goes. */
export function zoomed(
  stretch: Stretch,
  durationMs: number,
  by: { readonly factor: number; readonly aroundMs: number },
): Stretch {
  const whole = wholeOf(durationMs);
  const lengthMs = Math.min(
    whole.toMs,
    Math.max(STRETCH_MS_MIN, (stretch.toMs - stretch.fromMs) / by.factor),
  );
  const share = Math.min(1, Math.max(0, shareAt(stretch, by.aroundMs)));
  const fromMs = by.aroundMs - share * lengthMs;
  return inside({ fromMs, toMs: fromMs + lengthMs }, whole);
}

/** Later by `byMs`, or earlier where it is negative, as far as the recording goes. */
export function moved({ fromMs, toMs }: Stretch, durationMs: number, byMs: number): Stretch {
  return inside({ fromMs: fromMs + byMs, toMs: toMs + byMs }, wholeOf(durationMs));
}

/** The stretch that shows `atMs`: the same where it is in it; else one that begins a little before it. */
export function showing(stretch: Stretch, durationMs: number, atMs: number): Stretch {
  const share = shareAt(stretch, atMs);
  if (share >= 0 && share <= 1) return stretch;
  return moved(stretch, durationMs, atMs - msAt(stretch, 0.05));
}

function inside({ fromMs, toMs }: Stretch, whole: Stretch): Stretch {
  const lengthMs = toMs - fromMs;
  const start = Math.min(Math.max(fromMs, 0), whole.toMs - lengthMs);
  return { fromMs: start, toMs: start + lengthMs };
}

/** Marks below the line: instants a round step apart, about `count` of them, each with its text. */
export function ticksOf(
  { fromMs, toMs }: Stretch,
  count: number,
): readonly { readonly atMs: number; readonly text: string }[] {
  const stepMs = STEPS_MS.find((step) => step * count >= toMs - fromMs) ?? 3_600_000;
  const first = Math.ceil(fromMs / stepMs);
  const last = Math.floor(toMs / stepMs);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const atMs = (first + index) * stepMs;
    return { atMs, text: tickText(atMs, stepMs) };
  });
}

/** `1:05`, or `1:05.2` where ticks are closer than a second. */
function tickText(atMs: number, stepMs: number): string {
  const minutes = Math.floor(atMs / 60_000);
  const seconds = (atMs % 60_000) / 1000;
  const digits = stepMs < 1000 ? 1 : 0;
  return `${minutes}:${seconds.toFixed(digits).padStart(digits === 0 ? 2 : 4, '0')}`;
}

/** The visible part of a span, as shares of the stretch's width; undefined if none is visible. */
export function shown(
  stretch: Stretch,
  span: Stretch,
): { readonly from: number; readonly to: number } | undefined {
  const from = Math.max(0, shareAt(stretch, span.fromMs));
  const to = Math.min(1, shareAt(stretch, span.toMs));
  return from > to ? undefined : { from, to };
}

/** Peak levels of one side of the call: the loudest sample of each of equally long pieces, from 0 to 1. */
export type Peaks = readonly number[];

/**
 * The loudest sample of each column, from 0 to 1; 0 beyond the recording's end. Where columns are finer than the pieces,
 * neighbours share one.
 */
export function columnsOf(
  peaks: Peaks,
  durationMs: number,
  stretch: Stretch,
  columns: number,
): readonly number[] {
  const pieceMs = durationMs / Math.max(1, peaks.length);
  return Array.from({ length: Math.max(0, columns) }, (_, column) => {
    const first = Math.floor(msAt(stretch, column / columns) / pieceMs);
    const end = Math.ceil(msAt(stretch, (column + 1) / columns) / pieceMs);
    return loudest(peaks, Math.max(0, first), Math.max(first + 1, end));
  });
}

function loudest(peaks: Peaks, first: number, end: number): number {
  let most = 0;
  for (let index = first; index < end && index < peaks.length; index += 1) {
    most = Math.max(most, peaks[index] ?? 0);
  }
  return Math.min(1, most);
}

/** Height of a bar, from 0 to 1, on a scale close to hearing, so that quiet speech is visible too. */
export function heightOf(peak: number): number {
  return peak <= 0 ? 0 : Math.min(1, peak) ** 0.6;
}

/** Number of pieces to request: one each 50 ms, within the limits of the server. */
export function pointsFor(durationMs: number): number {
  return Math.min(5000, Math.max(1000, Math.ceil(durationMs / 50)));
}

const STEP_MS = 5000;
const FINE_MS = 1000;
const LEAP_MS = 30_000;

/** Keys that seek, with their steps. */
const SEEKS: Readonly<Record<string, number>> = {
  ArrowLeft: -STEP_MS,
  ArrowDown: -STEP_MS,
  ArrowRight: STEP_MS,
  ArrowUp: STEP_MS,
  PageDown: -LEAP_MS,
  PageUp: LEAP_MS,
  Home: -Infinity,
  End: Infinity,
};

type KeyDeed =
  | { readonly kind: 'seek'; readonly atMs: number }
  | { readonly kind: 'toggle' }
  | { readonly kind: 'zoom'; readonly factor: number };

/** Action of a key at this place; undefined where it means nothing here. */
export function deedOf(
  { key, shiftKey }: { readonly key: string; readonly shiftKey: boolean },
  atMs: number,
  durationMs: number,
): KeyDeed | undefined {
  if (key === ' ') return { kind: 'toggle' };
  if (key === '+' || key === '-') return { kind: 'zoom', factor: key === '+' ? 2 : 0.5 };
  const byMs = SEEKS[key];
  if (byMs === undefined) return undefined;
  const isFine = shiftKey && key.startsWith('Arrow');
  const toMs = atMs + (isFine ? Math.sign(byMs) * FINE_MS : byMs);
  return { kind: 'seek', atMs: Math.min(durationMs, Math.max(0, toMs)) };
}
