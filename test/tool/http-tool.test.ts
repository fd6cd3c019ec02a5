/** The request of a custom tool, and its answer as the model gets it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTool, type ToolDraft } from '../../src/domain/tool/custom-tool.ts';
import { createHttpTool, type ToolAnswer, type ToolClient } from '../../src/tool/http-tool.ts';
import { HttpToolClient } from '../../src/tool/http-tool-client.ts';
import type { ToolContext } from '../../src/tool/tool.ts';
import { Toolbox } from '../../src/tool/toolbox.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { answers, type Behaviour, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';

const LOCAL = { allowLocal: true, allowPrivate: false };

const DRAFT: ToolDraft = {
  name: 'order_status',
  description: 'Looks up an order.',
  parameters: {
    type: 'object',
    properties: { orderId: { type: 'string', maxLength: 100 }, note: { type: 'string' } },
    required: ['orderId'],
  },
  method: 'GET',
  url: 'http://127.0.0.1:1/orders/{orderId}',
};

const noCall: ToolContext = {
  transfer: async () => undefined,
  sendDigits: () => undefined,
  collectDigits: async () => '',
  appointmentBooked: () => undefined,
};

const never = new AbortController().signal;

type Sent = Parameters<ToolClient['send']>[0];

function boxOf(client: ToolClient, fields: Partial<ToolDraft> = {}, rules = LOCAL) {
  const clock = new FakeClock();
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const record = createTool({ ...DRAFT, ...fields }, { scope, now: new Date(0), urlRules: LOCAL });
  const tool = createHttpTool(record, {
    client: async () => client,
    rules,
    keys: async () => ({ secret: 'whsec_MTIzNA==', otherSecrets: [] }),
    newRequestId: () => 'req_1',
    now: () => new Date(1_774_000_000_000),
  });
  const box = new Toolbox({ tools: [tool], clock });
  const run = (args: Readonly<Record<string, unknown>>) =>
    box.run({ id: 'call_1', name: record.name, arguments: args }, noCall, never);
  return { clock, run };
}

/** Answers without a network. */
function scripted(answer: Partial<ToolAnswer> = {}) {
  const sent: Sent[] = [];
  const client: ToolClient = {
    send: async (asked) => {
      sent.push(asked);
      return { statusCode: 200, text: 'Sent.', isWhole: true, ...answer };
    },
  };
  return { sent, client };
}

/** A tool of a real server on this machine. */
async function served(behave: Behaviour, fields: Partial<ToolDraft> = {}, rules = LOCAL) {
  const shop = await WebhookReceiver.open(behave);
  const client = new HttpToolClient({ rules, resolve: async () => [], version: '0.0.0' });
  const url = `http://127.0.0.1:${shop.port}/orders/{orderId}`;
  return { shop, client, ...boxOf(client, { url, ...fields }, rules) };
}

