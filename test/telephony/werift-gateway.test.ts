/** The gateway for browsers against a real connection of werift. */
import { readdirSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../sip/user-agents.ts';
import {
  connectedCall,
  failureOf,
  newBrowser,
  openGateway,
  stopBrowserWorld,
} from './support/browser-world.ts';

afterEach(stopBrowserWorld);

test('WeriftGateway carries voice both ways and keys to the line, and nothing that is neither', async () => {
  const { browser, line, endpoint } = await connectedCall();

  browser.speak();
  browser.press('5');
  line.send(101, 0x10, 1);
  for (let sequence = 2; sequence < 8; sequence += 1) line.send(0, 0x10, sequence);
  await eventually(() => line.received.length > 8, 'voice at the line');
  await eventually(() => browser.hasHeardSound, 'voice at the browser');

  const types = new Set(line.received.map(({ payloadType }) => payloadType));
  expect([...types].sort()).toEqual([0, 126]);
  expect(line.remotes).toMatchObject([
    { codec: 'PCMU', telephoneEventPayloadType: 126, isRtcpMuxed: true, maySend: true },
  ]);
  expect(browser.heard).toHaveLength(6);
  expect(endpoint.localSdp).toContain('m=audio 9 UDP/TLS/RTP/SAVPF 0 126');
});

test('WeriftEndpoint keeps back what is said until the browser can hear it', async () => {
  const { gateway, lines } = openGateway();
  const browser = newBrowser();
  const endpoint = await gateway.open({ remoteSdp: await browser.offer() });

  endpoint.audio.begin(1);
  const before = lines[0]?.saidFirst;
  await browser.take(endpoint.localSdp);
  await eventually(() => lines[0]?.saidFirst !== undefined, 'the first word is let out');

  expect(before).toBeUndefined();
  expect(lines[0]?.saidFirst).toBe(1);
});

test('WeriftEndpoint is held and taken back by offers of the same connection, and refuses another one', async () => {
  const { endpoint, line, browser } = await connectedCall();
  const offer = await browser.offer();
  const other = await newBrowser().offer();

  const held = await endpoint.negotiate(offer.replace('a=sendrecv', 'a=sendonly'));
  const resumed = await endpoint.negotiate(offer);
  const failure = await failureOf(endpoint.negotiate(other));

  expect(held).toContain('a=recvonly');
  expect(resumed).toContain('a=sendrecv');
  expect([held, resumed].map((sdp) => / (\d+) IN IP4/.exec(sdp)?.[1])).toEqual(['2', '3']);
  expect(line.remotes.map(({ maySend }) => maySend)).toEqual([true, false, true]);
  expect(failure).toMatchObject({ name: 'MediaError', sipStatus: 488 });
});

test('WeriftGateway leaves nothing open after 200 calls through eight ports', async () => {
  const { gateway } = openGateway({ ports: { first: 42_200, last: 42_207 } });
  const browser = newBrowser();
  const remoteSdp = await browser.offer();
  const openAndClose = async (count: number) => {
    for (let call = 0; call < count; call += 4) {
      const four = [0, 1, 2, 3].map(() => gateway.open({ remoteSdp }));
      for (const endpoint of await Promise.all(four)) await endpoint.close();
    }
  };
  await openAndClose(4);
  const before = readdirSync('/proc/self/fd').length;

  await openAndClose(200);

  expect(gateway.size).toBe(0);
  expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
});
