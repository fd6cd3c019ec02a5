/** One text on its way through a neural voice: phonemes, one run of the model a sentence, line-rate PCM. */

import { messageOf } from '../../../lib/unknown-value.ts';
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import { Resampler } from '../../stt/features/resampler.ts';
import type {
  ModelCache,
  NeuralSentence,
  Phonemizer,
  VoiceAudio,
  VoiceModel,
} from '../neural/voice-model.ts';
import { concat, FULL_SCALE, VoiceLine } from './line-pcm.ts';
import { pauseAfterMs } from './synthesizer.ts';
import type { SpeakingReply } from './synthesizer-pool.ts';

/** Audio in one message: a quarter of a second. */
const PIECE_SAMPLES = LINE_RATE_HZ / 4;

/** No sentence takes longer; a model that gives more has lost its way. */
const PHRASE_MS_MAX = 60_000;

export class VoiceJob {
  readonly id: number;
  readonly #sentence: NeuralSentence;
  readonly #reply: (message: SpeakingReply) => void;
  #isCancelled = false;
  #sentSamples = 0;
  /** Ends of the words said so far, in samples. */
  readonly #ends: number[] = [];

  constructor(options: {
    readonly id: number;
    readonly sentence: NeuralSentence;
    readonly reply: (message: SpeakingReply) => void;
  }) {
    this.id = options.id;
    this.#sentence = options.sentence;
    this.#reply = options.reply;
  }

  /** Stops reports. A sentence in the model runs to its end unheard. */
  cancel(): void {
    this.#isCancelled = true;
  }

  /** Speaks, a run of the model at each step, between which other jobs run. Errors are reported as `failed`. */
  async *steps(phonemizer: Phonemizer, cache: ModelCache): AsyncGenerator<void> {
    if (this.#isCancelled) return;
    try {
      yield* this.#speak(phonemizer, cache);
      this.#tell({ kind: 'ended', id: this.id });
    } catch (error) {
      this.#tell({ kind: 'failed', id: this.id, reason: messageOf(error).slice(0, 500) });
    }
  }

  async *#speak(phonemizer: Phonemizer, cache: ModelCache): AsyncGenerator<void> {
    const { text, voice } = this.#sentence;
    const chunks = chunksOf(text);
    const spoken = await readOut(chunks.map(bareWords), voice.reads, phonemizer);
    const speller = await cache.open(voice.model);
    const spelt = spoken.map((phonemes) => speller.spell(phonemes, voice.speaker));
    const phrases = phrasesOf(chunks, spelt, speller.phonemesMax);
    for (const [index, phrase] of phrases.entries()) {
      if (index > 0) yield;
      if (this.#isCancelled) return;
      // Asked for each time: others may have had it put away meanwhile.
      const model = await cache.open(voice.model);
      const audio = await sayPhrase(phrase, voice.speaker, model);
      if (this.#isCancelled) return;
      const isLast = index === phrases.length - 1;
      const pcm = this.#toLine(audio, model.rateHz, { cache, isLast, phrase });
      this.#tellWords(phrases, index, phrase, { audio, samples: pcm.length });
      this.#send(pcm);
    }
  }

  #toLine(
    { samples }: VoiceAudio,
    rateHz: number,
    place: { readonly cache: ModelCache; readonly isLast: boolean; readonly phrase: Phrase },
  ): Int16Array {
    const { voice, pauseAfterMs: lastPauseMs } = this.#sentence;
    const resampler = new Resampler(rateHz);
    const body = resampler.push(samples.map((sample) => sample * FULL_SCALE));
    const tail = resampler.flush();
    const line = new Float32Array(body.length + tail.length);
    line.set(body);
    line.set(tail, body.length);
    const gainDb = place.cache.levelOf(`${voice.model} ${voice.speaker}`).weigh(line);
    const pauseMs = place.isLast ? lastPauseMs : pauseAfterMs(place.phrase.phonemes);
    const voiced = new VoiceLine({ gainDb, pauseAfterMs: pauseMs });
    return concat(voiced.push(line), voiced.end());
  }

  /** Reports the ends of words; those still to come are guessed from the pace of the speech so far. */
  #tellWords(
    phrases: readonly Phrase[],
    index: number,
    phrase: Phrase,
    said: { readonly audio: VoiceAudio; readonly samples: number },
  ): void {
    const start = this.#sentSamples;
    const shareAt = sharesOf(phrase, said.audio.ends);
    this.#ends.push(...phrase.wordEnds.map((end) => start + shareAt(end) * said.samples));
    const spoken = phrases
      .slice(0, index + 1)
      .reduce((sum, { phonemes }) => sum + phonemes.length, 0);
    const pace = (start + said.samples) / Math.max(1, spoken);
    const guessed: number[] = [];
    let at = start + said.samples;
    for (const { phonemes, wordEnds } of phrases.slice(index + 1)) {
      guessed.push(...wordEnds.map((end) => at + end * pace));
      at += phonemes.length * pace;
    }
    const whole = Math.max(1, at, ...guessed);
    const ends = [...this.#ends, ...guessed].map((end) => Math.min(1, end / whole));
    this.#tell({ kind: 'words', id: this.id, ends });
  }

  #send(pcm: Int16Array): void {
    for (let at = 0; at < pcm.length; at += PIECE_SAMPLES) {
      this.#tell({ kind: 'audio', id: this.id, pcm: pcm.slice(at, at + PIECE_SAMPLES) });
    }
    this.#sentSamples += pcm.length;
  }

  #tell(message: SpeakingReply): void {
    if (!this.#isCancelled) this.#reply(message);
  }
}

