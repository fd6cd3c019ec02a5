/** A model that calls every tool with a hundred hostile argument sets: each is answered in words, and does nothing outside policy. */
import { expect, onTestFinished, test } from 'vitest';
import { createTool } from '../../src/domain/tool/custom-tool.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { createHttpTool } from '../../src/tool/http-tool.ts';
import { McpTools } from '../../src/tool/mcp/mcp-tools.ts';
import { RESULT_LENGTH_MAX, type ToolContext, type ToolOutcome } from '../../src/tool/tool.ts';
import { Toolbox, toolboxFor } from '../../src/tool/toolbox.ts';
import { CALLER, openAppointmentWorld } from '../support/calendar/appointment-world.ts';
import { openMcpShop } from '../support/mcp/mcp-shop.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const ALLOWED = '+390612345678';

const VALUES: readonly unknown[] = [
  ...[null, undefined, true, false, 0, -1, 1e308, Number.NaN, Number.POSITIVE_INFINITY, 7n, []],
  ...[['x'], {}, { length: 5 }, { toString: 'x' }, { toJSON: 1 }, () => 'x', Symbol('x')],
  ...['', ' ', '\u0000', '\r\nX: y', '\ud800', '\u202Eabc', 'x'.repeat(100_000), '💥'.repeat(5000)],
  ...['__proto__', 'constructor', 'toString', '<%= 1 %>', '{{card}}', '{{__proto__}}', '%s%n'],
  ...["'; drop table calls; --", '<script>alert(1)</script>', '../../etc/passwd', 'a?b=c#d'],
  ...['+88213300655', '112', '911', '0039 899 123456', 'sip:a@evil.example', 'tel:+870773111632'],
  ...['9'.repeat(400), 'w'.repeat(33), '1,2;3', '٠١٢', '2026-13-45T99:99', '0000-00-00', 'now'],
  ...['9999-12-31T23:59:59Z', '-1', '1e3', 'Infinity', 'https://169.254.169.254/', 'file:///etc'],
];

/** Each hostile value as each argument of the tool in turn, and bodies that are no objects. */
function hostileArguments(names: readonly string[]): readonly unknown[] {
  const proto: unknown = JSON.parse('{"__proto__": {"destination": "+88213300655"}}');
  const wholes = [null, undefined, 'x', 7, [], [['x']], new Map([['a', 1]]), new Date(Number.NaN)];
  const singles = [...names, 'unknown', 'to', 'number'].flatMap((name) =>
    VALUES.map((value) => ({ [name]: value })),
  );
  const all = VALUES.map((value) => Object.fromEntries(names.map((name) => [name, value])));
  return [proto, ...wholes, ...singles, ...all];
}

function watchedContext() {
  const effects: string[] = [];
  const context: ToolContext = {
    transfer: async (number) => void effects.push(`transfer ${number}`),
    sendDigits: (digits) => void effects.push(`keys ${digits}`),
    collectDigits: async (max) => {
      effects.push(`collect ${max}`);
      return '';
    },
    appointmentBooked: () => void effects.push('booked'),
  };
  return { effects, context };
}

/** Calls the tool with all of them. @returns the outcomes, and what happened on the line. */
async function attack(box: Toolbox, name: string) {
  const tool = box.descriptions.find((description) => description.name === name);
  const { properties = {} } = (tool?.parameters ?? {}) as { readonly properties?: object };
  const sets = hostileArguments(Object.keys(properties));
  expect(sets.length).toBeGreaterThan(100);
  const { effects, context } = watchedContext();
  const outcomes: ToolOutcome[] = [];
  for (const args of sets) {
    const call = { id: 'a', name, arguments: args as never };
    for (const ask of [box.isAfterWords, box.takesKeys, box.needsSureWords]) ask.call(box, call);
    outcomes.push(await box.run(call, context, AbortSignal.timeout(5000)));
  }
  for (const { text } of outcomes) {
    expect(text.length).toBeLessThanOrEqual(RESULT_LENGTH_MAX);
    expect(text).not.toBe('');
  }
  return { effects, outcomes };
}

