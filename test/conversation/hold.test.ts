/** A far end that puts the call on hold: the agent waits, and its words do too. */
import { expect, test } from 'vitest';
import { hearWhole, kindsOf, openTurns, startTurns, waitsFor } from './support/turns.ts';

const HOLD = { kind: 'hold', isOnHold: true } as const;
const RESUMED = { kind: 'hold', isOnHold: false } as const;

test('silence does not count on hold, and counts from the start after it', () => {
  const turns = openTurns();

  const held = turns.take(5000, HOLD);
  const rung = turns.take(10_500, { kind: 'timer', timer: 'silence' });
  const resumed = turns.take(90_000, RESUMED);

  expect(held).toEqual([{ kind: 'cancel-timer', timer: 'silence' }]);
  expect(rung).toEqual([]);
  expect(waitsFor('silence', resumed)).toHaveLength(1);
});

test('the agent may ask again after a hold whether the caller is there', () => {
  const turns = openTurns();
  turns.take(10_500, { kind: 'timer', timer: 'silence' });
  hearWhole(turns, 11_000, 12_000);
  turns.take(13_000, HOLD);

  turns.take(90_000, RESUMED);

  expect(turns.state().hasCheckedIn).toBe(false);
});

test('words that wait for the end of a hold are no failure of the voice', () => {
  const turns = startTurns();
  turns.take(100, HOLD);

  const rung = turns.take(15_000, { kind: 'timer', timer: 'reply' });
  turns.take(90_000, RESUMED);
  const failed = turns.take(105_000, { kind: 'timer', timer: 'reply' });

  expect(waitsFor('reply', rung)).toHaveLength(1);
  expect(kindsOf(rung)).not.toContain('drop');
  expect(kindsOf(failed)).toContain('drop');
  expect(turns.state().failures).toBe(1);
});
