/** Phone numbers as people read them; pure */

/** Country codes of one digit, and the first digits of those that have two. @see ITU-T E.164, list of assigned country codes */
const CODE = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(\d+)$/;

/** `+1 202 555 0123`: the country code, then groups of three. What is no E.164 number stays as it is. */
export function phoneText(number: string): string {
  const [, code, rest] = CODE.exec(number) ?? [];
  if (code === undefined || rest === undefined) return number;
  const groups = rest.replace(/\d{3}(?=\d{2})/g, '$& ');
  return `+${code} ${groups}`;
}
