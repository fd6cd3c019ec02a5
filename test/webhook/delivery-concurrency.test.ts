import { expect, test } from 'vitest';
import { DeliveryConcurrency } from '../../src/webhook/delivery-concurrency.ts';

/** Begins so many attempts to an endpoint. @returns what ends each. */
function begin(concurrency: DeliveryConcurrency, endpointId: string, count: number) {
  return Array.from({ length: count }, (_, index) =>
    concurrency.begin(endpointId, `${endpointId}_${index}`),
  );
}

/** Makes an endpoint count as failing. */
function fail(concurrency: DeliveryConcurrency, endpointId: string): void {
  concurrency.begin(endpointId, 'dlv_failed')(false);
}

test('DeliveryConcurrency gives an endpoint sixteen places, each back when its attempt ends', () => {
  const concurrency = new DeliveryConcurrency();

  const rooms = [concurrency.room('we_1')];
  const ends = begin(concurrency, 'we_1', 16);
  rooms.push(concurrency.room('we_1'));
  for (const end of ends.slice(0, 3)) end(true);
  rooms.push(concurrency.room('we_1'));

  expect(rooms).toEqual([16, 0, 3]);
  expect(concurrency.room('we_2')).toBe(16);
});

test('DeliveryConcurrency knows what is in flight to an endpoint', () => {
  const concurrency = new DeliveryConcurrency();
  const endA = concurrency.begin('we_1', 'a');
  concurrency.begin('we_1', 'b');
  concurrency.begin('we_2', 'c');

  endA(true);

  expect(concurrency.idsOf('we_1')).toEqual(['b']);
  expect(concurrency.idsOf('we_2')).toEqual(['c']);
  expect(concurrency.idsOf('we_3')).toEqual([]);
});

test('DeliveryConcurrency gives a failing endpoint one place until an attempt succeeds', () => {
  const concurrency = new DeliveryConcurrency();
  const [first, second] = begin(concurrency, 'we_1', 2);

  first?.(false);
  const whileOthersAreOut = concurrency.room('we_1');
  second?.(false);
  const alone = concurrency.room('we_1');
  const end = concurrency.begin('we_1', 'c');
  const taken = concurrency.room('we_1');
  end(true);

  expect([whileOthersAreOut, alone, taken, concurrency.room('we_1')]).toEqual([0, 1, 0, 16]);
});

test('DeliveryConcurrency bounds attempts to healthy endpoints at 512 together', () => {
  const concurrency = new DeliveryConcurrency();
  for (let index = 0; index < 31; index += 1) begin(concurrency, `we_${index}`, 16);
  const [end] = begin(concurrency, 'we_31', 10);

  const left = concurrency.room('we_other');
  begin(concurrency, 'we_other', 6);
  const full = concurrency.room('we_another');
  end?.(true);

  expect([left, full, concurrency.room('we_another')]).toEqual([6, 0, 1]);
});

test('DeliveryConcurrency bounds attempts to failing endpoints at 64 together, apart from the others', () => {
  const concurrency = new DeliveryConcurrency();
  const ends = Array.from({ length: 65 }, (_, index) => {
    fail(concurrency, `we_${index}`);
    return index < 64 ? concurrency.begin(`we_${index}`, 'dlv') : undefined;
  });

  const full = concurrency.room('we_64');
  const healthy = concurrency.room('we_healthy');
  ends[0]?.(false);

  expect([full, healthy, concurrency.room('we_64')]).toEqual([0, 16, 1]);
});

test('DeliveryConcurrency takes an attempt from the pool in which it began, also when the endpoint fails meanwhile', () => {
  const concurrency = new DeliveryConcurrency();
  const ends = Array.from({ length: 32 }, (_, index) => begin(concurrency, `we_${index}`, 16));
  for (const end of ends.flat()) end(false);

  const healthy = Array.from({ length: 32 }, (_, index) => concurrency.room(`new_${index}`));

  expect(new Set(healthy)).toEqual(new Set([16]));
  expect(concurrency.room('we_0')).toBe(1);
});

test('DeliveryConcurrency forgets who failed when too many do', () => {
  const concurrency = new DeliveryConcurrency();
  for (let index = 0; index < 10_000; index += 1) fail(concurrency, `we_${index}`);
  const cached = concurrency.room('we_0');

  fail(concurrency, 'we_more');

  expect([cached, concurrency.room('we_0'), concurrency.room('we_more')]).toEqual([1, 16, 1]);
});
