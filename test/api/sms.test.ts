/** Gateways and opt-outs over REST, what gateways report, and what a call shows of its messages. */
import { describe, expect, test } from 'vitest';
import { addKey, LIVE_KEY, openTestApi } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { buildSms } from '../support/store/build-sms.ts';

const ADMIN_KEY = `svc_live_${'A'.repeat(32)}`;

const LIVE = { accountId: 'acct_main', environment: 'live' } as const;

const TWILIO = {
  ...{ name: 'twilio', preset: 'twilio', from: '+12025550100' },
  ...{ username: 'AC1', secret: 'auth-token' },
};

const SMPP = {
  ...{ name: 'smpp', kind: 'smpp', from: 'Shop', url: 'smpps://smpp.example.com:2775' },
  ...{ username: 'offhook', secret: 'shop-pw' },
};

const WEBHOOK = {
  ...{ name: 'own', preset: 'webhook', from: 'Shop', url: 'https://sms.example.com/send' },
};

interface GatewayBody {
  readonly callbackUrl: string;
}

async function openWorld() {
  const api = await openTestApi();
  await addKey(api.store, ADMIN_KEY, { ...LIVE, scopes: ['admin'] });
  const ask = (method: string, path: string, body?: object) =>
    api.json(method, path, { key: ADMIN_KEY, ...(body === undefined ? {} : { body }) });
  const make = (fields: object) => ask('POST', '/api/sms-gateways', fields);
  return { api, ask, make };
}

/** A message of a call that went out over a gateway with the preset. */
async function withMessage(fields: object) {
  const world = await openWorld();
  const { api, make } = world;
  const made = await make({ ...fields, name: 'main' });
  expect(made.status).toBe(201);
  await api.store.agents.insert(buildAgent(LIVE));
  await api.store.calls.insert(buildCall({ ...LIVE, status: 'completed' }), []);
  const message = { ...buildSms({ ...LIVE, status: 'sent' }), providerId: 'P1' };
  await api.store.smsMessages.admit(message, 10);
  const { callbackUrl } = made.body as unknown as GatewayBody;
  const path = callbackUrl.replace('https://voice.example', '');
  const tell = async (body: string, type: string, more = '') => {
    const headers = { 'Content-Type': type };
    const response = await api.request('POST', path + more, { key: null, headers, text: body });
    return response.status;
  };
  const json = (body: object, more = '') => tell(JSON.stringify(body), 'application/json', more);
  const form = (body: Record<string, string>, more = '') =>
    tell(new URLSearchParams(body).toString(), 'application/x-www-form-urlencoded', more);
  const state = async () => (await api.store.smsMessages.ofCall('call_1'))[0];
  const optOuts = async () => (await world.ask('GET', '/api/sms-opt-outs')).body.data;
  return { ...world, path, json, form, state, optOuts };
}

