/** The self-test's run: every installed voice engine says the reference sentences, every recogniser hears them; and the count of wrong words. */

import { basename, resolve } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { editDistance } from '../../lib/edit-distance.ts';
import { languageOf } from '../../lib/language-tag.ts';
import { silentLogger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';
import { TINY_DIR } from '../hearing/choose-hearing.ts';
import type { EngineOrder } from '../hearing/hearing-messages.ts';
import type { SpeechEngine } from '../models/model-files.ts';
import { forkRecognizer } from '../stt/pool/recognizer-lane.ts';
import { RecognizerPool } from '../stt/pool/recognizer-pool.ts';
import { moonshineEngine, transformersEngine, whisperEngine } from '../stt/recognizer-engines.ts';
import type { Synthesizer } from '../tts/pool/synthesizer.ts';
import { ttsEngines } from '../tts/tts-engines.ts';
import { loadVoiceBook } from '../tts/voices/voice-book.ts';
import {
  babbleOf,
  onTheLine,
  REFERENCE_SENTENCES,
  REFERENCE_VOICES,
  type ReferenceVoice,
  TINY_MODEL_LANGUAGES,
} from './reference-sentences.ts';
import type { HeardResult, RecognizerResult, VoiceResult } from './self-test-report.ts';

/** An installed voice engine. */
interface VoiceUnderTest {
  readonly engine: string;
  readonly version: string;
  /** Whether it speaks every language somehow: then only English and Spanish are tried. */
  readonly isUniversal: boolean;
  /** Makes a synthesizer that is not started. @throws {Error} naming what is missing. */
  open(): Synthesizer;
}

/** An installed recogniser model. */
interface RecognizerUnderTest {
  readonly engine: string;
  /** Name of its folder. */
  readonly model: string;
  /** ISO 639-1; null for every language. */
  readonly languages: readonly string[] | null;
  /** Loads the model. @throws {Error} naming what is wrong with it. */
  open(): Promise<OpenRecognizer>;
}

interface OpenRecognizer {
  /** @param pcm one utterance: 8 kHz, mono, signed 16-bit. */
  hear(pcm: Int16Array, language: string): Promise<string>;
  close(): Promise<void>;
}

interface SpeechTestOptions {
  readonly voices: readonly VoiceUnderTest[];
  readonly recognizers: readonly RecognizerUnderTest[];
  readonly clock: Clock;
  /** Whether each voice says every sentence of its language; else the voices of an engine share them. */
  readonly isFull: boolean;
  /** Time limit of one engine; the report names the sentences that were left out. */
  readonly engineMsMax: number;
  /** Called often, with the current step. */
  readonly onProgress: (text: string) => void;
}

interface Sentence extends ReferenceVoice {
  readonly text: string;
}

interface Utterance extends Sentence {
  readonly engine: string;
  readonly pcm: Int16Array;
}

/** Tests voices, then recognisers with what the voices said. A failed engine is reported and never thrown. */
export async function testSpeech(options: SpeechTestOptions): Promise<{
  readonly voices: readonly VoiceResult[];
  readonly recognizers: readonly RecognizerResult[];
}> {
  const utterances: Utterance[] = [];
  const voices: VoiceResult[] = [];
  for (const voice of options.voices) voices.push(await testVoice(voice, options, utterances));
  const recognizers: RecognizerResult[] = [];
  for (const recognizer of options.recognizers) {
    recognizers.push(await testRecognizer(recognizer, options, utterances));
  }
  return { voices, recognizers };
}

async function testVoice(
  { engine, version, isUniversal, open }: VoiceUnderTest,
  { clock, isFull, engineMsMax, onProgress }: SpeechTestOptions,
  utterances: Utterance[],
): Promise<VoiceResult> {
  const firstMs: number[] = [];
  let [planned, tookMs, audioMs] = [0, 0, 0];
  const said = new Set<string>();
  const result = (failure: string | null): VoiceResult => ({
    ...{ engine, version, voices: [...said], sentences: firstMs.length, planned, failure },
    ...{ firstSoundMs: firstMs, realTimeFactor: tookMs / audioMs, audioSeconds: audioMs / 1000 },
  });
  let synthesizer: Synthesizer | undefined;
  try {
    onProgress(`voice ${engine}: starts`);
    synthesizer = open();
    await synthesizer.start();
    const sentences = sentencesFor(voicesOf(synthesizer, isUniversal), isFull);
    planned = sentences.length;
    const beganAtMs = clock.nowMs();
    for (const sentence of sentences) {
      if (clock.nowMs() - beganAtMs > engineMsMax) break;
      const spoken = await speak(synthesizer, sentence, clock);
      if (spoken.pcm.length === 0) throw new Error(`no sound for "${sentence.text}"`);
      utterances.push({ ...sentence, engine, pcm: spoken.pcm });
      said.add(sentence.voice);
      firstMs.push(spoken.firstMs);
      tookMs += spoken.tookMs;
      audioMs += millisecondsOf(spoken.pcm);
      onProgress(`voice ${engine}: ${firstMs.length} of ${planned} sentences`);
    }
    return result(isUniversal ? null : (synthesizer.report().replacement?.how ?? null));
  } catch (error) {
    return result(messageOf(error));
  } finally {
    await synthesizer?.stop();
  }
}

function voicesOf(synthesizer: Synthesizer, isUniversal: boolean): readonly ReferenceVoice[] {
  return REFERENCE_VOICES.filter((choice) =>
    isUniversal ? /^(en-US|es-ES)/.test(choice.language) : (synthesizer.canSpeak?.(choice) ?? true),
  );
}

/** The voices by turns, so that a test that is cut short has heard all of them. */
function sentencesFor(voices: readonly ReferenceVoice[], isFull: boolean): readonly Sentence[] {
  const queues = voices.map((voice) => {
    const language = languageOf(voice.language);
    const sharers = voices.filter((other) => languageOf(other.language) === language);
    const texts = REFERENCE_SENTENCES[language] ?? [];
    const mine = texts.filter((_, at) => isFull || at % sharers.length === sharers.indexOf(voice));
    return mine.map((text) => ({ ...voice, text }));
  });
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) =>
    queues.flatMap((queue) => queue.slice(at, at + 1)),
  ).flat();
}

