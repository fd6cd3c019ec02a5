import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import type { Answer } from '../../src/webhook/answer.ts';
import { HttpSender } from '../../src/webhook/http-sender.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { type Behaviour, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';
import { LOCAL_RULES } from '../support/webhook/webhook-world.ts';

const SENT = { eventId: 'evt_1', body: '{}', secret: 'whsec_c2VjcmV0', otherSecrets: [] };

function openSender(clock = systemClock): HttpSender {
  const resolve = () => Promise.reject(new Error('no name is to be resolved'));
  const sender = new HttpSender({ rules: LOCAL_RULES, resolve, clock, version: '1.2.3' });
  onTestFinished(() => sender.close());
  return sender;
}

function send(sender: HttpSender, url: string): Promise<Answer> {
  return sender.send({ ...SENT, url }, new AbortController().signal);
}

test('HttpSender asks for the path and the query of the URL', async () => {
  const receiver = await WebhookReceiver.open();

  await send(openSender(), `http://127.0.0.1:${receiver.port}/a/b?c=d&e=%20#f`);

  expect(receiver.received[0]?.path).toBe('/a/b?c=d&e=%20');
});

test('HttpSender stamps whole seconds, as they are at the attempt', async () => {
  const receiver = await WebhookReceiver.open();
  const clock = new FakeClock(1_795_176_000_999);
  const sender = openSender(clock);

  await send(sender, receiver.url);
  clock.advance(1);
  await send(sender, receiver.url);

  const stamps = receiver.received.map(({ headers }) => headers['x-service-timestamp']);
  expect(stamps).toEqual(['1795176000', '1795176001']);
});

test('HttpSender gives an attempt ten seconds, and an answered one no timer', async () => {
  const hanging = await WebhookReceiver.open(() => undefined);
  const healthy = await WebhookReceiver.open();
  const clock = new FakeClock();
  const sender = openSender(clock);
  await send(sender, healthy.url);
  const timersAfterAnswer = clock.waiting;

  const answer = send(sender, hanging.url);
  await hanging.has(1);
  clock.advance(9999);
  const timersBefore = clock.waiting;
  clock.advance(1);

  expect(await answer).toMatchObject({ kind: 'timeout', error: 'no answer within 10 seconds' });
  expect([timersAfterAnswer, timersBefore, clock.waiting]).toEqual([0, 1, 0]);
});

test('HttpSender uses a connection again', async () => {
  const ports = new Set<number | undefined>();
  const receiver = await WebhookReceiver.open((response) => {
    ports.add(response.socket?.remotePort);
    response.writeHead(200).end();
  });
  const sender = openSender();

  for (let index = 0; index < 3; index += 1) {
    await send(sender, receiver.url);
    // undici frees the connection after it has told the end of the answer.
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(ports.size).toBe(1);
});

test('HttpSender opens a connection where all others wait for their answer', async () => {
  const receiver = await WebhookReceiver.open(() => undefined);
  const sender = openSender();

  for (let index = 0; index < 20; index += 1) {
    void send(sender, receiver.url);
  }
  await receiver.has(20);

  expect(receiver.received).toHaveLength(20);
});

test('HttpSender takes an attempt back: the connection ends, and no timer stays', async () => {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const receiver = await WebhookReceiver.open((response) => response.once('close', close));
  const clock = new FakeClock();
  const stopping = new AbortController();

  const answer = openSender(clock).send({ ...SENT, url: receiver.url }, stopping.signal);
  await receiver.has(1);
  stopping.abort();
  await Promise.all([answer, closed]);

  expect(clock.waiting).toBe(0);
});

test('HttpSender refuses a URL that the rules forbid by now, and answers after it is closed', async () => {
  const sender = openSender();

  const refused = await send(sender, 'https://10.0.0.1/');
  await sender.close();
  await sender.close();
  const closed = await send(sender, 'http://127.0.0.1:9/');

  expect([refused.kind, closed.kind]).toEqual(['refused', 'network']);
});

test('HttpSender passes over informational answers', async () => {
  const receiver = await WebhookReceiver.open((response) => {
    response.writeEarlyHints({ link: '</a>; rel=preload' });
    response.writeHead(204).end();
  });

  const answer = await send(openSender(), receiver.url);

  expect(answer).toMatchObject({ kind: 'ok', statusCode: 204, error: null, responseText: null });
});

test('HttpSender reads a body up to 64 kB, keeps 2 kB of it, and makes text of any bytes', async () => {
  const bytes = Buffer.concat([Buffer.from([0x61, 0xff, 0, 0x62]), Buffer.alloc(60_000, 'c')]);
  const receiver = await WebhookReceiver.open((response) => response.writeHead(500).end(bytes));

  const answer = await send(openSender(), receiver.url);

  expect(answer).toMatchObject({ kind: 'http', statusCode: 500 });
  expect(answer.responseText).toBe(`a\uFFFD\uFFFDb${'c'.repeat(2044)}`);
});

test('HttpSender.close ends what is in flight', async () => {
  const receiver = await WebhookReceiver.open(() => undefined);
  const sender = openSender();
  const answer = send(sender, receiver.url);
  await receiver.has(1);

  await sender.close();

  expect((await answer).kind).toBe('network');
});

test('HttpSender has no limits of time besides its own: headers and body may take seconds', async () => {
  const slow: Behaviour = (response) => void setTimeout(() => response.writeHead(200).end(), 2500);
  const dripping: Behaviour = (response) => {
    response.writeHead(200).write('a');
    setTimeout(() => response.end('b'), 2500);
  };
  const receivers = await Promise.all(
    [slow, dripping].map((behave) => WebhookReceiver.open(behave)),
  );
  const sender = openSender();

  const got = await Promise.all(receivers.map(({ url }) => send(sender, url)));

  expect(got).toMatchObject([{ kind: 'ok' }, { kind: 'ok', responseText: 'ab' }]);
});

test('HttpSender keeps the headers of both sides, without the secrets of the receiver', async () => {
  const receiver = await WebhookReceiver.open((response) => {
    response.setHeader('Set-Cookie', ['session=s3cret', 'other=s3cret']);
    response.setHeader('X-Request-Id', '<b>7</b>');
    response.writeHead(200).end();
  });

  const { requestHeaders, responseHeaders } = await send(openSender(), receiver.url);

  const sent = Object.fromEntries(requestHeaders?.map(({ name, value }) => [name, value]) ?? []);
  expect(sent).toMatchObject({ 'User-Agent': 'Offhook/1.2.3', 'webhook-id': 'evt_1' });
  expect(sent['X-Service-Signature']).toBe(receiver.received[0]?.headers['x-service-signature']);
  expect(responseHeaders).toContainEqual({ name: 'x-request-id', value: '<b>7</b>' });
  const cookies = responseHeaders?.filter(({ name }) => name === 'set-cookie');
  expect(cookies).toEqual(Array(2).fill({ name: 'set-cookie', value: '(left out)' }));
});

test('HttpSender keeps no headers of a request that was not sent', async () => {
  const sender = new HttpSender({
    rules: { allowLocal: false, allowPrivate: false },
    resolve: () => Promise.resolve([]),
    clock: systemClock,
    version: '1.2.3',
  });
  onTestFinished(() => sender.close());

  const answer = await send(sender, 'https://127.0.0.1/');

  expect(answer).toMatchObject({ kind: 'refused', requestHeaders: null, responseHeaders: null });
});
