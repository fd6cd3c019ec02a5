/** Chooses the engine that speaks: the one asked for, or the best that is installed. */
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

  /** Looks without loading anything heavy; never throws. */
  probe(): Promise<EngineProbe>;

  /** @param found what `probe` found, and why better engines were passed over (empty when none were). */
  open(found: { readonly version: string; readonly passedOver: readonly string[] }): Synthesizer;
}

/**
 * Chooses among `engines`. The synthesizer is not started.
 *
 * @param options.tts `auto`, or the name of an engine.
 * @throws {Error} naming the remedy, when the engine asked for, or every engine, cannot be used.
 */
export async function chooseSynthesizer(options: {
  readonly tts: string;
  readonly engines: readonly SynthesizerEngine[];
}): Promise<Synthesizer> {
  const { tts, engines } = options;
  const wanted = tts === 'auto' ? engines : engines.filter((engine) => engine.name === tts);
  if (wanted.length === 0) {
    const names = ['auto', ...engines.map((engine) => engine.name)].join(', ');
    throw new Error(`Cannot speak with "${tts}": unknown engine; set TTS to one of ${names}`);
  }
  const passedOver: string[] = [];
  const remedies: string[] = [];
  for (const engine of wanted) {
    const probe = await engine.probe();
    if (probe.isUsable) {
      return engine.open({ version: probe.version, passedOver });
    }
    passedOver.push(probe.reason);
    remedies.push(probe.remedy);
  }
  throw new Error(
    `Cannot speak with "${tts}": ${passedOver.join('; ')}; ${remedies.join(', or ')}`,
  );
}
