/** The engines that the self-test tries: the installed voices and recognisers. */
import { basename, resolve } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { TINY_DIR } from '../hearing/choose-hearing.ts';
import type { EngineOrder } from '../hearing/hearing-messages.ts';
import type { SpeechEngine } from '../models/model-files.ts';
import { forkRecognizer } from '../stt/pool/recognizer-lane.ts';
import { RecognizerPool } from '../stt/pool/recognizer-pool.ts';
import { moonshineEngine, transformersEngine, whisperEngine } from '../stt/recognizer-engines.ts';
import { ttsEngines } from '../tts/tts-engines.ts';
import { loadVoiceBook } from '../tts/voices/voice-book.ts';
import { TINY_MODEL_LANGUAGES } from './reference-sentences.ts';
import type { OpenRecognizer, RecognizerUnderTest, VoiceUnderTest } from './self-test.ts';

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

/** Those that the setting allows; of espeak-ng's two builds the better one. */
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
