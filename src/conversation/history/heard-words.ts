/** Words of a reply that the caller heard, from its playout time; pure */

/** One clause of a reply, with the audio that there is of it. */
export interface Piece {
  readonly text: string;
  readonly audioMs: number;
  /** Whether `audioMs` is all of it. */
  readonly isWhole: boolean;
  /** End of each word, split at blanks, as a share of the clause's audio. */
  readonly wordEnds?: readonly number[];
  /** Whether it only bridges a silence ("One moment, please"): the transcript has it, the model's history does not. */
  readonly isBridge?: boolean;
}

/** The pieces that the model, or a set phrase in its place, said. */
export function ownWords(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.filter(({ isBridge }) => isBridge !== true);
}

/** Slow speech has about 14 characters a second: the guess for a clause whose audio is not all there. */
const MS_PER_CHARACTER = 70;

/** Audio of a reply so far. */
export function audioMsOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sumMs, { audioMs }) => sumMs + audioMs, 0);
}

/**
 * The words that were played whole within the first `playedMs` of a reply. Inside a clause, words end
 * where the voice says; where it does not, they are taken to last as long as they are written.
 */
export function heardWords(pieces: readonly Piece[], playedMs: number): string {
  return heardPieces(pieces, playedMs)
    .map(({ heard }) => heard)
    .filter((heard) => heard !== '')
    .join(' ');
}

/** `heardWords` without pieces that only bridge a silence. */
export function heardOwnWords(pieces: readonly Piece[], playedMs: number): string {
  return heardPieces(pieces, playedMs)
    .filter(({ piece, heard }) => piece.isBridge !== true && heard !== '')
    .map(({ heard }) => heard)
    .join(' ');
}

/** Clauses of a reply still to be said, from the start of the interrupted sentence, without those that bridge a silence. */
export function unheardClauses(pieces: readonly Piece[], playedMs: number): readonly string[] {
  const rest = heardPieces(pieces, playedMs)
    .filter(({ piece }) => piece.isBridge !== true)
    .map(({ piece, heard }) => {
      const text = piece.text.trim().replace(/\s+/g, ' ');
      return text.slice(endOfSentences(text, heard)).trim();
    });
  return rest.filter((text) => text !== '');
}

/** Index after the last sentence that was heard in full. */
function endOfSentences(text: string, heard: string): number {
  const ends = [...text.matchAll(/[.!?…。！？]+(?=\s|$)/gu)].map(
    ({ 0: mark, index }) => index + mark.length,
  );
  return text === heard ? text.length : (ends.findLast((end) => end <= heard.length) ?? 0);
}

function heardPieces(
  pieces: readonly Piece[],
  playedMs: number,
): readonly { readonly piece: Piece; readonly heard: string }[] {
  let restMs = playedMs;
  return pieces.map((piece) => {
    const lengthMs = piece.isWhole
      ? piece.audioMs
      : Math.max(piece.audioMs, piece.text.length * MS_PER_CHARACTER);
    const heard = wordsWithin(piece, lengthMs === 0 ? 0 : restMs / lengthMs).join(' ');
    restMs -= lengthMs;
    return { piece, heard };
  });
}

function wordsWithin({ text, wordEnds }: Piece, share: number): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (share >= 1) return words;
  const isTold = wordEnds !== undefined && wordEnds.length === words.length;
  const ends = isTold ? wordEnds : endsBySpelling(words);
  return words.filter((_, index) => (ends[index] ?? 1) <= share);
}

function endsBySpelling(words: readonly string[]): number[] {
  const length = words.reduce((sum, word) => sum + word.length + 1, 0);
  let end = 0;
  return words.map((word) => {
    end += word.length + 1;
    return end / length;
  });
}
