/** Judges from a caller's words so far whether more of them are to come; pure */

/** Words that lead on to another, by language. One list is looked up for all: callers mix, and few words clash. */
const LEADING_ON_BY_LANGUAGE: Readonly<Record<string, string>> = {
  en:
    'a an the and or but so because if when that which who with for from to at in on of my your his her our ' +
    "is are was i i'm it's um uh er erm hmm maybe",
  es:
    'y o pero porque si que con para de en el la los las un una mi su del cuando donde este eh pues quiero ' +
    'necesito',
  de:
    'und oder aber weil wenn dass mit für von zu der die das dem ein eine einen mein meine ist sind ich bei ' +
    'nach äh ähm',
  fr: 'et ou mais parce si que avec pour le les un une des mon ma au aux dans est sont quand euh alors je',
  it: 'e ma perché se che con per di il lo gli le un una mio della quando',
  pt: 'e mas porque que com para uma meu minha quando',
};

/** They lead on, but also end a sentence: "I think so." A full stop tells. */
const ENDING_TOO = new Set('so that in on her die das sind'.split(' '));

const LEADING_ON = new Set(Object.values(LEADING_ON_BY_LANGUAGE).join(' ').split(' '));

/**
 * Scores how finished a text sounds, from 0 (broken off) to 1 (a whole sentence). Recognisers put a full stop
 * only where the voice falls; that, and the last word, is what there is to go by.
 */
export function completenessOf(text: string): number {
  const trimmed = text.trim();
  if (/[!?]["')]?$/.test(trimmed)) return 1;
  if (/[,:;…–—-]$|\.\.\.$/.test(trimmed)) return 0;
  const last = lastWord(trimmed);
  const isStopped = /\.["')]?$/.test(trimmed);
  if (LEADING_ON.has(last) && !(isStopped && ENDING_TOO.has(last))) return 0;
  return isStopped ? 1 : 0.3;
}

function lastWord(text: string): string {
  return /([\p{L}']+)[\s.]*$/u.exec(text.toLowerCase())?.[1] ?? '';
}
