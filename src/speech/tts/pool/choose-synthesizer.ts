/** Chooses the TTS engine: the one set by name, or the best installed one. */
import { type Logger, silentLogger } from '../../../lib/logger.ts';
import { LayeredSynthesizer } from '../neural/voice-model.ts';
import type { Synthesizer } from './synthesizer.ts';

/** Whether an engine can be used on this machine, and what to tell the operator. */
export type EngineProbe =
  | { readonly isUsable: true; readonly version: string }
  /** `remedy` is what to do about it, such as `install the Debian package espeak-ng`. */
  | { readonly isUsable: false; readonly reason: string; readonly remedy: string };

/** One engine that could speak; the composition root lists them, best first. */
export interface SynthesizerEngine {
  /** As in the setting `TTS`. */
  readonly name: string;

  /** Whether it speaks every voice somehow, so that nothing is needed behind it. */
  readonly isUniversal: boolean;

  /** Looks without loading anything heavy; never throws. */
  probe(): Promise<EngineProbe>;

  /** @param found what `probe` found, and why better engines were passed over (empty when none were). */
  open(found: { readonly version: string; readonly passedOver: readonly string[] }): Synthesizer;
}

/**
 * Chooses among `engines`: the best one that can be used, and behind it those that speak the voices that it has not,
 * down to the first that speaks every voice. The synthesizer is not started.
 *
 * @param options.tts `auto`, or the name of an engine.
 * @throws {Error} naming the remedy, when the engine asked for, or every engine, cannot be used.
 */
export async function chooseSynthesizer(options: {
  readonly tts: string;
  readonly engines: readonly SynthesizerEngine[];
  /** Receives failures of voices. */
  readonly logger?: Logger;
}): Promise<Synthesizer> {
  const { tts, engines, logger = silentLogger } = options;
  const wanted = tts === 'auto' ? engines : engines.filter((engine) => engine.name === tts);
  if (wanted.length === 0) {
    const names = ['auto', ...engines.map((engine) => engine.name)].join(', ');
    throw new Error(`Cannot speak with "${tts}": unknown engine; set TTS to one of ${names}`);
  }
  const found = await openUsable(wanted);
  if (found.layers.length === 0) {
    const { passedOver, remedies } = found;
    throw new Error(
      `Cannot speak with "${tts}": ${passedOver.join('; ')}; ${remedies.join(', or ')}`,
    );
  }
  const behind = found.isUniversal
    ? []
    : (await openUsable(engines.filter((engine) => engine.isUniversal))).layers;
  const layers = [...found.layers, ...behind];
  const [only] = layers;
  if (only !== undefined && layers.length === 1) return only;
  return new LayeredSynthesizer({ layers, mustStart: tts !== 'auto', logger });
}

interface Usable {
  readonly layers: readonly Synthesizer[];
  readonly isUniversal: boolean;
  readonly passedOver: readonly string[];
  readonly remedies: readonly string[];
}

/** Those that can be used, down to the first that speaks every voice. */
async function openUsable(engines: readonly SynthesizerEngine[]): Promise<Usable> {
  const layers: Synthesizer[] = [];
  const passedOver: string[] = [];
  const remedies: string[] = [];
  for (const engine of engines) {
    const probe = await engine.probe();
    if (!probe.isUsable) {
      passedOver.push(probe.reason);
      remedies.push(probe.remedy);
      continue;
    }
    layers.push(engine.open({ version: probe.version, passedOver: [...passedOver] }));
    if (engine.isUniversal) return { layers, isUniversal: true, passedOver, remedies };
  }
  return { layers, isUniversal: false, passedOver, remedies };
}
