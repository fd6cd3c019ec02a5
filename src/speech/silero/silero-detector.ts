/** Silero's voice detector, version 5, on ONNX Runtime: one run for all calls of a tick. */
import { InferenceSession } from 'onnxruntime-node';
import { ModelFileError } from '../model-file-error.ts';
import type { DetectorStream, VoiceDetector } from '../voice-detector.ts';
import { BRANCHES, type Branch, type CallMemory, SileroBatch, STATE_SIZE } from './silero-batch.ts';

class SileroStream implements DetectorStream, CallMemory {
  readonly input: Float32Array;
  readonly state = new Float32Array(2 * STATE_SIZE);

  constructor(branch: Branch) {
    this.input = new Float32Array(branch.contextSamples + branch.windowSamples);
  }

  reset(): void {
    this.input.fill(0);
    this.state.fill(0);
  }
}

/**
 * Loads a Silero-shaped model and takes its 8 kHz branch where it has one: half the work.
 *
 * @throws {ModelFileError}
 * @see https://github.com/snakers4/silero-vad: input float32 [calls, context + window], state float32
 * [2, calls, 128], sr int64 scalar; output float32 [calls, 1], stateN float32 [2, calls, 128]
 */
export async function openVoiceDetector(modelPath: string): Promise<VoiceDetector> {
  const session = await loadSession(modelPath);
  for (const branch of BRANCHES) {
    if (!mayHave(session, branch)) continue;
    const detector = new SileroDetector(session, branch);
    // Two windows at once: a branch that is not there, or a model that cannot batch, fails here and not in a call.
    const windows = [0, 1].map(() => silentWindow(detector));
    const isSound = await detector.score(windows).then(isProbabilities, () => false);
    if (isSound) return detector;
  }
  await session.release();
  throw new ModelFileError('voice detector', modelPath, 'it has not the interface of Silero v5');
}

async function loadSession(modelPath: string): Promise<InferenceSession> {
  try {
    return await InferenceSession.create(modelPath, {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
    });
  } catch (error) {
    throw ModelFileError.from('voice detector', modelPath, error);
  }
}

/** A model that states a fixed window length hears only the rate it belongs to. */
function mayHave(session: InferenceSession, branch: Branch): boolean {
  const input = session.inputMetadata.find(({ name }) => name === 'input');
  const length = input?.isTensor === true ? input.shape[1] : undefined;
  return typeof length !== 'number' || length === branch.contextSamples + branch.windowSamples;
}

function silentWindow(detector: SileroDetector) {
  return { stream: detector.open(), pcm: new Float32Array(detector.windowSamples) };
}

function isProbabilities(scores: readonly number[]): boolean {
  return scores.length === 2 && scores.every((score) => score >= 0 && score <= 1);
}

class SileroDetector implements VoiceDetector {
  readonly rateHz: 8000 | 16_000;
  readonly windowSamples: number;
  readonly #session: InferenceSession;
  readonly #branch: Branch;
  /** Calls come and go seldom, so that one run's tensors mostly do for the next; null while a run has them. */
  #spare: SileroBatch | null = null;

  constructor(session: InferenceSession, branch: Branch) {
    this.rateHz = branch.rateHz;
    this.windowSamples = branch.windowSamples;
    this.#session = session;
    this.#branch = branch;
  }

  open(): SileroStream {
    return new SileroStream(this.#branch);
  }

  async score(
    windows: readonly { readonly stream: DetectorStream; readonly pcm: Float32Array }[],
  ): Promise<readonly number[]> {
    if (windows.length === 0) return [];
    const streams = windows.map(({ stream, pcm }) => this.#load(stream, pcm));
    const batch = this.#takeBatch(streams.length);
    batch.take(streams);
    await this.#session.run(batch.feeds, batch.fetches);
    this.#spare = batch;
    return batch.give(streams);
  }

  close(): Promise<void> {
    return this.#session.release();
  }

  #load(stream: DetectorStream, pcm: Float32Array): SileroStream {
    if (pcm.length !== this.windowSamples) {
      throw new RangeError(
        `Cannot score a window of ${pcm.length} samples: expected ${this.windowSamples}`,
      );
    }
    if (!(stream instanceof SileroStream))
      throw new TypeError('Expected a stream of this detector');
    stream.input.copyWithin(0, this.windowSamples);
    stream.input.set(pcm, this.#branch.contextSamples);
    return stream;
  }

  #takeBatch(calls: number): SileroBatch {
    const spare = this.#spare;
    this.#spare = null;
    return spare?.calls === calls ? spare : new SileroBatch(this.#branch, calls);
  }
}
