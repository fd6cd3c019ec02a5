/** One text on its way through a neural voice: phonemes, one run of the model a sentence, line-rate PCM. */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import { Resampler } from '../../stt/features/resampler.ts';
import type { ModelCache } from '../neural/model-cache.ts';
import type { Phonemizer, VoiceAudio, VoiceModel } from '../neural/voice-model.ts';
import { pauseAfterMs } from '../voices/clean-text.ts';
import { bareWords, chunksOf, type Phrase, phrasesOf } from '../voices/voice-phrases.ts';
import type { SpeakingReply } from './speaking-messages.ts';
import type { NeuralSentence } from './synthesis-job-setup.ts';
import { concat, FULL_SCALE, VoiceLine } from './voice-line.ts';

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

  /** Nothing more is told. A sentence that the model is at is finished for nobody. */
  cancel(): void {
    this.#isCancelled = true;
  }

  /** Speaks, a run of the model at each step, between which others may speak. Whatever goes wrong is told as `failed`. */
  async *steps(phonemizer: Phonemizer, shelf: ModelCache): AsyncGenerator<void> {
    if (this.#isCancelled) return;
    try {
      yield* this.#speak(phonemizer, shelf);
      this.#tell({ kind: 'ended', id: this.id });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#tell({ kind: 'failed', id: this.id, reason: reason.slice(0, 500) });
    }
  }

  async *#speak(phonemizer: Phonemizer, shelf: ModelCache): AsyncGenerator<void> {
    const { text, voice } = this.#sentence;
    const { phonemesMax } = await shelf.open(voice.model);
    const chunks = chunksOf(text);
    const spoken = await readOut(chunks.map(bareWords), voice.reads, phonemizer);
    const phrases = phrasesOf(chunks, spoken, phonemesMax);
    for (const [index, phrase] of phrases.entries()) {
      if (index > 0) yield;
      if (this.#isCancelled) return;
      // Asked for each time: others may have had it put away meanwhile.
      const model = await shelf.open(voice.model);
      const audio = await sayPhrase(phrase, voice.speaker, model);
      if (this.#isCancelled) return;
      const isLast = index === phrases.length - 1;
      const pcm = this.#toLine(audio, model.rateHz, { shelf, isLast, phrase });
      this.#tellWords(phrases, index, phrase, { audio, samples: pcm.length });
      this.#send(pcm);
    }
  }

  #toLine(
    { samples }: VoiceAudio,
    rateHz: number,
    place: { readonly shelf: ModelCache; readonly isLast: boolean; readonly phrase: Phrase },
  ): Int16Array {
    const { voice, pauseAfterMs: lastPauseMs } = this.#sentence;
    const resampler = new Resampler(rateHz);
    const body = resampler.push(samples.map((sample) => sample * FULL_SCALE));
    const tail = resampler.flush();
    const line = new Float32Array(body.length + tail.length);
    line.set(body);
    line.set(tail, body.length);
    const gainDb = place.shelf.levelOf(`${voice.model} ${voice.speaker}`).weigh(line);
    const pauseMs = place.isLast ? lastPauseMs : pauseAfterMs(place.phrase.phonemes);
    const voiced = new VoiceLine({ gainDb, pauseAfterMs: pauseMs });
    return concat(voiced.push(line), voiced.end());
  }

  /** What is still to come is guessed from how long what was said has taken. */
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
