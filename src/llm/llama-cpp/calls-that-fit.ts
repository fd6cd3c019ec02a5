/** How many answers at the same time a machine's memory holds; pure */

/** Keys and values of one token: Qwen3 4B and 8B have 36 layers of 8 heads of 128 numbers, twice, in 16 bits; smaller ones less. */
const BYTES_A_TOKEN = 36 * 8 * 128 * 2 * 2;

/** Weights take their file's length, and the runtime's own memory. */
const WEIGHTS_FACTOR = 1.1;

/** Left to calls, recognisers, voices and the system. */
const MEMORY_SHARE = 0.75;

/** @returns at least 1: what is too large then fails to load, and says so. */
export function callsThatFit(machine: {
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly contextTokens: number;
  readonly callsMax: number;
}): number {
  const { memoryBytes, fileBytes, contextTokens, callsMax } = machine;
  const room = memoryBytes * MEMORY_SHARE - fileBytes * WEIGHTS_FACTOR;
  const fitting = Math.floor(room / (contextTokens * BYTES_A_TOKEN));
  return Math.max(1, Math.min(callsMax, fitting));
}
