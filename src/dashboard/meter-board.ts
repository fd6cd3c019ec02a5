/** Moves the level meters of all live calls: one loop for the page, which rests while nothing moves. */

const SIDES = ['caller', 'agent'] as const;

/** Who wants little movement sees no more of it than this often. */
const CALM_MS = 1000;

/** Time without news after which a meter is at rest: the server sends none while no call is in progress. */
const STALE_MS = 1000;

/** Fill of a meter, from its left end; an HTML element is one. */
interface MeterBar {
  readonly style: { transform: string };
}

type MeterBars = Readonly<Record<(typeof SIDES)[number], MeterBar | null>>;

/** Environment of the board: a browser, or a test. */
export interface BoardWorld {
  readonly nowMs: () => number;
  /** Calls `step` before the next frame. @returns cancels it. */
  readonly nextFrame: (step: () => void) => () => void;
  /** Whether the reader wants little movement. */
  readonly wantsCalm: () => boolean;
}

interface Meter {
  readonly bars: MeterBars;
  target: Levels;
  toldAtMs: number;
  readonly shown: { caller: number; agent: number };
}

/** Elements are only written to, and by transform: no frame waits for a layout. */
export class MeterBoard {
  readonly #meters = new Map<string, Meter>();
  readonly #world: BoardWorld;
  #cancelFrame: (() => void) | undefined;
  #frameAtMs = 0;
  #calmAtMs = Number.NEGATIVE_INFINITY;

  constructor(world: BoardWorld) {
    this.#world = world;
  }

  /** @returns takes the meter off the board. */
  attach(callId: string, bars: MeterBars): () => void {
    const target = { caller: LEVEL_DBFS_MIN, agent: LEVEL_DBFS_MIN };
    const meter = { bars, target, toldAtMs: 0, shown: { caller: 0, agent: 0 } };
    this.#meters.set(callId, meter);
    return () => {
      if (this.#meters.get(callId) === meter) this.#meters.delete(callId);
    };
  }

  /** Takes the newest levels; calls that have no meter are passed over. */
  tell(levels: readonly (Levels & { readonly callId: string })[]): void {
    const nowMs = this.#world.nowMs();
    for (const { callId, caller, agent } of levels) {
      const meter = this.#meters.get(callId);
      if (meter === undefined) continue;
      meter.target = { caller, agent };
      meter.toldAtMs = nowMs;
    }
    if (this.#world.wantsCalm()) this.#calmly(nowMs);
    else this.#go();
  }

  stop(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    this.#meters.clear();
  }

  #calmly(nowMs: number): void {
    if (nowMs - this.#calmAtMs < CALM_MS) return;
    this.#calmAtMs = nowMs;
    for (const meter of this.#meters.values()) draw(meter, () => 0, nowMs);
  }

  #go(): void {
    if (this.#cancelFrame !== undefined) return;
    this.#frameAtMs = this.#world.nowMs();
    this.#cancelFrame = this.#world.nextFrame(() => this.#step());
  }

  #step(): void {
    const nowMs = this.#world.nowMs();
    const passedMs = nowMs - this.#frameAtMs;
    this.#cancelFrame = undefined;
    let isMoving = false;
    for (const meter of this.#meters.values()) {
      isMoving = draw(meter, (shown, fill) => fallen(shown, fill, passedMs), nowMs) || isMoving;
    }
    if (isMoving) this.#go();
  }
}

/** @returns whether it is still above where it falls to. */
function draw(meter: Meter, next: (shown: number, fill: number) => number, nowMs: number): boolean {
  let isMoving = false;
  for (const side of SIDES) {
    const isStale = nowMs - meter.toldAtMs > STALE_MS;
    const fill = isStale ? 0 : fillOf(meter.target[side]);
    const shown = Math.max(fill, next(meter.shown[side], fill));
    isMoving ||= shown > 0;
    if (shown === meter.shown[side]) continue;
    meter.shown[side] = shown;
    const bar = meter.bars[side];
    if (bar !== null) bar.style.transform = `scaleX(${shown.toFixed(3)})`;
  }
  return isMoving;
}

/** Lowest level that the server reports, in dBFS. */
const LEVEL_DBFS_MIN = -90;

/** Quieter than this a line is at rest, and its meter empty. */
const SHOWN_DBFS_MIN = -60;

/** A meter falls from full to empty in this time, so that words are seen and not only syllables. */
const FALL_MS = 900;

export interface Levels {
  readonly caller: number;
  readonly agent: number;
}

/** How full a meter is, from 0 to 1. */
export function fillOf(dbfs: number): number {
  const fill = (dbfs - SHOWN_DBFS_MIN) / -SHOWN_DBFS_MIN;
  return Number.isFinite(fill) ? Math.min(1, Math.max(0, fill)) : 0;
}

/** How full it is after `passedMs`: rises at once, falls evenly. */
export function fallen(shown: number, target: number, passedMs: number): number {
  return Math.max(target, shown - passedMs / FALL_MS);
}

/** How loud sound is. @param samples in -1…1. @returns dBFS of their root mean square, -90…0. */
export function levelDbfs(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  if (sum === 0) return LEVEL_DBFS_MIN;
  return Math.min(0, Math.max(LEVEL_DBFS_MIN, 10 * Math.log10(sum / samples.length)));
}
