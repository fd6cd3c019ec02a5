/** Silero VAD, version 5 or 6, on ONNX Runtime: one run scores the newest window of every call. */
import type { InferenceSession } from 'onnxruntime-node';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { openSession, Tensor } from '../../../lib/onnx/onnx-session.ts';
import { findPrepared } from '../../models/model-files.ts';
import type { DetectorStream, Vad } from '../vad-track.ts';

const MODEL = 'voice detector';

const NOT_PREPARED =
  'it is not prepared, so that it computes call by call, which is slower on a full server: "npm run models" prepares files laid out as Silero v5';

/**
 * Loads a Silero-shaped model: the file that `npm run models` prepared from it, else the export itself. Takes its 8 kHz
 * branch where it has one, which is half the work.
 *
 * @throws {ModelFileError}
 * @see https://github.com/snakers4/silero-vad: input float32 [calls, context + window], state float32
 * [2, calls, 128], sr int64 scalar; output float32 [calls, 1], stateN float32 [2, calls, 128]
 */
export async function openVoiceDetector(modelPath: string): Promise<Vad> {
  const prepared = await findPrepared(modelPath).catch((error: unknown) => {
    throw ModelFileError.from(MODEL, modelPath, error);
  });
  if (prepared !== null) return openSilero(prepared);
  const detector = await openSilero(modelPath);
  detector.drawback = NOT_PREPARED;
  return detector;
}

/**
 * Loads a file as it is.
 *
 * @param wantedHz default: 8000 where the file has it.
 * @throws {ModelFileError}
 */
export async function openSilero(
  path: string,
  wantedHz?: Branch['rateHz'],
): Promise<SileroDetector> {
  const session = await openSession({ model: MODEL, path, threads: 1 });
  for (const branch of BRANCHES) {
    const isWanted = wantedHz === undefined || wantedHz === branch.rateHz;
    if (isWanted && (await hasBranch(session, branch))) return new SileroDetector(session, branch);
  }
  await session.release();
  throw new ModelFileError(MODEL, path, 'it has not the interface of Silero v5');
}

/** Tries a branch on two windows at once: a missing branch or a fixed batch size fails here and not in a call. */
async function hasBranch(session: InferenceSession, branch: Branch): Promise<boolean> {
  const input = session.inputMetadata.find(({ name }) => name === 'input');
  const length = input?.isTensor === true ? input.shape[1] : undefined;
  const isFixed = typeof length === 'number';
  if (isFixed && length !== branch.contextSamples + branch.windowSamples) return false;
  const scores = await scoresOfTone(session, branch);
  if (scores?.length !== 2 || !scores.every((score) => score >= 0 && score <= 1)) return false;
  if (isFixed || branch.rateHz === 16_000) return true;
  // Exports for 16 kHz alone take shorter windows too, ignore `sr`, and detect nothing in them.
  const others = await scoresOfTone(session, { ...branch, rateHz: 16_000 });
  return others === null || others.some((score, call) => score !== scores[call]);
}

/** Null where the model cannot run such windows. */
async function scoresOfTone(
  session: InferenceSession,
  branch: Branch,
): Promise<readonly number[] | null> {
  const detector = new SileroDetector(session, branch);
  const tone = (level: number) =>
    Float32Array.from({ length: branch.windowSamples }, (_, at) => level * Math.sin(at / 3));
  const windows = [0.2, 0.8].map((level) => ({ stream: detector.open(), pcm: tone(level) }));
  return detector.score(windows).catch(() => null);
}

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

/** One model in memory, at one sampling rate. */
export class SileroDetector implements Vad {
  readonly branch: Branch;
  drawback?: string;
  readonly #session: InferenceSession;
  /** Tensors of the newest run, used again while the number of calls stays the same; null while a run has them. */
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

/** Size of the recurrent layer's hidden state, and of its cell state. */
export const STATE_SIZE = 128;

/** One sampling rate of the model. The context is the end of the previous window, which goes in again. */
export interface Branch {
  readonly rateHz: 8000 | 16_000;
  readonly windowSamples: number;
  readonly contextSamples: number;
}

/** The rates of Silero VAD, the cheaper one first. */
const BRANCHES: readonly Branch[] = [
  { rateHz: 8000, windowSamples: 256, contextSamples: 32 },
  { rateHz: 16_000, windowSamples: 512, contextSamples: 64 },
];

/** One call's model state. */
interface CallMemory {
  /** Context and window, as they go into the model. */
  readonly input: Float32Array;
  /** Hidden state, then cell state. */
  readonly state: Float32Array;
}

/** Input and output tensors for a fixed number of calls. */
class SileroBatch {
  readonly calls: number;
  /** Float32 [calls, context + window], float32 [2, calls, 128], int64 scalar. */
  readonly feeds: { readonly input: Tensor; readonly state: Tensor; readonly sr: Tensor };
  /** Tensors that the model writes: float32 [calls, 1] and [2, calls, 128]. */
  readonly fetches: { readonly output: Tensor; readonly stateN: Tensor };
  readonly #input: Float32Array;
  readonly #state: Float32Array;
  readonly #output: Float32Array;
  readonly #next: Float32Array;

  constructor({ rateHz, windowSamples, contextSamples }: Branch, calls: number) {
    const length = contextSamples + windowSamples;
    this.calls = calls;
    this.#input = new Float32Array(calls * length);
    this.#state = new Float32Array(2 * calls * STATE_SIZE);
    this.#output = new Float32Array(calls);
    this.#next = new Float32Array(2 * calls * STATE_SIZE);
    const states = [2, calls, STATE_SIZE];
    this.feeds = {
      input: new Tensor('float32', this.#input, [calls, length]),
      state: new Tensor('float32', this.#state, states),
      sr: new Tensor('int64', BigInt64Array.of(BigInt(rateHz)), []),
    };
    this.fetches = {
      output: new Tensor('float32', this.#output, [calls, 1]),
      stateN: new Tensor('float32', this.#next, states),
    };
  }

  /** Copies the states of as many calls into the input tensors. */
  take(memories: readonly CallMemory[]): void {
    for (let call = 0; call < this.calls; call += 1) {
      const { input, state } = memories[call] as CallMemory;
      this.#input.set(input, call * input.length);
      this.#state.set(state.subarray(0, STATE_SIZE), call * STATE_SIZE);
      this.#state.set(state.subarray(STATE_SIZE), (this.calls + call) * STATE_SIZE);
    }
  }

  /** Copies the new states back. @returns the probabilities of speech, in the order of `take`. */
  give(memories: readonly CallMemory[]): number[] {
    for (let call = 0; call < this.calls; call += 1) {
      const { state } = memories[call] as CallMemory;
      const other = this.calls + call;
      state.set(this.#next.subarray(call * STATE_SIZE, (call + 1) * STATE_SIZE));
      state.set(this.#next.subarray(other * STATE_SIZE, (other + 1) * STATE_SIZE), STATE_SIZE);
    }
    return Array.from(this.#output);
  }
}
