import { expect, test } from 'vitest';
import { parseSdp, SdpError } from '../../src/rtp/sdp.ts';
import { agree, answer, offer } from '../../src/rtp/sdp-answer.ts';

const OURS = { address: '192.0.2.1', port: 20_000, sessionId: 12, version: 2 };

function theirs(...lines: readonly string[]) {
  const head = ['v=0', 'o=- 1 1 IN IP4 192.0.2.5', 's=-', 'c=IN IP4 192.0.2.5', 't=0 0'];
  return parseSdp([...head, ...lines, ''].join('\r\n'));
}

test('offer reads back as PCMU, PCMA and telephone-event both ways', () => {
  const description = parseSdp(offer(OURS));

  expect(description).toMatchObject({
    ...{ address: '192.0.2.1', port: 20_000, sessionId: '12', version: '2' },
    ...{ direction: 'sendrecv', isRtcpMuxed: false },
    telephoneEvents: [{ payloadType: 101, clockRateHz: 8000 }],
    codecs: [{ name: 'PCMU' }, { name: 'PCMA' }],
  });
});

test('answer takes the first codec of the offer that we speak, and its numbers', () => {
  const offered = theirs(
    ...['m=audio 4000 RTP/AVP 18 8 0 96 13', 'a=rtpmap:96 telephone-event/8000'],
  );

  const text = answer(offered, OURS);

  expect(text.split('\r\n')).toEqual([
    ...['v=0', 'o=- 12 2 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0'],
    ...['m=audio 20000 RTP/AVP 8 96', 'a=rtpmap:8 PCMA/8000', 'a=rtpmap:96 telephone-event/8000'],
    ...['a=fmtp:96 0-15', 'a=ptime:20', 'a=sendrecv', ''],
  ]);
});

test.each([
  ['sendrecv', 'sendrecv', true, true],
  ['sendonly', 'recvonly', false, true],
  ['recvonly', 'sendonly', true, false],
  ['inactive', 'inactive', false, false],
])('answer to %s is %s', (offered, answered, maySend, mayReceive) => {
  const description = theirs('m=audio 4000 RTP/AVP 0', `a=${offered}`);

  const text = answer(description, OURS);

  expect(parseSdp(text).direction).toBe(answered);
  expect(agree(description)).toMatchObject({ maySend, mayReceive });
});

test('answer to the old way of holding is recvonly', () => {
  const description = theirs('m=audio 4000 RTP/AVP 0', 'c=IN IP4 0.0.0.0');

  const text = answer(description, OURS);

  expect(text).toContain('a=recvonly');
});

test('answer refuses other streams with port 0, in the order of the offer', () => {
  const offered = theirs(
    ...['m=video 4100 RTP/AVP 99 34', 'm=audio 4000 RTP/AVP 0', 'm=audio 4200 RTP/SAVP 8'],
  );

  const lines = answer(offered, OURS).split('\r\n');

  expect(lines.filter((line) => line.startsWith('m='))).toEqual([
    ...['m=video 0 RTP/AVP 99 34', 'm=audio 20000 RTP/AVP 0', 'm=audio 0 RTP/SAVP 8'],
  ]);
});

test.each([
  ['with', ['a=rtcp-mux'], true, 4000],
  ['without', [], false, 4001],
])('answer muxes RTCP only when it was offered: %s', (_name, lines, isRtcpMuxed, rtcpPort) => {
  const offered = theirs('m=audio 4000 RTP/AVP 0', ...lines);

  const text = answer(offered, OURS);

  expect(parseSdp(text).isRtcpMuxed).toBe(isRtcpMuxed);
  expect(agree(offered)).toMatchObject({ isRtcpMuxed, rtcpPort });
});

test('agree takes the RTCP port that was named', () => {
  const agreed = agree(theirs('m=audio 4000 RTP/AVP 0', 'a=rtcp:5007'));

  expect(agreed.rtcpPort).toBe(5007);
});

test('agree takes a codec by its name, whatever its number', () => {
  const agreed = agree(
    theirs('m=audio 4000 RTP/AVP 0 97', 'a=rtpmap:0 G722/8000', 'a=rtpmap:97 pcma/8000'),
  );

  expect(agreed).toMatchObject({ codec: 'PCMA', payloadType: 97 });
});

test.each([
  ['foreign codecs', ['m=audio 4000 RTP/AVP 18 9']],
  ['PCMU at another rate', ['m=audio 4000 RTP/AVP 97', 'a=rtpmap:97 PCMU/16000']],
  ['keys alone', ['m=audio 4000 RTP/AVP 101', 'a=rtpmap:101 telephone-event/8000']],
])('answer throws unacceptable for %s', (_name, lines) => {
  const offered = theirs(...lines);

  expect(() => answer(offered, OURS)).toThrow(
    expect.objectContaining({ kind: 'unacceptable', constructor: SdpError }),
  );
});

test('answer names the codecs that it refuses, and those that it takes', () => {
  const offered = theirs('m=audio 4000 RTP/AVP 18 9 97', 'a=rtpmap:97 a"b/8000');

  expect(() => answer(offered, OURS)).toThrow(
    'Cannot use SDP: usable is PCMU or PCMA; it has G729, G722',
  );
});

test('answer never answers RTP/SAVP in plain RTP', () => {
  const key = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${Buffer.alloc(30).toString('base64')}`;
  const head = ['v=0', 'o=- 1 1 IN IP4 192.0.2.5', 's=-', 'c=IN IP4 192.0.2.5', 't=0 0'];
  const lines = [...head, 'm=audio 4000 RTP/SAVP 0', key, ''];
  const offered = parseSdp(lines.join('\r\n'), { srtp: 'required' });

  expect(() => answer(offered, OURS)).toThrow('SRTP has no plain answer');
});
