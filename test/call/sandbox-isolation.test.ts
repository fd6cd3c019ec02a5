/** Nothing of the sandbox leaves the process: no trunk is touched, and no socket is opened. */
import dgram from 'node:dgram';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { dirname, join, normalize } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CallRegistry } from '../../src/call/call-registry.ts';
import { OutboundDialer } from '../../src/call/outbound/outbound-dialer.ts';
import { SCENARIO_BY_DIGITS } from '../../src/domain/sandbox-scenario.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openSandboxWorld, type SandboxWorld } from './support/sandbox-world.ts';

const CALLS = 200;

/** A live dialer on the sandbox's queue; its carrier throws on every use. */
function startLiveDialer({ store }: SandboxWorld): { readonly touches: string[] } {
  const touches: string[] = [];
  const touch = (name: string) => {
    touches.push(name);
    throw new Error('a trunk was touched');
  };
  const dialer = new OutboundDialer({
    environment: 'live',
    carrier: { place: () => touch('place'), routeFor: () => touch('routeFor') },
    parts: () => touch('parts'),
    registry: new CallRegistry({ callsMax: 100 }),
    findAgent: () => touch('findAgent'),
    calls: store.calls,
    newId: () => touch('newId'),
    clock: store.clock,
    log: silentLogger,
  });
  dialer.start();
  onTestFinished(() => dialer.stop());
  return { touches };
}

/** Counts the sockets that the process opens, until the test is over. */
function watchSockets(): { readonly opened: string[] } {
  const opened: string[] = [];
  const { createSocket } = dgram;
  const { connect } = net.Socket.prototype;
  const { listen } = net.Server.prototype;
  dgram.createSocket = ((...values: Parameters<typeof createSocket>) => {
    opened.push('udp');
    return createSocket(...values);
  }) as typeof createSocket;
  net.Socket.prototype.connect = function watched(this: net.Socket, ...values: never) {
    opened.push('tcp');
    return Reflect.apply(connect, this, values);
  };
  net.Server.prototype.listen = function watched(this: net.Server, ...values: never) {
    opened.push('server');
    return Reflect.apply(listen, this, values);
  };
  onTestFinished(() => {
    Object.assign(dgram, { createSocket });
    Object.assign(net.Socket.prototype, { connect });
    Object.assign(net.Server.prototype, { listen });
  });
  return { opened };
}

test('200 calls of the test environment touch no trunk and open no socket', async () => {
  const world = await openSandboxWorld();
  const { touches } = startLiveDialer(world);
  const { opened } = watchSockets();
  const lastDigits = [...Object.keys(SCENARIO_BY_DIGITS), '99'];

  world.sandbox.start();
  const ids: string[] = [];
  for (let index = 0; index < CALLS; index += 1) {
    ids.push(await world.queue({ to: `+120255501${lastDigits[index % lastDigits.length]}` }));
  }
  await world.untilOver(...ids);

  expect(touches).toEqual([]);
  expect(opened).toEqual([]);
});

test('the watch on sockets sees a socket', async () => {
  const { opened } = watchSockets();

  dgram.createSocket('udp4').close();
  new net.Socket()
    .connect({ port: 9, host: '127.0.0.1' })
    .on('error', () => undefined)
    .destroy();
  await new Promise<void>((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => server.close(() => resolve()));
  });

  expect(opened.toSorted()).toEqual(['server', 'tcp', 'udp']);
});

/** Every file of ours, and every module of Node, that a file imports, with all that those import. */
function reachableFrom(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  if (!file.startsWith('src/')) return found;
  const source = readFileSync(file, 'utf8');
  for (const [, isType, to = ''] of source.matchAll(
    /^(?:import|export|\})(\s+type)?[^;]*?from '([^']+)'/gm,
  )) {
    if (isType === undefined)
      reachableFrom(to.startsWith('.') ? normalize(join(dirname(file), to)) : to, found);
  }
  return found;
}

test('the carrier of the sandbox imports no network, and nothing of the real telephone network', () => {
  const reached = [...reachableFrom('src/telephony/sandbox/sandbox-carrier.ts')];

  expect(reached).toContain('src/telephony/sandbox/sandbox-leg.ts');
  expect(reached).toContain('src/media/recording/wav-recorder.ts');
  expect(
    reached.filter((name) =>
      /^(node:)?(net|dgram|tls|dns|https?|http2)$|undici|drachtio|src\/(sip|rtp)\/|src\/telephony\/direct/.test(
        name,
      ),
    ),
  ).toEqual([]);
});
