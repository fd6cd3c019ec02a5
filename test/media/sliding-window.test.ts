import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SlidingWindow } from '../../src/media/dsp/sliding-window.ts';

const sound = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 700 });

describe('SlidingWindow', () => {
  test('holds the newest samples of sounds of any length, after silence', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.array(sound), (length, sounds) => {
        const window = new SlidingWindow(length);

        for (const pcm of sounds) window.push(Int16Array.from(pcm));

        const all = [...new Array<number>(length).fill(0), ...sounds.flat()];
        expect([...window.toArray()]).toEqual(all.slice(-length));
        expect(window.samples[window.start]).toBe(all.at(-length));
      }),
    );
  });

  test('is silent after it was cleared', () => {
    const window = new SlidingWindow(3);
    window.push(Int16Array.of(1, 2, 3, 4));

    window.clear();
    window.push(Int16Array.of(5));

    expect([...window.toArray()]).toEqual([0, 0, 5]);
  });
});
