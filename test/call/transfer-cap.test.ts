/** How often a call, and an agent, may hand callers over. */
import { expect, test } from 'vitest';
import { refusalOfTransfer, TransferCap } from '../../src/call/transfer-cap.ts';
import { FakeClock } from '../support/fake-clock.ts';

const NUMBER = '+390612345678';
const NOON_MS = Date.UTC(2026, 10, 20, 12);

function openWorld() {
  const clock = new FakeClock(NOON_MS);
  const cap = new TransferCap({ clock });
  const dialled: string[] = [];
  const world = { clock, dialled, isRefused: false };
  const dial = async (number: string) => {
    dialled.push(number);
    if (world.isRefused) throw new Error('refused');
  };
  const control = () =>
    cap.limit(
      {
        transfer: (number) => dial(number),
        bringIn: (number) => dial(number),
        appointmentBooked: () => undefined,
      },
      'agent_1',
    );
  return Object.assign(world, { control });
}

test.each([
  [{}, undefined],
  [{ madeInCall: 1 }, 'this call was handed over already'],
  [{ triedInCall: 2 }, undefined],
  [{ triedInCall: 3 }, 'this call had its attempts'],
  [{ triedToday: 199 }, undefined],
  [{ triedToday: 200 }, 'the agent has made too many today'],
])('refusalOfTransfer: after %o', (counts, expected) => {
  const none = { madeInCall: 0, triedInCall: 0, triedToday: 0 };

  expect(refusalOfTransfer({ ...none, ...counts })).toBe(expected);
});

test('TransferCap lets a call be handed over once', async () => {
  const world = openWorld();
  const control = world.control();

  await control.transfer(NUMBER, '');

  await expect(control.transfer(NUMBER, '')).rejects.toThrow('handed over already');
  expect(world.dialled).toEqual([NUMBER]);
});

test('TransferCap lets a call try three times, where nobody picks up', async () => {
  const world = openWorld();
  const control = world.control();
  world.isRefused = true;

  for (let attempt = 0; attempt < 5; attempt += 1) {
    await control.transfer(NUMBER, '').catch(() => undefined);
  }

  expect(world.dialled).toHaveLength(3);
});

test('TransferCap counts whoever is brought in, and lets the call be handed over after that', async () => {
  const world = openWorld();
  const control = world.control();

  await control.bringIn(NUMBER, '');
  await control.bringIn(NUMBER, '');
  await control.transfer(NUMBER, '');
  const refusal = await control.bringIn(NUMBER, '').catch((error: unknown) => error);

  expect(world.dialled).toHaveLength(3);
  expect(String(refusal)).toContain('handed over already');
});

test('TransferCap lets an agent try 200 times a UTC day, and again the next', async () => {
  const world = openWorld();

  for (let call = 0; call < 250; call += 1) {
    await world
      .control()
      .transfer(NUMBER, '')
      .catch(() => undefined);
  }
  const today = world.dialled.length;
  world.clock.advance(12 * 3_600_000);
  await world.control().transfer(NUMBER, '');

  expect(today).toBe(200);
  expect(world.dialled).toHaveLength(201);
});
