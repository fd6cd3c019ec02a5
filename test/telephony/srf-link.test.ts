import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { SrfLink } from '../../src/telephony/drachtio/carrier/srf-link.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { LogInServer } from './support/log-in-server.ts';

/** Keeps what the link tells, and lets a test wait for the next word. */
class Words {
  readonly said: string[] = [];
  #next = Promise.withResolvers<void>();

  say(word: string): void {
    this.said.push(word);
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  get next(): Promise<void> {
    return this.#next.promise;
  }
}

const opened: { stop(): void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.stop();
});

function openLink(port: number, secret = 'right') {
  const clock = new FakeClock();
  const words = new Words();
  const heard: (readonly unknown[])[] = [];
  const link = new SrfLink(
    { host: '127.0.0.1', port, secret, clock, log: silentLogger },
    {
      listening: (hostPorts) => heard.push(hostPorts),
      connected: () => words.say('connected'),
      lost: () => words.say('lost'),
    },
  );
  opened.push(link);
  return { clock, words, heard, link };
}

/** Turns the clock in steps, as for a process that is not held up itself. */
async function passUntil(clock: FakeClock, isTrue: () => boolean): Promise<void> {
  const step = () => {
    clock.advance(500);
    return isTrue();
  };
  await expect.poll(step, { interval: 5, timeout: 10_000 }).toBe(true);
}

async function startServer(port?: number) {
  const server = new LogInServer();
  opened.push(server);
  return { server, port: await server.start(port) };
}

test('SrfLink connects and tells where the server takes SIP', async () => {
  const { port } = await startServer();
  const { heard, link, words } = openLink(port);

  await link.start();

  expect(words.said).toEqual(['connected']);
  expect(heard.flat()).toContain('udp/192.0.2.1:5060,tcp/192.0.2.1:5060');
});

test('SrfLink is ready when the server has heard which calls it wants', async () => {
  const { server, port } = await startServer();
  const { link, words } = openLink(port);
  const refused = Promise.withResolvers<void>();
  server.mayRefuse = refused.promise;
  link.srf.invite(() => undefined);

  const started = link.start();
  await expect.poll(() => server.heard).toContain('|sip|');
  const [saidBefore, wasConnected] = [[...words.said], link.isConnected];
  refused.resolve();
  await started;

  expect(server.heard.indexOf('route|INVITE')).toBeLessThan(server.heard.indexOf('|sip|'));
  expect([saidBefore, wasConnected]).toEqual([[], false]);
  expect(words.said).toEqual(['connected']);
});

test('SrfLink is ready after a second where the server says nothing of it', async () => {
  const { server, port } = await startServer();
  const { clock, link } = openLink(port);
  server.mayRefuse = new Promise(() => undefined);

  const started = link.start();
  await expect.poll(() => server.heard).toContain('|sip|');
  clock.advance(1_000);
  await started;

  expect(link.isConnected).toBe(true);
});

test('SrfLink says so when the server refuses the secret', async () => {
  const { port } = await startServer();
  const { link } = openLink(port, 'wrong');

  await expect(link.start()).rejects.toThrow(
    `Cannot use SIP server "127.0.0.1:${port}": it refused the secret`,
  );
  expect(link.isConnected).toBe(false);
});

test('SrfLink comes back after the connection was lost', async () => {
  const { server, port } = await startServer();
  const { clock, link, words } = openLink(port);
  await link.start();

  server.sockets[0]?.destroy();
  await words.next;
  const problem = link.problem;
  clock.advance(250);
  await words.next;

  expect(words.said).toEqual(['connected', 'lost', 'connected']);
  expect(problem).toBe(`the server at 127.0.0.1:${port} closed the connection`);
  expect(link.isConnected).toBe(true);
});

test('SrfLink starts without a server and connects when there is one', async () => {
  const { server, port } = await startServer();
  server.stop();
  const { clock, link, words } = openLink(port);

  await link.start();
  const problem = link.problem;
  await startServer(port);
  clock.advance(250);
  await words.next;

  expect(problem).toContain('ECONNREFUSED');
  expect(link.isConnected).toBe(true);
});

