/** Judges from a caller's words so far whether more of them are to come; pure */

/** Words that lead on to another, in the languages that agents mostly speak. */
const LEADING_ON = new Set(
  (
    'a an the and or but so because if when that which who with for from to at in on of my your his her our ' +
    "is are was i i'm it's um uh er erm hmm maybe " +
    'y o pero porque si que con para de en el la los las un una mi su este eh ' +
    'e ma perché se che con per di il lo gli le un una mio ' +
    'und oder aber weil wenn dass mit für von zu der die das ein eine mein äh ähm ' +
    'et ou mais parce si que avec pour le les un une mon ma euh'
  ).split(' '),
);

const DIGIT_WORDS = new Set(
  (
    'zero oh one two three four five six seven eight nine double triple ' +
    'cero uno dos tres cuatro cinco seis siete ocho nueve'
  ).split(' '),
);

/** A telephone number is whole with this many digits; shorter ones may go on. */
const DIGITS_WHOLE = 10;

const ASKS_FOR_NUMBER =
  /\b(number|digits?|code|phone|número|teléfono|código|numero|telefono|nummer|numéro)\b/i;

const ASKS_FOR_EMAIL = /\be-?mail\b|\bcorreo\b|\bposta elettronica\b/i;

/**
 * Scores how finished a text sounds, from 0 (broken off) to 1 (a whole sentence). Recognisers put a full stop
 * only where the voice falls; that, and the last word, is what there is to go by.
 */
export function completenessOf(text: string): number {
  const trimmed = text.trim();
  if (/[!?]["')]?$/.test(trimmed)) return 1;
  if (/[,:;…–—-]$|\.\.\.$/.test(trimmed)) return 0;
  if (LEADING_ON.has(lastWord(trimmed))) return 0;
  return /\.["')]?$/.test(trimmed) ? 1 : 0.3;
}

/** Whether the caller is in the middle of a number or an e-mail address, from their words and the agent's question. */
export function isDictating(text: string, question: string): boolean {
  const digits = trailingDigits(text);
  const isAskedForNumber = ASKS_FOR_NUMBER.test(question) || ASKS_FOR_NUMBER.test(text);
  if (digits >= (isAskedForNumber ? 1 : 2) && digits < DIGITS_WHOLE) return true;

  const isAboutEmail = ASKS_FOR_EMAIL.test(question) || ASKS_FOR_EMAIL.test(text);
  return isAboutEmail && !isWholeEmail(text);
}

/** Digits, spoken or written, that the text ends in. */
function trailingDigits(text: string): number {
  const words = text
    .toLowerCase()
    .split(/[\s,.!?;:-]+/)
    .filter((word) => word !== '')
    .reverse();
  const end = words.findIndex((word) => !DIGIT_WORDS.has(word) && !/^\d+$/.test(word));
  return words
    .slice(0, end === -1 ? words.length : end)
    .reduce((count, word) => count + (/^\d+$/.test(word) ? word.length : 1), 0);
}

/** "john at example dot com" and "john@example.com" are whole; so is an answer without any part of an address. */
function isWholeEmail(text: string): boolean {
  if (/@\S+\.[a-z]{2,}\W*$/i.test(text)) return true;
  if (/\b(at|arroba|chiocciola)\b.*\b(dot|punto|point|punkt)\s+[a-z]{2,}\W*$/i.test(text))
    return true;
  return /^\W*(no|yes|sí|nein|non)\b/i.test(text);
}

function lastWord(text: string): string {
  return /([\p{L}']+)[\s.]*$/u.exec(text.toLowerCase())?.[1] ?? '';
}
