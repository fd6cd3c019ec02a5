/** What is still to be said of a sentence whose audio broke off; pure */

/** 15 characters a second, until a server has spoken some. */
const MS_PER_CHARACTER = 66;

/** Weight of the newest sentence: about the last ten count. */
const NEWEST_WEIGHT = 0.2;

/** Shorter texts are mostly pauses. */
const CHARACTERS_MIN = 20;

/** The estimate is this uncertain: a clause is taken as said when it ended that much earlier. */
const SURELY_SAID = 0.85;

/** Running mean of how long a character takes. */
export class SpeakingPace {
  #msPerCharacter = MS_PER_CHARACTER;

  get msPerCharacter(): number {
    return this.#msPerCharacter;
  }

  learn(text: string, audioMs: number): void {
    if (text.length < CHARACTERS_MIN) return;
    this.#msPerCharacter += (audioMs / text.length - this.#msPerCharacter) * NEWEST_WEIGHT;
  }
}

/**
 * The text from the start of the clause in which the audio broke off. A clause that may not have been said to its end is
 * said again: a repeated clause is understood, a lost one is not.
 *
 * @returns empty where all of it was said.
 */
export function unspokenPart(text: string, heardMs: number, msPerCharacter: number): string {
  const said = (SURELY_SAID * heardMs) / msPerCharacter;
  if (said >= text.length) return '';
  const starts = [...text.matchAll(/[,;:.!?…—]+\s+/gu)].map(
    ({ index, 0: mark }) => index + mark.length,
  );
  const start = starts.findLast((place) => place <= said) ?? 0;
  return text.slice(start);
}
