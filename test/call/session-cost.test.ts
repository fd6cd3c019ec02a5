import { expect, test } from 'vitest';
import { openCallWorld } from './support/call-world.ts';

test('CallSession puts the price of its leg on record with the answer, and the cost with the end', async () => {
  const world = await openCallWorld();
  const price = { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0 };

  const { leg, over } = await world.answered(price);
  const answered = await world.call();
  world.store.clock.advance(60_001);
  leg.release({ kind: 'far-end' });
  await over;

  expect(answered).toMatchObject({ price, cost: null });
  expect((await world.call()).cost).toEqual({ micros: 24_000, currency: 'EUR' });
});

test('CallSession has no cost on record where the price of its leg is unknown', async () => {
  const world = await openCallWorld();

  const { leg, over } = await world.answered();
  world.store.clock.advance(60_001);
  leg.release({ kind: 'far-end' });
  await over;

  expect(await world.call()).toMatchObject({ durationSeconds: 61, price: null, cost: null });
});
