/** What of a reply's delay is not the server's: the silence that ends a turn, and the models. */

/** Milliseconds of each. */
export interface StubTimes {
  readonly silence: number;
  readonly hearing: number;
  readonly thinking: number;
  readonly voicing: number;
}

export const STUB_TIMES: StubTimes = { silence: 200, hearing: 80, thinking: 120, voicing: 60 };

/** What every reply takes without any time of ours, in milliseconds after the caller's last voiced packet. */
export const NOMINAL_MS = nominalMs(STUB_TIMES);

export function nominalMs({ silence, hearing, thinking, voicing }: StubTimes): number {
  return silence + hearing + thinking + voicing;
}