async function speak(synthesizer: Synthesizer, sentence: Sentence, clock: Clock) {
  const beganAtMs = clock.nowMs();
  let firstMs = 0;
  const pieces: Int16Array[] = [];
  for await (const piece of synthesizer.speak(sentence)) {
    if (pieces.length === 0) firstMs = clock.nowMs() - beganAtMs;
    pieces.push(piece);
  }
  const pcm = Int16Array.from(pieces.flatMap((piece) => [...piece]));
  return { pcm, firstMs, tookMs: clock.nowMs() - beganAtMs };
}

const LINES = ['clean', 'babble'] as const;

async function testRecognizer(
  { engine, model, languages, open }: RecognizerUnderTest,
  { clock, engineMsMax, onProgress }: SpeechTestOptions,
  utterances: readonly Utterance[],
): Promise<RecognizerResult> {
  const known = utterances.filter(
    ({ language }) => languages?.includes(languageOf(language)) ?? true,
  );
  const answerMs: number[] = [];
  let [heard, tookMs, audioMs] = [0, 0, 0];
  const tally = new HeardTally();
  const result = (failure: string | null): RecognizerResult => ({
    ...{ engine, model, sentences: heard, planned: known.length, failure },
    ...{ heard: tally.results(), answerMs, realTimeFactor: tookMs / audioMs },
  });
  const babbles = new Map(
    [...new Set(known.map((one) => one.engine))].map((voices) => [
      voices,
      babbleOf(known.filter((one) => one.engine === voices).map(({ pcm }) => pcm)),
    ]),
  );
  let recognizer: OpenRecognizer | undefined;
  try {
    onProgress(`recogniser ${model}: loads`);
    recognizer = await open();
    const beganAtMs = clock.nowMs();
    for (const utterance of known) {
      if (clock.nowMs() - beganAtMs > engineMsMax) break;
      for (const line of LINES) {
        const babble = line === 'babble' ? babbles.get(utterance.engine) : undefined;
        if (line === 'babble' && babble === undefined) continue;
        const sound = onTheLine(utterance.pcm, babble);
        const askedAtMs = clock.nowMs();
        const words = await recognizer.hear(sound, utterance.language);
        const took = clock.nowMs() - askedAtMs;
        answerMs.push(took);
        tookMs += took;
        audioMs += millisecondsOf(sound);
        tally.add(utterance, line, wordErrors(utterance.text, words));
      }
      heard += 1;
      onProgress(`recogniser ${model}: ${heard} of ${known.length} sentences`);
    }
    return result(null);
  } catch (error) {
    return result(messageOf(error));
  } finally {
    await recognizer?.close();
  }
}

/** Words and errors by voice engine, language and line. */
class HeardTally {
  readonly #rows = new Map<string, HeardResult>();

  add(
    { engine, language }: Utterance,
    line: HeardResult['line'],
    { errors, words }: { readonly errors: number; readonly words: number },
  ): void {
    const key = `${engine} ${languageOf(language)} ${line}`;
    const row = this.#rows.get(key);
    this.#rows.set(key, {
      ...{ voices: engine, language: languageOf(language), line },
      sentences: (row?.sentences ?? 0) + 1,
      words: (row?.words ?? 0) + words,
      errors: (row?.errors ?? 0) + errors,
    });
  }

  results(): readonly HeardResult[] {
    return [...this.#rows.values()];
  }
}

