/** How every carrier lets a party take a far end's place by INVITE with Replaces, where the trunk accepts transfers. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Phone, PhoneError } from '../../examples/phone/phone.ts';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import type { ReleaseCause } from '../../src/telephony/carrier.ts';
import { readStereo } from '../support/speech/recording.ts';
import { loudestAmplitude } from '../support/speech/tone.ts';
import { testFolder } from '../support/store/test-store.ts';
import { COLLEAGUE } from './caller-and-colleague.ts';
import { OURS, type Plane, type StartPlane, say, THEIRS, tone, trunkTo } from './plane.ts';
import { everyoneHears } from './tones.ts';

const [CALLER_HZ, COLLEAGUE_HZ, AGENT_HZ] = [300, 1_000, 1_900] as const;

const NOTHING = new Int16Array();

const hasTone = (sound: Int16Array, hz: number) => loudestAmplitude(sound, hz) > 1_000;

/** The header that names the call, as its far end sees it. */
function replacing({ dialog }: PhoneCall, more = ''): string {
  const { callId, localTag, remoteTag } = dialog.data;
  return `${callId};to-tag=${remoteTag};from-tag=${localTag}${more}`;
}

export function describeReplacements(name: string, startPlane: StartPlane): void {
  describe(name, () => {
    let caller: Phone;
    let colleague: Phone;
    let plane: Plane;

    beforeEach(async () => {
      [caller, colleague] = [new Phone({ number: THEIRS }), new Phone({ number: COLLEAGUE })];
      await Promise.all([caller.start(), colleague.start()]);
    });
    afterEach(async () => {
      await plane.stop();
      await Promise.all([caller.stop(), colleague.stop()]);
    });

    /** A call of the caller; its colleague calls through the same trunk, unless there are others. */
    const connect = async (fields: object = {}, others: readonly object[] = []) => {
      const trunk = { acceptTransfers: true, ...fields };
      plane = await startPlane([trunk, ...others].map((each) => trunkTo(caller.hostPort(), each)));
      const [call, leg] = await Promise.all([
        caller.call(`sip:${OURS}@${plane.hostPort}`),
        plane.rings.next().then((incoming) => incoming.answer()),
      ]);
      const causes: ReleaseCause[] = [];
      const moves: string[] = [];
      leg.onReleased((cause) => causes.push(cause));
      leg.onMoved?.((method) => moves.push(method));
      return { call, leg, causes, moves };
    };
    const take = (header: string, options: object = {}) =>
      colleague.call(`sip:${OURS}@${plane.hostPort}`, {
        headers: { Replaces: header, Require: 'replaces' },
        ...options,
      });
    const statusOf = async (calling: Promise<unknown>) => {
      const error = await calling.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      return error instanceof PhoneError ? error.sipStatus : 200;
    };

    test.each([
      true,
      false,
    ])('Leg goes on with the party that replaces its far end (offer in the INVITE: %s)', async (hasOffer) => {
      const { call, leg, causes, moves } = await connect();
      const path = join(testFolder(), 'call.wav');
      leg.record(path);
      void call.line.speak(tone(CALLER_HZ, 600));
      await setTimeout(700);

      const theirs = await take(replacing(call), { hasOffer });
      const end = await call.ended;
      say(leg.audio, AGENT_HZ, 2_000);
      void theirs.line.speak(tone(COLLEAGUE_HZ, 1_500));
      await everyoneHears([theirs.line, AGENT_HZ]);
      await setTimeout(1_000);
      const during = [...causes];
      await theirs.hangUp();
      await expect.poll(() => causes, { timeout: 5_000 }).toEqual([{ kind: 'far-end' }]);
      await leg.hangUp();

      const { left, right } = readStereo(path) ?? { left: NOTHING, right: NOTHING };
      expect(end).toMatchObject({ cause: 'remote-bye' });
      expect([moves, during, plane.rings.count]).toEqual([['replaces'], [], 1]);
      expect([hasTone(left, CALLER_HZ), hasTone(left, COLLEAGUE_HZ)]).toEqual([true, true]);
      expect(hasTone(right, AGENT_HZ)).toBe(true);
    });

    test('Leg says BYE to the party that has replaced its far end, on a trunk whose lines are all in use', async () => {
      const { call, leg, causes } = await connect({ maxCalls: 1 });
      const theirs = await take(replacing(call));
      await call.ended;

      await leg.hangUp();

      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
      expect(causes).toEqual([{ kind: 'near-end' }]);
    });

    test('Leg lets one of two take the place of its far end', async () => {
      const { call, moves } = await connect();
      const header = replacing(call);

      const statuses = await Promise.all([statusOf(take(header)), statusOf(take(header))]);

      await call.ended;
      expect(statuses.filter((status) => status === 200)).toEqual([200]);
      expect([481, 491, 603]).toContain(Math.max(...statuses));
      expect(moves).toEqual(['replaces']);
    });

    test('Leg goes on with its far end where the other has no common codec', async () => {
      const { call, leg, moves } = await connect();
      const { line } = call;
      const sdp = [
        ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
        ...['m=audio 40000 RTP/AVP 18', 'a=rtpmap:18 G729/8000', ''],
      ].join('\r\n');

      const status = await statusOf(take(replacing(call), { sdp }));
      say(leg.audio, AGENT_HZ, 1_500);
      await everyoneHears([line, AGENT_HZ]);

      expect([status, moves]).toEqual([488, []]);
    });

    test.each([
      ['no-such-call;to-tag=a;from-tag=b', 481],
      ['no-such-call', 400],
      ['a;to-tag=a;from-tag=b, b;to-tag=a;from-tag=b', 400],
    ])('Carrier refuses an INVITE that replaces %s with %i', async (header, status) => {
      await connect();

      expect(await statusOf(take(header))).toBe(status);
    });

    test('Carrier refuses an INVITE that names the tags of a call the other way round, or only while it rings', async () => {
      const { call, moves } = await connect();
      const { callId, localTag, remoteTag } = call.dialog.data;

      const turned = await statusOf(take(`${callId};to-tag=${localTag};from-tag=${remoteTag}`));
      const early = await statusOf(take(replacing(call, ';early-only')));

      expect([turned, early, moves]).toEqual([481, 486, []]);
    });

    test('Carrier refuses an INVITE that replaces a call that is over', async () => {
      const { call, causes } = await connect();
      await call.hangUp();
      await expect.poll(() => causes).toHaveLength(1);

      // Declined while it is being closed, unknown afterwards. RFC 3891, 3.
      expect([481, 603]).toContain(await statusOf(take(replacing(call))));
    });

    test('Carrier takes Replaces for an ordinary call where the trunk accepts no transfers, and refuses it where it is required', async () => {
      const { call } = await connect({ acceptTransfers: false });

      const required = await statusOf(take(replacing(call)));
      const [plain] = await Promise.all([
        take(replacing(call), { headers: { Replaces: replacing(call) } }),
        plane.rings.next().then((incoming) => incoming.answer()),
      ]);

      expect(required).toBe(420);
      expect(plane.rings.count).toBe(2);
      expect(plain.dialog.state).toBe('confirmed');
      expect(call.dialog.state).toBe('confirmed');
    });

    test('Carrier refuses to replace a call of another trunk, as one that does not exist', async () => {
      const other = { name: 'other', allowedSources: ['127.0.0.2'], acceptTransfers: true };
      const { call, moves } = await connect({}, [other]);
      const stranger = new Phone({ address: '127.0.0.2' });
      await stranger.start();

      const calling = stranger.call(`sip:${OURS}@${plane.hostPort}`, {
        headers: { Replaces: replacing(call) },
      });

      expect(await statusOf(calling)).toBe(481);
      expect(moves).toEqual([]);
      await stranger.stop();
    });

    test.each([
      true,
      false,
    ])('Carrier lists replaces in Supported where the trunk accepts transfers: %s', async (acceptTransfers) => {
      await connect({ acceptTransfers });

      const { invite } = await colleague.dial(`sip:${OURS}@${plane.hostPort}`);
      await plane.rings.next().then((incoming) => incoming.answer());
      const { response } = await invite.outcome;

      expect(response.list('supported').includes('replaces')).toBe(acceptTransfers);
    });
  });
}
