/** Text in the alphabets of SMPP: the basic one of SMS, Latin 1 and UCS-2; pure */
import { gsmOctetsOf, gsmTextOf } from '../../../domain/sms/gsm-alphabet.ts';

/** Values of `data_coding`. @see SMPP 3.4, 5.2.19 */
const CODINGS = { standard: 0, ucs2: 8 } as const;

/** A text as octets, with its `data_coding`. */
export interface CodedText {
  readonly dataCoding: number;
  readonly octets: Buffer;
}

/** Encodes a text: in the basic alphabet, one octet a character, where it has all of them; else in UCS-2. */
export function encodeText(text: string): CodedText {
  const basic = gsmOctetsOf(text);
  if (basic !== undefined) return { dataCoding: CODINGS.standard, octets: Buffer.from(basic) };
  return { dataCoding: CODINGS.ucs2, octets: Buffer.from(text, 'utf16le').swap16() };
}

/** Decodes the text of a message from a telephone; octets of an unknown coding are read as Latin 1. */
export function decodeText({ dataCoding, octets }: CodedText): string {
  if (dataCoding === CODINGS.ucs2) {
    return Buffer.from(octets.subarray(0, octets.length & ~1))
      .swap16()
      .toString('utf16le');
  }
  return dataCoding === CODINGS.standard ? gsmTextOf(octets) : octets.toString('latin1');
}
