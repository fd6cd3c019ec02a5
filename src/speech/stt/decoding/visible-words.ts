/** Visible words: removes controls and invisible characters from recognised text; pure */
import type { Recognition } from '../pool/recognizer.ts';

/** Control characters, C0 and C1, and the separators of lines and paragraphs. */
const BREAKS = /[\p{Cc}\u{2028}\u{2029}]+/gu;

/** Format characters except joiners: bidirectional controls, zero-width spaces, soft hyphens, tags. */
const INVISIBLE = /[\p{Cf}--[\u{200C}\u{200D}]]/gv;

/** Joiners after anything but a letter or a mark of a script that has joining letters, and repeated joiners. */
const NEEDLESS_JOINERS =
  /(?<![[\p{L}\p{M}]--[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]])[\u{200C}\u{200D}]+/gv;

/**
 * Removes the characters that a transcript, a prompt or a webhook must not pass on unseen. Joiners stay where letters need them:
 * Persian and Hindi write words with them.
 *
 * @see Unicode Technical Report 36, section 2.4; The Unicode Standard, section 23.2
 */
export function visibleWords(recognition: Recognition): Recognition {
  const text = visibleText(recognition.text);
  if (text === recognition.text) return recognition;
  const words = recognition.words.map((word) => ({ ...word, text: visibleText(word.text) }));
  return { ...recognition, text, words };
}

function visibleText(text: string): string {
  return text
    .toWellFormed()
    .replace(BREAKS, ' ')
    .replace(INVISIBLE, '')
    .replace(NEEDLESS_JOINERS, '')
    .trim();
}
