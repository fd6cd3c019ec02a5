/** espeak-ng as a TTS engine: the installed program, or the WASM build from npm. */

import { createRequire } from 'node:module';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { hasCode } from '../../../lib/unknown-value.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import type { EngineProbe, SynthesizerEngine } from '../pool/choose-synthesizer.ts';
import { withoutSpeltScripts } from '../pool/spelt-scripts.ts';
import {
  pauseAfterMs,
  type SpeechRequest,
  type Synthesizer,
  spokenText,
} from '../pool/synthesizer.ts';
import { SynthesizerPool } from '../pool/synthesizer-pool.ts';
import type { VoiceBook } from '../voices/voice-book.ts';
import { espeakProgramVersion } from './espeak-program.ts';
import {
  chooseEspeakVoice,
  type EspeakEngine,
  type EspeakVoice,
  type Sentence,
  type SpeakingOrder,
} from './espeak-voice.ts';

const ALWAYS_THERE =
  'the voice that is always there; install a Kokoro or Piper voice for natural speech';

export interface EspeakEngineOptions {
  readonly voices: VoiceBook;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name on PATH, or path, of the program. */
  readonly program?: string;
  readonly moduleName?: string;
}

/** The engines `espeak` and `espeak-wasm`, in this order of preference. */
export function espeakEngines(options: EspeakEngineOptions): readonly SynthesizerEngine[] {
  return [espeakProgramEngine(options), espeakWasmEngine(options)];
}

/** The installed program espeak-ng. */
export function espeakProgramEngine(options: EspeakEngineOptions): SynthesizerEngine {
  const { program = 'espeak-ng' } = options;
  const probe = () => probeProgram(program);
  return espeakEngine(options, { name: 'espeak', probe, engine: { kind: 'program', program } });
}

/** The WASM build of espeak-ng from npm. */
export function espeakWasmEngine(options: EspeakEngineOptions): SynthesizerEngine {
  const { moduleName = 'espeak-ng' } = options;
  const probe = () => probeModule(moduleName);
  const engine = { kind: 'wasm', moduleName } as const;
  // A child speaks one sentence at a time and then loads for 80 ms: two take turns.
  return espeakEngine(options, { name: 'espeak-wasm', probe, engine, childCount: 2 });
}

function espeakEngine(
  { voices, clock, logger }: EspeakEngineOptions,
  {
    name,
    probe,
    ...build
  }: Pick<SynthesizerEngine, 'name' | 'probe'> & Pick<EspeakOptions, 'engine' | 'childCount'>,
): SynthesizerEngine {
  const open: SynthesizerEngine['open'] = ({ version, passedOver }) =>
    new EspeakSynthesizer({
      ...build,
      voices,
      clock,
      logger,
      report: reportOf(version, passedOver),
    });
  return { name, isUniversal: true, probe, open };
}

async function probeProgram(program: string): Promise<EngineProbe> {
  try {
    return { isUsable: true, version: await espeakProgramVersion(program) };
  } catch (error) {
    const isMissing = hasCode(error, 'ENOENT');
    return {
      isUsable: false,
      reason: isMissing
        ? `no program "${program}" on PATH`
        : `the program "${program}" does not run: ${String(error).slice(0, 200)}`,
      remedy: 'install the package espeak-ng (Debian: apt-get install espeak-ng)',
    };
  }
}

/** Finds the module without loading it: it is GPL-3, and is loaded in a process of its own. */
async function probeModule(moduleName: string): Promise<EngineProbe> {
  try {
    createRequire(import.meta.url).resolve(moduleName);
    return { isUsable: true, version: 'eSpeak NG as WASM' };
  } catch {
    return {
      isUsable: false,
      reason: `no npm package "${moduleName}"`,
      remedy: 'run npm install without --omit=optional',
    };
  }
}

function reportOf(version: string, passedOver: readonly string[]) {
  return {
    job: 'tts',
    engine: version,
    reason: [...passedOver, ALWAYS_THERE].join('; '),
    isFallback: true,
    standIn: 'simple_voice',
  } as const;
}

/** Sentences asked for and not yet spoken, over all calls. More are refused. */
const SENTENCES_MAX = 500;

const CHILD_FILE = new URL('./speaking-child.ts', import.meta.url);

/** The WASM build takes half a second. */
const START_TIMEOUT_MS = 15_000;

const ANSWER_TIMEOUT_MS = 15_000;

/** Unknown voices that are logged, each once. */
const NOTED_VOICES_MAX = 100;

/** The voice of agents that name none. */
const FIRST_VOICE = { voice: 'en-US-JennyNeural', language: 'en-US' };

interface EspeakOptions {
  readonly engine: EspeakEngine;
  readonly voices: VoiceBook;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly report: EngineReport;
  /** One child speaks about 100 times as fast as is listened to; the WASM build about 30 times. */
  readonly childCount?: number;
  readonly answerTimeoutMs?: number;
}

/** The voice that is always there: espeak-ng, the program or its WASM build, in child processes. */
export class EspeakSynthesizer implements Synthesizer {
  readonly #options: EspeakOptions;
  readonly #pool: SynthesizerPool<Sentence>;
  readonly #noted = new Set<string>();

  constructor(options: EspeakOptions) {
    this.#options = options;
    const { clock, logger, childCount = 1, answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
    const order: SpeakingOrder = {
      engine: options.engine,
      firstVoice: this.#voiceFor(FIRST_VOICE),
    };
    const child = {
      file: CHILD_FILE,
      order,
      engine: 'espeak-ng',
      startTimeoutMs: START_TIMEOUT_MS,
    };
    this.#pool = new SynthesizerPool({
      ...{ child, clock, logger, answerTimeoutMs },
      ...{ count: childCount, sentencesMax: SENTENCES_MAX },
    });
  }

  /** @throws {SynthesisError} when espeak-ng cannot speak. */
  start(): Promise<void> {
    return this.#pool.start();
  }

  stop(): Promise<void> {
    return this.#pool.stop();
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const { signal } = request;
    signal?.throwIfAborted();
    const voice = this.#voiceFor(request);
    const text = withoutSpeltScripts(spokenText(request.text), voice.name);
    if (text === '') {
      return;
    }
    yield* this.#pool.speak({ text, voice, pauseAfterMs: pauseAfterMs(text) }, { signal });
  }

  report(): EngineReport {
    return this.#options.report;
  }

  #voiceFor(request: Pick<SpeechRequest, 'voice' | 'language'>): EspeakVoice {
    const { voice, hasLanguage } = chooseEspeakVoice(request, this.#options.voices);
    const asked = `${request.voice} ${request.language}`.slice(0, 100);
    if (!hasLanguage && !this.#noted.has(asked) && this.#noted.size < NOTED_VOICES_MAX) {
      this.#noted.add(asked);
      this.#options.logger.warn(
        { voice: request.voice.slice(0, 100), language: request.language.slice(0, 35) },
        'espeak-ng does not speak this language; English stands in',
      );
    }
    return voice;
  }
}
