/** What the gateway for browsers does when an offer, a browser, a port or its thread fails. */
import { createSocket } from 'node:dgram';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { readOffer } from '../../src/telephony/webrtc/browser-sdp.ts';
import { startRelay } from '../../src/telephony/webrtc/relay-thread.ts';
import { WeriftCall } from '../../src/telephony/webrtc/werift-call.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import {
  connectedCall,
  failureOf,
  LOOPBACK,
  newBrowser,
  openGateway,
  stopBrowserWorld,
} from './support/browser-world.ts';

afterEach(stopBrowserWorld);

test.each([
  ['nonsense', () => 'hello', 400],
  ['plain RTP', () => 'v=0\r\nm=audio 4000 RTP/AVP 0\r\n', 488],
  ['video too', (sdp: string) => `${sdp}m=video 9 UDP/TLS/RTP/SAVPF 96\r\n`, 488],
  ['no PCMU', (sdp: string) => sdp.replace('SAVPF 0 126', 'SAVPF 111 126'), 488],
  ['no fingerprint', (sdp: string) => sdp.replace(/a=fingerprint.*\r\n/, ''), 488],
  ['RTCP apart', (sdp: string) => sdp.replace('a=rtcp-mux\r\n', ''), 488],
  ['a book', (sdp: string) => sdp + 'a=x\r\n'.repeat(10_000), 400],
])('WeriftGateway refuses %s, and opens neither line nor thread for it', async (_, spoil, status) => {
  const { gateway, lines, workers } = openGateway();
  const browser = newBrowser();

  const failure = await failureOf(gateway.open({ remoteSdp: spoil(await browser.offer()) }));

  expect(failure).toMatchObject({ name: 'MediaError', sipStatus: status });
  expect([lines.length, workers.length]).toEqual([0, 0]);
});

test('WeriftGateway wants an offer: no browser calls without one', async () => {
  const failure = await failureOf(openGateway().gateway.open({}));

  expect(failure).toMatchObject({ name: 'MediaError', sipStatus: 488 });
});

test('WeriftGateway refuses one call too many with 503, and takes it when another has ended', async () => {
  const { gateway } = openGateway({ callsMax: 1 });
  const browser = newBrowser();
  const remoteSdp = await browser.offer();
  const first = await gateway.open({ remoteSdp });

  const failure = await failureOf(gateway.open({ remoteSdp }));
  await first.close();
  const second = await gateway.open({ remoteSdp });

  expect(failure.sipStatus).toBe(503);
  expect(second.localSdp).toContain('a=candidate');
  await second.close();
});

test('WeriftEndpoint says that its sound is lost when the browser does not come within 15 s', async () => {
  const clock = new FakeClock();
  const { gateway } = openGateway({ clock });
  const browser = newBrowser();
  const endpoint = await gateway.open({ remoteSdp: await browser.offer() });
  const kinds: string[] = [];
  endpoint.audio.onEvent(({ kind }) => kinds.push(kind));

  clock.advance(14_999);
  const before = kinds.length;
  clock.advance(1);

  expect([before, kinds]).toEqual([0, ['media-lost']]);
});

test('WeriftEndpoint says at once that its sound is lost when the thread dies, and the next call gets another', async () => {
  const { gateway, workers, endpoint, browser } = await connectedCall();
  const lost = new Promise((resolve) => endpoint.audio.onEvent(({ kind }) => resolve(kind)));

  await workers[0]?.terminate();
  const kind = await lost;
  await endpoint.close();
  const next = await gateway.open({ remoteSdp: await browser.offer() });

  expect(kind).toBe('media-lost');
  expect(workers).toHaveLength(2);
  expect(gateway.size).toBe(1);
  await next.close();
});

test('WeriftGateway says why when its thread cannot be started, closes nothing it has not, and tries again', async () => {
  let attempts = 0;
  const { gateway, lines } = openGateway({
    startRelay: (settings) => {
      attempts += 1;
      if (attempts > 1) return startRelay(settings);
      return new Worker('throw new Error("werift is broken")', { eval: true });
    },
  });
  const browser = newBrowser();
  const remoteSdp = await browser.offer();

  const failure = await failureOf(gateway.open({ remoteSdp }));
  const problem = gateway.problem;
  const endpoint = await gateway.open({ remoteSdp });

  expect(failure).toMatchObject({ name: 'MediaError', sipStatus: 503 });
  expect(problem).toContain('werift is broken');
  expect([gateway.problem, lines.length]).toEqual([undefined, 1]);
  await endpoint.close();
});

test('WeriftGateway gives its line back when the thread finds no port', async () => {
  const taken = createSocket('udp4');
  await new Promise<void>((resolve) => taken.bind(0, LOOPBACK, () => resolve()));
  const { port } = taken.address();
  const { gateway, lines } = openGateway({ ports: { first: port, last: port } });
  const browser = newBrowser();

  const failure = await failureOf(gateway.open({ remoteSdp: await browser.offer() }));
  taken.close();

  expect(failure.sipStatus).toBe(503);
  expect(lines.map(({ isClosed }) => isClosed)).toEqual([true]);
  expect(gateway.size).toBe(0);
});

test('WeriftGateway lets its thread go when there has been no call for a minute', async () => {
  const clock = new FakeClock();
  const { gateway, workers } = openGateway({ clock });
  const browser = newBrowser();
  const endpoint = await gateway.open({ remoteSdp: await browser.offer() });
  const exited = new Promise((resolve) => workers[0]?.once('exit', resolve));

  await endpoint.close();
  clock.advance(60_000);

  expect(await exited).toBe(1);
});

test('WeriftCall asks no STUN server for its address', async () => {
  const { sdp: offer, telephoneEventPayloadType } = readOffer(await newBrowser().offer());
  const line = { address: LOOPBACK, port: 9 };
  const addresses = [LOOPBACK];
  const call = new WeriftCall({
    request: { kind: 'open', call: 1, offer, telephoneEventPayloadType, line, addresses },
    ports: [42_300, 42_399],
    onConnected: () => undefined,
    onLost: () => undefined,
  });

  await call.open();
  const resources = process.getActiveResourcesInfo();
  await call.close();

  expect(resources.filter((name) => name.includes('AddrInfo'))).toEqual([]);
});
