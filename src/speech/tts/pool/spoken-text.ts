/** Cleans a text before synthesis: markup, control characters, emoji, length; pure */

/** Longer text is cut at a space: about five minutes of speech. */
export const SPOKEN_CHARACTERS_MAX = 4000;

/** Control characters, some of which are commands to espeak-ng, and what is no character at all. */
const CONTROLS = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\ufffd]+/gu;

/** Characters inside words that are neither seen nor said. Joiners stay: Persian and Hindi need them. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/** Engines would read emoji out by name. U+FE0F and U+20E3 make one of a plain character. */
const EMOJI =
  /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator})\u200d?|[\ufe0e\ufe0f]|\u20e3/gu;

/** Markdown, whose signs would be read out too. */
const MARKDOWN = /[*`~#_|\\]+/g;

/** `[[` begins phonemes in espeak-ng. Single brackets are not spoken either. */
const BRACKETS = /[[\]{}]+/g;

/** SSML, or what looks like it. A lone `<` stays: "3 < 4". */
const TAG = /<[/!?]?[A-Za-z][^<>]{0,500}>/g;

/**
 * Cleans a text: no control characters, tags, phoneme escapes, emoji, or Markdown; one line, at most
 * `SPOKEN_CHARACTERS_MAX` long. Empty when nothing is left to say.
 */
export function spokenText(text: string): string {
  const line = text
    // Cut first, so that the work is bounded; twice the limit leaves room for what is stripped.
    .slice(0, 2 * SPOKEN_CHARACTERS_MAX)
    .replace(INVISIBLE, '')
    .replace(CONTROLS, ' ')
    .replace(TAG, ' ')
    .replace(EMOJI, ' ')
    .replace(MARKDOWN, ' ')
    .replace(BRACKETS, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return /[\p{L}\p{N}]/u.test(line) ? shorten(line) : '';
}

function shorten(line: string): string {
  if (line.length <= SPOKEN_CHARACTERS_MAX) {
    return line;
  }
  const cut = line.slice(0, SPOKEN_CHARACTERS_MAX);
  const lastSpace = cut.lastIndexOf(' ');
  return (lastSpace > 0 ? cut.slice(0, lastSpace) : cut).toWellFormed();
}

/** Silence after a clause, in milliseconds; the rest of a reply follows it at once. */
const CLAUSE_PAUSE_MS = 60;

/** Silence after a sentence, in milliseconds. espeak-ng's own is 110 to 330, by voice. */
const SENTENCE_PAUSE_MS = 160;

/** How much silence to leave at the end of a text, in milliseconds. */
export function pauseAfterMs(text: string): number {
  return /[,;:\u2013\u2014-]$/.test(text) ? CLAUSE_PAUSE_MS : SENTENCE_PAUSE_MS;
}
