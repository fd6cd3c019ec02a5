/** Every tool on a telephone call, by the rule book and over the wires of Ollama and of OpenAI-compatible servers. */
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { openMcpShop } from '../../support/mcp/mcp-shop.ts';
import {
  PROTOCOLS,
  startToolCallingModel,
  type WireAnswer,
  type WireCall,
  type WireMessage,
} from '../../support/server/tool-calling-model.ts';
import { COLLEAGUE, NUMBER, openTransferWorld } from '../../support/server/transfer-world.ts';
import { WebhookReceiver } from '../../support/webhook/webhook-receiver.ts';

/** In the next week but one. */
const DAY = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);

/** Messages go to numbers that exist. */
const CALLER = '+12025550199';

const CARD = '4111111111111111';

const HOURS = [{ from: '08:00', to: '18:00' }];

const EVERY_DAY = {
  ...{ monday: HOURS, tuesday: HOURS, wednesday: HOURS, thursday: HOURS, friday: HOURS },
  ...{ saturday: HOURS, sunday: HOURS },
};

const attendeeName = 'Alex Morgan';

/** What the model does when the caller has pressed these keys. */
const SCENES: Readonly<Record<string, WireCall>> = {
  '1': {
    name: 'book_appointment',
    arguments: { title: 'Check-up', startTime: `${DAY}T10:00`, attendeeName },
  },
  '2': { name: 'find_appointment_times', arguments: { from: `${DAY}T10:00` } },
  '3': { name: 'change_appointment', arguments: { attendeeName, newStartTime: `${DAY}T15:00` } },
  '4': { name: 'cancel_appointment', arguments: { attendeeName } },
  '5': { name: 'send_sms', arguments: { text: 'Your table is booked.' } },
  '6': { name: 'collect_digits', arguments: { name: 'card', isCard: true } },
  '7': { name: 'send_digits', arguments: { digits: '42#' } },
  '8': { name: 'order_status', arguments: { orderId: 'A-1047' } },
  '9': { name: 'shop_find_order', arguments: { orderId: 'A-2' } },
  '1 1': { name: 'transfer_call', arguments: { destination: 'workshop' } },
  '1 2': { name: 'end_call', arguments: {} },
};

const doneWith = (keys: string) => `Number ${keys.replace(' ', '')} is done.`;

function answerTo(messages: readonly WireMessage[]): WireAnswer {
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const [, keys = ''] = /pressed (\d(?: \d)*)/.exec(asked) ?? [];
  const call = SCENES[keys];
  if (call === undefined) return { kind: 'says', text: 'Hello.' };
  if (messages.at(-1)?.role === 'tool') return { kind: 'says', text: doneWith(keys) };
  return { kind: 'calls', calls: [call] };
}

const BOOK = {
  name: 'every tool',
  rules: Object.entries(SCENES).flatMap(([keys, { name, arguments: given }]) => [
    {
      id: `call ${name}`,
      when: { regex: `pressed ${keys}(?! \\d)` },
      call: { tool: name, arguments: given },
    },
    { id: `after ${name}`, when: { tool: name }, say: doneWith(keys) },
  ]),
  otherwise: { say: 'Hello.' },
};

async function settingsOf(model: 'scripted' | keyof typeof PROTOCOLS) {
  const settings = { WEBHOOK_ALLOW_LOCAL: 'true' };
  if (model === 'scripted') return settings;
  return { ...settings, ...(await startToolCallingModel(PROTOCOLS[model], answerTo)) };
}

