/** What of a reply's delay is not the server's: the silence that ends a turn, and the models. */

export const STUB_TIMES = { silence: 200, hearing: 80, thinking: 120, voicing: 60 } as const;

/** What every reply takes without any time of ours, in milliseconds after the caller's last voiced packet. */
export const NOMINAL_MS = Object.values(STUB_TIMES).reduce((sum, ms) => sum + ms, 0);
