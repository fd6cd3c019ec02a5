/** How every carrier follows the REFER of a far end whose trunk accepts transfers. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Phone, type RingingCall } from '../../examples/phone/phone.ts';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import { offer } from '../../src/rtp/sdp-answer.ts';
import type { IncomingRefer, ReleaseCause } from '../../src/telephony/carrier.ts';
import { readStereo } from '../support/speech/recording.ts';
import { loudestAmplitude } from '../support/speech/tone.ts';
import { testFolder } from '../support/store/test-store.ts';
import { COLLEAGUE } from './caller-and-colleague.ts';
import { OURS, type Plane, type StartPlane, say, THEIRS, tone, trunkTo } from './plane.ts';
import { everyoneHears, hears } from './tones.ts';

const [CALLER_HZ, COLLEAGUE_HZ, AGENT_HZ] = [300, 1_000, 1_900] as const;

const NOTHING = new Int16Array();

const hasTone = (sound: Int16Array, hz: number) => loudestAmplitude(sound, hz) > 1_000;

/** Sends REFER in the call. @returns the status of its response. */
async function refer(call: PhoneCall, target: string, headers: Record<string, string> = {}) {
  const { status } = await call.dialog.request('REFER', {
    headers: { 'Refer-To': target, ...headers },
  });
  return status;
}

