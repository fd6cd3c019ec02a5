/**
 * Stops the calendar of the process that imports it, at the instant of its address: `still-date.ts?at=2026-01-15T10:00:00Z`. Timers
 * and `performance.now` go on, so a server works, and shows the same dates in each run.
 */
const at = new URL(import.meta.url).searchParams.get('at') ?? '';
const stillMs = Date.parse(at);
if (Number.isNaN(stillMs)) throw new Error(`Cannot stop the calendar at "${at}": it is no instant`);

const RealDate = Date;

class StillDate extends RealDate {
  constructor(...parts: readonly unknown[]) {
    // @ts-expect-error: Date takes more forms than one constructor type has.
    super(...(parts.length === 0 ? [stillMs] : parts));
  }

  static override now(): number {
    return stillMs;
  }
}

globalThis.Date = StillDate as DateConstructor;
