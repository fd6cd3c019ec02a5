import { expect, test } from 'vitest';
import type { ReleaseCause } from '../../src/telephony/carrier.ts';
import {
  type OrphanedLeg,
  OrphanedLegs,
} from '../../src/telephony/drachtio/carrier/orphaned-calls.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { settle } from './scripted-srf.ts';

/** A call whose fate the test decides. */
class ScriptedLeg implements OrphanedLeg {
  isOver = false;
  isForgotten = false;
  isOrphaned = false;
  questions = 0;
  readonly causes: ReleaseCause[] = [];

  orphan(): void {
    this.isOrphaned = true;
  }

  async isGone(): Promise<boolean> {
    this.questions += 1;
    return this.isForgotten;
  }

  abandon(cause: ReleaseCause): void {
    this.isOver = true;
    this.causes.push(cause);
  }
}

function lose(count = 1) {
  const clock = new FakeClock();
  const orphaned = new OrphanedLegs({ clock });
  const legs = Array.from({ length: count }, () => new ScriptedLeg());
  const [leg] = legs;
  if (leg === undefined) throw new Error('Cannot set up: no call');
  orphaned.lost(legs);
  return { clock, orphaned, legs, leg };
}

test('OrphanedLegs ends calls whose server is away for 5 s', () => {
  const { clock, leg } = lose();

  clock.advance(4_999);
  const before = [...leg.causes];
  clock.advance(1);

  expect(leg.isOrphaned).toBe(true);
  expect(before).toEqual([]);
  expect(leg.causes).toEqual([{ kind: 'broken', reason: 'the SIP server is out of reach' }]);
  expect(clock.waiting).toBe(0);
});

test('OrphanedLegs ends at once the calls that a server that is back has lost, and no other', async () => {
  const { clock, orphaned, legs, leg } = lose(50);
  leg.isForgotten = true;

  clock.advance(4_000);
  orphaned.connected();
  await settle();
  clock.advance(4_999);

  expect(legs.flatMap(({ causes }) => causes)).toEqual([
    { kind: 'broken', reason: 'the SIP server has lost the call' },
  ]);
  expect(legs.map(({ questions }) => questions)).toEqual(legs.map(() => 1));
});

test('OrphanedLegs notices the later end of a call that has outlived its connection', async () => {
  const { clock, orphaned, leg } = lose();
  orphaned.connected();
  await settle();

  leg.isForgotten = true;
  clock.advance(5_000);
  await settle();

  expect(leg.causes).toEqual([{ kind: 'far-end' }]);
  expect(clock.waiting).toBe(0);
});

test('OrphanedLegs gives calls new time when the server is lost again', async () => {
  const { clock, orphaned, leg } = lose();
  clock.advance(4_000);
  orphaned.connected();
  await settle();

  orphaned.lost([leg]);
  clock.advance(4_999);

  expect(leg.causes).toEqual([]);
});

test.each([
  'lost',
  'connected',
])('OrphanedLegs waits for nothing once stopped after it was %s', async (state) => {
  const { clock, orphaned, leg } = lose();
  if (state === 'connected') orphaned.connected();

  orphaned.stop();
  orphaned.stop();
  await settle();
  clock.advance(60_000);

  expect(leg.causes).toEqual([]);
  expect(clock.waiting).toBe(0);
});
