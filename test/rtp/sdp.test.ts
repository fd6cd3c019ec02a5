import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSdp, SdpError } from '../../src/rtp/sdp.ts';

const HEAD = ['v=0', 'o=- 7 3 IN IP4 192.0.2.5', 's=-', 'c=IN IP4 192.0.2.5', 't=0 0'];

const KEY = 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';
const FINGERPRINT = 'a=fingerprint:sha-256 4A:AD:B9:B1:3F:82:18:3B:54:02:12:DF:3E:5D:49:6B';
const DTLS_LINE = 'm=audio 4000 UDP/TLS/RTP/SAVPF 0';

function sdp(...lines: readonly string[]): string {
  return [...HEAD, ...lines, ''].join('\r\n');
}

test('parseSdp reads a carrier offer', () => {
  const text = sdp(
    ...['m=audio 4000 RTP/AVP 8 0 18 101', 'a=rtpmap:101 telephone-event/8000', 'a=ptime:30'],
    ...['a=fmtp:101 0-16', 'a=rtcp:4005', 'a=rtcp-mux', 'a=sendonly'],
  );

  const description = parseSdp(text);

  expect(description).toEqual({
    ...{ sessionId: '7', version: '3', address: '192.0.2.5', port: 4000, rtcpPort: 4005 },
    ...{ isRtcpMuxed: true, direction: 'sendonly', ptimeMs: 30 },
    telephoneEvents: [
      { payloadType: 101, name: 'TELEPHONE-EVENT', clockRateHz: 8000, parameters: '0-16' },
    ],
    codecs: [
      { payloadType: 8, name: 'PCMA', clockRateHz: 8000 },
      { payloadType: 0, name: 'PCMU', clockRateHz: 8000 },
      { payloadType: 18, name: 'G729', clockRateHz: 8000 },
    ],
    mediaLines: [{ kind: 'audio', port: 4000, protocol: 'RTP/AVP', formats: '8 0 18 101' }],
    audioIndex: 0,
  });
});

test('parseSdp takes the address of the stream before that of the session', () => {
  const description = parseSdp(sdp('m=audio 4000 RTP/AVP 0', 'c=IN IP4 192.0.2.99'));

  expect(description.address).toBe('192.0.2.99');
});

test('parseSdp takes the first plain audio stream among others', () => {
  const text = sdp(
    ...['m=video 4100 RTP/AVP 99', 'm=audio 0 RTP/AVP 0', 'm=audio 4200 RTP/SAVP 0'],
    ...['m=audio 4000 RTP/AVP 0', 'm=image 4300 udptl t38'],
  );

  const description = parseSdp(text);

  expect(description).toMatchObject({ port: 4000, audioIndex: 3 });
  expect(description.mediaLines).toHaveLength(5);
});

test('parseSdp takes a long description for what it says', () => {
  const description = parseSdp(sdp('m=audio 4000 RTP/AVP 0', `a=x:${'y'.repeat(30_000)}`));

  expect(description).toMatchObject({ port: 4000, codecs: [{ name: 'PCMU' }] });
});

test('parseSdp rejects a media line with several ports, and accepts the other media line', () => {
  const { port, mediaLines } = parseSdp(
    sdp('m=video 4100/2 RTP/AVP 99', 'm=audio 4000/1 RTP/AVP 0'),
  );

  expect(port).toBe(4000);
  expect(mediaLines.map((line) => line.port)).toEqual([0, 4000]);
});

test('parseSdp reads telephone-event at each of its clock rates, and parameters of codecs', () => {
  const description = parseSdp(
    sdp(
      ...['m=audio 4000 RTP/AVP 96 97 98', 'a=rtpmap:96 telephone-event/48000'],
      ...['a=rtpmap:97 telephone-event/8000', 'a=rtpmap:98 opus/48000/2'],
      'a=fmtp:98 useinbandfec=1; stereo=0',
    ),
  );

  expect(description.telephoneEvents).toMatchObject([
    { payloadType: 96, clockRateHz: 48_000 },
    { payloadType: 97, clockRateHz: 8000 },
  ]);
  expect(description.codecs).toEqual([
    {
      ...{ payloadType: 98, name: 'OPUS', clockRateHz: 48_000 },
      parameters: 'useinbandfec=1; stereo=0',
    },
  ]);
});

test('parseSdp reads the direction of the session where the stream has none', () => {
  const description = parseSdp([...HEAD, 'a=inactive', 'm=audio 4000 RTP/AVP 0', ''].join('\r\n'));

  expect(description.direction).toBe('inactive');
});