export function describeIncomingRefers(name: string, startPlane: StartPlane): void {
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

    /** A call of the caller, through a trunk whose proxy is the colleague's telephone. */
    const connect = async (
      fields: object = {},
      take: (refer: IncomingRefer) => void = (asked) => void asked.follow().catch(() => undefined),
    ) => {
      const trunk = trunkTo(colleague.hostPort(), { acceptTransfers: true, ...fields });
      plane = await startPlane([trunk]);
      const [call, leg] = await Promise.all([
        caller.call(`sip:${OURS}@${plane.hostPort}`),
        plane.rings.next().then((incoming) => incoming.answer()),
      ]);
      const causes: ReleaseCause[] = [];
      const moves: string[] = [];
      const notices: string[] = [];
      leg.onReleased((cause) => causes.push(cause));
      leg.onRefer?.(take);
      leg.onMoved?.((method) => moves.push(method));
      call.dialog.on('request', ({ request }) => {
        if (request.method === 'NOTIFY') notices.push(request.body.toString().trim());
      });
      return { call, leg, causes, moves, notices };
    };
    const ringing = () => new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
    const there = `<sip:${COLLEAGUE}@127.0.0.1>`;

    test('Leg goes on with the number of a REFER: sound both ways, one recording, and BYE to the far end', async () => {
      const { call, leg, causes, moves, notices } = await connect();
      const path = join(testFolder(), 'call.wav');
      leg.record(path);
      void call.line.speak(tone(CALLER_HZ, 600));
      await setTimeout(700);
      const rings = ringing();

      const status = await refer(call, there);
      const ring = await rings;
      const theirs = await ring.answer();
      const end = await call.ended;
      say(leg.audio, AGENT_HZ, 2_000);
      void theirs.line.speak(tone(COLLEAGUE_HZ, 1_500));
      await everyoneHears([theirs.line, AGENT_HZ]);
      await setTimeout(1_000);
      await theirs.hangUp();
      await expect.poll(() => causes, { timeout: 5_000 }).toEqual([{ kind: 'far-end' }]);
      await leg.hangUp();

      const { left, right } = readStereo(path) ?? { left: NOTHING, right: NOTHING };
      expect(status).toBe(202);
      expect(end).toMatchObject({ cause: 'remote-bye' });
      expect(notices).toEqual(['SIP/2.0 100 Trying', 'SIP/2.0 200 OK']);
      expect(moves).toEqual(['refer']);
      expect(ring.request.get('from')).toContain(`<sip:${OURS}@`);
      expect(ring.request.uri).toContain(`sip:${COLLEAGUE}@`);
      expect([hasTone(left, CALLER_HZ), hasTone(left, COLLEAGUE_HZ)]).toEqual([true, true]);
      expect(hasTone(right, AGENT_HZ)).toBe(true);
    });

    test('Leg goes on with the far end where the number of its REFER is busy, and takes the next REFER', async () => {
      const { call, leg, causes, moves, notices } = await connect();
      colleague.onRinging(({ reject }) => reject(486));

      const first = await refer(call, there);
      await expect.poll(() => notices.length, { timeout: 5_000 }).toBe(2);
      say(leg.audio, AGENT_HZ, 1_500);
      await everyoneHears([call.line, AGENT_HZ]);
      const held = await call.hold();
      await call.resume();
      const rings = ringing();
      const second = await refer(call, there);
      const theirs = await (await rings).answer();
      await call.ended;

      expect([first, second, held.status]).toEqual([202, 202, 200]);
      expect(notices.slice(0, 2)).toEqual(['SIP/2.0 100 Trying', 'SIP/2.0 486 Busy Here']);
      expect([causes, moves]).toEqual([[], ['refer']]);
      await theirs.hangUp();
    });

    test('Leg goes on with the number of a REFER of a far end that holds the call, and holds on where that fails', async () => {
      const { call, leg, causes, notices } = await connect();
      colleague.onRinging(({ reject }) => reject(486));
      await call.hold();

      await refer(call, there);
      await expect.poll(() => notices.length, { timeout: 5_000 }).toBe(2);
      const resumed = await call.resume();
      say(leg.audio, AGENT_HZ, 1_500);
      await everyoneHears([call.line, AGENT_HZ]);
      await call.hold();
      const rings = ringing();
      await refer(call, there);
      const theirs = await (await rings).answer();
      await call.ended;
      say(leg.audio, AGENT_HZ, 1_500);
      await everyoneHears([theirs.line, AGENT_HZ]);

      expect([resumed.status, causes]).toEqual([200, []]);
      await theirs.hangUp();
    });

    test('Leg goes on with the number of a REFER whose sender hangs up at once', async () => {
      const { call, leg, causes } = await connect();
      const rings = ringing();

      await refer(call, there);
      const ring = await rings;
      await call.hangUp();
      await setTimeout(200);
      const waiting = [...causes];
      const theirs = await ring.answer();
      await setTimeout(100);
      say(leg.audio, AGENT_HZ, 1_500);
      await everyoneHears([theirs.line, AGENT_HZ]);
      await leg.hangUp();

      expect([waiting, causes]).toEqual([[], [{ kind: 'near-end' }]]);
      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('Leg ends where the sender of a REFER has left and the number refuses', async () => {
      const { call, causes } = await connect();
      const rings = ringing();

      await refer(call, there);
      const { reject } = await rings;
      await call.hangUp();
      reject(486);

      await expect.poll(() => causes, { timeout: 5_000 }).toEqual([{ kind: 'far-end' }]);
    });

    test('Leg that is hung up cancels the call to the number of a REFER', async () => {
      const { call, leg, causes } = await connect();
      const rings = ringing();
      await refer(call, there);
      const { invite } = await rings;
      const cancelled = new Promise((resolve) => invite.on('cancelled', resolve));

      await leg.hangUp();
      await cancelled;

      expect(causes).toEqual([{ kind: 'near-end' }]);
      expect(await call.ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('Leg takes one REFER at a time, and no other change of the call meanwhile', async () => {
      const { call, leg } = await connect();
      const rings = ringing();
      await refer(call, there);
      const { answer } = await rings;

      const second = await refer(call, there);
      const body = offer({ address: '127.0.0.1', port: 40_000, sessionId: 9, version: 9 });
      const held = await call.dialog.request('UPDATE', { body });
      const transferred = leg.transfer(COLLEAGUE).catch((error: unknown) => error);

      expect([second, held.status]).toEqual([491, 491]);
      expect(await transferred).toMatchObject({ sipStatus: 491 });
      await answer();
      await call.ended;
    });

    test('Leg follows the REFER of the party that a REFER brought', async () => {
      const { call, leg, causes, moves } = await connect();
      let rings = ringing();
      await refer(call, there);
      const first = await (await rings).answer();
      await call.ended;
      rings = ringing();

      await refer(first, there);
      const second = await (await rings).answer();
      await first.ended;
      say(leg.audio, AGENT_HZ, 1_500);
      await everyoneHears([second.line, AGENT_HZ]);
      await leg.hangUp();

      expect(moves).toEqual(['refer', 'refer']);
      expect(await second.ended).toMatchObject({ cause: 'remote-bye' });
      expect(causes).toEqual([{ kind: 'near-end' }]);
    });

    test('Leg plays no early media of the number of a REFER, and takes no key of it', async () => {
      const { call, leg } = await connect();
      const rings = ringing();
      await refer(call, there);
      const ring = await rings;

      const line = await ring.ringWithSound();
      void line.speak(tone(COLLEAGUE_HZ, 800));
      say(leg.audio, AGENT_HZ, 1_000);
      await everyoneHears([call.line, AGENT_HZ]);

      expect(hears(line, AGENT_HZ)).toBe(false);
      ring.reject(480);
    });

    test('Leg sends no NOTIFY where the REFER wants none', async () => {
      const { call, notices } = await connect();
      const rings = ringing();

      const response = await call.dialog.request('REFER', {
        headers: { 'Refer-To': there, 'Refer-Sub': 'false' },
      });
      await (await rings).answer();
      await call.ended;

      expect([response.status, response.get('refer-sub')]).toEqual([202, 'false']);
      expect(notices).toEqual([]);
    });

    test('Leg refuses every REFER of a trunk that accepts no transfers', async () => {
      const { call } = await connect({ acceptTransfers: false });

      expect(await refer(call, there)).toBe(603);
    });

    test.each([
      ['tel:+390687654321', 416],
      [`<sip:${COLLEAGUE}@evil.example>`, 403],
      [`<sip:${COLLEAGUE}@127.0.0.1?Replaces=x>`, 501],
      ['<sip:bob@127.0.0.1>', 484],
    ])('Leg refuses the REFER to %s with %i, and says why', async (target, status) => {
      const { call } = await connect();

      const response = await call.dialog.request('REFER', { headers: { 'Refer-To': target } });

      expect(response.status).toBe(status);
      expect(response.get('warning')).toMatch(/^399 offhook "[a-z ]+/i);
    });

    test('Leg refuses a REFER as it is decided', async () => {
      const numbers: string[] = [];
      const { call } = await connect({}, (asked) => {
        numbers.push(asked.number);
        asked.refuse(403, 'its country may not be called');
        asked.refuse(500, 'twice');
      });

      const response = await call.dialog.request('REFER', { headers: { 'Refer-To': there } });

      expect([numbers, response.status]).toEqual([[COLLEAGUE], 403]);
      expect(response.get('warning')).toBe('399 offhook "its country may not be called"');
    });
  });
}