describe('createHttpTool', () => {
  test.each([
    ['../../admin', '/orders/..%2F..%2Fadmin'],
    ['a?b=c#d', '/orders/a%3Fb%3Dc%23d'],
    ['{orderId}', '/orders/%7BorderId%7D'],
    ['a\r\nHost: evil', '/orders/a%0D%0AHost%3A%20evil'],
    ['über💡', '/orders/%C3%BCber%F0%9F%92%A1'],
    ['\ud800', '/orders/%EF%BF%BD'],
    ['@evil.example', '/orders/%40evil.example'],
    ['%2e%2e', '/orders/%252e%252e'],
  ])('keeps the argument %j inside of its place', async (orderId, path) => {
    const { sent, client } = scripted();
    const { run } = boxOf(client);

    await run({ orderId });

    expect(sent[0]?.url.pathname).toBe(path);
    expect(sent[0]?.url.host).toBe('127.0.0.1:1');
  });

  test.each(['.', '..'])('refuses %j, which would be a step in the path', async (orderId) => {
    const { sent, client } = scripted();
    const { run } = boxOf(client);

    expect((await run({ orderId })).text).toMatch(/^Not done/);
    expect(sent).toEqual([]);
  });

  test('never leaves host or depth of its path, and sends nothing that breaks the schema', async () => {
    const { sent, client } = scripted();
    const { run } = boxOf(client);
    const args = fc.dictionary(
      fc.constantFrom('orderId', 'note', '__proto__', 'constructor', 'other'),
      fc.anything(),
    );

    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const before = sent.length;
        const { isDone } = await run(given);

        const isText = (value: unknown) => typeof value === 'string';
        const isGood =
          Object.keys(given).every((name) => ['orderId', 'note'].includes(name)) &&
          isText(given.orderId) &&
          (!Object.hasOwn(given, 'note') || isText(given.note));
        if (!isGood) expect(isDone).not.toBe(true);
        for (const { url } of sent.slice(before)) {
          expect(url.host).toBe('127.0.0.1:1');
          expect(url.pathname).toMatch(/^\/orders\/[^/]+$/);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('sends the arguments without a place as JSON, signed', async () => {
    const { sent, client } = scripted();
    const { run } = boxOf(client, { method: 'POST' });

    await run({ orderId: 'A', note: 'x&y' });

    expect(sent[0]).toMatchObject({
      method: 'POST',
      body: '{"note":"x&y"}',
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Timestamp': '1774000000',
        'X-Service-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
  });

  test.each([
    ['data.items.0.price', '12.5'],
    ['data.items', '[{"price":12.5}]'],
    ['data.items.1', undefined],
    ['data.constructor', undefined],
    ['', undefined],
  ])('gives of a JSON answer what %j leads to', async (resultPath, picked) => {
    const text = '{"data":{"items":[{"price":12.5}]}}';
    const { run } = boxOf(scripted({ text }).client, { resultPath });

    const outcome = await run({ orderId: 'A' });

    if (picked === undefined) expect(outcome.text).toMatch(/^Not done/);
    else expect(outcome.text.split('\n')[1]).toBe(picked);
  });

  test('tells the model neither secret nor address, and at most 2,000 characters', async () => {
    const headers = [{ name: 'X-Key', value: 'the-secret', secret: true }];
    const text = `the-secret ${'x'.repeat(5000)}`;
    const { run } = boxOf(scripted({ text }).client, { headers });
    const failing = boxOf({ send: () => Promise.reject(new Error('127.0.0.1 the-secret')) });

    const told = (await run({ orderId: 'A' })).text;
    const failed = (await failing.run({ orderId: 'A' })).text;

    expect(told).toHaveLength(2000);
    expect(told + failed).not.toMatch(/the-secret|127\.0/);
    expect(failed).toMatch(/^Not done/);
  });

  test('hides a secret also where its scheme is left out', async () => {
    const headers = [{ name: 'Authorization', value: 'Bearer the-secret', secret: true }];
    const { run } = boxOf(scripted({ text: 'the token the-secret is old' }).client, { headers });

    expect((await run({ orderId: 'A' })).text).toContain('the token [secret] is old');
  });

  test('tells the operator, not the model, why it was not done', async () => {
    const at = 'http://127.0.0.1:1/{orderId}';
    const real = new HttpToolClient({ rules: LOCAL, resolve: async () => [], version: '0' });
    const unreachable = await boxOf(real, { url: at }).run({ orderId: 'A' });
    const failing = await boxOf(scripted({ statusCode: 503 }).client).run({ orderId: 'A' });
    const other = boxOf(scripted({ text: '{}' }).client, { resultPath: 'data.status' });
    const empty = await other.run({ orderId: 'A' });
    await real.close();

    expect(unreachable.problem).toMatch(/ECONNREFUSED/);
    expect(unreachable.text).not.toMatch(/ECONNREFUSED|127/);
    expect(failing.problem).toBe('the receiver answered 503');
    expect(empty.problem).toBe('the answer has no JSON value at data.status');
  });

  test('stops at its time limit, and says of a change that it may have been done', async () => {
    const hangs: ToolClient = { send: () => new Promise(() => undefined) };
    const [reading, writing] = [
      boxOf(hangs, { timeoutMs: 2_000 }),
      boxOf(hangs, { timeoutMs: 2_000, method: 'POST' }),
    ];

    const read = reading.run({ orderId: 'A' });
    const written = writing.run({ orderId: 'A' });
    await Promise.resolve();
    reading.clock.advance(2_000);
    writing.clock.advance(2_000);

    expect((await read).text).toContain('took too long');
    expect((await read).problem).toBe('no answer within 2 seconds');
    expect((await written).text).toContain('may have been done or not');
  });
});

describe('HttpToolClient', () => {
  test('follows no redirect', async () => {
    const { shop, client, run } = await served((response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${shop.port}/other` }).end();
    });

    const { text } = await run({ orderId: 'A' });
    await client.close();

    expect(text).toContain('answered 302');
    expect(shop.received.map(({ path }) => path)).toEqual(['/orders/A']);
  });

  test.each([
    ['GET', 2],
    ['POST', 1],
  ] as const)('makes of a %s whose connection breaks %i attempts', async (method, attempts) => {
    const { shop, client, run } = await served((response) => response.socket?.destroy(), {
      method,
    });

    const { text } = await run({ orderId: 'A' });
    await client.close();

    expect(text).toMatch(/^Not done/);
    expect(shop.received).toHaveLength(attempts);
  });

  test('reads 64 KiB of an answer that never ends', async () => {
    const { client, run } = await served((response) => {
      response.writeHead(200);
      const write = () => {
        if (!response.destroyed) response.write('x'.repeat(16_384), write);
      };
      write();
    });

    const { text, isDone } = await run({ orderId: 'A' });
    await client.close();

    expect(isDone).toBe(true);
    expect(text).toHaveLength(2000);
  });

  test('connects to no address that the rules refuse, whatever a name resolves to', async () => {
    const rules = { allowLocal: false, allowPrivate: false };
    const { shop, client } = await served(answers(200));
    const url = new URL(`https://shop.example:${shop.port}/`);
    const addresses = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1'];
    const asked = { url, method: 'GET', headers: {}, body: undefined } as const;

    for (const address of addresses) {
      const guarded = new HttpToolClient({ rules, resolve: async () => [address], version: '0' });
      await expect(guarded.send(asked, never)).rejects.toThrow();
      await guarded.close();
    }
    await client.close();

    expect(shop.received).toEqual([]);
  });
});
