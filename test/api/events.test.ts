import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ServiceEvent } from '../../src/domain/webhook/service-event.ts';
import {
  type AnswerBody,
  addKey,
  FOREIGN_KEY,
  LIVE_KEY,
  openTestApi,
  TEST_KEY,
  type TestApi,
} from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';
import { buildEvent } from '../support/webhook/webhook-world.ts';

const LIVE = { accountId: 'acct_main', environment: 'live' } as const;

async function add(
  api: TestApi,
  id: string,
  fields: Partial<ServiceEvent> = {},
): Promise<ServiceEvent> {
  const event = buildEvent({ ...LIVE, id, ...fields });
  await api.store.events.insertQuiet(event);
  return event;
}

async function read(api: TestApi, query = '', key = LIVE_KEY): Promise<AnswerBody> {
  const { status, body } = await api.json('GET', `/api/events?${query}`, { key });
  expect(status).toBe(200);
  return body;
}

const idsOf = (page: AnswerBody) => page.data.map(({ id }) => id);

describe('GET /api/events', () => {
  test('answers with the envelopes as they were sent, oldest first', async () => {
    const api = await openTestApi();
    const first = await add(api, 'evt_1');
    const second = await add(api, 'evt_2', { kind: 'call.ended' });

    const page = await read(api);

    expect(page).toEqual({
      data: [JSON.parse(first.body), JSON.parse(second.body)],
      nextCursor: expect.stringMatching(/^[\w-]+$/),
      hasMore: false,
    });
    expect(Object.keys(page.data[0] ?? {})).toEqual(['event', 'id', 'createdAt', 'data']);
  });

  test('leaves out test events', async () => {
    const api = await openTestApi();
    await add(api, 'evt_1', { kind: 'webhook.test' });

    expect(await read(api)).toMatchObject({ data: [], hasMore: false });
  });

  test('shows nothing of another account or environment', async () => {
    const api = await openTestApi();
    await add(api, 'evt_1');

    expect((await read(api, '', FOREIGN_KEY)).data).toEqual([]);
    expect((await read(api, '', TEST_KEY)).data).toEqual([]);
  });

  test('filters by kind, call and days, which are inclusive', async () => {
    const api = await openTestApi();
    await api.store.calls.insert(buildCall({ ...LIVE, status: 'completed' }), []);
    await add(api, 'evt_1', { createdAt: new Date('2026-11-19T23:59:59.999Z') });
    await add(api, 'evt_2', { createdAt: new Date('2026-11-20T00:00:00.000Z'), callId: 'call_1' });
    await add(api, 'evt_3', {
      createdAt: new Date('2026-11-20T23:59:59.999Z'),
      kind: 'call.ended',
    });
    await add(api, 'evt_4', { createdAt: new Date('2026-11-21T00:00:00.000Z') });
    const ids = async (query: string) => idsOf(await read(api, query));

    expect(await ids('startDate=2026-11-20&endDate=2026-11-20')).toEqual(['evt_2', 'evt_3']);
    expect(await ids('startDate=2026-11-21')).toEqual(['evt_4']);
    expect(await ids('endDate=2026-11-19')).toEqual(['evt_1']);
    expect(await ids('event=call.ended')).toEqual(['evt_3']);
    expect(await ids('callId=call_1')).toEqual(['evt_2']);
    expect(await ids('callId=call_1&event=call.ended')).toEqual([]);
  });

  test('goes on where a page ended, under a filter too', async () => {
    const api = await openTestApi();
    for (const id of [1, 2, 3, 4, 5, 6]) {
      await add(api, `evt_${id}`, { kind: id % 2 === 0 ? 'call.ended' : 'call.started' });
    }

    const first = await read(api, 'event=call.ended&limit=2');
    const second = await read(api, `event=call.ended&limit=2&cursor=${first.nextCursor}`);

    expect([idsOf(first), first.hasMore]).toEqual([['evt_2', 'evt_4'], true]);
    expect([idsOf(second), second.hasMore]).toEqual([['evt_6'], false]);
  });

  test('keeps its place at the end, for what comes later', async () => {
    const api = await openTestApi();
    const empty = await read(api);
    await add(api, 'evt_1');

    const first = await read(api, `cursor=${empty.nextCursor}`);
    const nothing = await read(api, `cursor=${first.nextCursor}`);
    await add(api, 'evt_2');
    const second = await read(api, `cursor=${nothing.nextCursor}`);

    expect(nothing).toEqual({ data: [], nextCursor: first.nextCursor, hasMore: false });
    expect([idsOf(first), idsOf(second)]).toEqual([['evt_1'], ['evt_2']]);
  });

  test('shows each event once, also while others are added between pages', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({
          add: fc.constantFrom('ours', 'theirs'),
          count: fc.integer({ min: 1, max: 7 }),
        }),
        fc.record({ limit: fc.integer({ min: 1, max: 5 }) }),
      ),
      { maxLength: 30 },
    );
    const api = await openTestApi();
    const added: string[] = [];
    const seen: string[] = [];
    let { nextCursor } = await read(api);
    const readOn = async (limit: number) => {
      const page = await read(api, `limit=${limit}&cursor=${nextCursor}`);
      seen.push(...idsOf(page));
      nextCursor = page.nextCursor;
      return page.hasMore;
    };
    let count = 0;

    for (const step of fc.sample(steps, { numRuns: 20, seed: 7 }).flat()) {
      if ('limit' in step) {
        await readOn(step.limit);
        continue;
      }
      for (let index = 0; index < step.count; index++) {
        count += 1;
        if (step.add === 'ours') added.push((await add(api, `evt_${count}`)).id);
        else await add(api, `evt_${count}`, { accountId: 'acct_foreign' });
      }
    }
    while (await readOn(100));

    expect(added.length).toBeGreaterThan(100);
    expect(seen).toEqual(added);
  });

  test('answers 400 to a cursor of another account or environment', async () => {
    const api = await openTestApi();
    await add(api, 'evt_1');
    const { nextCursor } = await read(api);

    for (const key of [FOREIGN_KEY, TEST_KEY]) {
      const { body } = await api.json('GET', `/api/events?cursor=${nextCursor}`, { key });
      expect(body.error).toMatchObject({ status: 400, details: [{ path: 'cursor' }] });
    }
  });

  test('answers 400 to a garbled cursor, whichever way', async () => {
    const api = await openTestApi();
    await add(api, 'evt_1');
    const { nextCursor } = await read(api);
    const ask = async (cursor: string) =>
      (await api.request('GET', `/api/events?${new URLSearchParams({ cursor })}`)).status;

    const cursors = fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
      fc.base64String(),
      fc.nat().map((position) => Buffer.from(`${position}`).toString('base64url')),
      fc.nat().map((position) => Buffer.from(`${position}.AAAAAAAA`).toString('base64url')),
      fc
        .tuple(fc.nat({ max: nextCursor.length - 1 }), fc.constantFrom('A', 'z', '=', ' ', ''))
        .map(([at, other]) => nextCursor.slice(0, at) + other + nextCursor.slice(at + 1)),
      fc.constantFrom(`${nextCursor}=`, `${nextCursor}A`, ` ${nextCursor}`, '-1', '1e3', '0'),
    );
    await fc.assert(
      fc.asyncProperty(cursors, async (cursor) => {
        fc.pre(cursor !== nextCursor);

        expect(await ask(cursor)).toBe(400);
      }),
      { numRuns: 200 },
    );
    expect(await ask(nextCursor)).toBe(200);
  });

  test.each([
    'limit=101',
    'limit=0',
    'offset=5',
    'event=webhook.test',
    'event=call.lost',
    'startDate=2026-02-30',
    'startDate=2026-11-21&endDate=2026-11-20',
    'callId=',
    'cursor=',
  ])('answers 400 to ?%s', async (query) => {
    const api = await openTestApi();

    expect((await api.json('GET', `/api/events?${query}`)).status).toBe(400);
  });

  test('needs the scope of calls, because events tell what was said on them', async () => {
    const api = await openTestApi();
    const [ofCalls, ofWebhooks] = [`svc_live_${'7'.repeat(32)}`, `svc_live_${'8'.repeat(32)}`];
    await addKey(api.store, ofCalls, { ...LIVE, scopes: ['calls:read'] });
    await addKey(api.store, ofWebhooks, { ...LIVE, scopes: ['webhooks:read', 'webhooks:write'] });

    const ask = async (key: string) => (await api.request('GET', '/api/events', { key })).status;

    expect([await ask(ofCalls), await ask(ofWebhooks)]).toEqual([200, 403]);
  });
});