test('SrfLink that was stopped stays away', async () => {
  const { server, port } = await startServer();
  const { clock, link } = openLink(port);
  await link.start();
  const [socket] = server.sockets;
  if (socket === undefined) throw new Error('Cannot go on: no client is connected');
  const closed = once(socket, 'close');

  link.stop();
  link.stop();
  await closed;
  clock.advance(60_000);

  expect(clock.waiting).toBe(0);
  expect(server.sockets).toHaveLength(1);
  expect(link.isConnected).toBe(false);
});

test('SrfLink notices a server that hangs, and that it goes on', async () => {
  const { server, port } = await startServer();
  const { clock, link, words } = openLink(port);
  await link.start();
  const goesOn = Promise.withResolvers<void>();
  server.mayRefuse = goesOn.promise;

  const startedMs = clock.nowMs();
  await passUntil(clock, () => !link.isConnected);
  const noticedMs = clock.nowMs() - startedMs;
  const problem = link.problem;
  goesOn.resolve();
  await passUntil(clock, () => link.isConnected);

  expect(noticedMs).toBeLessThanOrEqual(6_500);
  expect(problem).toContain(`the server at 127.0.0.1:${port} hangs`);
  expect(words.said).toEqual(['connected', 'lost', 'connected']);
  // What was said meanwhile has been heard: it is the same connection.
  expect(server.sockets).toHaveLength(1);
});

test('SrfLink tries another connection where a server hangs for long', async () => {
  const { server, port } = await startServer();
  const { clock, link, words } = openLink(port);
  await link.start();
  server.mayRefuse = new Promise(() => undefined);

  await passUntil(clock, () => server.sockets.length === 2);
  server.mayRefuse = Promise.resolve();

  await passUntil(clock, () => link.isConnected);
  expect(clock.nowMs()).toBeGreaterThan(30_000);
  expect(words.said).toEqual(['connected', 'lost', 'connected']);
});

test('SrfLink lets a start go on when the server takes connections and says nothing', async () => {
  const { server, port } = await startServer();
  server.doesAnswer = false;
  const { clock, link, words } = openLink(port);

  const started = link.start();
  await expect.poll(() => server.sockets).toHaveLength(1);
  const problemAtFirst = link.problem;
  clock.advance(1_500);
  await started;
  clock.advance(1_500);
  await expect.poll(() => link.problem).toContain('did not answer within 3 s');
  server.doesAnswer = true;
  await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  clock.advance(250);
  await words.next;

  expect(problemAtFirst).toBe(`connecting to the server at 127.0.0.1:${port}`);
  expect(words.said).toEqual(['connected']);
});

test('SrfLink lets a start go on, and tries again, where packets to the server are swallowed', async () => {
  const { port, isFull, goOn } = await startSwallower();
  const { clock, link, words } = openLink(port);

  const started = link.start();
  clock.advance(1_500);
  await started;
  clock.advance(1_500);
  await expect.poll(() => link.problem).toContain('did not answer within 3 s');
  const problem = link.problem;
  const wasFull = isFull();
  await goOn();
  await passUntil(clock, () => link.isConnected);

  expect(wasFull).toBe(true);
  expect(words.said).toEqual(['connected']);
  expect(problem).toBe(
    `connecting to the server at 127.0.0.1:${port}: it did not answer within 3 s`,
  );
});

/** A port whose queue of connections is full, so that the kernel drops the next one's packets. Linux. */
async function startSwallower() {
  const code = `require('node:net').createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 },
    function () { console.log(this.address().port); })`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const port = Number(String(line));
  child.kill('SIGSTOP');
  const fillers = Array.from({ length: 4 }, () => connect({ host: '127.0.0.1', port }));
  for (const filler of fillers) filler.on('error', () => undefined);
  await once(fillers[1] as Socket, 'connect');
  const stop = () => {
    for (const filler of fillers) filler.destroy();
    child.kill('SIGKILL');
  };
  opened.push({ stop });
  const goOn = async () => {
    stop();
    await once(child, 'exit');
    await startServer(port);
  };
  return { port, isFull: () => fillers.at(-1)?.connecting === true, goOn };
}
