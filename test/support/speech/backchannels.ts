/** What callers say over an agent, in ten languages: backchannels, which want nothing, and words that want the floor. */
import { type EspeakSpeaker, speakPhrase } from './espeak-phrase.ts';
import type { Overlap, OverlapCall } from './overlap-calls.ts';

interface Language {
  /** The agent's, BCP 47. */
  readonly tag: string;
  /** A voice of espeak-ng. */
  readonly voice: string;
  readonly backchannels: readonly string[];
}

/** A hum is written in phonemes, since espeak-ng would spell "mm-hm". */
const HUM = "[[mh'm]]";
const MM = '[[m:]]';

export const BACKCHANNELS: readonly Language[] = [
  {
    ...{ tag: 'en-US', voice: 'en-us' },
    backchannels: [HUM, MM, 'yeah', 'okay', 'right', 'uh huh', 'I see', 'yes', 'sure'],
  },
  {
    ...{ tag: 'de-DE', voice: 'de' },
    backchannels: [HUM, 'ja', 'genau', 'okay', 'aha', 'ach so', 'hm'],
  },
  {
    ...{ tag: 'es-ES', voice: 'es' },
    backchannels: [HUM, MM, 'sí', 'vale', 'ajá', 'claro', 'bueno'],
  },
  {
    ...{ tag: 'fr-FR', voice: 'fr' },
    backchannels: [HUM, 'oui', "d'accord", 'ouais', 'voilà', 'exact', MM],
  },
  {
    ...{ tag: 'it-IT', voice: 'it' },
    backchannels: [HUM, 'sì', 'certo', 'va bene', 'ah', 'ecco', 'esatto'],
  },
  {
    ...{ tag: 'pt-BR', voice: 'pt-br' },
    backchannels: [HUM, 'sim', 'certo', 'tá', 'uhum', 'isso', 'claro'],
  },
  {
    ...{ tag: 'hi-IN', voice: 'hi' },
    backchannels: [HUM, 'हाँ', 'जी', 'अच्छा', 'ठीक', 'हम्म', 'सही'],
  },
  { ...{ tag: 'te-IN', voice: 'te' }, backchannels: [HUM, 'అవును', 'సరే', 'ఊ', 'ఆ', 'ఓకే', 'అలాగే'] },
  {
    ...{ tag: 'ja-JP', voice: 'ja' },
    backchannels: [HUM, 'はい', 'ええ', 'うん', 'そう', 'なるほど', 'へえ'],
  },
  { ...{ tag: 'zh-CN', voice: 'cmn' }, backchannels: [HUM, '嗯', '对', '好', '是', '行', '哦'] },
];

/** Words of English and Spanish that the tiny recogniser knows, and sentences that it does not. */
export const INTERRUPTIONS: readonly (Omit<Language, 'backchannels'> & {
  readonly words: readonly string[];
})[] = [
  {
    ...{ tag: 'en-US', voice: 'en-us' },
    words: [
      ...['stop', 'wait', 'no', 'help', 'hold on', 'please wait', 'wait a moment', 'no, thank you'],
      ...['no, on Tuesday', "no, at three o'clock", 'can you repeat that?', "I don't understand"],
      ...['main menu', "that's wrong", 'excuse me, one moment', 'that is not what I asked'],
    ],
  },
  {
    ...{ tag: 'es-ES', voice: 'es' },
    words: ['no', 'no entiendo', 'más despacio, por favor', 'quiero una cita', 'espere un momento'],
  },
];

/** The caller's usual level, and how much a voice differs from it. */
const USUAL_DBFS = -22;
const BACKCHANNEL_DB = [0, -4, -8];
const INTERRUPTION_DB = [0, 3];

const VARIANTS = ['', '+f4', '+m6', '+Annie'];
/** Words a minute: a backchannel is over in a quarter to half a second. */
const BACKCHANNEL_SPEEDS = [190, 220, 205];
const SENTENCE_SPEEDS = [160, 190, 175];

/** Said with it, so that the caller's level is known. */
const QUESTION = 'I have a question about my bill. What are your opening hours?';

const OVERLAPS_MAX = 7;

/** Calls with every backchannel, `rounds` times: each by another voice, and at another level. */
export function backchannelCalls(rounds: number): Promise<readonly OverlapCall[]> {
  const languages = BACKCHANNELS.map(({ backchannels, ...rest }) => ({
    ...rest,
    words: backchannels,
  }));
  return callsWith(languages, { levelsDb: BACKCHANNEL_DB, speeds: BACKCHANNEL_SPEEDS }, rounds);
}

/** Likewise, with words that want the floor. */
export function interruptionCalls(rounds: number): Promise<readonly OverlapCall[]> {
  return callsWith(INTERRUPTIONS, { levelsDb: INTERRUPTION_DB, speeds: SENTENCE_SPEEDS }, rounds);
}

interface Manner {
  readonly levelsDb: readonly number[];
  readonly speeds: readonly number[];
}

async function callsWith(
  languages: typeof INTERRUPTIONS,
  manner: Manner,
  rounds: number,
): Promise<readonly OverlapCall[]> {
  const calls: OverlapCall[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const question = await speakPhrase(QUESTION, speakerOf('en-us', round, round, QUESTION_MANNER));
    for (const { tag, voice, words } of languages) {
      const overlaps: Overlap[] = [];
      for (const [index, text] of words.entries()) {
        const speaker = speakerOf(voice, index, round, manner);
        overlaps.push({ text, pcm: await speakPhrase(text, speaker) });
      }
      for (let first = 0; first < overlaps.length; first += OVERLAPS_MAX) {
        const some = overlaps.slice(first, first + OVERLAPS_MAX);
        calls.push({ language: tag, question, overlaps: some });
      }
    }
  }
  return calls;
}

const QUESTION_MANNER: Manner = { levelsDb: [0], speeds: SENTENCE_SPEEDS };

function speakerOf(
  voice: string,
  word: number,
  round: number,
  { levelsDb, speeds }: Manner,
): EspeakSpeaker {
  const index = word + 2 * round;
  return {
    voice: voice + (VARIANTS[index % VARIANTS.length] ?? ''),
    speed: speeds[index % speeds.length] ?? 175,
    pitch: 40 + (index % 3) * 15,
    levelDbfs: USUAL_DBFS + (levelsDb[(word + round) % levelsDb.length] ?? 0),
  };
}
