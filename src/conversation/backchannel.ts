/** Tells "mm-hm" and its kin, which keep the other party talking, from words that want the floor; pure */

/** By the language they belong to; all of them count in every call, as callers mix them and none means anything else. */
const WORDS = setOf({
  en:
    'mm mmm hm hmm mhm mm-hm mm-hmm uh-huh huh aha ah oh okay ok yes yeah yep yup right sure good great fine ' +
    'alright really uh um',
  es: 'sí si vale claro ya ajá bien bueno eh ahá perfecto',
  de: 'ja jaja genau gut aha achso hmhm mhmh klar stimmt okay richtig',
  fr: "oui ouais d'accord bien voilà ok hein euh exact",
  it: 'bene certo già ecco',
  pt: 'sim pois certo tá',
});

const PHRASES = new Set([
  ...['i see', 'got it', 'all right', 'of course', 'go on', 'de acuerdo', 'va bene', 'ach so'],
  ...[
    'alles klar',
    'verstehe',
    "d'accord",
    'je vois',
    'bien sûr',
    'muy bien',
    'capito',
    'tudo bem',
  ],
]);

/** What is said to a greeting or a farewell without wanting an answer. */
const COURTESIES = setOf({
  en: 'hello hi hey there good morning afternoon evening bye goodbye thanks thank you too very much so',
  es: 'hola buenos buenas días tardes adiós gracias muchas',
  de: 'hallo guten tag morgen danke tschüss vielen',
  fr: 'bonjour bonsoir allô merci au revoir',
  it: 'ciao grazie arrivederci buongiorno pronto',
  pt: 'olá obrigado obrigada bom dia adeus',
});

const BACKCHANNEL_WORDS_MAX = 2;
const COURTESY_WORDS_MAX = 4;

/** A "mm-hm" drawn out for longer than this is the beginning of something. */
export const BACKCHANNEL_MS_MAX = 1200;

/** What a voice over the agent's comes to. */
export type Overlap =
  /** A cough, or a voice in the background. */
  | 'noise'
  /** Keeps the agent talking. */
  | 'backchannel'
  /** Politeness that wants no answer where the agent greets or says goodbye; anywhere else, words like any. */
  | 'courtesy'
  /** Wants the floor. */
  | 'claim';

/**
 * Weighs a voice by how long it lasted and what it said.
 *
 * @param longMs a voice of this length wants the floor, unless its words are known to be none.
 */
export function weighOverlap(voice: {
  readonly text: string;
  readonly voicedMs: number;
  readonly longMs: number;
}): Overlap {
  const { text, voicedMs, longMs } = voice;
  if (text === '') return 'noise';
  if (isBackchannel(text) && voicedMs <= BACKCHANNEL_MS_MAX) return 'backchannel';
  return isCourtesy(text) && voicedMs <= longMs ? 'courtesy' : 'claim';
}

/** Whether the text is one or two such words. An empty text is none. */
export function isBackchannel(text: string): boolean {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > BACKCHANNEL_WORDS_MAX) return false;
  return PHRASES.has(words.join(' ')) || words.every((word) => WORDS.has(word));
}

/** Whether the text is a few words of politeness, such as "thank you, bye". */
export function isCourtesy(text: string): boolean {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > COURTESY_WORDS_MAX) return false;
  return words.every((word) => COURTESIES.has(word) || WORDS.has(word));
}

/** Words that are neither backchannels nor politeness. */
export function contentWords(text: string): number {
  const spoken = ` ${wordsOf(text).join(' ')} `;
  const rest = [...PHRASES].reduce((left, phrase) => left.replaceAll(` ${phrase} `, ' '), spoken);
  return wordsOf(rest).filter((word) => !WORDS.has(word) && !COURTESIES.has(word)).length;
}

/** Marks are parts of words: Hindi, for one, writes vowels with them. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\s'-]/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}

function setOf(lists: Readonly<Record<string, string>>): ReadonlySet<string> {
  return new Set(Object.values(lists).join(' ').split(' '));
}
