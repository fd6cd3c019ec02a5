/** The tensors of one Silero VAD run over a number of calls, reused from tick to tick. */
import { Tensor } from '../../models/onnx-runtime.ts';

/** Size of the recurrent layer's hidden state, and of its cell state. */
export const STATE_SIZE = 128;

/** One sampling rate of the model. The context is the end of the previous window, which goes in again. */
export interface Branch {
  readonly rateHz: 8000 | 16_000;
  readonly windowSamples: number;
  readonly contextSamples: number;
}

/** The rates of Silero VAD, the cheaper one first. */
export const BRANCHES: readonly Branch[] = [
  { rateHz: 8000, windowSamples: 256, contextSamples: 32 },
  { rateHz: 16_000, windowSamples: 512, contextSamples: 64 },
];

/** One call's model state. */
export interface CallMemory {
  /** Context and window, as they go into the model. */
  readonly input: Float32Array;
  /** Hidden state, then cell state. */
  readonly state: Float32Array;
}

/** Input and output tensors for a fixed number of calls. */
export class SileroBatch {
  readonly calls: number;
  /** Float32 [calls, context + window], float32 [2, calls, 128], int64 scalar. */
  readonly feeds: { readonly input: Tensor; readonly state: Tensor; readonly sr: Tensor };
  /** Where the model writes: float32 [calls, 1] and [2, calls, 128]. */
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
