/** A caller who tells a story, through the whole turn machine: how often the agent takes a pause for the end of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readScene } from './support/scene.ts';
import { SceneWorld } from './support/scene-world.ts';

const SENTENCE_MS = 1500;

/** @returns how many pauses were taken for the end, of one less than there are sentences. */
function interruptionsIn(pausesMs: readonly number[]): number {
  let atMs = 2000;
  const lines = ['agent greets with "Hello."'];
  for (const pauseMs of [...pausesMs, 0]) {
    lines.push('model answers "I understand."');
    lines.push(
      `at ${atMs / 1000} s caller says "Then I came home late." for ${SENTENCE_MS / 1000} s`,
    );
    atMs += SENTENCE_MS + pauseMs;
  }
  lines.push(`curtain after ${(atMs + 2500) / 1000} s`);
  const trace = new SceneWorld(readScene(lines.join('\n'))).play();
  return trace.filter((line) => line.includes('EMIT said by user')).length - 1;
}

test('twenty sentences with 0.65 s between them are never interrupted', () => {
  expect(interruptionsIn(Array(19).fill(650))).toBe(0);
});

test('twenty sentences with 0.3 to 1.2 s between them are interrupted about once', () => {
  const pauses = fc.array(fc.integer({ min: 30, max: 120 }), { minLength: 19, maxLength: 19 });
  const stories = fc.sample(pauses, { numRuns: 100, seed: 1 });

  const counts = stories.map((story) => interruptionsIn(story.map((each) => each * 10)));

  expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).toBeLessThanOrEqual(1);
  expect(Math.max(...counts)).toBe(1);
});
