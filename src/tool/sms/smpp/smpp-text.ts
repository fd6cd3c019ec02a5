/** Text in the alphabets of SMPP: the basic one of SMS, Latin 1 and UCS-2; pure */

/** The basic alphabet by code; the place of the escape holds nothing. @see 3GPP TS 23.038, 6.2.1 */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

const ESCAPE = 0x1b;

/** Characters that come after the escape. @see 3GPP TS 23.038, 6.2.1.1 */
const EXTENDED: ReadonlyMap<string, number> = new Map([
  ...([
    ['^', 0x14],
    ['{', 0x28],
    ['}', 0x29],
    ['\\', 0x2f],
    ['[', 0x3c],
    ['~', 0x3d],
  ] as const),
  ...([
    [']', 0x3e],
    ['|', 0x40],
    ['€', 0x65],
  ] as const),
]);

/** Values of `data_coding`. @see SMPP 3.4, 5.2.19 */
const CODINGS = { standard: 0, latin1: 3, ucs2: 8 } as const;

/** A text as octets, with its `data_coding`. */
export interface CodedText {
  readonly dataCoding: number;
  readonly octets: Buffer;
}

/** Encodes a text: in the basic alphabet, one octet a character, where it has all of them; else in UCS-2. */
export function encodeText(text: string): CodedText {
  const codes = [...text].map(codesOf);
  if (codes.every((code) => code !== undefined)) {
    return { dataCoding: CODINGS.standard, octets: Buffer.from(codes.flat()) };
  }
  return { dataCoding: CODINGS.ucs2, octets: Buffer.from(text, 'utf16le').swap16() };
}

function codesOf(letter: string): readonly number[] | undefined {
  const extended = EXTENDED.get(letter);
  if (extended !== undefined) return [ESCAPE, extended];
  const code = letter === '\u001b' ? -1 : BASIC.indexOf(letter);
  return code < 0 ? undefined : [code];
}

/** Decodes the text of a message from a telephone; octets of an unknown coding are read as Latin 1. */
export function decodeText({ dataCoding, octets }: CodedText): string {
  if (dataCoding === CODINGS.ucs2) {
    return Buffer.from(octets.subarray(0, octets.length & ~1))
      .swap16()
      .toString('utf16le');
  }
  return dataCoding === CODINGS.standard ? basicText(octets) : octets.toString('latin1');
}

function basicText(octets: Buffer): string {
  const extended = new Map([...EXTENDED].map(([letter, code]) => [code, letter]));
  let text = '';
  for (let at = 0; at < octets.length; at += 1) {
    const code = octets[at] ?? 0;
    if (code === ESCAPE) {
      at += 1;
      text += extended.get(octets[at] ?? 0) ?? ' ';
    } else text += BASIC[code] ?? '';
  }
  return text;
}
