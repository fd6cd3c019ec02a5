/** Drops stage directions from a model's stream: `*smiles*`, `(laughs softly)`, `[pause]`, in four languages; pure */

/** Closing marks by opening mark. */
const CLOSINGS: Readonly<Record<string, string>> = { '*': '*', '(': ')', '[': ']', _: '_' };

/** Longest direction; longer text in brackets is the agent's. */
const LENGTH_MAX = 80;

/** Deeds of an actor, as models write them. */
const DEEDS = listOf(
  'smiles laughs chuckles giggles grins sighs pauses nods winks shrugs clears gasps whispers breathes blinks',
  'smiling laughing chuckling giggling grinning sighing pausing nodding winking shrugging clearing whispering',
  'lächelt lacht kichert grinst schmunzelt seufzt pausiert nickt zwinkert räuspert flüstert überlegt',
  'lächelnd lachend kichernd grinsend schmunzelnd seufzend nickend flüsternd',
  'sonríe ríe suspira asiente susurra carraspea sonriendo riendo suspirando asintiendo',
  'sourit rit soupire acquiesce chuchote glousse souriant riant soupirant',
);

/** Names of such deeds, which stand alone: a sentence in brackets may begin with them. */
const NOUNS = listOf(
  'smile laugh laughter chuckle giggle grin sigh pause nod wink beat silence',
  'lächeln lachen gelächter seufzer seufzen pause stille räuspern',
  'sonrisa risa risas suspiro pausa silencio',
  'sourire rire rires soupir silence',
);

/** Stand before a deed or a noun. */
const MANNERS = listOf(
  'he she they soft light warm gentle slight small brief short long friendly pleasant happy',
  'er sie leise kurz kurze kurzes sanft leichtes warmes freundlich freundliches',
  'breve pequeña ligera suave larga petit léger bref courte longue',
);

const ADVERB = '\\p{L}+ly|\\p{L}+mente|\\p{L}+ment';
const MANNER = `(?:(?:${[...MANNERS].join('|')}|${ADVERB})\\s+){0,2}`;

const DEED = `(?:${[...DEEDS].join('|')})(?!\\p{L})`;
const NOUN = `(?:${[...NOUNS].join('|')})[.…!]*`;

/** Words after a deed that make no sentence about it: `(pauses are paid)` is none. */
const AFTER_DEED = `(?:${[...MANNERS].join('|')}|${ADVERB}|${DEED}|his|her|the|a|throat|head|for|moment|then|and|sich|den|kopf|dann|und)(?!\\p{L})`;

/** Text in stars that begins with a deed is a direction with all that follows. */
const DIRECTION_IN_STARS = new RegExp(`^${MANNER}(?:${DEED}\\P{N}*|${NOUN})$`, 'iu');

const DIRECTION_IN_BRACKETS = new RegExp(
  `^${MANNER}(?:${DEED}(?:[\\s,]+${AFTER_DEED})*[.…!]*|${NOUN})$`,
  'iu',
);

const FIRST_WORD = /^(\p{L}+)\P{L}/u;
const ADVERB_ALONE = new RegExp(`^(?:${ADVERB})$`, 'u');

/** One instance per reply. The result does not depend on how the text is cut into chunks. */
export class StageDirectionFilter {
  /** From an opening mark on, while it may be a direction. */
  #held = '';
  /** Character before the held text. */
  #last = '';

  /** Takes more text. @returns the part of it that may be spoken. */
  push(text: string): string {
    let spoken = '';
    for (const character of text) spoken += this.#take(character);
    return spoken;
  }

  /** @returns what is held at the end of the text. */
  flush(): string {
    return this.#release();
  }

  #take(character: string): string {
    if (this.#held !== '') return this.#takeHeld(character);
    // `3*4` and `call(s)` are no directions.
    const mayOpen = Object.hasOwn(CLOSINGS, character) && !/[\p{L}\p{N}*_]/u.test(this.#last);
    if (mayOpen) {
      this.#held = character;
      return '';
    }
    this.#last = character;
    return character;
  }

  #takeHeld(character: string): string {
    const closing = CLOSINGS[this.#held.charAt(0)];
    const direction = /^[*_]/.test(this.#held) ? DIRECTION_IN_STARS : DIRECTION_IN_BRACKETS;
    if (character === closing && direction.test(this.#held.slice(1).trim())) {
      this.#held = '';
      return '';
    }
    this.#held += character;
    const [, first] = FIRST_WORD.exec(this.#held.slice(1)) ?? [];
    const isOver = character === closing || character === '\n' || this.#held.length > LENGTH_MAX;
    const mayBegin = /^\p{L}*$/u.test(this.#held.slice(1)) || (first && isBeginning(first));
    return isOver || !mayBegin ? this.#release() : '';
  }

  #release(): string {
    const text = this.#held;
    this.#held = '';
    this.#last = text.slice(-1) || this.#last;
    return text;
  }
}

/** Whether a direction may begin with that word. */
function isBeginning(word: string): boolean {
  const lower = word.toLowerCase();
  return [DEEDS, NOUNS, MANNERS].some((list) => list.has(lower)) || ADVERB_ALONE.test(lower);
}

function listOf(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}
