/** Media that a carrier sends from another host than its SDP and its signalling have. */
import type { BlockList } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { DirectGateway } from '../../src/telephony/direct/direct-gateway.ts';
import { openSrf } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfIncomingCall } from '../../src/telephony/drachtio/leg/incoming-call.ts';
import { SrfOutgoingCall } from '../../src/telephony/drachtio/leg/outgoing-call.ts';
import { MediaError, type MediaGateway } from '../../src/telephony/media-gateway.ts';
import { sourcesOf } from '../../src/telephony/trunks/trunk-table.ts';
import { TestPhone } from '../media/test-phone.ts';
import { VOICE } from '../media/test-session.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';
import { KeptAnswer, request } from './scripted-srf.ts';

const TRUNK = trunkTo('192.0.2.1', { allowedSources: ['192.0.2.1', '203.0.113.0/24'] });

/** SDP of an address without a listener. */
const ELSEWHERE = [
  ...['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.50', 't=0 0'],
  ...['m=audio 4000 RTP/AVP 0', ''],
].join('\r\n');

/** A gateway that opens no endpoint, and records the trusted sources that it was given. */
function askedGateway() {
  const carriers: (BlockList | undefined)[] = [];
  const media: MediaGateway = {
    start: async () => undefined,
    stop: async () => undefined,
    open: async ({ carrier }) => {
      carriers.push(carrier);
      throw new MediaError('Cannot open a line', 503);
    },
  };
  return { carriers, media };
}

const PARTS = { srf: openSrf(), server: 'sip', clock: new FakeClock(), log: silentLogger };

test.each([
  [
    'SrfIncomingCall',
    (media: MediaGateway) =>
      new SrfIncomingCall({
        ...{ ...PARTS, media, request: request(), answer: new KeptAnswer() },
        ...{ trunk: TRUNK, journal: undefined, onOver: () => undefined },
      }).answer(),
  ],
  [
    'SrfOutgoingCall',
    (media: MediaGateway) =>
      new SrfOutgoingCall({
        ...{ ...PARTS, media, trunk: TRUNK, from: OURS, to: THEIRS, callId: 'call_1' },
        ...{ ringingTimeoutMs: 60_000, journal: undefined, onOver: () => undefined },
        ...{ answerChallenge: () => undefined, isReportedByEngine: false },
      }).answered,
  ],
])('%s lets media of all addresses of its trunk prove itself', async (_, place) => {
  const { carriers, media } = askedGateway();

  await place(media).catch(() => undefined);

  const checked = ['203.0.113.9', '192.0.2.1', '198.51.100.1'].map((address) =>
    carriers[0]?.check(address, 'ipv4'),
  );
  expect(checked).toEqual([true, true, false]);
});

test.each([
  ['hears', '127.0.0.0/8', true],
  ['does not hear', '203.0.113.0/24', false],
])('DirectGateway %s a host of %s that neither SDP nor signalling named', async (_, network, isHeard) => {
  const ports = { first: 18_400, last: 18_419 };
  const engine = new MediaEngine({
    ...{ clock: systemClock, log: silentLogger, ports, workers: 1, drainMs: 0, isRealTime: false },
  });
  await engine.start();
  onTestFinished(() => engine.stop());
  const phone = await TestPhone.open();
  onTestFinished(() => phone.close());
  const endpoint = await new DirectGateway({ engine }).open({
    remoteSdp: ELSEWHERE,
    signallingAddress: '192.0.2.1',
    carrier: sourcesOf(trunkTo('192.0.2.1', { allowedSources: [network] })),
  });

  // The media thread answers after it has learned of the trunk: packets that overtake this are rejected.
  await endpoint.audio.stats();
  for (let packet = 0; packet < 10; packet += 1) phone.send(VOICE, endpoint.session.localPort);

  await expect
    .poll(() => endpoint.audio.stats())
    .toMatchObject({ packetsReceived: isHeard ? 7 : 0, packetsRejected: isHeard ? 3 : 10 });
  await endpoint.close();
});
