/** What FreeSWITCH agrees to on the carrier's side, on the configuration in sip-config/. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openSrf } from '../../src/telephony/drachtio/srf.ts';
import { SrfLink } from '../../src/telephony/drachtio/srf-link.ts';
import { engineOf, freeSwitchGateway } from '../telephony/real-plane.ts';
import { findRealServers } from '../telephony/real-servers.ts';

const servers = await findRealServers('codecs of FreeSWITCH');

const KEYS = 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';

function offer(...lines: readonly string[]): string {
  const session = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'];
  return [...session, ...lines, 'a=rtpmap:101 telephone-event/8000', ''].join('\r\n');
}

describe.skipIf(servers === undefined)('FreeSWITCH', () => {
  const srf = openSrf();
  let stop: () => Promise<void> = async () => undefined;
  let open: ReturnType<typeof freeSwitchGateway>['open'];

  beforeAll(async () => {
    const [drachtio] = servers?.drachtio ?? [];
    if (servers === undefined || drachtio === undefined) return;
    const secret = servers.drachtioSecret;
    const link = new SrfLink(
      { ...drachtio, secret, srf, clock: systemClock, log: silentLogger },
      { connected: () => undefined, lost: () => undefined },
    );
    const gateway = freeSwitchGateway(servers, srf, engineOf());
    await link.start();
    await gateway.start();
    open = (options) => gateway.open(options);
    stop = async () => {
      await gateway.stop();
      link.stop();
    };
  });
  afterAll(() => stop());

  test.each([
    ['PCMU', offer('m=audio 4000 RTP/AVP 0 101'), / RTP\/AVP 0 101/],
    ['PCMA', offer('m=audio 4000 RTP/AVP 8 101'), / RTP\/AVP 8 101/],
    ['G.722', offer('m=audio 4000 RTP/AVP 9 101'), / RTP\/AVP 9 101/],
    ['Opus', offer('m=audio 4000 RTP/AVP 96 101', 'a=rtpmap:96 opus/48000/2'), / RTP\/AVP 96 101/],
    ['SRTP', offer('m=audio 4000 RTP/SAVP 0 101', KEYS), / RTP\/SAVP 0 101[\s\S]*a=crypto:1 /],
  ])('agrees to %s', async (_, remoteSdp, agreed) => {
    const endpoint = await open({ remoteSdp, signallingAddress: '127.0.0.1' });
    const { localSdp } = endpoint;
    await endpoint.close();

    expect(localSdp).toMatch(agreed);
  });
});