function millisecondsOf(pcm: Int16Array): number {
  return (pcm.length * 1000) / LINE_RATE_HZ;
}

/** Insertions, deletions and substitutions between two sentences; capitals and punctuation don't count. */
export function wordErrors(said: string, heard: string): { errors: number; words: number } {
  const expected = wordsOf(said);
  return { errors: editDistance(expected, wordsOf(heard)), words: expected.length };
}

function wordsOf(sentence: string): string[] {
  return (
    sentence
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}']+/gu) ?? []
  );
}

/** A sentence that takes longer is not heard at all. */
const ANSWER_MS_MAX = 60_000;

interface InstalledEngineSettings {
  readonly modelsDir: string;
  /** Execution providers of ONNX Runtime. */
  readonly providers: NonNullable<EngineOrder['providers']>;
  readonly clock: Clock;
}

/** How a recogniser runs. */
interface Runtime {
  readonly threads: number;
  readonly providers: NonNullable<EngineOrder['providers']>;
  readonly clock: Clock;
}

/** Installed voices that the setting allows; of espeak-ng's two builds the better one. */
export async function installedVoices(
  settings: InstalledEngineSettings & { readonly tts: string },
): Promise<readonly VoiceUnderTest[]> {
  const { tts, modelsDir, providers, clock } = settings;
  const book = await loadVoiceBook();
  const all = ttsEngines({ modelsDir, providers, book, clock, logger: silentLogger });
  const named = all.filter(({ name }) => name === tts);
  const found: VoiceUnderTest[] = [];
  for (const engine of named.length > 0 ? named : all) {
    const probe = await engine.probe();
    const { name, isUniversal } = engine;
    const isSpare = isUniversal && found.some((other) => other.isUniversal);
    if (isSpare || (!probe.isUsable && named.length === 0)) continue;
    const open = () => {
      if (probe.isUsable) return engine.open({ version: probe.version, passedOver: [] });
      throw new Error(`${probe.reason}; ${probe.remedy}`);
    };
    const version = probe.isUsable ? probe.version : '';
    found.push({ engine: name, version, isUniversal, open });
  }
  return found;
}

/** Installed models; the repository's tiny one where there is no other, unless the setting names an engine. */
export function installedRecognizers(
  settings: InstalledEngineSettings & { readonly stt: string; readonly threads: number },
): readonly RecognizerUnderTest[] {
  const { stt, modelsDir } = settings;
  const all = [whisperEngine, moonshineEngine, transformersEngine];
  const named = all.filter(({ name }) => name === stt);
  const isAuto = named.length === 0;
  const engines = isAuto ? all.filter(({ isOnRequest }) => isOnRequest !== true) : named;
  const inFolder = (folder: string) =>
    engines.flatMap((engine) =>
      engine.find(folder).map((model) => recognizerUnderTest(engine, model, settings)),
    );
  const installed = inFolder(modelsDir);
  if (installed.length > 0) return installed;
  if (isAuto) return inFolder(TINY_DIR);
  const open = () => Promise.reject(new Error(`no ${stt} model in "${modelsDir}"; STT names it`));
  return [{ engine: stt, model: stt, languages: null, open }];
}

function recognizerUnderTest(
  engine: SpeechEngine,
  model: string,
  runtime: Runtime,
): RecognizerUnderTest {
  const isTiny = resolve(model).startsWith(TINY_DIR);
  // A Moonshine model has one language, which its name ends with where it is not English.
  const [, language = 'en'] = /-([a-z]{2})$/.exec(basename(model)) ?? [];
  const languages = engine.name === 'moonshine' ? [language] : null;
  return {
    engine: engine.name,
    model: isTiny ? `tiny ${basename(model)}` : basename(model),
    languages: isTiny ? TINY_MODEL_LANGUAGES : languages,
    open: () => openRecognizer(engine, model, runtime),
  };
}

/** In a child process, as the server runs it. @throws {Error} naming what is wrong with the model. */
async function openRecognizer(
  { moduleUrl }: SpeechEngine,
  model: string,
  { threads, providers, clock }: Runtime,
): Promise<OpenRecognizer> {
  const note = () => undefined;
  const pool = new RecognizerPool({
    ...{ moduleUrl, threads, providers, size: 1, fork: forkRecognizer, clock, note },
  });
  const outcome = await pool.start([model]);
  if (outcome.model === null) {
    await pool.stop();
    throw new Error(outcome.failures.join('; '));
  }
  const line = pool.join();
  return {
    hear: async (pcm, language) => {
      const utterance = line.open({ language });
      line.append(utterance, pcm);
      const request = line.request(utterance, { priority: 'final' });
      const cancelLimit = clock.after(ANSWER_MS_MAX, () => request.cancel());
      try {
        return (await request.answer).text;
      } finally {
        cancelLimit();
        line.close(utterance);
      }
    },
    close: () => pool.stop(),
  };
}
