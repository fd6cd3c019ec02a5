import { expect, test } from 'vitest';
import type { DueDelivery } from '../../src/domain/outbox.ts';
import { ReadAhead } from '../../src/webhook/read-ahead.ts';

function due(id: string, endpointId: string): DueDelivery {
  const sent = { eventId: 'evt_1', url: 'https://receiver.example/', body: '{}', attempt: 1 };
  return { id, endpointId, ...sent, secret: 'whsec_bmV3', previousSecret: null };
}

const anyRoom = () => true;

test('ReadAhead gives the first whose endpoint has room, and each once', () => {
  const ahead = new ReadAhead();
  ahead.fill([due('a', 'we_1'), due('b', 'we_2'), due('c', 'we_1')], 0);

  const withoutFirst = ahead.next(0, (endpointId) => endpointId !== 'we_1');
  const rest = [1, 2, 3].map(() => ahead.next(0, anyRoom)?.id);

  expect(withoutFirst?.id).toBe('b');
  expect(rest).toEqual(['a', 'c', undefined]);
  expect(ahead.isEmpty).toBe(true);
});

test('ReadAhead gives nothing that was read more than 100 ms ago', () => {
  const ahead = new ReadAhead();
  ahead.fill([due('a', 'we_1'), due('b', 'we_1')], 1000);

  const [fresh, old] = [ahead.next(1100, anyRoom), ahead.next(1100.5, anyRoom)];

  expect([fresh?.id, old]).toEqual(['a', undefined]);
  expect(ahead.isEmpty).toBe(true);
});

test.each([
  [0, 1],
  [1, 16],
  [24, 8],
  [500, 1],
])('ReadAhead asks after %d endpoints for %d more of each', (endpoints, expected) => {
  const ahead = new ReadAhead();
  const deliveries = Array.from({ length: endpoints }, (_, index) => due('a', `we_${index}`));

  if (endpoints > 0) ahead.fill(deliveries, 0);

  expect(ahead.perEndpoint).toBe(expected);
});
