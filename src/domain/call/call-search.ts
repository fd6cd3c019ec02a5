/** Meaning of a search for calls: an id, a telephone number, or words that were said; pure */

/** Words of a search after the tenth are left out: each costs a look-up, and the first ten say enough. */
const WORDS_MAX = 10;

/** Fewer digits than this are in every number. */
const DIGITS_MIN = 3;

/** Shorter words are searched for as they are: many words begin with them. */
const PREFIX_LENGTH_MIN = 3;

/** One word; `isPrefix` also finds the words that begin with it. */
export interface SearchedWord {
  readonly word: string;
  readonly isPrefix: boolean;
}

/** Target of a search: words, a number, or an id. */
export type CallSearch =
  /** The id of a call, or its beginning. */
  | { readonly kind: 'id'; readonly prefix: string }
  /** Consecutive digits of the caller's or the called number. */
  | { readonly kind: 'number'; readonly digits: string }
  /** All of them were said in the call, by any party. */
  | { readonly kind: 'words'; readonly words: readonly SearchedWord[] };

const CALL_ID = /^call_[0-9A-Za-z]*$/;

const NUMBER = /^\+?[\d\s()./-]+$/;

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;

/** Reads the text of a search. @returns undefined when there is neither a letter nor a digit. */
export function searchOf(text: string): CallSearch | undefined {
  const trimmed = text.trim();
  if (CALL_ID.test(trimmed)) return { kind: 'id', prefix: trimmed };
  const digits = trimmed.replaceAll(/\D/g, '');
  if (NUMBER.test(trimmed) && digits.length >= DIGITS_MIN) return { kind: 'number', digits };
  const words = (trimmed.match(WORD) ?? [])
    .slice(0, WORDS_MAX)
    .map((word) => ({ word, isPrefix: [...word].length >= PREFIX_LENGTH_MIN }));
  return words.length === 0 ? undefined : { kind: 'words', words };
}