describe('/api/sms-gateways', () => {
  test('makes, shows, changes and deletes a gateway, and never shows its secret', async () => {
    const { api, ask, make } = await openWorld();

    const made = await make(TWILIO);
    const changed = await ask('PATCH', '/api/sms-gateways/twilio', { dailyMax: 5 });
    const list = await ask('GET', '/api/sms-gateways');
    const shown = JSON.stringify([made, changed, list]);
    const stored = await api.store.smsGateways.find(LIVE, 'twilio');
    const gone = await api.request('DELETE', '/api/sms-gateways/twilio', { key: ADMIN_KEY });

    expect(made).toMatchObject({
      status: 201,
      body: { name: 'twilio', kind: 'http', hasSecret: true, dailyMax: 200, timeoutMs: 8000 },
    });
    expect(shown).not.toContain('auth-token');
    expect(list.body).toMatchObject({ total: 1, data: [{ dailyMax: 5 }] });
    expect(stored).toMatchObject({ secret: 'auth-token', dailyMax: 5 });
    expect(gone.status).toBe(204);
    expect((await ask('GET', '/api/sms-gateways/twilio')).status).toBe(404);
  });

  test('is closed to keys without the scope admin', async () => {
    const { api } = await openWorld();

    const response = await api.request('GET', '/api/sms-gateways', { key: LIVE_KEY });

    expect(response.status).toBe(403);
  });

  test.each([
    ['no secret', { ...TWILIO, secret: null }, 'secret'],
    ['no username', { ...TWILIO, username: undefined }, 'username'],
    ['no preset', { ...TWILIO, preset: undefined }, 'preset'],
    ['a name as the sender of SIP', { name: 'sip', kind: 'sip', from: 'Shop' }, 'from'],
    [
      'an address of SIP',
      { name: 'sip', kind: 'sip', from: '+12025550100', url: 'https://sms.example.com/' },
      'url',
    ],
    ['an SMPP server without a port', { ...SMPP, url: 'smpp://smpp.example.com' }, 'url'],
    ['an SMPP server over HTTP', { ...SMPP, url: 'https://smpp.example.com:2775' }, 'url'],
    ['an SMPP server with a path', { ...SMPP, url: 'smpp://smpp.example.com:2775/a' }, 'url'],
    ['an SMPP password with a NUL', { ...SMPP, secret: 'a\u0001' }, 'secret'],
    ['SMPP without a system id', { ...SMPP, username: null }, 'username'],
    ['a preset of SMPP', { ...SMPP, preset: 'twilio' }, 'preset'],
    ['no url', { ...WEBHOOK, url: null }, 'url'],
    ['a place in the host', { ...WEBHOOK, url: 'https://{username}.example.com/' }, 'url'],
    ['the secret in the url', { ...WEBHOOK, url: 'https://sms.example.com/{secret}' }, 'url'],
    ['a secret with a line break', { ...TWILIO, preset: 'telnyx', secret: 'key\n' }, 'secret'],
    ['a sender of many words', { ...TWILIO, from: 'Our lovely shop' }, 'from'],
    ['a link over http', { ...TWILIO, allowedLinks: ['http://a.example/'] }, 'allowedLinks.0'],
    [
      'a link with a query',
      { ...TWILIO, allowedLinks: ['https://a.example/?a'] },
      'allowedLinks.0',
    ],
    [
      'a template of a preset',
      { ...TWILIO, template: { format: 'json', headers: {}, body: {}, idPath: null } },
      'template',
    ],
    [
      'a template without the text',
      { ...WEBHOOK, template: { format: 'json', headers: {}, body: { a: '{to}' }, idPath: null } },
      'template.body',
    ],
    [
      'a template with an unknown place',
      {
        ...WEBHOOK,
        template: { format: 'json', headers: {}, body: { a: '{to}{text}{env}' }, idPath: null },
      },
      'template',
    ],
    [
      'a template that sets the host',
      {
        ...WEBHOOK,
        template: {
          format: 'json',
          headers: { Host: 'x' },
          body: { a: '{to}{text}' },
          idPath: null,
        },
      },
      'template.headers.Host',
    ],
  ])('refuses %s', async (_case, fields, path) => {
    const { make } = await openWorld();

    const { status, body } = await make(fields);

    expect([status, body.error.details.map((detail) => detail.path)]).toEqual([400, [path]]);
  });

  test('refuses an address of the server’s own network, and takes the secret to no other server', async () => {
    const { ask, make } = await openWorld();
    await make({ ...WEBHOOK, secret: 'shop-token' });

    const inside = await make({ ...WEBHOOK, name: 'inside', url: 'https://10.0.0.1/' });
    const smpp = await make({ ...SMPP, url: 'smpp://10.0.0.1:2775' });
    await make(SMPP);
    const smppMoved = await ask('PATCH', '/api/sms-gateways/smpp', {
      url: 'smpps://evil.example:2775',
    });
    const moved = await ask('PATCH', '/api/sms-gateways/own', { url: 'https://evil.example/' });

    expect([inside.status, smpp.status, smppMoved.status]).toEqual([422, 422, 400]);
    expect(moved.status).toBe(400);
    expect(moved.body.error.message).toContain('send the secret again');
  });

  test('sends over SIP from a number of its own account only', async () => {
    const { api, make } = await openWorld();
    const theirs = '+390612345678';
    const assigned = { number: theirs, accountId: 'acct_foreign', assignedAt: new Date(0) };
    await api.store.numberAssignments.save({ ...assigned, assignedBy: 'operator' });

    const own = await make({ name: 'own', kind: 'sip', from: '+390687654321' });
    const foreign = await make({ name: 'theirs', kind: 'sip', from: theirs });

    expect(own).toMatchObject({ status: 201, body: { kind: 'sip', callbackUrl: null } });
    expect(foreign.status).toBe(422);
  });

  test('is kept while an agent names it; an agent names no gateway that is not there', async () => {
    const { ask, make } = await openWorld();
    await make(TWILIO);
    const agent = { name: 'Shop', greeting: 'Hello.', systemPrompt: 'You sell.' };

    const unknown = await ask('POST', '/api/agents', { ...agent, smsGateway: 'telnyx' });
    const known = await ask('POST', '/api/agents', { ...agent, smsGateway: 'twilio' });
    const kept = await ask('DELETE', '/api/sms-gateways/twilio');
    const shown = await ask('GET', `/api/agents/${known.body.id}`);

    expect([unknown.status, known.status, kept.status]).toEqual([400, 201, 409]);
    expect(shown.body).toMatchObject({ smsGateway: 'twilio' });
  });
});

