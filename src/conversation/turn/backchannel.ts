/** Tells backchannels ("mm-hm") from words that take the floor, by words, length and loudness; pure */

/** Hums: at any loudness they need no answer. */
const HUMS = new Set(
  (
    'mm mmm hm hmm mhm mm-hm mm-hmm uh-huh huh aha ah oh ajá ahá achso hmhm mhmh uhum aham ' +
    'हम्म हूँ హుమ్ ఊ ఆహా うん ふん へえ ああ 嗯 嗯嗯 哦 噢 啊'
  ).split(' '),
);

/** Words by language; all of them count in every call, as callers mix them and none means anything else. */
const WORDS = setOf({
  en:
    'mm mmm hm hmm mhm mm-hm mm-hmm uh-huh huh aha ah oh okay ok yes yeah yep yup right sure good great fine ' +
    'alright really exactly absolutely uh um',
  es: 'sí si vale claro ya ajá mm bien bueno eh ahá exacto perfecto',
  de: 'ja jaja genau gut aha achso hmhm mhmh klar stimmt okay richtig eben',
  fr: "oui ouais d'accord bien voilà ok hein euh exact exactement",
  it: 'sì bene certo già ecco esatto capisco',
  pt: 'sim pois certo tá uhum aham isso claro',
  hi: 'हाँ हां हा जी अच्छा ठीक हम्म हूँ सही haan haa ji accha theek',
  te: 'అవును సరే ఊ ఆ హా ఓకే అలాగే avunu sare',
  ja: 'はい はいはい ええ うん うんうん そう そうですね そうですか なるほど へえ ああ hai ee un',
  zh: '嗯 嗯嗯 对 对对 对对对 好 好的 是 是的 行 哦 啊 ok',
});

/**
 * First words of an interruption: they are meant, so that a lower confidence is enough. Listed by language; all of them count
 * in every call.
 */
