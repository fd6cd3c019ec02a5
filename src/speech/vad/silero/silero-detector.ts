/** Silero's voice detector, version 5 or 6, on ONNX Runtime: one run for all calls of a tick. */
import { readFile } from 'node:fs/promises';
import type { InferenceSession } from 'onnxruntime-node';
import { ModelFileError } from '../../models/model-file-error.ts';
import { type Graph, readGraph } from '../../models/onnx/onnx-graph.ts';
import { openSession } from '../../models/onnx-session.ts';
import type { DetectorStream, Vad } from '../vad.ts';
import { BRANCHES, type Branch, type CallMemory, SileroBatch, STATE_SIZE } from './silero-batch.ts';
import {
  readSileroLayers,
  SileroLayoutError,
  transformLengths,
  transformSamplesOf,
} from './silero-layers.ts';
import { sileroAsProducts } from './silero-products.ts';

const MODEL = 'voice detector';

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
 * Loads a Silero-shaped model and takes its 8 kHz branch where it has one: half the work. Where the file is laid out as
 * Silero's own, its layers are run as products over all calls; the file stays as it is.
 *
 * @throws {ModelFileError}
 * @see https://github.com/snakers4/silero-vad: input float32 [calls, context + window], state float32
 * [2, calls, 128], sr int64 scalar; output float32 [calls, 1], stateN float32 [2, calls, 128]
 */
export async function openVoiceDetector(modelPath: string): Promise<Vad> {
  const graph = await graphOf(modelPath);
  const asItIs = await openAsItIs(modelPath, graph);
  try {
    const quick = await openAsProducts(modelPath, { graph, asItIs });
    await asItIs.close();
    return quick;
  } catch (error) {
    asItIs.drawback = drawbackOf(error);
    return asItIs;
  }
}

/**
 * Loads a model and runs its graph as the file has it: what the other way is measured against.
 *
 * @param rateHz default: as `openVoiceDetector` chooses.
 * @throws {ModelFileError}
 */
export async function openUnchangedDetector(
  modelPath: string,
  rateHz?: Branch['rateHz'],
): Promise<Vad> {
  return openAsItIs(modelPath, await graphOf(modelPath), rateHz);
}

/** @throws {ModelFileError} */
async function graphOf(modelPath: string): Promise<Graph> {
  try {
    return readGraph(await readFile(modelPath));
  } catch (error) {
    throw ModelFileError.from(MODEL, modelPath, error);
  }
}

async function openAsItIs(
  modelPath: string,
  graph: Graph,
  wantedHz?: Branch['rateHz'],
): Promise<SileroDetector> {
  const session = await openSession({ model: MODEL, path: modelPath, threads: 1 });
  for (const branch of BRANCHES) {
    const isWanted = wantedHz === undefined || wantedHz === branch.rateHz;
    if (!isWanted || !mayHave(graph, branch) || !takesLengthOf(session, branch)) continue;
    const detector = new SileroDetector(session, branch);
    // Two windows at once: a branch that is not there, or a model that cannot batch, fails here and not in a call.
    const windows = [0, 1].map(() => silentWindow(detector));
    const isSound = await detector.score(windows).then(isProbabilities, () => false);
    if (isSound) return detector;
  }
  await session.release();
  throw new ModelFileError(MODEL, modelPath, 'it has not the interface of Silero v5');
}

/** @throws {Error} when the file is laid out otherwise, or answers otherwise when it is so run. */
async function openAsProducts(
  modelPath: string,
  { graph, asItIs }: { readonly graph: Graph; readonly asItIs: SileroDetector },
): Promise<SileroDetector> {
  const { branch } = asItIs;
  const layers = readSileroLayers(graph, branch);
  const content = sileroAsProducts(layers, branch);
  const session = await openSession({ model: MODEL, path: modelPath, threads: 1, content });
  const detector = new SileroDetector(session, branch);
  try {
    if (await answersAlike(detector, asItIs)) return detector;
    throw new SileroLayoutError('it answers otherwise than its layers say');
  } catch (error) {
    await detector.close();
    throw error;
  }
}

function drawbackOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return `its layers are run call by call, which is slower on a full server, because it is not laid out as Silero v5 (${why})`;
}

/** Exports for one rate take windows of the other, too, and hear nothing in them: the length of the spectrum tells. */
function mayHave(graph: Graph, branch: Branch): boolean {
  const lengths = transformLengths(graph);
  const own = transformSamplesOf(branch);
  return lengths.has(own) || !BRANCHES.some((other) => lengths.has(transformSamplesOf(other)));
}

/** A model that states a fixed window length hears only the rate it belongs to. */
function takesLengthOf(session: InferenceSession, branch: Branch): boolean {
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

class SileroDetector implements Vad {
  readonly branch: Branch;
  drawback?: string;
  readonly #session: InferenceSession;
  /** Calls come and go seldom, so that one run's tensors mostly do for the next; null while a run has them. */
  #spare: SileroBatch | null = null;

  constructor(session: InferenceSession, branch: Branch) {
    this.branch = branch;
    this.#session = session;
  }

  get rateHz(): 8000 | 16_000 {
    return this.branch.rateHz;
  }

  get windowSamples(): number {
    return this.branch.windowSamples;
  }

  open(): SileroStream {
    return new SileroStream(this.branch);
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
    stream.input.set(pcm, this.branch.contextSamples);
    return stream;
  }

  #takeBatch(calls: number): SileroBatch {
    const spare = this.#spare;
    this.#spare = null;
    return spare?.calls === calls ? spare : new SileroBatch(this.branch, calls);
  }
}

/** Float32 sums in another order differ by less. */
const DIFFERENCE_MAX = 1e-5;

/** What a call is cached by is a sum of many windows; of its size, where that is above 1. */
const STATE_DIFFERENCE_MAX = 1e-4;

/** Long enough that each window's memory shows in the next ones. */
const WINDOWS = 8;

/** One call each: whispered, spoken, and as loud as the line can be. */
const LEVELS = [0.01, 0.15, 0.95] as const;

/** Passes every pitch up to half the rate once in all windows. */
const HIGHEST_PITCH = Math.PI;

interface RememberedStream extends DetectorStream, CallMemory {}

/** A detector whose streams show what they remember. */
interface OpenDetector extends Vad {
  open(): RememberedStream;
}

/**
 * Plays both the same three calls.
 *
 * @throws {Error} when one of them cannot answer.
 */
async function answersAlike(one: OpenDetector, other: OpenDetector): Promise<boolean> {
  const calls = LEVELS.map((level) => ({ level, one: one.open(), other: other.open() }));
  for (let window = 0; window < WINDOWS; window += 1) {
    const score = (detector: OpenDetector, name: 'one' | 'other') =>
      detector.score(
        calls.map((call) => ({
          stream: call[name],
          pcm: risingTone(call.level, window, detector.windowSamples),
        })),
      );
    const [scores, others] = await Promise.all([score(one, 'one'), score(other, 'other')]);
    if (!isNear(scores, others, DIFFERENCE_MAX)) return false;
    if (!calls.every((call) => isNear(call.one.state, call.other.state, STATE_DIFFERENCE_MAX))) {
      return false;
    }
  }
  return true;
}

function risingTone(level: number, window: number, samples: number): Float32Array {
  const all = WINDOWS * samples;
  return Float32Array.from({ length: samples }, (_, index) => {
    const at = window * samples + index;
    return level * Math.sin((HIGHEST_PITCH * at * at) / (2 * all));
  });
}

/** What is no number is near nothing. */
function isNear(some: ArrayLike<number>, others: ArrayLike<number>, distance: number): boolean {
  return (
    some.length === others.length &&
    Array.from(some).every(
      (value, index) => Math.abs(value - (others[index] as number)) <= distance,
    )
  );
}
