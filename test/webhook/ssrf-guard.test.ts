import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { AddressRefusedError } from '../../src/webhook/answer.ts';
import { HttpSender } from '../../src/webhook/http-sender.ts';
import type { ResolveName } from '../../src/webhook/ssrf-guard.ts';
import { guardedLookup, ssrfGuard } from '../../src/webhook/ssrf-guard.ts';
import { answers, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';
import { LOCAL_RULES } from '../support/webhook/webhook-world.ts';

const CLOSED = { allowLocal: false, allowPrivate: false };

/** Every way to write this machine, a private network or a metadata service that URL parsers understand. */
const HOSTS = [
  ['127.0.0.1', '127.0.0.2', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001'],
  ['0x7f.0.0.1', '0X7F.1', '0177.0.0.1', '017700000001', '0x7f.0x0.0x0.0x1', '127.0.0.1.'],
  ['127。0。0。1', '①②⑦.⓪.⓪.①', '１２７.0.0.1', '%31%32%37.0.0.1', '0', '0.0.0.0', '00.0x0'],
  ['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
  ['[0:0:0:0:0:ffff:127.0.0.1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]'],
  ['[64:ff9b:1::127.0.0.1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]', '[fe80::1]', '[fec0::1]'],
  ['[fd12::1]', '[fd00:ec2::254]', '[ff02::1]', '[2001:db8::1]', '10.0.0.1', '172.16.0.1'],
  ['192.168.0.1', '169.254.169.254', '0xa9fea9fe', '2852039166', '100.64.0.1', '100.100.100.200'],
  ['192.0.0.192', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '168.63.129.16'],
  ['localhost', 'LOCALHOST', 'localhost.', 'internal.localhost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
].flat();

/** Listens on one port of every address of this machine that a mistake would lead to. */
async function openCanary(): Promise<{ readonly port: number; readonly hits: () => number }> {
  let hits = 0;
  const listen = async (host: string, port: number): Promise<Server> => {
    const server = createServer((socket) => {
      hits += 1;
      socket.destroy();
    });
    server.listen(port, host);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return server;
  };
  const first = await listen('127.0.0.1', 0);
  const { port } = first.address() as AddressInfo;
  for (const host of ['127.0.0.2', '::1']) await listen(host, port);
  return { port, hits: () => hits };
}

function openSender(options: { readonly rules?: typeof CLOSED; readonly resolve?: ResolveName }) {
  const sender = new HttpSender({
    rules: options.rules ?? CLOSED,
    resolve: options.resolve ?? (() => Promise.reject(new Error('no name is to be resolved'))),
    clock: systemClock,
    version: '1.2.3',
    timeoutMs: 2000,
  });
  onTestFinished(() => sender.close());
  const secrets = { secret: 'whsec_c2VjcmV0', otherSecrets: [] };
  const { signal } = new AbortController();
  return (url: string) => sender.send({ eventId: 'evt_1', url, body: '{}', ...secrets }, signal);
}

test('HttpSender reaches no listener of this machine by any way of writing an address', async () => {
  const canary = await openCanary();
  const send = openSender({});

  const found = new Map<string, string>();
  for (const scheme of ['https', 'http']) {
    for (const host of HOSTS) {
      const { kind } = await send(`${scheme}://${host}:${canary.port}/`);
      if (kind !== 'refused') found.set(`${scheme}://${host}`, kind);
    }
  }

  expect(HOSTS.length).toBeGreaterThanOrEqual(40);
  expect([...found]).toEqual([]);
  expect(canary.hits()).toBe(0);
});

/** Asks for every form through the connector alone, without the check of the URL before it. @returns how many were refused. */
async function connectToAll(port: number, rules: typeof CLOSED): Promise<number> {
  const resolve: ResolveName = () => Promise.reject(new Error('no name is to be resolved'));
  const agent = new Agent({ connect: ssrfGuard({ rules, resolve, timeoutMs: 500 }) });
  onTestFinished(() => agent.destroy());
  const refusals = await Promise.all(
    HOSTS.map((host) =>
      agent.request({ origin: `http://${host}:${port}`, path: '/', method: 'POST' }).then(
        () => false,
        (error: unknown) => error instanceof AddressRefusedError,
      ),
    ),
  );
  return refusals.filter(Boolean).length;
}

test('ssrfGuard refuses every one of them by itself', async () => {
  const canary = await openCanary();

  const refused = await connectToAll(canary.port, CLOSED);

  expect(refused).toBe(HOSTS.length);
  expect(canary.hits()).toBe(0);
});

test('the canary hears those who are let through', async () => {
  const canary = await openCanary();

  await connectToAll(canary.port, LOCAL_RULES);

  expect(canary.hits()).toBeGreaterThanOrEqual(20);
});

test.each([
  ['127.0.0.1'],
  ['::1'],
  ['127.0.0.2', '::1'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['::ffff:127.0.0.1'],
  ['64:ff9b::7f00:1'],
  ['fe80::1%lo'],
])('HttpSender refuses a name that resolves to %s', async (...addresses) => {
  const canary = await openCanary();
  const send = openSender({ resolve: async () => addresses });

  const answer = await send(`https://receiver.example:${canary.port}/`);

  expect(answer.kind).toBe('refused');
  expect(canary.hits()).toBe(0);
});

function lookUp(resolve: ResolveName, rules = CLOSED): Promise<string> {
  const lookup = guardedLookup('https:', { rules, resolve });
  return new Promise((done) => {
    lookup('receiver.example', { all: true }, (error, found) =>
      done(error === null ? JSON.stringify(found) : error.message),
    );
  });
}

test('guardedLookup leaves refused addresses out of a mixed answer', async () => {
  const found = await lookUp(async () => ['10.0.0.1', '8.8.8.8', '::1', '2606:4700::1111']);

  expect(JSON.parse(found)).toEqual([
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]);
});

test('guardedLookup asks once for each connection, and gives no address that it did not check', async () => {
  const script = ['8.8.8.8', '127.0.0.1', '8.8.4.4', '169.254.169.254'];
  const resolve = async () => [script.shift() ?? '127.0.0.1'];

  const found = [];
  for (let index = 0; index < 4; index += 1) found.push(await lookUp(resolve));

  expect(found).toEqual([
    '[{"address":"8.8.8.8","family":4}]',
    'its host is the server itself, and WEBHOOK_ALLOW_LOCAL is not set',
    '[{"address":"8.8.4.4","family":4}]',
    'its host has an address that is kept for special purposes',
  ]);
  expect(script).toEqual([]);
});

test.each([
  301, 302, 303, 307, 308,
])('HttpSender does not follow a redirect with %d', async (status) => {
  const canary = await openCanary();
  const receiver = await WebhookReceiver.open((response) => {
    response.writeHead(status, { location: `http://127.0.0.1:${canary.port}/` }).end();
  });
  const send = openSender({ rules: LOCAL_RULES });

  const answer = await send(receiver.url);

  const error = `the receiver answered ${status}; redirects are not followed`;
  expect(answer).toMatchObject({ kind: 'http', statusCode: status, error });
  expect(canary.hits()).toBe(0);
});

test('HttpSender reaches this machine where the operator allows it, by address and by name', async () => {
  const receiver = await WebhookReceiver.open(answers(204));
  const send = openSender({ rules: LOCAL_RULES });

  const kinds = [];
  for (const host of ['127.0.0.1', 'localhost']) {
    kinds.push((await send(`http://${host}:${receiver.port}/`)).kind);
  }

  expect(kinds).toEqual(['ok', 'ok']);
});

test('ssrfGuard opens connections for https and http only', () => {
  const resolve = async () => ['8.8.8.8'];
  const connect = ssrfGuard({ rules: LOCAL_RULES, resolve, timeoutMs: 500 });
  const errors: (Error | null)[] = [];

  connect(
    { protocol: 'ftp:', hostname: '127.0.0.1', port: '9' },
    (...[error]) => void errors.push(error),
  );

  expect(errors).toEqual([new AddressRefusedError('its URL is neither https nor http')]);
});

test('guardedLookup gives the first allowed address to a socket that wants one', async () => {
  const resolve = async () => ['10.0.0.1', '2606:4700::1111', '8.8.8.8'];
  const lookup = guardedLookup('https:', { rules: CLOSED, resolve });

  const found = await new Promise((done) => {
    lookup('receiver.example', {}, (...answer) => done(answer));
  });

  expect(found).toEqual([null, '2606:4700::1111', 6]);
});

test('guardedLookup refuses a name without addresses', async () => {
  const found = await lookUp(async () => []);

  expect(found).toBe('its name has no address');
});
