/** Lists that end well, and lists that would not end. */
import type { Command } from './driver.ts';
import type { FaultCase } from './fault-case.ts';
import { json, type SeenRequest } from './fault-server.ts';

const LIST = { do: 'list', operation: 'agents.list', query: { limit: 2 }, max: 100 } as const;

function page(ids: readonly string[], offset: number, total: number) {
  return json(200, { data: ids.map((id) => ({ id })), total, limit: 2, offset });
}

function asked(...expected: readonly string[]) {
  return (seen: readonly SeenRequest[]): readonly string[] => {
    const queries = seen.map(({ url }) => url.split('?')[1] ?? '');
    return queries.flatMap((query, index) => {
      const parameters = [...new URLSearchParams(query)].map((pair) => pair.join('=')).sort();
      const found = parameters.join('&');
      return found === expected[index] ? [] : [`asked ${found} instead of ${expected[index]}`];
    });
  };
}

const EVENTS: Command = {
  ...{ do: 'list', operation: 'events.list', query: { event: 'call.ended' } },
  max: 100,
};

export const PAGE_CASES: readonly FaultCase[] = [
  {
    name: 'all pages of a list',
    steps: [page(['a', 'b'], 0, 3), page(['c'], 2, 3)],
    command: LIST,
    expected: { value: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
    requests: 2,
    faultsOf: asked('limit=2', 'limit=2&offset=2'),
  },
  {
    name: 'a list that begins later',
    steps: [page(['d'], 3, 4)],
    command: { ...LIST, query: { offset: 3 } },
    expected: { value: [{ id: 'd' }] },
    requests: 1,
    faultsOf: asked('offset=3'),
  },
  {
    name: 'pages after the last item that is read',
    steps: [page(['a', 'b'], 0, 3)],
    command: { ...LIST, max: 2 },
    expected: { value: [{ id: 'a' }, { id: 'b' }] },
    requests: 1,
  },
  {
    name: 'a list that got shorter meanwhile',
    steps: [page(['a', 'b'], 0, 4), page([], 2, 4)],
    command: LIST,
    expected: { value: [{ id: 'a' }, { id: 'b' }] },
    requests: 2,
  },
  {
    name: 'a page without items',
    steps: [json(200, { total: 3 })],
    command: LIST,
    expected: { kind: 'InvalidResponse' },
    requests: 1,
  },
  {
    name: 'the ledger by its cursor, over an empty page',
    steps: [
      json(200, { data: [{ id: 'evt_1' }], nextCursor: 'c1', hasMore: true }),
      json(200, { data: [], nextCursor: 'c2', hasMore: true }),
      json(200, { data: [{ id: 'evt_2' }], nextCursor: 'c3', hasMore: false }),
    ],
    command: EVENTS,
    expected: { value: [{ id: 'evt_1' }, { id: 'evt_2' }] },
    requests: 3,
    faultsOf: asked('event=call.ended', 'cursor=c1&event=call.ended', 'cursor=c2&event=call.ended'),
  },
  {
    name: 'a cursor that does not move on',
    steps: [json(200, { data: [{ id: 'evt_1' }], nextCursor: 'c1', hasMore: true })],
    command: EVENTS,
    expected: { kind: 'InvalidResponse' },
    requests: 2,
  },
];
