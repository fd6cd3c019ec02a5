/** SIP from a host that no trunk allows, at a real drachtio-server, which answers by itself what the phone server does not take. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startServer } from '../support/server/server.ts';
import { findPrograms, startRealWorld } from './real-processes.ts';

/** Far more than an answer on this machine takes. */
const SILENCE_MS = 2_000;

const METHODS = ['OPTIONS', 'REGISTER', 'MESSAGE', 'SUBSCRIBE', 'PUBLISH', 'NOTIFY', 'INFO'];

const programs = findPrograms('strangers at drachtio-server');

async function openWorld(environment: Readonly<Record<string, string>>) {
  if (programs === undefined) throw new Error('Cannot set up: there are no programs');
  const world = await startRealWorld(programs);
  const folder = mkdtempSync(join(tmpdir(), 'offhook-real-strangers-'));
  const SIP_TRUNKS = join(folder, 'trunks.json');
  const trunk = { name: 'acme', proxy: '192.0.2.1', allowedSources: ['192.0.2.1'] };
  writeFileSync(SIP_TRUNKS, JSON.stringify([{ ...trunk, optionsIntervalSeconds: 0 }]));
  const settings = { ...world.environment, MEDIA: 'direct', SIP_TRUNKS, ...environment };
  const server = await startServer({ environment: settings });
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const answers: string[] = [];
  socket.on('message', (bytes) => {
    const text = bytes.toString();
    answers.push(`${/^CSeq: \d+ (\w+)/m.exec(text)?.[1]} ${text.slice(8, 11)}`);
  });
  onTestFinished(async () => {
    socket.close();
    await server.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.ready();
  const send = (method: string) => {
    const us = `127.0.0.1:${socket.address().port}`;
    const lines = [
      `${method} sip:+12025550123@127.0.0.1:${world.sipPort} SIP/2.0`,
      `Via: SIP/2.0/UDP ${us};branch=z9hG4bK${method}`,
      ...[`From: <sip:them@${us}>;tag=1`, `To: <sip:+12025550123@127.0.0.1>`],
      ...[`Call-ID: ${method}@${us}`, `CSeq: 1 ${method}`, `Contact: <sip:them@${us}>`],
      ...['Event: presence', 'Max-Forwards: 70', 'Content-Length: 0', '', ''],
    ];
    socket.send(lines.join('\r\n'), world.sipPort, '127.0.0.1');
  };
  const counted = async () => {
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    return Number(/^offhook_sip_strangers_total\{network="loopback"\} (\d+)$/m.exec(metrics)?.[1]);
  };
  return { send, answers, counted };
}

describe.skipIf(programs === undefined)('strangers at a real drachtio-server', () => {
  test('get no answer to anything but INVITE, which drachtio-server itself has answered with 100', async () => {
    const { send, answers, counted } = await openWorld({});

    for (const method of METHODS) send(method);
    await wait(SILENCE_MS);
    const unanswered = [...answers];
    send('INVITE');
    await expect.poll(() => answers, { timeout: SILENCE_MS }).toContain('INVITE 403');

    expect(unanswered).toEqual([]);
    expect(new Set(answers)).toEqual(new Set(['INVITE 100', 'INVITE 403']));
    expect(await counted()).toBe(METHODS.length + 1);
  });

  test('with SIP_STRANGERS=refuse are refused with 403', async () => {
    const { send, answers } = await openWorld({ SIP_STRANGERS: 'refuse' });

    for (const method of METHODS) send(method);
    await expect.poll(() => answers.length, { timeout: SILENCE_MS }).toBe(METHODS.length);

    expect(answers.toSorted()).toEqual(METHODS.map((method) => `${method} 403`).toSorted());
  });
});
