/** Offer and answer with SRTP: what each policy takes, refuses, and never does. */
import { expect, test } from 'vitest';
import type { SrtpPolicy } from '../../src/rtp/srtp/sdes.ts';
import { DirectGateway } from '../../src/telephony/direct/direct-gateway.ts';
import { SilentLines } from './silent-lines.ts';

const KEY = 'd0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';
const OTHER_KEY = 'NzB4d1BINUAvLEw6UzF3WSJ+PSdFcGdUJShpX1Zj';
const SHA1_80 = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`;
const SHA1_32 = `a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:${OTHER_KEY}`;
const UNKNOWN = `a=crypto:1 F8_128_HMAC_SHA1_80 inline:${KEY}`;
const SAVP = 'm=audio 4000 RTP/SAVP 0';
const AVP = 'm=audio 4000 RTP/AVP 0';
const signallingAddress = '192.0.2.1';

function sdp(...lines: readonly string[]): string {
  const session = ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0'];
  return `${[...session, ...lines].join('\r\n')}\r\n`;
}

async function opened(srtp: SrtpPolicy | undefined, remoteSdp?: string) {
  const engine = new SilentLines();
  const offer = remoteSdp === undefined ? {} : { remoteSdp };
  const gateway = new DirectGateway({ engine });
  const endpoint = await gateway.open({ ...offer, srtp, signallingAddress });
  return { endpoint, remotes: engine.opened[0]?.remotes ?? [] };
}

const essence = (text: string) =>
  text
    .split('\r\n')
    .filter((line) => /^(m=|a=crypto)/.test(line))
    .map((line) => line.replace(/inline:.*/, 'inline:…'));

test.each([
  ['required', sdp(SAVP, SHA1_80), 'RTP/SAVP', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80'],
  ['preferred', sdp(SAVP, SHA1_80), 'RTP/SAVP', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80'],
  ['required', sdp(AVP, SHA1_80), 'RTP/AVP', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80'],
  ['preferred', sdp(AVP, SHA1_80), 'RTP/AVP', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80'],
  ['preferred', sdp(SAVP, UNKNOWN, SHA1_32), 'RTP/SAVP', 'a=crypto:2 AES_CM_128_HMAC_SHA1_32'],
] as const)('DirectGateway with SRTP %s answers keys with keys: %s', async (srtp, offer, protocol, crypto) => {
  const { endpoint, remotes } = await opened(srtp, offer);

  expect(essence(endpoint.localSdp)).toEqual([`m=audio 40000 ${protocol} 0`, `${crypto} inline:…`]);
  expect(remotes[0]?.srtp?.receive.inline).toBe(crypto.includes(':2') ? OTHER_KEY : KEY);
  expect(endpoint.localSdp).toContain(`inline:${remotes[0]?.srtp?.send.inline}\r\n`);
});

test.each([
  ['off', sdp(SAVP, SHA1_80), 'usable is audio by RTP; it has RTP/SAVP'],
  [undefined, sdp(SAVP, SHA1_80), 'usable is audio by RTP; it has RTP/SAVP'],
  ['preferred', sdp(SAVP), 'it has RTP/SAVP'],
  ['preferred', sdp(SAVP, UNKNOWN), 'it has RTP/SAVP with F8_128_HMAC_SHA1_80'],
  ['required', sdp(SAVP, UNKNOWN), 'it has RTP/SAVP with F8_128_HMAC_SHA1_80'],
  ['required', sdp(AVP), 'it has RTP/AVP'],
  ['required', sdp(AVP, UNKNOWN), 'it has RTP/AVP with F8_128_HMAC_SHA1_80'],
  ['required', sdp('m=audio 4000 UDP/TLS/RTP/SAVP 0', SHA1_80), 'it has UDP/TLS/RTP/SAVP'],
] as const)('DirectGateway with SRTP %s refuses what it cannot do, and says why', async (srtp, offer, why) => {
  const refused = opened(srtp, offer);

  await expect(refused).rejects.toMatchObject({ sipStatus: 488 });
  await expect(refused).rejects.toThrow(why);
  await expect(refused).rejects.not.toThrow(KEY);
});

test.each([
  ['off', sdp(AVP, SHA1_80)],
  ['preferred', sdp(AVP)],
  ['preferred', sdp(AVP, UNKNOWN)],
] as const)('DirectGateway with SRTP %s answers plain RTP in plain RTP', async (srtp, offer) => {
  const { endpoint, remotes } = await opened(srtp, offer);

  expect(essence(endpoint.localSdp)).toEqual(['m=audio 40000 RTP/AVP 0']);
  expect(remotes[0]?.srtp).toBeUndefined();
});

test('DirectGateway takes the encrypted one of two streams, and refuses the plain one', async () => {
  const { endpoint } = await opened('preferred', sdp(AVP, 'm=audio 4002 RTP/SAVP 0', SHA1_80));

  expect(essence(endpoint.localSdp).slice(0, 2)).toEqual([
    'm=audio 0 RTP/AVP 0',
    'm=audio 40000 RTP/SAVP 0',
  ]);
});

test.each([
  ['required', 'RTP/SAVP', 3],
  ['preferred', 'RTP/AVP', 3],
  ['off', 'RTP/AVP', 0],
] as const)('DirectGateway with SRTP %s offers %s with %d keys', async (srtp, protocol, keys) => {
  const { endpoint } = await opened(srtp);

  const [media, ...crypto] = essence(endpoint.localSdp);

  expect(media).toBe(`m=audio 40000 ${protocol} 0 8 101`);
  expect(crypto).toHaveLength(keys);
});

test('DirectEndpoint takes the suite of the answer, with its own key of that suite', async () => {
  const { endpoint, remotes } = await opened('required');
  const offered = endpoint.localSdp;

  await endpoint.negotiate(sdp(SAVP, SHA1_32.replace('crypto:2', 'crypto:3')));

  expect(remotes[0]?.srtp).toMatchObject({
    receive: { suite: 'AES_CM_128_HMAC_SHA1_32', inline: OTHER_KEY },
  });
  expect(offered).toContain(`AES_CM_128_HMAC_SHA1_32 inline:${remotes[0]?.srtp?.send.inline}`);
});

test('DirectEndpoint refuses a plain answer where SRTP is required, and takes it where it is preferred', async () => {
  const required = await opened('required');
  const preferred = await opened('preferred');

  const refused = required.endpoint.negotiate(sdp(AVP));
  await preferred.endpoint.negotiate(sdp(AVP));

  await expect(refused).rejects.toMatchObject({ sipStatus: 488 });
  expect(required.remotes).toEqual([]);
  expect(preferred.remotes[0]?.srtp).toBeUndefined();
});

test('DirectEndpoint keeps its key through hold and resume, and offers what was agreed', async () => {
  const { endpoint, remotes } = await opened('preferred', sdp(SAVP, SHA1_80));
  await endpoint.negotiate(sdp(SAVP, SHA1_80, 'a=sendonly'));
  await endpoint.negotiate(sdp(SAVP, `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${OTHER_KEY}`));

  const offer = endpoint.offer();

  expect(new Set(remotes.map(({ srtp }) => srtp?.send.inline)).size).toBe(1);
  expect(remotes.map(({ srtp }) => srtp?.receive.inline)).toEqual([KEY, KEY, OTHER_KEY]);
  expect(offer).toContain('RTP/SAVP');
  expect(offer).toContain(`inline:${remotes[0]?.srtp?.send.inline}\r\n`);
});

test('DirectGateway has other keys for a far end that takes the place of one, and its former keys where that fails', async () => {
  const { endpoint, remotes } = await opened('required', sdp(SAVP, SHA1_80));
  const keyOf = (at: number) => remotes[at]?.srtp?.send.inline;

  const restore = endpoint.prepareMove();
  endpoint.offer();
  await endpoint.negotiate(sdp('m=audio 4002 RTP/SAVP 0', SHA1_32));
  await restore();

  expect(remotes.map(({ port }) => port)).toEqual([4000, 4002, 4000]);
  expect(keyOf(1)).not.toBe(keyOf(0));
  expect(keyOf(2)).toBe(keyOf(0));
});

test('DirectGateway keeps its agreement where an offer to another far end is refused', async () => {
  const { endpoint, remotes } = await opened('off', sdp(AVP));

  const restore = endpoint.prepareMove();
  endpoint.offer();
  await restore();
  const answer = await endpoint.negotiate(sdp('m=audio 4000 RTP/AVP 0', 'a=sendonly'));

  expect(remotes).toHaveLength(2);
  expect(answer).toContain('a=recvonly');
});
