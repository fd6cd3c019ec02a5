import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createRawServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import type { Answer } from '../../src/webhook/answer.ts';
import { HttpSender } from '../../src/webhook/http-sender.ts';
import type { ResolveName } from '../../src/webhook/ssrf-guard.ts';
import { freePort } from '../support/network/free-ports.ts';
import { describeWith } from '../support/server/programs.ts';
import { testFolder } from '../support/store/test-store.ts';
import { answers, type Behaviour, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';

const TIMEOUT_MS = 400;

/** What a loaded machine may add. */
const SLACK_MS = 2000;

interface Attempt extends Answer {
  readonly tookMs: number;
}

/** Sends one delivery, as the deliverer does. */
async function attempt(url: string, resolve?: ResolveName): Promise<Attempt> {
  const sender = new HttpSender({
    rules: { allowLocal: true, allowPrivate: false },
    resolve: resolve ?? (() => Promise.reject(new Error('no name is to be resolved'))),
    clock: systemClock,
    version: '1.2.3',
    timeoutMs: TIMEOUT_MS,
  });
  onTestFinished(() => sender.close());
  const startedMs = performance.now();
  const delivery = { eventId: 'evt_1', url, body: '{}', secret: 'whsec_c2VjcmV0' };
  const { signal } = new AbortController();
  const answer = await sender.send({ ...delivery, otherSecrets: [] }, signal);
  return { ...answer, tookMs: performance.now() - startedMs };
}

async function attemptAt(behave: Behaviour): Promise<Attempt> {
  return attempt((await WebhookReceiver.open(behave)).url);
}

/** A server that speaks for itself, without HTTP's help. */
async function openRaw(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createRawServer((socket) => {
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test.each([
  [200, 'ok'],
  [204, 'ok'],
  [299, 'ok'],
  [300, 'http'],
  [304, 'http'],
  [400, 'http'],
  [410, 'http'],
  [429, 'http'],
  [500, 'http'],
  [503, 'http'],
])('HttpSender takes an answer of %d for %s', async (status, kind) => {
  const got = await attemptAt(answers(status));

  expect(got).toMatchObject({ kind, statusCode: status });
  expect(got.error === null).toBe(kind === 'ok');
});

test('HttpSender gives up on a receiver that takes the request and says nothing', async () => {
  const got = await attemptAt(() => undefined);

  expect(got).toMatchObject({
    kind: 'timeout',
    statusCode: null,
    error: 'no answer within 0.4 seconds',
  });
  expect(got.tookMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 2);
  expect(got.tookMs).toBeLessThan(TIMEOUT_MS + SLACK_MS);
});

test.each([
  [200, 'ok'],
  [500, 'http'],
])('HttpSender lets the status %d decide when its body does not end', async (status, kind) => {
  const got = await attemptAt((response) => void response.writeHead(status).write('begun'));

  expect(got).toMatchObject({ kind, statusCode: status, responseText: 'begun' });
  expect(got.tookMs).toBeLessThan(TIMEOUT_MS + SLACK_MS);
});

test('HttpSender gives up on headers that come a letter at a time', async () => {
  const url = await openRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
    const drip = setInterval(() => socket.write('a'), 20);
    socket.on('close', () => clearInterval(drip));
  });

  const got = await attempt(url);

  expect(got.kind).toBe('timeout');
  expect(got.tookMs).toBeLessThan(TIMEOUT_MS + SLACK_MS);
});

test.each([
  ['resets the connection', (socket: Socket) => void socket.resetAndDestroy()],
  ['closes the connection', (socket: Socket) => void socket.end()],
  [
    'resets it after the request',
    (socket: Socket) => void socket.once('data', () => socket.resetAndDestroy()),
  ],
  ['speaks another protocol', (socket: Socket) => void socket.write('220 smtp ready\r\n')],
  [
    'sends 20 kB of headers',
    (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
  ],
])('HttpSender counts a receiver that %s as unreachable', async (_, onSocket) => {
  const got = await attempt(await openRaw(onSocket));

  expect(got).toMatchObject({ kind: 'network', statusCode: null });
  expect(got.tookMs).toBeLessThan(SLACK_MS);
});

test('HttpSender says in plain English that no server listens', async () => {
  const got = await attempt(`http://127.0.0.1:${await freePort()}/`);

  expect(got).toMatchObject({
    kind: 'network',
    error: 'no server listens at its port (ECONNREFUSED)',
  });
});

test.each([
  ['http', 'the answer is not HTTP (HTTPParserError)'],
  ['https', 'its port does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER)'],
])('HttpSender says in plain English that an %s receiver speaks something else', async (scheme, error) => {
  const url = await openRaw((socket) =>
    socket.on('data', () => socket.end('220 mail.example\r\n')),
  );

  const got = await attempt(url.replace('http:', `${scheme}:`));

  expect(got).toMatchObject({ kind: 'network', error });
});

test('HttpSender limits looking the name up as well', async () => {
  const unknown = Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });

  const never = await attempt('https://receiver.example/', () => new Promise(() => undefined));
  const missing = await attempt('https://receiver.example/', () => Promise.reject(unknown));

  expect(never.kind).toBe('timeout');
  expect(never.tookMs).toBeLessThan(TIMEOUT_MS + SLACK_MS);
  expect(missing).toMatchObject({ kind: 'network', error: 'host name not found (ENOTFOUND)' });
});

test('HttpSender takes a hundred headers', async () => {
  const headers = Array.from({ length: 100 }, (_, index) => [`X-Header-${index}`, 'value']);

  const got = await attemptAt(
    (response) => void response.writeHead(200, Object.fromEntries(headers)).end(),
  );

  expect(got.kind).toBe('ok');
});

test('HttpSender keeps 2 kB of a body, and aborts an endless one', async () => {
  const chunk = 'x'.repeat(65_536);
  let sentBytes = 0;
  const receiver = await WebhookReceiver.open((response) => {
    response.writeHead(200);
    const pour = () => {
      while (sentBytes < 1_000_000_000 && !response.destroyed) {
        sentBytes += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', pour);
      }
      response.end();
    };
    pour();
  });
  const before = process.memoryUsage().rss;

  const got = await attempt(receiver.url);

  expect(got).toMatchObject({ kind: 'ok', responseText: 'x'.repeat(2048) });
  expect(got.tookMs).toBeLessThan(TIMEOUT_MS + SLACK_MS);
  expect(sentBytes).toBeLessThan(20_000_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test('HttpSender does not unpack what it is answered', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));

  const got = await attemptAt((response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  });

  expect(got.kind).toBe('ok');
  expect(got.responseText?.length).toBeLessThanOrEqual(2048);
  expect(got.responseText).not.toContain('\0');
});

describeWith(['openssl'], 'TLS', () => {
  test('HttpSender trusts no self-signed certificate', async () => {
    const folder = testFolder();
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', key, '-out', cert];
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', ['req', ...kind, ...files, ...subject], { stdio: 'ignore' });
    const options = { key: readFileSync(key), cert: readFileSync(cert) };
    const requests: string[] = [];
    const server = createTlsServer(options, (request, response) => {
      requests.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());

    const got = await attempt(`https://localhost:${(server.address() as AddressInfo).port}/`);

    const error = 'its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)';
    expect(got).toMatchObject({ kind: 'network', error });
    expect(requests).toEqual([]);
  });
});
