import { expect, test } from 'vitest';
import { Repeater } from '../../src/lib/repeater.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

/** A repeater whose runs end when the test says so. */
function repeaterOf() {
  const clock = new FakeClock();
  const runs: PromiseWithResolvers<number | undefined>[] = [];
  const run = () => {
    const ended = Promise.withResolvers<number | undefined>();
    runs.push(ended);
    return ended.promise;
  };
  const end = async (delayMs?: number) => {
    runs.at(-1)?.resolve(delayMs);
    await settled();
  };
  return { repeater: new Repeater({ clock, run }), clock, runs, end };
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('Repeater runs once more for all that was asked for during a run, and never two at a time', async () => {
  const { repeater, runs, end } = repeaterOf();

  repeater.ask();
  repeater.ask();
  repeater.ask();
  expect(runs).toHaveLength(1);

  await end();
  expect(runs).toHaveLength(2);
  await end();
  expect(runs).toHaveLength(2);
  repeater.ask();
  expect(runs).toHaveLength(3);
});

test('Repeater runs again after the delay that a run named, and not twice when asked earlier', async () => {
  const { repeater, clock, runs, end } = repeaterOf();

  repeater.ask();
  await end(1000);
  clock.advance(999);
  expect(runs).toHaveLength(1);
  clock.advance(1);
  expect(runs).toHaveLength(2);

  await end(1000);
  repeater.ask();
  await end();
  clock.advance(5000);
  expect(runs).toHaveLength(3);
});

test('Repeater waits at its stop for the run in progress, and begins no other', async () => {
  const { repeater, clock, runs, end } = repeaterOf();
  let isStopped = false;

  repeater.ask();
  repeater.ask();
  const stopping = repeater.stop().then(() => {
    isStopped = true;
  });
  await settled();
  expect(isStopped).toBe(false);

  await end(10);
  await stopping;
  repeater.ask();
  clock.advance(1000);
  expect(runs).toHaveLength(1);
});
