/** Tells "mm-hm" and its kin, which keep the other party talking, from words that want the floor; pure */

const WORDS = new Set(
  (
    'mm mmm hm hmm mhm mm-hm mm-hmm uh-huh huh aha ah oh okay ok yes yeah yep yup right sure good great ' +
    'fine alright really sí si vale claro ya ajá bien certo bene ja genau gut oui ouais sim uh'
  ).split(' '),
);

const PHRASES = new Set(['i see', 'got it', 'all right', 'of course', 'va bene', "d'accord"]);

/** What is said to a greeting or a farewell without wanting an answer. */
const COURTESIES = new Set(
  (
    'hello hi hey there good morning afternoon evening bye goodbye thanks thank you too very much so ' +
    'hola buenos días adiós gracias muchas ciao grazie arrivederci hallo danke tschüss bonjour merci'
  ).split(' '),
);

const BACKCHANNEL_WORDS_MAX = 2;
const COURTESY_WORDS_MAX = 4;

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

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\s'-]/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}
