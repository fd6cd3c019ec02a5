/** What is really heard through FreeSWITCH: SRTP both ways, and the codecs that our own engine does not speak. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { AudioStream } from '../../src/media/audio-stream.ts';
import {
  connectAudio,
  type MediaEndpoint,
  type MediaGateway,
} from '../../src/telephony/media-gateway.ts';
import { tone } from '../telephony/plane.ts';
import { findRealServers } from '../telephony/real-servers.ts';
import { shareOf } from '../telephony/tones.ts';
import { offer, startRealGateway } from './real-gateway.ts';
import { SecurePeer } from './secure-peer.ts';

const servers = await findRealServers('sound through FreeSWITCH');

const HERE = { signallingAddress: '127.0.0.1' };
const WINDOW_SAMPLES = 8 * 160;
const SHARE_MIN = 0.5;
const SOON = { timeout: 5_000, interval: 50 };

/** Share of a tone in what an agent has heard of late. */
function heardShare({ heard }: AudioStream, hz: number): number {
  return shareOf(heard.read(heard.end - WINDOW_SAMPLES), hz);
}

/** Has the agent say a tone for seconds. */
function say(audio: AudioStream, hz: number): void {
  audio.begin(1);
  audio.say(1, tone(hz, 5_000));
  audio.finish(1);
}

describe.skipIf(servers === undefined)('FreeSWITCH', () => {
  let stop: () => Promise<void> = async () => undefined;
  let open: MediaGateway['open'];

  beforeAll(async () => {
    if (servers !== undefined) ({ open, stop } = await startRealGateway(servers));
  });
  afterAll(() => stop());

  const opened = async (remoteSdp: string, near?: MediaEndpoint): Promise<MediaEndpoint> => {
    const endpoint = await open({ ...HERE, remoteSdp, near: near?.session });
    onTestFinished(() => endpoint.close());
    return endpoint;
  };

  const startPeer = async () => {
    const peer = new SecurePeer();
    await peer.start();
    onTestFinished(() => peer.stop());
    return peer;
  };

  test('joins two carriers, each in SRTP with keys of its own', async () => {
    const [caller, colleague] = [await startPeer(), await startPeer()];
    const one = await opened(caller.offer);
    const other = await opened(colleague.offer, one);
    caller.talk(one.localSdp, tone(300, 1_000));
    colleague.talk(other.localSdp, tone(1_000, 1_000));

    await connectAudio(one, other);

    await expect.poll(() => shareOf(colleague.heard, 300), SOON).toBeGreaterThan(SHARE_MIN);
    await expect.poll(() => shareOf(caller.heard, 1_000), SOON).toBeGreaterThan(SHARE_MIN);
  });

  test('decrypts what a carrier says in SRTP, and encrypts what the agent says', async () => {
    const peer = await startPeer();
    const { audio, localSdp } = await opened(peer.offer);

    peer.talk(localSdp, tone(300, 1_000));
    say(audio, 1_000);

    await expect.poll(() => heardShare(audio, 300), SOON).toBeGreaterThan(SHARE_MIN);
    await expect.poll(() => shareOf(peer.heard, 1_000), SOON).toBeGreaterThan(SHARE_MIN);
    expect([peer.plain, peer.undecipherable]).toEqual([0, 0]);
  });

  test.each([
    ['G.722', (port: string) => offer(`m=audio ${port} RTP/AVP 9 101`)],
    ['Opus', (port: string) => offer(`m=audio ${port} RTP/AVP 96 101`, 'a=rtpmap:96 opus/48000/2')],
    ['PCMA', (port: string) => offer(`m=audio ${port} RTP/AVP 8 101`)],
  ])('carries tones both ways in %s', async (_, describe) => {
    const portOf = ({ localSdp }: MediaEndpoint) => /^m=audio (\d+)/m.exec(localSdp)?.[1] ?? '0';
    // Two legs that are each other's carrier: what goes between them is in this codec alone.
    const one = await opened(describe('9'));
    const other = await opened(describe(portOf(one)));
    const [, type] = /^m=audio \d+ RTP\/AVP (\d+)/m.exec(describe('9')) ?? [];
    await one.negotiate(describe(portOf(other)));

    for (const { localSdp } of [one, other]) expect(localSdp).toContain(` RTP/AVP ${type} 101`);
    say(one.audio, 300);
    say(other.audio, 1_000);

    await expect.poll(() => heardShare(other.audio, 300), SOON).toBeGreaterThan(SHARE_MIN);
    await expect.poll(() => heardShare(one.audio, 1_000), SOON).toBeGreaterThan(SHARE_MIN);
  });
});
