/** SIP from a host that no trunk allows: silence by default, 403 where the operator wants it. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { TestAuthority } from '../../support/network/certificates.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { startServer } from '../../support/server/server.ts';

const TRUNK = { name: 'acme', proxy: '192.0.2.1', allowedSources: ['192.0.2.1'] };

/** Far more than an answer on this machine takes. */
const SILENCE_MS = 2_000;

async function openWorld(environment: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-strangers-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { cert, key } = new TestAuthority().sign();
  const tlsPort = await freePort();
  const files = {
    SIP_TRUNKS: file('trunks.json', JSON.stringify([{ ...TRUNK, optionsIntervalSeconds: 0 }])),
    SIP_TLS_CERT: file('cert.pem', cert),
    SIP_TLS_KEY: file('key.pem', key),
    SIP_TLS_PORT: String(tlsPort),
  };
  const server = await startServer({ environment: { ...files, ...environment } });
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const statuses: string[] = [];
  socket.on('message', (bytes) => statuses.push(bytes.toString().slice(8, 11)));
  onTestFinished(async () => {
    socket.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.ready();
  const send = (method: string) => {
    const us = `127.0.0.1:${socket.address().port}`;
    const lines = [
      `${method} sip:+12025550123@127.0.0.1:${server.sipPort} SIP/2.0`,
      `Via: SIP/2.0/UDP ${us};branch=z9hG4bK${method}`,
      ...[`From: <sip:them@${us}>;tag=1`, `To: <sip:+12025550123@127.0.0.1>`],
      ...[`Call-ID: ${method}@${us}`, `CSeq: 1 ${method}`, `Contact: <sip:them@${us}>`],
      ...['Max-Forwards: 70', 'Content-Length: 0', '', ''],
    ];
    socket.send(lines.join('\r\n'), server.sipPort, '127.0.0.1');
  };
  const counted = async () => {
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    return /^offhook_sip_strangers_total\{network="loopback"\} (\d+)$/m.exec(metrics)?.[1];
  };
  return { send, statuses, counted, server, tlsPort };
}

test('a host that no trunk allows gets no answer, and is counted', async () => {
  const { send, statuses, counted, server } = await openWorld({});

  for (const method of ['INVITE', 'OPTIONS', 'REGISTER']) send(method);
  await wait(SILENCE_MS);

  expect(statuses).toEqual([]);
  expect(await counted()).toBe('3');
  expect(server.output).toContain('SIP from a host that no trunk allows');
});

test('with SIP_STRANGERS=refuse the call of a host that no trunk allows is refused with 403', async () => {
  const { send, statuses, counted } = await openWorld({ SIP_STRANGERS: 'refuse' });

  send('INVITE');
  await expect.poll(() => statuses, { timeout: 10_000 }).toContain('403');

  expect(await counted()).toBe('1');
});

/** What docs/deploy.md says of one address. */
const CONNECTIONS_OF_ONE = 8;

test.each([
  ['TCP', 'ignore'],
  ['TCP', 'refuse'],
  ['TLS', 'ignore'],
] as const)('a host that no trunk allows has few connections by %s with SIP_STRANGERS=%s, and no answer to keep-alive', async (protocol, SIP_STRANGERS) => {
  const { server, tlsPort } = await openWorld({ SIP_STRANGERS });
  const open = () => {
    const socket =
      protocol === 'TCP'
        ? connect(server.sipPort, '127.0.0.1')
        : connectTls({ port: tlsPort, host: '127.0.0.1', rejectUnauthorized: false });
    const state = { answers: '', isClosed: false };
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      state.answers += bytes.toString();
    });
    socket.on('close', () => {
      state.isClosed = true;
    });
    socket.write('\r\n\r\n');
    onTestFinished(() => {
      socket.destroy();
    });
    return state;
  };

  const states = Array.from({ length: 2 * CONNECTIONS_OF_ONE }, open);
  const opened = () => states.filter(({ isClosed }) => !isClosed).length;
  await expect.poll(opened, { timeout: 10_000 }).toBe(CONNECTIONS_OF_ONE);
  await wait(SILENCE_MS);

  expect(opened()).toBe(CONNECTIONS_OF_ONE);
  expect(states.map(({ answers }) => answers).join('')).toBe('');
});
