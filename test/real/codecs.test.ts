/** What FreeSWITCH agrees to on the carrier's side, on the configuration in sip-config/. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MediaGateway } from '../../src/telephony/media-gateway.ts';
import { findRealServers } from '../telephony/real-servers.ts';
import { offer, startRealGateway } from './real-gateway.ts';

const servers = await findRealServers('codecs of FreeSWITCH');

const KEYS = 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';

describe.skipIf(servers === undefined)('FreeSWITCH', () => {
  let stop: () => Promise<void> = async () => undefined;
  let open: MediaGateway['open'];

  beforeAll(async () => {
    if (servers !== undefined) ({ open, stop } = await startRealGateway(servers));
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
