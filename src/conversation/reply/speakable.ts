/** Takes out of a model's text what a voice would stumble over: markup, links, emoji; pure */

/** A star that stands alone in a line is a telephone key; any other is markup. */
const MARKUP_STAR = /\*{2,}|(?<!\S |\()\*|\*(?![\s.,;:!?)]|$)/g;

/** The text as it is to be read out. Empty when nothing of it can be. */
export function speakable(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(#{1,6}|[-*•])\s+/gm, '')
    .replace(MARKUP_STAR, '')
    .replace(/`+|~~|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '')
    .replace(/\p{Extended_Pictographic}|\u{FE0F}|\u{200D}/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Whether there is anything in the text that makes a sound. */
export function hasSound(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
