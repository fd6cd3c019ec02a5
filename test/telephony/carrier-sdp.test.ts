import { expect, test } from 'vitest';
import {
  flowOf,
  limited,
  placeOf,
  rtpPlaceOf,
  withOrigin,
  withRtpPlace,
} from '../../src/telephony/freeswitch/carrier-sdp.ts';

function sdp(...lines: readonly string[]): string {
  const session = ['v=0', 'o=FreeSWITCH 7 8 IN IP4 192.0.2.1', 's=FreeSWITCH'];
  return [...session, 'c=IN IP4 192.0.2.1', 't=0 0', ...lines, ''].join('\r\n');
}

test('limited leaves the codecs of the trunk and the keys, in the order of the offer', () => {
  const offer = sdp('m=audio 4000 RTP/AVP 9 8 0 96', 'a=rtpmap:96 telephone-event/8000');

  expect(limited(offer, ['PCMU', 'PCMA'])).toContain('m=audio 4000 RTP/AVP 8 0 96\r\n');
  expect(limited(offer, undefined)).toBe(offer);
});

test('limited leaves Opus and G.722 where the trunk has them, and their telephone-event', () => {
  const opus = ['a=rtpmap:97 OPUS/48000/2', 'a=rtpmap:98 telephone-event/48000'];
  const offer = sdp('m=audio 4000 RTP/AVP 97 9 0 98', ...opus);

  expect(limited(offer, ['opus'])).toContain('m=audio 4000 RTP/AVP 97 98\r\n');
  expect(limited(offer, ['G722'])).toContain('m=audio 4000 RTP/AVP 9 98\r\n');
});

test('limited lets SRTP with keys through', () => {
  const offer = sdp('m=audio 4000 RTP/SAVP 0', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x');

  expect(limited(offer, ['PCMU'])).toContain('m=audio 4000 RTP/SAVP 0');
});

test.each([
  ['nonsense', 'nonsense', 400],
  ['no codec of the trunk', sdp('m=audio 4000 RTP/AVP 18 101'), 488],
  ['keys alone', sdp('m=audio 4000 RTP/AVP 96', 'a=rtpmap:96 telephone-event/8000'), 488],
  ['no audio', sdp('m=video 4000 RTP/AVP 96'), 488],
  ['SRTP without keys', sdp('m=audio 4000 RTP/SAVP 0'), 488],
])('limited refuses %s', (_, offer, sipStatus) => {
  expect(() => limited(offer, ['PCMU'])).toThrow(expect.objectContaining({ sipStatus }));
});

test('limited names the codecs of an offer that it refuses, and those that it takes', () => {
  const offer = sdp(
    'm=audio 4000 RTP/AVP 18 97 101',
    'a=rtpmap:97 iLBC/8000',
    'a=rtpmap:101 telephone-event/8000',
  );

  expect(() => limited(offer, ['PCMU', 'opus'])).toThrow(
    'Cannot use SDP: usable is PCMU or opus; it has G729, ILBC',
  );
});

test.each([
  ['a=sendrecv', { doesListen: true, doesSpeak: true }],
  ['a=sendonly', { doesListen: false, doesSpeak: true }],
  ['a=recvonly', { doesListen: true, doesSpeak: false }],
  ['a=inactive', { doesListen: false, doesSpeak: false }],
  ['a=ptime:20', { doesListen: true, doesSpeak: true }],
  ['c=IN IP4 0.0.0.0', { doesListen: false, doesSpeak: true }],
])('flowOf reads %s', (line, flow) => {
  expect(flowOf(sdp('m=audio 4000 RTP/AVP 0', line))).toEqual(flow);
});

test('withOrigin names the session as ours and says the direction of the audio', () => {
  const described = withOrigin(sdp('m=audio 4000 RTP/AVP 0', 'm=video 0 RTP/AVP 96'), {
    sessionId: 5,
    version: 2,
    address: undefined,
  });

  expect(described).toContain('o=- 5 2 IN IP4 192.0.2.1\r\ns=-\r\n');
  expect(described).toContain('m=audio 4000 RTP/AVP 0\r\na=sendrecv\r\nm=video');
  expect(described).not.toContain('FreeSWITCH');
});

test('withOrigin tells the far end the address that it can reach, for RTP and RTCP', () => {
  const described = withOrigin(sdp('m=audio 4000 RTP/AVP 0', 'a=rtcp:4001 IN IP4 192.0.2.1'), {
    sessionId: 5,
    version: 2,
    address: '203.0.113.10',
  });

  expect(described).toContain('o=- 5 2 IN IP4 203.0.113.10\r\n');
  expect(described).toContain('c=IN IP4 203.0.113.10\r\n');
  expect(described).toContain('a=rtcp:4001 IN IP4 203.0.113.10\r\n');
  expect(described).not.toContain('192.0.2.1');
});

test.each([
  [sdp('m=audio 4000 RTP/AVP 0'), { address: '192.0.2.1', port: 4000 }],
  [sdp('m=audio 4000 RTP/AVP 0', 'c=IN IP4 192.0.2.7'), { address: '192.0.2.7', port: 4000 }],
  [sdp('m=video 5000 RTP/AVP 96', 'm=audio 4000 RTP/SAVP 0'), { address: '192.0.2.1', port: 4000 }],
  [sdp('m=audio 0 RTP/AVP 0'), undefined],
  [sdp('m=audio 4000 RTP/AVP 0', 'c=IN IP4 0.0.0.0'), undefined],
])('rtpPlaceOf reads where a far end takes RTP', (description, expected) => {
  expect(rtpPlaceOf(description)).toEqual(expected);
});

test('withRtpPlace names another place for RTP', () => {
  const moved = withRtpPlace(sdp('m=audio 4000 RTP/AVP 0', 'c=IN IP4 192.0.2.7'), {
    address: '203.0.113.50',
    port: 61_000,
  });

  expect(rtpPlaceOf(moved)).toEqual({ address: '203.0.113.50', port: 61_000 });
  expect(moved).toContain('o=FreeSWITCH 7 8 IN IP4 192.0.2.1');
});

test('placeOf finds the port of plain and secured audio, and refuses a description without', () => {
  expect(placeOf(sdp('m=audio 4000 RTP/SAVP 0'))).toEqual({ address: '192.0.2.1', port: 4000 });
  expect(placeOf(sdp('m=audio 0 RTP/SAVP 0', 'm=audio 4002 RTP/AVP 0')).port).toBe(4002);
  expect(() => placeOf(sdp('m=audio 0 RTP/AVP 0'))).toThrow('it gave no port');
});
