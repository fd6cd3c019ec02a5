/** The keys of a telephone; pure */

/** Row by row. */
export const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'] as const;

/** How long a key sounds, and the pause after it. RFC 4733 says 40 ms at least; machines that listen want more. */
export const TONE_MS = 160;
export const GAP_MS = 80;

/** The telephone's key for one of the keyboard's; undefined where there is none. */
export function keyOf(typed: string): string | undefined {
  return KEYS.find((key) => key === typed);
}

/** The body of a SIP INFO of type `application/dtmf-relay`. */
export function dtmfRelay(digit: string): string {
  return `Signal=${digit}\r\nDuration=${TONE_MS}\r\n`;
}