function lineTools(): Toolbox {
  return toolboxFor({
    names: ['transfer_call', 'send_digits', 'collect_digits'],
    clock: new FakeClock(),
    transferRules: {
      targets: [{ label: 'sales', number: ALLOWED }],
      systemPrompt: '',
      agentNumber: '+390698765432',
      ownNumbers: ['+390698765432'],
    },
  });
}

test.each([
  ['transfer_call', new RegExp(`^transfer \\${ALLOWED}$`)],
  ['send_digits', /^keys [0-9*#A-Dw]{1,32}$/],
  ['collect_digits', /^collect \d{1,2}$/],
  ['end_call', /^$/],
] as const)('%s does on the line what its policy allows, and no more', async (name, allowed) => {
  const { effects } = await attack(lineTools(), name);
  for (const effect of effects) expect(effect).toMatch(allowed);
});

test.each([
  'book_appointment',
  'find_appointment_times',
  'change_appointment',
  'cancel_appointment',
])('%s leaves the calendar as it is', async (name) => {
  const { appointments, callFrom, toolboxOf } = await openAppointmentWorld();
  const ask = await callFrom(CALLER);
  const booking = { title: 'Check-up', startTime: '2026-12-01T10:00', attendeeName: 'Alex Morgan' };
  await ask('book_appointment', booking);
  const before = await appointments();

  const { effects } = await attack(await toolboxOf({}), name);

  expect(await appointments()).toEqual(before);
  expect(effects).toEqual([]);
});

test('a custom tool asks its own server at its own path, whatever the arguments', async () => {
  const asked: URL[] = [];
  const rules = { allowLocal: false, allowPrivate: false };
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const draft = {
    name: 'order_status',
    description: 'Looks up an order.',
    parameters: {
      type: 'object',
      properties: { orderId: { type: 'string' }, note: { type: 'string' } },
      required: ['orderId'],
    },
    method: 'GET',
    url: 'https://shop.example/orders/{orderId}',
  } as const;
  const record = createTool(draft, { scope, now: new Date(0), urlRules: rules });
  const tool = createHttpTool(record, {
    client: async () => ({
      send: async ({ url }) => {
        asked.push(url);
        return { statusCode: 200, text: 'x'.repeat(1_000_000), isWhole: true };
      },
    }),
    rules,
    keys: async () => ({ secret: 'whsec_MTIzNA==', otherSecrets: [] }),
    newRequestId: () => 'req_1',
    now: () => new Date(0),
  });

  await attack(new Toolbox({ tools: [tool], clock: new FakeClock() }), 'order_status');

  expect(asked.length).toBeGreaterThan(0);
  for (const { origin, pathname } of asked) {
    expect(origin).toBe('https://shop.example');
    expect(pathname).toMatch(/^\/orders\/[^/]*$/);
  }
});

test('a tool of an MCP server is asked with arguments of its schema alone, and no other tool is', async () => {
  const shop = await openMcpShop();
  const store = await openTestStore();
  await store.mcpServers.insert({
    ...({ accountId: 'acct_1', environment: 'live', name: 'shop', url: shop.url } as const),
    ...{ headers: [], allowedTools: ['cancel_order'] },
    ...{ createdAt: new Date(0), updatedAt: new Date(0) },
  });
  const tools = new McpTools({
    ...{ rules: { allowLocal: true, allowPrivate: true }, servers: store.mcpServers },
    ...{ version: '0.0.0', clock: systemClock, log: silentLogger },
  });
  onTestFinished(() => tools.stop());
  const agent = buildAgent({ tools: ['shop'] });
  const known = async () => (await tools.toolsOf(agent)).length;
  await expect.poll(known, { timeout: 30_000 }).toBe(1);
  const box = new Toolbox({ tools: await tools.toolsOf(agent), clock: systemClock });

  const { effects, outcomes } = await attack(box, 'shop_cancel_order');

  expect(effects).toEqual([]);
  expect(outcomes.filter(({ text }) => text.startsWith('Not done:')).length).toBeGreaterThan(100);
  expect(shop.cancelled.length).toBeGreaterThan(0);
  expect(shop.cancelled.map((orderId) => typeof orderId)).not.toContain('object');
  expect(shop.cancelled.every((orderId) => VALUES.includes(orderId))).toBe(true);
});