/** Chunks without words are not asked about. */
async function readOut(
  chunks: readonly string[],
  reads: string,
  phonemizer: Phonemizer,
): Promise<readonly string[]> {
  const asked = chunks.filter((chunk) => chunk !== '');
  const answered = asked.length === 0 ? [] : [...(await phonemizer.phonemes(asked, reads))];
  return chunks.map((chunk) => (chunk === '' ? '' : (answered.shift() ?? '')));
}

async function sayPhrase(phrase: Phrase, voice: string, model: VoiceModel): Promise<VoiceAudio> {
  if (phrase.phonemes === '') return { samples: new Float32Array(0) };
  const audio = await model.say({ phonemes: phrase.phonemes, voice });
  if (audio.samples.length > (PHRASE_MS_MAX * model.rateHz) / 1000) {
    throw new Error(`the model said more than ${PHRASE_MS_MAX / 1000} s for one sentence`);
  }
  return audio;
}

/** From code points of the phonemes to the share of the audio: as the model says, or in proportion. */
function sharesOf({ phonemes }: Phrase, ends: readonly number[] | undefined) {
  const count = Math.max(1, [...phonemes].length);
  return (point: number) => {
    const known = ends?.[Math.max(0, Math.min(count, Math.round(point)) - 1)];
    return Math.min(1, known ?? point / count);
  };
}

/** Punctuation that parts words for a voice. Quotes and brackets are not said. */
const MARKS = /[,;:.!?…—–¡¿]/u;

/** Words between two marks, and the mark after them. */
interface Chunk {
  readonly words: readonly string[];
  readonly mark: string;
  readonly endsSentence: boolean;
}

/** One run of the model. */
interface Phrase {
  readonly phonemes: string;
  /** Number of code points of `phonemes` that have been said at the end of each word. */
  readonly wordEnds: readonly number[];
}

/** Splits the words of a text, at blanks, into chunks; words without a sound are included. */
export function chunksOf(text: string): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let words: string[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    words.push(word);
    const mark = lastMark(word);
    if (mark === '') continue;
    chunks.push({ words, mark, endsSentence: /[.!?…]/.test(mark) });
    words = [];
  }
  if (words.length > 0) chunks.push({ words, mark: '', endsSentence: true });
  return chunks;
}

/** Words of a chunk without punctuation, for the phonemizer. */
export function bareWords({ words }: Chunk): string {
  return words
    .map((word) => word.replace(/[^\p{L}\p{M}\p{N}'’%&+@-]/gu, ' ').trim())
    .filter((word) => word !== '')
    .join(' ');
}

/**
 * Puts chunks together to phrases of a sentence each.
 *
 * @param spoken the phonemes of each chunk.
 * @param phonemesMax longer sentences are cut, at a mark where there is one.
 */
export function phrasesOf(
  chunks: readonly Chunk[],
  spoken: readonly string[],
  phonemesMax: number,
): readonly Phrase[] {
  const phrases: Phrase[] = [];
  let phonemes = '';
  let wordEnds: number[] = [];
  const close = () => {
    if (wordEnds.length > 0) phrases.push({ phonemes: phonemes.trim(), wordEnds });
    phonemes = '';
    wordEnds = [];
  };
  chunks.forEach((chunk, index) => {
    for (const piece of piecesOf(chunk, spoken[index] ?? '', phonemesMax)) {
      if (countOf(phonemes) + countOf(piece.phonemes) + 1 > phonemesMax) close();
      const start = countOf(phonemes);
      phonemes += piece.phonemes;
      wordEnds.push(...piece.wordEnds.map((end) => start + end));
      if (phonemes !== '') phonemes += ' ';
    }
    if (chunk.endsSentence) close();
  });
  close();
  return phrases;
}

/** A chunk's phonemes with its mark, in pieces no longer than may be. */
function piecesOf(chunk: Chunk, spoken: string, phonemesMax: number): readonly Phrase[] {
  const said = spoken.split(' ').filter((word) => word !== '');
  const mark = said.length === 0 ? '' : chunk.mark;
  const whole = `${said.join(' ')}${mark}`;
  if (countOf(whole) <= phonemesMax - 1) {
    return [{ phonemes: whole, wordEnds: endsOf(chunk.words, said) }];
  }
  // Longer than any clause; the remaining words get equal times.
  const pieces: Phrase[] = [];
  const points = [...whole];
  const count = Math.ceil(points.length / (phonemesMax - 1));
  const each = Math.ceil(chunk.words.length / count);
  for (let n = 0; n < count; n++) {
    const phonemes = points.slice(n * (phonemesMax - 1), (n + 1) * (phonemesMax - 1)).join('');
    const words = chunk.words.slice(n * each, (n + 1) * each);
    pieces.push({
      phonemes,
      wordEnds: words.map((_, at) => ((at + 1) * countOf(phonemes)) / words.length),
    });
  }
  return pieces;
}

/** Word by word where both have as many; in proportion to how they are spelt where not. */
function endsOf(words: readonly string[], said: readonly string[]): readonly number[] {
  const lengths = said.map((word) => countOf(word) + 1);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let end = 0;
  if (said.length === words.length) {
    return lengths.map((length) => {
      end += length;
      return end;
    });
  }
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
  return words.map((word) => {
    end += word.length + 1;
    return (end * total) / letters;
  });
}

/** Marks at the end of a word, the strongest of them; `9.` and `e.g.` are words of a text that was read out before. */
function lastMark(word: string): string {
  const tail = /[^\p{L}\p{M}\p{N}]+$/u.exec(word)?.[0] ?? '';
  const marks = [...tail].filter((sign) => MARKS.test(sign));
  const strong = marks.find((sign) => /[.!?…]/.test(sign));
  return strong ?? marks[0] ?? (/^[—–-]$/.test(word) ? '—' : '');
}

/** Code points, the unit that models count. */
function countOf(text: string): number {
  return [...text].length;
}
