import { expect, test } from 'vitest';
import { callsThatFit } from '../../src/llm/llama-cpp/llama-program.ts';

const GB = 2 ** 30;

// Qwen3 4B: 2.5 GB of weights, 1.2 GB a call.
test.each([
  [4, 1],
  [8, 3],
  [12, 4],
  [64, 4],
])('callsThatFit finds room on a machine of %d GB for %d of 4 answers', (memory, calls) => {
  const machine = { memoryBytes: memory * GB, fileBytes: 2_497_280_256 };

  expect(callsThatFit({ ...machine, contextTokens: 8192, callsMax: 4 })).toBe(calls);
});