describe('callbacks', () => {
  test.each([
    ['twilio', TWILIO, 'form', { MessageSid: 'P1', MessageStatus: 'delivered' }],
    [
      'telnyx',
      { preset: 'telnyx', from: '+12025550100', secret: 'x' },
      'json',
      {
        data: {
          event_type: 'message.finalized',
          payload: { id: 'P1', to: [{ phone_number: '+39333', status: 'delivered' }] },
        },
      },
    ],
    [
      'vonage',
      { preset: 'vonage', from: '+12025550100', username: 'k', secret: 'x' },
      'json',
      { msisdn: '393331234567', messageId: 'P1', status: 'delivered', 'err-code': '0' },
    ],
    [
      'seven',
      { preset: 'seven', from: 'Shop', secret: 'x' },
      'json',
      { webhook_event: 'dlr', data: { msg_id: 'P1', status: 'DELIVERED' } },
    ],
    ['webhook', WEBHOOK, 'json', { providerId: 'P1', status: 'delivered' }],
  ] as const)('take the delivery report of %s', async (_preset, fields, format, body) => {
    const { ask, state, ...world } = await withMessage(fields);

    const status = format === 'form' ? await world.form({ ...body }) : await world.json(body);

    expect(status).toBe(204);
    expect(await state()).toMatchObject({ status: 'delivered', reason: null });
    expect((await ask('GET', '/api/calls/call_1')).body).toMatchObject({
      messages: [{ id: 'sms_1', status: 'delivered', to: '+393331234567' }],
    });
    expect((await ask('GET', '/api/calls/call_1/events')).body.data).toMatchObject([
      { kind: 'message', details: { messageId: 'sms_1', status: 'delivered' } },
    ]);
  });

  test('take a report by the message that its address names, with the code of a failure', async () => {
    const { form, state } = await withMessage(TWILIO);

    await form(
      { MessageSid: 'unheard of', MessageStatus: 'undelivered', ErrorCode: '30003' },
      '&message=sms_1',
    );

    const reason = 'the network reported "undelivered" (30003)';
    expect(await state()).toMatchObject({ status: 'failed', reason });
  });

  test('take a report by GET', async () => {
    const vonage = { preset: 'vonage', from: '+12025550100', username: 'k', secret: 'x' };
    const { api, path, state } = await withMessage(vonage);

    await api.request('GET', `${path}&messageId=P1&status=expired&err-code=5`, { key: null });

    expect(await state()).toMatchObject({ status: 'failed' });
  });

  test.each([
    ['another signature', (path: string) => path.replace(/signature=..../, 'signature=0000')],
    ['no signature', (path: string) => path.replace(/\?.*/, '')],
    ['another gateway', (path: string) => path.replace('smsgw_', 'smsgw_1')],
  ])('are 404 with %s', async (_case, change) => {
    const { api, path, state } = await withMessage(TWILIO);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const text = 'MessageSid=P1&MessageStatus=delivered';

    const response = await api.request('POST', change(path), { key: null, headers, text });

    expect(response.status).toBe(404);
    expect(await state()).toMatchObject({ status: 'sent' });
  });

  test.each([
    ['junk', '{"', 'application/json'],
    ['a list', '[1,2]', 'application/json'],
    ['nothing', '', 'application/json'],
    ['a state that is none', '{"status":"constructor","providerId":"P1"}', 'application/json'],
    ['a deep object', '{"status":{"a":1}}', 'application/json'],
  ])('change nothing for %s', async (_case, text, type) => {
    const { api, path, state } = await withMessage(WEBHOOK);

    const headers = { 'Content-Type': type };
    const response = await api.request('POST', path, { key: null, headers, text });

    expect(response.status).toBe(204);
    expect(await state()).toMatchObject({ status: 'sent' });
  });

  test('of one gateway tell nothing of the messages of another', async () => {
    const { api, make, state } = await withMessage(WEBHOOK);
    const { callbackUrl } = (await make(TWILIO)).body as unknown as GatewayBody;
    const path = callbackUrl.replace('https://voice.example', '');
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const text = 'MessageSid=P1&MessageStatus=delivered';

    await api.request('POST', path, { key: null, headers, text });
    await api.request('POST', `${path}&message=sms_1`, { key: null, headers, text });

    expect(await state()).toMatchObject({ status: 'sent' });
  });

  test.each([
    ['twilio', TWILIO, 'form', { From: '+393331234567', Body: 'STOP' }],
    [
      'telnyx',
      { preset: 'telnyx', from: '+12025550100', secret: 'x' },
      'json',
      {
        data: {
          event_type: 'message.received',
          payload: { from: { phone_number: '+393331234567' }, text: 'Stop' },
        },
      },
    ],
    [
      'vonage',
      { preset: 'vonage', from: '+12025550100', username: 'k', secret: 'x' },
      'json',
      { msisdn: '393331234567', to: '12025550100', text: 'stop', messageId: 'in' },
    ],
    [
      'seven',
      { preset: 'seven', from: 'Shop', secret: 'x' },
      'json',
      { webhook_event: 'sms_mo', data: { sender: '393331234567', text: 'STOPP' } },
    ],
    ['webhook', WEBHOOK, 'json', { from: '+393331234567', text: 'Unsubscribe' }],
  ] as const)('take a word of opt-out from %s, and START takes it back', async (preset, fields, format, body) => {
    const { optOuts, ...world } = await withMessage(fields);
    const tell = (sent: object) =>
      format === 'form' ? world.form(sent as Record<string, string>) : world.json(sent);

    await tell(body);
    const out = await optOuts();
    await tell(JSON.parse(JSON.stringify(body).replace(/stopp?"|unsubscribe"/i, 'Start"')));

    expect([preset, out]).toMatchObject([preset, [{ number: '+393331234567' }]]);
    expect(await optOuts()).toEqual([]);
  });

  test('keep other incoming messages out of the list', async () => {
    const { form, optOuts } = await withMessage(TWILIO);

    await form({ From: '+393331234567', Body: 'Stop by at nine?' });
    await form({ From: 'Bank', Body: 'STOP' });

    expect(await optOuts()).toEqual([]);
  });
});

describe('/api/sms-opt-outs', () => {
  test('takes a number, and lets it go', async () => {
    const { api, ask } = await openWorld();

    const path = '/api/sms-opt-outs/+393331234567';
    const added = await ask('PUT', path);
    const wrong = await ask('PUT', '/api/sms-opt-outs/0333');
    const gone = await api.request('DELETE', path, { key: ADMIN_KEY });
    const again = await api.request('DELETE', path, { key: ADMIN_KEY });

    expect([added.status, wrong.status, gone.status, again.status]).toEqual([200, 422, 204, 404]);
  });
});
