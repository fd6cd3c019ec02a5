/** Chooses the TTS engine, set by name or the best installed one, and the engines that stand in for it. */

import { type Logger, silentLogger } from '../../../lib/logger.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import type { SpeechRequest, Synthesizer, VoiceChoice } from './synthesizer.ts';

/** Whether an engine can be used on this machine, and what to tell the operator. */
export type EngineProbe =
  | { readonly isUsable: true; readonly version: string }
  /** `remedy` is what to do about it, such as `install the Debian package espeak-ng`. */
  | { readonly isUsable: false; readonly reason: string; readonly remedy: string };

/** One engine that could speak; the composition root lists them, best first. */
export interface SynthesizerEngine {
  /** Name as in the setting `TTS`. */
  readonly name: string;

  /** Whether it speaks every voice, perhaps by a similar one, so that no further engine is needed. */
  readonly isUniversal: boolean;

  /** Checks the installation without loading models; never throws. */
  probe(): Promise<EngineProbe>;

  /** @param found what `probe` found, and why better engines were passed over (empty when none were). */
  open(found: { readonly version: string; readonly passedOver: readonly string[] }): Synthesizer;
}

/**
 * Chooses among `engines`: the best usable one, and after it the next ones for voices that it lacks, up to the
 * first that speaks every voice. The synthesizer is not started.
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

/** Opens the usable engines, down to the first that speaks every voice. */
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

/** Most failures in the log until the preferred engine speaks a sentence again. */
const NOTED_MAX = 20;

/** Several engines, best first: a sentence that fails before its first sound goes to the next one. */
export class LayeredSynthesizer implements Synthesizer {
  readonly #layers: readonly Synthesizer[];
  readonly #mustStart: boolean;
  readonly #logger: Logger;
  #started: readonly Synthesizer[];
  #failures: readonly string[] = [];
  #noted = 0;

  /**
   * @param options.layers best first; the last one speaks every voice.
   * @param options.mustStart whether the first one was chosen by name, so that the start fails without it.
   */
  constructor(options: {
    readonly layers: readonly Synthesizer[];
    readonly mustStart: boolean;
    readonly logger: Logger;
  }) {
    this.#layers = options.layers;
    this.#started = options.layers;
    this.#mustStart = options.mustStart;
    this.#logger = options.logger;
  }

  /** @throws {SynthesisError} when the last layer cannot speak, or the first one that must. */
  async start(): Promise<void> {
    const results = await Promise.allSettled(this.#layers.map((layer) => layer.start()));
    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason : null));
    const needed = [reasons.at(-1), this.#mustStart ? reasons[0] : null];
    for (const reason of needed) {
      if (reason === null || reason === undefined) continue;
      await this.stop();
      throw reason;
    }
    this.#started = this.#layers.filter((_, index) => reasons[index] === null);
    this.#failures = reasons.filter((reason) => reason !== null).map(messageOf);
    for (const reason of this.#failures) {
      this.#logger.warn({ reason }, 'voice engine cannot be used; another one stands in');
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#layers.map((layer) => layer.stop()));
  }

  /** Tries the next layer after a failure before the first sound. */
  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const layers = this.#speaking(request);
    for (const [index, layer] of layers.entries()) {
      let hasSpoken = false;
      try {
        for await (const pcm of layer.speak(request)) {
          hasSpoken = true;
          yield pcm;
        }
        if (index === 0) this.#noted = 0;
        return;
      } catch (error) {
        const isOver = hasSpoken || index === layers.length - 1 || request.signal?.aborted === true;
        if (isOver) throw error;
        this.#note(error);
      }
    }
  }

  /** The best layer that has started, and why better ones have not. */
  report(): EngineReport {
    const [best] = this.#started;
    const report = (best ?? this.#layers[0])?.report();
    if (report === undefined) throw new RangeError('Cannot report: there is no engine');
    if (this.#failures.length === 0) return report;
    const reason = [...this.#failures, report.reason].join('; ');
    const replacement = { engine: 'a neural voice', how: this.#failures.join('; ') };
    return { standIn: 'second_choice', replacement, ...report, reason, isFallback: true };
  }

  reportFor(choice: VoiceChoice): EngineReport {
    const [layer] = this.#speaking(choice);
    return layer === undefined || layer === this.#started[0] ? this.report() : layer.report();
  }

  #speaking(choice: VoiceChoice): readonly Synthesizer[] {
    return this.#started.filter((layer) => layer.canSpeak?.(choice) ?? true);
  }

  #note(error: unknown): void {
    this.#noted += 1;
    if (this.#noted <= NOTED_MAX) {
      this.#logger.warn({ reason: messageOf(error) }, 'voice failed; another engine stands in');
    }
  }
}