async function openWorld(model: 'scripted' | keyof typeof PROTOCOLS) {
  const shop = await WebhookReceiver.open((response, { path }) => {
    const isOrder = path.startsWith('/orders/');
    response.writeHead(isOrder ? 200 : 201);
    response.end(isOrder ? '{"status":"It ships on Friday"}' : '{"sid":"SM1","status":"queued"}');
  });
  const mcp = await openMcpShop();
  const world = await openTransferWorld(BOOK, await settingsOf(model));
  const { server } = world;
  const made = [
    await server.api('POST', '/api/calendars', {
      ...{ name: 'desk', kind: 'builtin', timeZone: 'Europe/Rome', workingHours: EVERY_DAY },
    }),
    await server.api('POST', '/api/sms-gateways', {
      ...{ name: 'main', preset: 'twilio', from: NUMBER, username: 'AC1', secret: 'a-token' },
      url: `http://127.0.0.1:${shop.port}/Messages.json`,
    }),
    await server.api('POST', '/api/tools', {
      ...{ name: 'order_status', description: 'Looks up an order.', method: 'GET' },
      parameters: {
        ...{ type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'] },
      },
      ...{ url: `http://127.0.0.1:${shop.port}/orders/{orderId}`, resultPath: 'status' },
    }),
    await server.api('POST', '/api/mcp-servers', {
      ...{ name: 'shop', url: mcp.url, allowedTools: ['find.order'] },
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  const builtin = ['book_appointment', 'send_sms', 'collect_digits', 'send_digits'];
  await server.createAgent({
    ...{ greeting: 'Hello.', calendar: 'desk' },
    tools: [...builtin, 'transfer_call', 'end_call', 'order_status', 'shop'],
    settings: { transferTargets: [{ label: 'workshop', number: COLLEAGUE }] },
  });
  const phone = new Phone({ number: CALLER });
  await phone.start();
  onTestFinished(() => phone.stop());
  const begin = async () => {
    const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
    const id = await server.callInProgress();
    const words = async () => JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body);
    const hears = (said: string) => expect.poll(words, { timeout: 20_000 }).toContain(said);
    await hears('Hello.');
    return { call, id, words, hears };
  };
  return { server, ringing: world.ringing, begin, shop };
}

test.each([
  'scripted',
  'ollama',
  'openai',
] as const)('%s: a caller has every tool used, and each does what it is for', async (model) => {
  const { server, begin, ringing, shop } = await openWorld(model);
  const { call, hears, id, words } = await begin();

  for (const keys of Object.keys(SCENES).filter((each) => each.length === 1)) {
    call.line.press(`${keys}#`);
    if (keys === '6') {
      await hears('Please type it on your keypad');
      call.line.press(`${CARD}#`);
    }
    await hears(doneWith(keys));
  }
  const rings = ringing();
  call.line.press('11#');
  const theirs = await (await rings).answer();
  await theirs.hangUp();
  await call.ended;
  const second = await begin();
  second.call.line.press('12#');
  await second.call.ended;

  expect(await toolsOf(server, id)).toEqual(
    Object.values(SCENES)
      .filter(({ name }) => name !== 'end_call')
      .map(({ name }) => `${name} done`),
  );
  expect(await toolsOf(server, second.id)).toEqual(['end_call done']);
  await expect
    .poll(async () => (await server.api('GET', `/api/calls/${second.id}`)).body.endReason)
    .toBe('agent_hangup');
  const { body: appointments } = await server.api('GET', '/api/calendars/desk/appointments');
  expect(appointments.data).toMatchObject([{ attendeeName, status: 'cancelled' }]);
  expect(shop.received.map(({ path }) => path)).toEqual(['/Messages.json', '/orders/A-1047']);
  expect(call.line.digits).toBe('42#');
  expect(await words()).not.toContain(CARD);
});

async function toolsOf(
  server: Awaited<ReturnType<typeof openWorld>>['server'],
  id: string,
): Promise<readonly string[]> {
  const { body } = await server.api('GET', `/api/calls/${id}/events`);
  const events = body.data as readonly {
    readonly kind: string;
    readonly details: { readonly name?: string; readonly outcome?: string };
  }[];
  return events
    .filter(({ kind }) => kind === 'tool')
    .map(({ details }) => `${details.name} ${details.outcome}`);
}
