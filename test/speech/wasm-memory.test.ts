import { expect, test } from 'vitest';
import { MemoryBefore } from '../../src/speech/tts/espeak/wasm-instance.ts';

/** As WebAssembly.Memory: growing it makes another buffer. */
function memoryOf(bytes: readonly number[]) {
  return { buffer: Uint8Array.from(bytes).buffer };
}

test('MemoryBefore.putBack restores what was written over, zeros included', () => {
  const memory = memoryOf([1, 0, 3, 0, 0, 0]);
  const before = new MemoryBefore(memory);
  new Uint8Array(memory.buffer).fill(9);

  before.putBack();

  expect([...new Uint8Array(memory.buffer)]).toEqual([1, 0, 3, 0, 0, 0]);
  expect(before.isOutgrown).toBe(false);
});

test('MemoryBefore.isOutgrown tells that the memory has become another', () => {
  const memory = memoryOf([1, 2]);
  const before = new MemoryBefore(memory);

  memory.buffer = new ArrayBuffer(4);

  expect(before.isOutgrown).toBe(true);
});
