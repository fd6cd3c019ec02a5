/** The basic alphabet of SMS: octets of its letters, and letters of octets; pure */

/** By code; the place of the escape holds nothing. @see 3GPP TS 23.038, 6.2.1 */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

const ESCAPE = 0x1b;

/** Letters that come after the escape. @see 3GPP TS 23.038, 6.2.1.1 */
const EXTENDED: Readonly<Record<string, number>> = {
  ...{ '^': 0x14, '{': 0x28, '}': 0x29, '\\': 0x2f, '[': 0x3c },
  ...{ '~': 0x3d, ']': 0x3e, '|': 0x40, '€': 0x65 },
};

const EXTENDED_LETTERS = new Map(Object.entries(EXTENDED).map(([letter, code]) => [code, letter]));

/** A text in the alphabet, one octet a letter, two for extended ones; undefined where it has not all of its letters. */
export function gsmOctetsOf(text: string): readonly number[] | undefined {
  const codes = [...text].map(codesOf);
  return codes.every((code) => code !== undefined) ? codes.flat() : undefined;
}

function codesOf(letter: string): readonly number[] | undefined {
  const extended = EXTENDED[letter];
  if (extended !== undefined) return [ESCAPE, extended];
  const code = BASIC.indexOf(letter);
  return code < 0 || code === ESCAPE ? undefined : [code];
}

/** The text of octets; a blank for an extended letter that is unknown, as the standard has it. */
export function gsmTextOf(octets: Uint8Array): string {
  let text = '';
  for (let at = 0; at < octets.length; at += 1) {
    const code = octets[at] ?? 0;
    if (code === ESCAPE) {
      at += 1;
      text += EXTENDED_LETTERS.get(octets[at] ?? 0) ?? ' ';
    } else text += BASIC[code] ?? '';
  }
  return text;
}
