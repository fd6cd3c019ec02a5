/** The wire format of keys pressed on a telephone (telephone-event), and the digits they stand for; pure */

/**
 * One report about a key. All reports of one press carry the RTP timestamp of its beginning.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |     event     |E|R| volume    |          duration             |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *
 * @see RFC 4733 section 2.3
 */
export interface TelephoneEvent {
  /** 0 to 15 are the digits; others (16 is a hook flash) are not ours. */
  readonly event: number;
  readonly isEnd: boolean;
  /** Since the press began, in samples of the stream's clock; stays at 65,535 when a press is longer. */
  readonly durationSamples: number;
}

const DIGITS = '0123456789*#ABCD';
const IS_END = 0x80;
/** A tone of -10 dBm0, as carriers play it. */
const VOLUME = 10;

/** @returns undefined when the payload is too short. */
export function parseTelephoneEvent(payload: Uint8Array): TelephoneEvent | undefined {
  const [event, flags, high, low] = payload;
  if (event === undefined || flags === undefined || high === undefined || low === undefined) {
    return undefined;
  }
  return { event, isEnd: (flags & IS_END) !== 0, durationSamples: (high << 8) | low };
}

export function writeTelephoneEvent(report: TelephoneEvent): Uint8Array {
  const { event, isEnd, durationSamples } = report;
  const flags = VOLUME | (isEnd ? IS_END : 0);
  return Uint8Array.of(event, flags, durationSamples >> 8, durationSamples & 0xff);
}

/** @returns undefined for events that are no digits. */
export function digitOf(event: number): string | undefined {
  return DIGITS[event];
}

/** @returns undefined for characters other than 0-9 * # A-D (small letters too). */
export function eventOf(digit: string): number | undefined {
  const event = digit.length === 1 ? DIGITS.indexOf(digit.toUpperCase()) : -1;
  return event < 0 ? undefined : event;
}
