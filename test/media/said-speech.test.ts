import { expect, test } from 'vitest';
import { SaidSpeech } from '../../src/media/engine/rtp-session-handle.ts';

const SECOND = 8000;

test('SaidSpeech reckons how long what was said of a reply before will last', () => {
  const said = new SaidSpeech();

  const aheadMs = [
    said.add(1, 2 * SECOND, 5_000),
    said.add(1, SECOND, 5_500),
    said.add(1, SECOND, 7_000),
  ];

  expect(aheadMs).toEqual([0, 1_500, 1_000]);
});

test('SaidSpeech takes nothing for ahead when all of it has been played', () => {
  const said = new SaidSpeech();
  said.add(1, SECOND, 5_000);

  const late = said.add(1, SECOND, 9_000);
  const next = said.add(1, SECOND, 9_250);

  expect([late, next]).toEqual([0, 750]);
});

test('SaidSpeech resets for another reply', () => {
  const said = new SaidSpeech();
  said.add(1, 10 * SECOND, 5_000);

  expect(said.add(2, SECOND, 5_000)).toBe(0);
});