const INTERRUPTING = setOf({
  en: "stop wait no nope not hold help listen sorry excuse pardon what don't",
  es: 'no espera espere para pare alto perdón perdone oiga un',
  de: 'nein nee nicht stopp stop halt moment warte warten entschuldigung falsch',
  fr: 'non pas stop attendez attends arrêtez pardon un',
  it: 'no aspetta aspetti ferma fermo basta scusi un',
  pt: 'não espera espere para pare desculpe um',
  hi: 'नहीं नही रुको रुकिए रुकिये बस सुनिए',
  te: 'కాదు వద్దు ఆగు ఆగండి ఒక్క',
  ja: 'いいえ いや 待って 待ってください ちょっと ちょっと待って 違う 違います ストップ すみません',
  zh: '不 不是 不对 不要 等 等等 等一下 停 停一下',
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

/** Greetings and farewells that want no answer. */
const COURTESIES = setOf({
  en: 'hello hi hey there good morning afternoon evening bye goodbye thanks thank you too very much so',
  es: 'hola buenos buenas días tardes adiós gracias muchas',
  de: 'hallo guten tag morgen danke tschüss tschüs auf wiederhören wiedersehen vielen dank',
  fr: 'bonjour bonsoir allô merci au revoir salut',
  it: 'ciao grazie arrivederci buongiorno pronto',
  pt: 'olá obrigado obrigada bom dia adeus tchau',
});

/** Courtesies that end a call. */
const FAREWELLS = new Set(
  'bye goodbye adiós tschüss tschüs wiederhören wiedersehen revoir ciao arrivederci adeus tchau'.split(
    ' ',
  ),
);

const BACKCHANNEL_WORDS_MAX = 2;
const COURTESY_WORDS_MAX = 4;

/** Longest backchannel, in milliseconds: a longer "mm-hm" is the beginning of a sentence. */
export const BACKCHANNEL_MS_MAX = 1200;

/** So far above the caller's usual level, "okay" means "enough". A sentence's own accents stay within it. */
const LOUD_DB = 6;

/** Longest voice that may be a backchannel, even if recognised as another word. A longer one is a sentence. */
const SHORT_MS_MAX = 800;

/**
 * Confidence that a short voice needs for the floor, at the caller's usual level: a recogniser makes words of every sound. Set
 * on synthetic voices, as the others: `npm run bench -- interruptions`.
 */
const SHORT_CONFIDENCE_MIN = 0.9;

/** Confidence added for each dB below the caller's usual level, and taken off above it: interruptions are louder than backchannels. */
const CONFIDENCE_PER_DB = 0.02;

/** Confidence at which words take the floor even when whispered. */
const WHISPER_CONFIDENCE_MIN = 0.98;

/** Confidence that words meaning "stop" need for the floor, at any level. */
const INTERRUPTING_CONFIDENCE_MIN = 0.8;

/** Kinds of a caller's voice over the agent's. */
export type Overlap =
  /** A cough, or a voice in the background. */
  | 'noise'
  /** Keeps the agent talking; its words are uncertain. */
  | 'murmur'
  /** Keeps the agent talking. */
  | 'backchannel'
  /** Politeness that wants no answer where the agent greets or says goodbye; anywhere else, words like any. */
  | 'courtesy'
  /** Wants the floor. */
  | 'claim';

/** Caller speech over the agent's, with its recognised words. */
export interface OverlappingVoice {
  readonly text: string;
  /** How sure the recogniser is, from 0 to 1. */
  readonly confidence: number;
  readonly voicedMs: number;
  /** A voice of this length wants the floor, unless its words are known to be none. */
  readonly longMs: number;
  /** How far it is above the caller's usual level; 0 where that is not known. */
  readonly overUsualDb: number;
}

/** Classifies caller speech over the agent's by its length, its loudness and its words. */
export function weighOverlap(voice: OverlappingVoice): Overlap {
  const { text, voicedMs, longMs } = voice;
  if (text === '') return 'noise';
  const isInsistent =
    voice.overUsualDb >= LOUD_DB && !wordsOf(text).every((word) => HUMS.has(word));
  if (isBackchannel(text) && voicedMs <= BACKCHANNEL_MS_MAX && !isInsistent) return 'backchannel';
  if (isMurmur(voice)) return 'murmur';
  return isCourtesy(text) && voicedMs <= longMs ? 'courtesy' : 'claim';
}

/** Whether the text is one or two such words. An empty text is none. */
export function isBackchannel(text: string): boolean {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > BACKCHANNEL_WORDS_MAX) return false;
  return PHRASES.has(words.join(' ')) || words.every((word) => WORDS.has(word));
}

/** A short voice whose words the recogniser is unsure of: most are hums and words of agreement that it misheard. */
function isMurmur({ text, confidence, voicedMs, overUsualDb }: OverlappingVoice): boolean {
  if (!isBrief(voicedMs)) return false;
  const [first = ''] = wordsOf(text);
  if (INTERRUPTING.has(first)) return confidence < INTERRUPTING_CONFIDENCE_MIN;
  const leastAtLevel = SHORT_CONFIDENCE_MIN - overUsualDb * CONFIDENCE_PER_DB;
  return confidence < Math.min(WHISPER_CONFIDENCE_MIN, leastAtLevel);
}

/** Whether a voice is so short that it may be a backchannel that was misheard. */
export function isBrief(voicedMs: number): boolean {
  return voicedMs <= SHORT_MS_MAX;
}

/** Whether the text is a few words of politeness, such as "thank you, bye". */
export function isCourtesy(text: string): boolean {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > COURTESY_WORDS_MAX) return false;
  return words.every((word) => COURTESIES.has(word) || WORDS.has(word));
}

/** Whether the text is a farewell and nothing but politeness. */
export function isFarewell(text: string): boolean {
  return isCourtesy(text) && wordsOf(text).some((word) => FAREWELLS.has(word));
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

/** Measured loudness of one speaker. */
export interface SpokenLevel {
  /** Mean over `voicedMs`, in dB below full scale. */
  readonly levelDbfs: number;
  /** Length of the speech that the level was measured in, in milliseconds; 0 before any. */
  readonly voicedMs: number;
}

/** Level before any speech was measured. */
export const LEVEL_UNKNOWN: SpokenLevel = { levelDbfs: 0, voicedMs: 0 };

/** Speech that a "usual" level needs: a sentence or two, since one word may be stressed. */
const KNOWN_MS = 1500;

/** Largest weight of earlier speech in the mean: callers move, and change hands. */
const MEMORY_MS = 20_000;

/** Takes one more stretch of voice into account. */
export function learnLevel(known: SpokenLevel, heard: SpokenLevel): SpokenLevel {
  if (heard.voicedMs <= 0) return known;
  const before = Math.min(known.voicedMs, MEMORY_MS);
  const voicedMs = before + heard.voicedMs;
  const sum = known.levelDbfs * before + heard.levelDbfs * heard.voicedMs;
  return { levelDbfs: sum / voicedMs, voicedMs };
}

/** Level of a voice above the caller's usual level, in dB; 0 while either is unknown. */
export function overUsualDb(usual: SpokenLevel, heard: SpokenLevel): number {
  if (usual.voicedMs < KNOWN_MS || heard.voicedMs <= 0) return 0;
  return heard.levelDbfs - usual.levelDbfs;
}
