/** Requests of gateways at the wire, and what is made of their answers. */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { httpOf, type SmsGateway } from '../../src/domain/sms/sms-gateway.ts';
import type { SmsNews } from '../../src/domain/sms/sms-message.ts';
import { HttpToolClient } from '../../src/tool/http-tool-client.ts';
import { httpSmsSender } from '../../src/tool/sms/call-sms.ts';
import { buildSms, buildSmsGateway } from '../support/store/build-sms.ts';
import { answers, type Behaviour, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';

const LOCAL = { allowLocal: true, allowPrivate: false };

const SECRET = 'whsec_MTIzNA==';

const STATUS_URL = 'https://voice.example/sms/smsgw_1?signature=ab&message=sms_1';

const TEXT = 'Grüße & Ihr Code: 4711 {secret}\nhttps://a.example/?b=1+2';

const never = new AbortController().signal;

async function openGateway(
  behave: Behaviour,
  fields: Partial<SmsGateway> = {},
  rules = LOCAL,
  text = TEXT,
) {
  const server = await WebhookReceiver.open(behave);
  const url = `http://127.0.0.1:${server.port}/{username}/send`;
  const gateway = buildSmsGateway({ url, username: 'AC 1', secret: 'top-secret', ...fields });
  const client = new HttpToolClient({ rules, resolve: async () => [], version: '0.0.0' });
  const way = httpOf(gateway);
  if (way === undefined) throw new Error('it is no gateway over HTTP');
  const sender = httpSmsSender(gateway, way, {
    client: async () => client,
    rules,
    keys: async () => ({ secret: SECRET, otherSecrets: [] }),
    statusUrl: async () => STATUS_URL,
    now: () => new Date(1_774_000_000_000),
  });
  const send = (signal = never): Promise<SmsNews> => sender.send(buildSms({ text }), signal);
  return { server, send };
}

const BASIC = `Basic ${Buffer.from('AC 1:top-secret').toString('base64')}`;

const form = (body: string) => Object.fromEntries(new URLSearchParams(body));

/** As the gateways document them. */
const FORMATS = [
  {
    preset: 'twilio',
    headers: { authorization: BASIC, 'content-type': 'application/x-www-form-urlencoded' },
    read: form,
    body: { To: '+393331234567', From: '+393339999999', Body: TEXT, StatusCallback: STATUS_URL },
    status: 201,
    answer: { sid: 'SM1', status: 'queued' },
    providerId: 'SM1',
  },
  {
    preset: 'telnyx',
    headers: { authorization: 'Bearer top-secret', 'content-type': 'application/json' },
    read: JSON.parse,
    body: { to: '+393331234567', from: '+393339999999', text: TEXT, webhook_url: STATUS_URL },
    status: 200,
    answer: { data: { id: 'b0c7e8cb', to: [{ status: 'queued' }] } },
    providerId: 'b0c7e8cb',
  },
  {
    preset: 'vonage',
    headers: { authorization: BASIC, 'content-type': 'application/x-www-form-urlencoded' },
    read: form,
    body: {
      ...{ to: '393331234567', from: '393339999999', text: TEXT, type: 'text' },
      ...{ callback: STATUS_URL, 'client-ref': 'sms_1' },
    },
    status: 200,
    answer: { 'message-count': '1', messages: [{ status: '0', 'message-id': 'aaa' }] },
    providerId: 'aaa',
  },
  {
    preset: 'seven',
    headers: { 'x-api-key': 'top-secret', accept: 'application/json' },
    read: JSON.parse,
    body: { to: '393331234567', from: '393339999999', text: TEXT, foreign_id: 'sms_1' },
    status: 200,
    answer: { success: '100', messages: [{ id: 77_133, success: true }] },
    providerId: '77133',
  },
  {
    preset: 'webhook',
    headers: { 'content-type': 'application/json' },
    read: JSON.parse,
    body: {
      ...{ id: 'sms_1', to: '+393331234567', from: '+393339999999', text: TEXT },
      statusUrl: STATUS_URL,
    },
    status: 204,
    answer: undefined,
    providerId: null,
  },
] as const;

describe('httpSmsSender', () => {
  test.each(FORMATS)('speaks the format of $preset', async (format) => {
    const answer = format.answer === undefined ? '' : JSON.stringify(format.answer);
    const { server, send } = await openGateway(answers(format.status, answer), {
      preset: format.preset,
    });

    const news = await send();

    const [asked] = server.received;
    expect(server.received).toHaveLength(1);
    expect(asked).toMatchObject({ method: 'POST', path: '/AC%201/send', headers: format.headers });
    expect(format.read(asked?.body ?? '')).toEqual(format.body);
    expect(news).toEqual({ status: 'sent', providerId: format.providerId });
  });

  test('names the alphabet of a text to Vonage, since each message holds fewer other letters', async () => {
    const { server, send } = await openGateway(
      answers(200),
      { preset: 'vonage' },
      LOCAL,
      'Код 4711',
    );

    await send();

    expect(form(server.received[0]?.body ?? '').type).toBe('unicode');
  });

  test('signs requests to a server of the customer’s as webhooks are signed, and no others', async () => {
    const { server, send } = await openGateway(answers(200));
    const twilio = await openGateway(answers(201), { preset: 'twilio' });

    await send();
    await twilio.send();

    const [asked] = server.received;
    const signed = createHmac('sha256', SECRET).update(`1774000000.${asked?.body}`).digest('hex');
    expect(asked?.headers['x-service-signature']).toBe(signed);
    expect(asked?.headers.authorization).toBeUndefined();
    expect(twilio.server.received[0]?.headers['x-service-signature']).toBeUndefined();
  });

  test('fills a template of the customer’s, where a text with places stays a text', async () => {
    const { server, send } = await openGateway(answers(200, '{"result":{"ref":"r-1"}}'), {
      template: {
        format: 'form',
        headers: { Authorization: 'Token {secret}' },
        body: { msisdn: '{toDigits}', message: 'Shop: {text}', sender: '{from}' },
        idPath: 'result.ref',
      },
    });

    const news = await send();

    const [asked] = server.received;
    expect(asked?.headers.authorization).toBe('Token top-secret');
    expect(form(asked?.body ?? '')).toEqual({
      msisdn: '393331234567',
      message: `Shop: ${TEXT}`,
      sender: '+393339999999',
    });
    expect(news).toEqual({ status: 'sent', providerId: 'r-1' });
  });

  test.each([
    ['twilio', 400, '{"code":21610,"message":"+393331234567 opted out"}', '400 with code 21610'],
    ['telnyx', 422, '{"errors":[{"code":"40310","detail":"x"}]}', '422 with code 40310'],
    ['vonage', 200, '{"messages":[{"status":"9","error-text":"Quota"}]}', 'refused it with code 9'],
    ['seven', 200, '{"success":"900"}', 'refused it with code 900'],
    ['webhook', 302, '', '302'],
    ['webhook', 403, '{"code":"+393331234567 is bad"}', '403 with code unknown'],
    ['webhook', 503, '', '503'],
  ] as const)('says of a refusal of %s with %d %s: %s', async (preset, status, body, why) => {
    const { server, send } = await openGateway(answers(status, body), { preset });

    const news = await send();

    expect(news).toMatchObject({ status: 'failed', reason: expect.stringContaining(why) });
    expect(news.reason).not.toContain('+39');
    expect(server.received).toHaveLength(1);
  });

  test.each([
    ['vonage', 200, '<html>'],
    ['seven', 200, '900'],
    ['twilio', 500, ''],
    ['webhook', 504, '<html>'],
  ] as const)('knows nothing of a message after %s answered %d %s', async (preset, status, body) => {
    const { send } = await openGateway(answers(status, body), { preset });

    expect(await send()).toMatchObject({ status: 'unknown' });
  });

  test('knows nothing of a message whose connection broke after it was sent, and sends it once', async () => {
    const { server, send } = await openGateway((response) => void response.socket?.destroy());

    const news = await send();

    expect(news.status).toBe('unknown');
    expect(server.received).toHaveLength(1);
  });

  test('says that a message failed where no gateway listens, or its address is refused', async () => {
    const closed = await openGateway(answers(200), { url: 'http://127.0.0.1:1/' });
    const inside = await openGateway(answers(200), { url: 'https://169.254.169.254/' });

    expect(await closed.send()).toMatchObject({ status: 'failed' });
    expect(await inside.send()).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('Cannot use this url: its host has an address that is kept'),
    });
  });

  test('rejects at the signal, where the gateway hangs', async () => {
    const { server, send } = await openGateway(() => undefined);
    const end = new AbortController();

    const news = send(end.signal);
    await expect.poll(() => server.received.length).toBe(1);
    end.abort(new Error('late'));

    await expect(news).rejects.toThrow();
  });
});
