/** Whose RTP a call believes, on every plane: what strangers send is neither heard nor answered, the far end's is found. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Leg } from '../../src/telephony/carrier.ts';
import { BareCaller, RtpPort } from './bare-peer.ts';
import { type Plane, type StartPlane, say, trunkTo } from './plane.ts';
import { shareOf } from './tones.ts';

const WINDOW_SAMPLES = 8 * 160;
const AGENT_HZ = 700;
const CALLER_HZ = 400;
const STRANGER_HZ = 1500;
const SPEECH_MS = 3_000;
const SPEECH_PACKETS = SPEECH_MS / 20;
const SHARE_MIN = 0.5;
const SOON = { timeout: 5_000, interval: 20 };
/** Of the trunk, but no host that its SDP or its signalling names. */
const CARRIERS_OTHER = '127.0.0.7';
const STRANGERS = '127.0.0.9';
/** An unused private address, behind the caller's NAT. */
const PRIVATE = { address: '10.255.255.1', port: 4_000 };
const KEY = 5;

interface Talk {
  readonly leg: Leg;
  /** Where the call takes RTP. */
  readonly port: number;
  /** Keys that the agent was told of. */
  readonly keys: string[];
  /** How much of a tone there has been in what the agent has heard, at most. */
  mostHeard(hz: number): number;
}

export function describeSourceLock(name: string, startPlane: StartPlane): void {
  describe(name, () => {
    let caller: BareCaller;
    let plane: Plane;
    let callers: RtpPort;
    let stranger: RtpPort;
    const closers: (() => unknown)[] = [];

    beforeEach(async () => {
      caller = new BareCaller();
      await caller.start();
      plane = await startPlane([
        trunkTo('127.0.0.1:5060', { allowedSources: ['127.0.0.1', CARRIERS_OTHER] }),
      ]);
      callers = await new RtpPort('127.0.0.1').start();
      stranger = await new RtpPort(STRANGERS).start();
      closers.push(
        () => callers.stop(),
        () => stranger.stop(),
      );
    });
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
      await plane.stop();
      await caller.stop();
    });

    /** Has the caller connected, with the agent saying a tone. */
    async function talk(offer: string): Promise<Talk> {
      const dialled = caller.call(plane.hostPort, offer);
      const leg = await (await plane.rings.next()).answer();
      const { port, hangUp } = await dialled;
      const keys: string[] = [];
      leg.onDigit((digit) => keys.push(digit));
      say(leg.audio, AGENT_HZ, 2 * SPEECH_MS);
      const most = new Map<number, number>();
      const timer = setInterval(() => {
        const { heard } = leg.audio;
        const pcm = heard.read(heard.end - WINDOW_SAMPLES);
        if (pcm.length === 0) return;
        for (const hz of [CALLER_HZ, STRANGER_HZ]) {
          most.set(hz, Math.max(most.get(hz) ?? 0, shareOf(pcm, hz)));
        }
      }, 20);
      closers.unshift(() => clearInterval(timer), hangUp);
      return { leg, port, keys, mostHeard: (hz) => most.get(hz) ?? 0 };
    }

    test('a stranger who sends while the caller is silent is neither heard nor answered', async () => {
      const { port, mostHeard } = await talk(callers.offer());

      await stranger.speak(STRANGER_HZ, SPEECH_MS, port);

      expect(stranger.heardPackets).toBe(0);
      expect(mostHeard(STRANGER_HZ)).toBe(0);
      expect(shareOf(callers.heard, AGENT_HZ)).toBeGreaterThan(SHARE_MIN);
    });

    test('a stranger who sends while the caller speaks does not disturb', async () => {
      const { leg, port, mostHeard } = await talk(callers.offer());

      await Promise.all([
        callers.speak(CALLER_HZ, SPEECH_MS, port),
        stranger.rave(STRANGER_HZ, SPEECH_MS, port),
      ]);
      const { packetsReceived } = await leg.audio.stats();

      expect(packetsReceived).toBeGreaterThan(SPEECH_PACKETS * 0.9);
      expect(stranger.heardPackets).toBe(0);
      expect(mostHeard(CALLER_HZ)).toBeGreaterThan(SHARE_MIN);
      expect(mostHeard(STRANGER_HZ)).toBeLessThan(0.05);
    });

    test('a stranger presses no key', async () => {
      const { port, keys } = await talk(callers.offer());
      const spoken = callers.speak(CALLER_HZ, SPEECH_MS, port);

      for (let times = 0; times < 5; times += 1) {
        stranger.press(KEY, port);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      await spoken;

      expect(keys).toEqual([]);
    });

    test('a caller behind a NAT, whose SDP has its private address, is heard and hears', async () => {
      const { port, mostHeard } = await talk(callers.offer(PRIVATE));

      const spoken = callers.speak(CALLER_HZ, SPEECH_MS, port);
      await expect.poll(() => shareOf(callers.heard, AGENT_HZ), SOON).toBeGreaterThan(SHARE_MIN);
      await spoken;

      expect(mostHeard(CALLER_HZ)).toBeGreaterThan(SHARE_MIN);
    });

    test('a stranger who is quicker than a caller behind a NAT takes nothing over', async () => {
      const { port, mostHeard } = await talk(callers.offer(PRIVATE));

      const thrown = stranger.speak(STRANGER_HZ, SPEECH_MS, port);
      await new Promise((resolve) => setTimeout(resolve, 400));
      await Promise.all([thrown, callers.speak(CALLER_HZ, SPEECH_MS, port)]);

      expect(stranger.heardPackets).toBe(0);
      expect(mostHeard(STRANGER_HZ)).toBeLessThan(0.05);
      expect(mostHeard(CALLER_HZ)).toBeGreaterThan(SHARE_MIN);
      expect(shareOf(callers.heard, AGENT_HZ)).toBeGreaterThan(SHARE_MIN);
    });

    test('a host of the trunk that the SDP does not name is heard and hears', async () => {
      const other = await new RtpPort(CARRIERS_OTHER).start();
      closers.push(() => other.stop());
      const { port, mostHeard } = await talk(callers.offer());

      await other.speak(CALLER_HZ, SPEECH_MS, port);

      expect(mostHeard(CALLER_HZ)).toBeGreaterThan(SHARE_MIN);
      expect(shareOf(other.heard, AGENT_HZ)).toBeGreaterThan(SHARE_MIN);
    });
  });
}