test.each([
  [[], 'sendonly'],
  [['a=recvonly'], 'inactive'],
  [['a=inactive'], 'inactive'],
])('parseSdp reads the address 0.0.0.0 as hold, with %j', (attributes, direction) => {
  const description = parseSdp(sdp('m=audio 4000 RTP/AVP 0', 'c=IN IP4 0.0.0.0', ...attributes));

  expect(description.direction).toBe(direction);
});

test.each([
  ['nothing', ''],
  ['something else', 'hello'],
  ['a JSON object', '{"v":0}'],
  ['a version other than 0', 'v=1\r\nm=audio 4000 RTP/AVP 0\r\n'],
  ['a port out of range', sdp('m=audio 99999 RTP/AVP 0')],
  ['an m-line without a port', sdp('m=audio')],
  ['no connection line', 'v=0\r\nm=audio 4000 RTP/AVP 0\r\n'],
])('parseSdp calls malformed: %s', (_name, text) => {
  expect(errorKind(text)).toBe('malformed');
});

test.each([
  ['no stream', sdp()],
  ['no audio', sdp('m=video 4000 RTP/AVP 99')],
  ['SRTP alone', sdp('m=audio 4000 RTP/SAVP 0', KEY)],
  ['DTLS-SRTP', sdp('m=audio 4000 UDP/TLS/RTP/SAVPF 0', FINGERPRINT)],
  ['an IPv6 address', sdp('m=audio 4000 RTP/AVP 0', 'c=IN IP6 ::1')],
  ['audio over several ports', sdp('m=audio 4000/2 RTP/AVP 0')],
  ['too many m-lines', sdp(...new Array(9).fill('m=audio 4000 RTP/AVP 0'))],
  ['too many lines', sdp('m=audio 4000 RTP/AVP 0', ...new Array(600).fill('a=x'))],
  ['too much text', sdp('m=audio 4000 RTP/AVP 0', `a=${'x'.repeat(70_000)}`)],
  ['a host name', sdp('m=audio 4000 RTP/AVP 0', 'c=IN IP4 media.example.com')],
])('parseSdp calls unacceptable: %s', (_name, text) => {
  expect(errorKind(text)).toBe('unacceptable');
});

test.each([
  ['SRTP', sdp('m=audio 4000 RTP/SAVP 0', KEY), 4000],
  ['SRTP with feedback', sdp('m=audio 4000 RTP/SAVPF 0', KEY), 4000],
  ['SRTP where DTLS is offered too', sdp('m=audio 4000 RTP/SAVP 0', FINGERPRINT, KEY), 4000],
  ['plain RTP behind DTLS', sdp(DTLS_LINE, FINGERPRINT, 'm=audio 4002 RTP/AVP 0'), 4002],
])('parseSdp with hasSrtp reads %s', (_name, text, port) => {
  expect(parseSdp(text, { hasSrtp: true }).port).toBe(port);
});

test.each([
  ['SRTP without keys', sdp('m=audio 4000 RTP/SAVP 0'), 'it has RTP/SAVP'],
  ['SRTP with DTLS', sdp('m=audio 4000 RTP/SAVP 0', FINGERPRINT), 'it has RTP/SAVP'],
  ['DTLS-SRTP', sdp(DTLS_LINE, FINGERPRINT), 'it has UDP/TLS/RTP/SAVPF'],
  ['SRTP at an IPv6 address', sdp('m=audio 4000 RTP/SAVP 0', 'c=IN IP6 ::1', KEY), 'no IPv4'],
])('parseSdp with hasSrtp calls unacceptable: %s', (_name, text, why) => {
  const error = { kind: 'unacceptable', message: expect.stringContaining(why) };

  expect(() => parseSdp(text, { hasSrtp: true })).toThrow(expect.objectContaining(error));
});

test('parseSdp reads or refuses mutated offers, and nothing else', () => {
  const text = sdp(
    'm=audio 4000 RTP/AVP 8 0 101',
    'a=rtpmap:101 telephone-event/8000',
    'a=ptime:20',
  );
  const mutation = fc.tuple(fc.nat(text.length), fc.nat(6), fc.string({ maxLength: 12 }));

  fc.assert(
    fc.property(fc.array(mutation, { maxLength: 4 }), (mutations) => {
      const mutated = mutations.reduce(
        (whole, [at, cut, put]) => whole.slice(0, at) + put + whole.slice(at + cut),
        text,
      );
      const kind = errorKind(mutated);

      return kind === undefined || kind === 'malformed' || kind === 'unacceptable';
    }),
    { numRuns: 1000 },
  );
});

/** The kind of `SdpError` that reading ends with; any other error goes through. */
function errorKind(text: string): string | undefined {
  try {
    parseSdp(text);
    return undefined;
  } catch (error) {
    if (error instanceof SdpError) return error.kind;
    throw error;
  }
}
