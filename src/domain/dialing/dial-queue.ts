/** The queue of outgoing calls, as the interface sees it, and when a call in it will be dialled; pure */

/** More calls than this may not wait in one environment. */
export const QUEUED_CALLS_MAX = 1000;

/** What the interface may ask of whoever dials the waiting calls of one environment. */
export interface DialQueue {
  /** True once no more waiting calls are dialled, because the server is about to stop. */
  readonly isDraining: boolean;

  /** Whether some trunk may call from this number. */
  hasTrunkFor(from: string): boolean;

  /** When a call from this number would be dialled if it joined the queue now. */
  estimatedStart(from: string): Date;
}

/** How busy the way out is that a call would take. */
export interface WayOut {
  /** Calls that wait for the same way out already. */
  readonly callsAhead: number;
  /** The next call may not be dialled before; in milliseconds since 1970, may lie in the past. */
  readonly nextDialAtMs: number;
  readonly callsPerSecond: number;
  readonly linesFree: number;
  /** Free and busy ones together. */
  readonly linesTotal: number;
  /** How long a call holds its line, from dialling to its end. */
  readonly lineHeldMs: number;
}

/**
 * When the next call to join the queue will be dialled: when those ahead have been, at the pace of the way out, and a
 * line is free. Lines in use are taken to become free evenly spread over the time that a call holds one.
 *
 * @returns milliseconds since 1970, never before `nowMs`.
 */
export function estimatedStartMs(way: WayOut, nowMs: number): number {
  const pacedMs = Math.max(nowMs, way.nextDialAtMs) + (way.callsAhead * 1000) / way.callsPerSecond;
  const linesToWaitFor = way.callsAhead + 1 - way.linesFree;
  if (linesToWaitFor <= 0) return pacedMs;
  const lineFreeMs = nowMs + (linesToWaitFor * way.lineHeldMs) / Math.max(1, way.linesTotal);
  return Math.max(pacedMs, lineFreeMs);
}
