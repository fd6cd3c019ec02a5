/** The two ways to have espeak-ng: the installed program, or the WASM build from npm. */
import { createRequire } from 'node:module';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { EngineProbe, SynthesizerEngine } from '../pool/choose-synthesizer.ts';
import type { VoiceBook } from '../voices/voice-book.ts';
import { espeakProgramVersion } from './espeak-program.ts';
import { EspeakSynthesizer } from './espeak-synthesizer.ts';

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
  return [programEngine(options), wasmEngine(options)];
}

function programEngine(options: EspeakEngineOptions): SynthesizerEngine {
  const { voices, clock, logger, program = 'espeak-ng' } = options;
  return {
    name: 'espeak',
    isUniversal: true,
    probe: () => probeProgram(program),
    open: ({ version, passedOver }) =>
      new EspeakSynthesizer({
        engine: { kind: 'program', program },
        voices,
        clock,
        logger,
        report: reportOf(version, passedOver),
      }),
  };
}

function wasmEngine(options: EspeakEngineOptions): SynthesizerEngine {
  const { voices, clock, logger, moduleName = 'espeak-ng' } = options;
  return {
    name: 'espeak-wasm',
    isUniversal: true,
    probe: () => probeModule(moduleName),
    open: ({ version, passedOver }) =>
      new EspeakSynthesizer({
        engine: { kind: 'wasm', moduleName },
        voices,
        clock,
        logger,
        report: reportOf(version, passedOver),
        // It speaks one sentence at a time and then loads for 80 ms: two take turns.
        childCount: 2,
      }),
  };
}

async function probeProgram(program: string): Promise<EngineProbe> {
  try {
    return { isUsable: true, version: await espeakProgramVersion(program) };
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return {
      isUsable: false,
      reason: isMissing
        ? `no program "${program}" on PATH`
        : `the program "${program}" does not run: ${String(error).slice(0, 200)}`,
      remedy: 'install the package espeak-ng (Debian: apt-get install espeak-ng)',
    };
  }
}

/** Only looks where it lies: it is GPL-3, and is loaded in a process of its own. */
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
