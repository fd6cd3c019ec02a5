import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import {
  addressesFor,
  directionFor,
  hostAddresses,
  readOffer,
  withAddresses,
  withOurSide,
} from '../../src/telephony/webrtc/browser-sdp.ts';

/** As Chromium writes it, shortened. */
const OFFER = [
  'v=0',
  'o=- 4611731400430051336 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0',
  'a=extmap-allow-mixed',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126',
  'c=IN IP4 0.0.0.0',
  'a=rtcp:9 IN IP4 0.0.0.0',
  'a=candidate:1 1 udp 2113937151 0b1f3a52-8a2f.local 50001 typ host generation 0',
  'a=candidate:2 1 udp 2113937151 192.0.2.7 50002 typ host generation 0 network-id 1',
  'a=candidate:3 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active generation 0',
  'a=candidate:4 1 udp 2113937151 2001:db8::7 50003 typ host generation 0',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:abcdefghijklmnopqrstuvwx',
  'a=fingerprint:sha-256 AA:BB',
  'a=setup:actpass',
  'a=mid:0',
  'a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level',
  'a=sendrecv',
  'a=rtcp-mux',
  'a=rtpmap:111 opus/48000/2',
  'a=rtcp-fb:111 transport-cc',
  'a=fmtp:111 minptime=10;useinbandfec=1',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:110 telephone-event/48000',
  'a=rtpmap:126 telephone-event/8000',
  '',
].join('\r\n');

test('readOffer keeps PCMU, keys at 8000 Hz, and candidates that are IPv4 addresses by UDP', () => {
  const { sdp, telephoneEventPayloadType } = readOffer(OFFER);

  const lines = sdp.split('\r\n');
  expect(lines.find((line) => line.startsWith('m='))).toBe('m=audio 9 UDP/TLS/RTP/SAVPF 0 126');
  expect(lines.filter((line) => /candidate:|rtpmap|extmap|fb:/.test(line))).toEqual([
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:126 telephone-event/8000',
    'a=candidate:2 1 udp 2113937151 192.0.2.7 50002 typ host generation 0 network-id 1',
  ]);
  expect(telephoneEventPayloadType).toBe(126);
});

test('readOffer goes without keys where the browser has none at 8000 Hz', () => {
  const offer = readOffer(OFFER.replace('a=rtpmap:126 telephone-event/8000\r\n', ''));

  expect(offer.telephoneEventPayloadType).toBeUndefined();
  expect(offer.sdp).toContain('SAVPF 0\r\n');
});

test('readOffer keeps no more than 20 candidates', () => {
  const many = 'a=candidate:9 1 udp 1 192.0.2.9 5000 typ host\r\n'.repeat(100);

  expect(readOffer(OFFER + many).sdp.match(/a=candidate/g)).toHaveLength(20);
});

test.each([
  ['sendrecv', 'sendrecv'],
  ['sendonly', 'recvonly'],
  ['recvonly', 'sendonly'],
  ['inactive', 'inactive'],
])('directionFor answers %s with %s', (theirs, ours) => {
  expect(directionFor(readOffer(OFFER.replace('a=sendrecv', `a=${theirs}`)))).toBe(ours);
});

test('withAddresses names each address on the same port, best first, and 20 ms to a packet', () => {
  const sdp = [
    'v=0',
    'm=audio 9 UDP/TLS/RTP/SAVPF 0',
    'a=candidate:6f 1 udp 2116026367 10.0.0.1 30000 typ host generation 0 ufrag f559',
    'a=mid:0',
  ].join('\r\n');

  const lines = withAddresses(sdp, ['10.0.0.1', '192.0.2.1']).split('\r\n');

  expect(lines.filter((line) => line.startsWith('a='))).toEqual([
    'a=candidate:6f0 1 udp 2130706431 10.0.0.1 30000 typ host generation 0 ufrag f559',
    'a=candidate:6f1 1 udp 2130706175 192.0.2.1 30000 typ host generation 0 ufrag f559',
    'a=mid:0',
    'a=ptime:20',
  ]);
});

test('withOurSide changes who we are and which way sound flows, and nothing else', () => {
  const ours = { sessionId: 7, version: 3, direction: 'recvonly' } as const;

  const changed = withOurSide(OFFER, ours).split('\r\n');

  const before = OFFER.split('\r\n');
  expect(changed.filter((line, index) => line !== before[index])).toEqual([
    'o=- 7 3 IN IP4 127.0.0.1',
    'a=recvonly',
  ]);
});

test('hostAddresses lists the machine’s own and advertised addresses, each once, without loopback', () => {
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);

  const addresses = hostAddresses(['203.0.113.9', '203.0.113.9', '127.0.0.1']);

  expect(addresses).toEqual([...new Set([...own, '203.0.113.9'])]);
});

test('addressesFor names loopback alone where this machine alone is served, and all addresses behind a proxy', async () => {
  const local = await addressesFor('127.0.0.1', 'localhost', systemClock);
  const behindProxy = await addressesFor('127.0.0.1', '203.0.113.9', systemClock);

  expect(local).toEqual(['127.0.0.1']);
  expect(behindProxy).toEqual(hostAddresses(['203.0.113.9']));
});
