import { expect, test } from 'vitest';
import { codecOf, opusSettings, preferred } from '../../src/rtp/codecs.ts';
import { parseSdp } from '../../src/rtp/sdp.ts';
import { agree, answer, offer } from '../../src/rtp/sdp-answer.ts';

const OURS = { address: '192.0.2.1', port: 20_000, sessionId: 12, version: 2 };
const OPUS = ['a=rtpmap:96 opus/48000/2', 'a=fmtp:96 useinbandfec=1;maxaveragebitrate=12000'];
const EVENTS = ['a=rtpmap:97 telephone-event/8000', 'a=rtpmap:98 telephone-event/48000'];

function theirs(...lines: readonly string[]) {
  const head = ['v=0', 'o=- 1 1 IN IP4 192.0.2.5', 's=-', 'c=IN IP4 192.0.2.5', 't=0 0'];
  return parseSdp([...head, ...lines, ''].join('\r\n'));
}

test('offer has G.722 with its clock of 8000, and Opus with telephone-event at both clocks', () => {
  const text = offer(OURS, ['opus', 'G722', 'PCMA']);

  expect(text.split('\r\n').slice(5)).toEqual([
    ...['m=audio 20000 RTP/AVP 111 9 8 101 110', 'a=rtpmap:111 opus/48000/2'],
    'a=fmtp:111 maxplaybackrate=8000;sprop-maxcapturerate=8000;maxaveragebitrate=20000;stereo=0;useinbandfec=1',
    ...['a=rtpmap:9 G722/8000', 'a=rtpmap:8 PCMA/8000'],
    ...['a=rtpmap:101 telephone-event/8000', 'a=fmtp:101 0-15'],
    ...['a=rtpmap:110 telephone-event/48000', 'a=fmtp:110 0-15'],
    ...['a=ptime:20', 'a=sendrecv', ''],
  ]);
});

test('answer takes Opus by the numbers of the offer, and telephone-event at its clock', () => {
  const offered = theirs('m=audio 4000 RTP/AVP 96 0 97 98', ...OPUS, ...EVENTS);

  const text = answer(offered, OURS, ['opus']);
  const agreed = agree(offered, ['opus']);

  expect(text).toContain('m=audio 20000 RTP/AVP 96 98\r\na=rtpmap:96 opus/48000/2\r\na=fmtp:96 ');
  expect(text).toContain('a=rtpmap:98 telephone-event/48000\r\n');
  expect(agreed).toMatchObject({
    ...{ codec: 'opus', payloadType: 96, opus: { bitRate: 12_000, hasFec: true } },
    ...{ telephoneEventPayloadType: 98, telephoneEventClockHz: 48_000 },
  });
});

test('agree takes telephone-event at 8000 Hz where Opus comes with nothing else', () => {
  const agreed = agree(theirs('m=audio 4000 RTP/AVP 96 97', ...OPUS, EVENTS[0] ?? ''), ['opus']);

  expect(agreed).toMatchObject({ codec: 'opus', telephoneEventPayloadType: 97 });
  expect(agreed).not.toHaveProperty('telephoneEventClockHz');
});

test('agree takes G.722 by its static number, with telephone-event at 8000 Hz', () => {
  const agreed = agree(theirs('m=audio 4000 RTP/AVP 9 98 97', ...EVENTS), ['G722']);

  expect(agreed).toMatchObject({ codec: 'G722', payloadType: 9, telephoneEventPayloadType: 97 });
});

test('agree takes neither G.722 nor Opus where a trunk names no codecs', () => {
  const offered = theirs('m=audio 4000 RTP/AVP 96 9', ...OPUS);

  expect(() => agree(offered)).toThrow('usable is PCMU or PCMA; it has OPUS, G722');
});

test.each([
  [['PCMU', 'PCMA', 'G722', 'opus'] as const, [8, 0, 9, 96]],
  [['G722', 'PCMU', 'PCMA'] as const, [9, 8, 0]],
  [['opus', 'PCMA'] as const, [96, 8]],
  [['G722'] as const, [9]],
])('preferred puts an offer in the order of %j, the laws of G.711 in its own', (allowed, types) => {
  const { codecs } = theirs('m=audio 4000 RTP/AVP 96 9 8 0 18', ...OPUS);

  expect(preferred(codecs, allowed).map(({ payloadType }) => payloadType)).toEqual(types);
});

test.each([
  ['OPUS', 48_000, 'opus'],
  ['OPUS', 8000, undefined],
  ['G722', 8000, 'G722'],
  ['G722', 16_000, undefined],
  ['G729', 8000, undefined],
])('codecOf %s at %d Hz is %s', (name, clockRateHz, codec) => {
  expect(codecOf({ payloadType: 96, name, clockRateHz })).toBe(codec);
});

test.each([
  [undefined, { bitRate: 20_000, hasFec: false }],
  ['useinbandfec=1', { bitRate: 20_000, hasFec: true }],
  ['stereo=0; useinbandfec=1; maxaveragebitrate=16000', { bitRate: 16_000, hasFec: true }],
  ['maxaveragebitrate=510000;useinbandfec=0', { bitRate: 20_000, hasFec: false }],
  ['maxaveragebitrate=1', { bitRate: 20_000, hasFec: false }],
  ['maxaveragebitrate=-8000;xuseinbandfec=1;useinbandfec=12', { bitRate: 20_000, hasFec: false }],
])('opusSettings reads %s', (parameters, settings) => {
  expect(opusSettings(parameters)).toEqual(settings);
});
