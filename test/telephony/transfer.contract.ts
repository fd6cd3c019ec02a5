/** Contract of transfers for every carrier: REFER, or a second leg that it joins. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readStereo } from '../support/speech/recording.ts';
import { loudestAmplitude } from '../support/speech/tone.ts';
import { testFolder } from '../support/store/test-store.ts';
import { COLLEAGUE, callerAndColleague } from './caller-and-colleague.ts';
import { eventOf, OURS, packetOf, type StartPlane, say, tone } from './plane.ts';
import { everyoneHears, hears } from './tones.ts';

/** Tones that are far apart: the caller's, the colleague's, and the agent's. */
const [CALLER_HZ, COLLEAGUE_HZ, AGENT_HZ] = [300, 1_000, 1_900] as const;

const NOTHING = new Int16Array();

const hasTone = (sound: Int16Array, hz: number) => loudestAmplitude(sound, hz) > 1_000;

export function describeTransfers(name: string, startPlane: StartPlane): void {
  describe(name, () => {
    const { plane, connect, ringing, beBusy } = callerAndColleague(startPlane);
    /** A transfer that the colleague answers at once. */
    const transferCall = async (
      fields: object = {},
      codecs = ['PCMU', 'PCMA'],
      record?: string,
    ) => {
      const { call, leg, causes, asked } = await connect(fields, codecs);
      if (record !== undefined) leg.record(record);
      const rings = ringing();
      const transferred = leg.transfer(COLLEAGUE);
      const ring = await rings;
      const theirs = await ring.answer();
      await transferred;
      return { call, leg, causes, asked, ring, theirs };
    };

    test('Leg calls the other party itself where REFER is refused, and joins both', async () => {
      const { call, causes, asked, ring, theirs } = await transferCall();

      void call.line.speak(tone(CALLER_HZ, 3_000));
      void theirs.line.speak(tone(COLLEAGUE_HZ, 3_000));
      await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
      call.line.press('5');
      await expect.poll(() => theirs.line.digits, { timeout: 3_000 }).toBe('5');
      await theirs.hangUp();

      await expect.poll(() => causes, { timeout: 10_000 }).toEqual([{ kind: 'transferred' }]);
      expect(await call.ended).toMatchObject({ cause: 'remote-bye' });
      expect(ring.request.get('from')).toContain(`<sip:${OURS}@`);
      expect(ring.request.uri).toContain(`sip:${COLLEAGUE}@`);
      expect(asked).toEqual(['REFER']);
    });

    test('Leg asks no carrier for REFER whose trunk says so, and ends the other party with the caller', async () => {
      const { call, causes, asked, theirs } = await transferCall({ transfer: 'bridge' });

      await packetOf(call.line);
      const talking = [...causes];
      await call.hangUp();

      expect([asked, talking]).toEqual([[], []]);
      await expect.poll(() => causes, { timeout: 10_000 }).toEqual([{ kind: 'far-end' }]);
      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('Leg hangs up on both joined parties', async () => {
      const { call, leg, causes, theirs } = await transferCall({ transfer: 'bridge' });

      await leg.hangUp();

      expect(causes).toEqual([{ kind: 'near-end' }]);
      expect(await call.ended).toMatchObject({ cause: 'remote-bye' });
      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('Leg that is to return goes on with the agent when the other party hangs up first', async () => {
      const { call, leg, causes } = await connect({ transfer: 'bridge' });
      const rings = ringing();
      const alone = Promise.withResolvers<void>();
      const transferred = leg.transfer(COLLEAGUE, { onAlone: alone.resolve });
      const theirs = await (await rings).answer();
      await transferred;
      void theirs.line.speak(tone(COLLEAGUE_HZ, 2_000));
      await everyoneHears([call.line, COLLEAGUE_HZ]);

      await theirs.hangUp();
      await alone.promise;
      const voice = eventOf(leg.audio, 'voice-started');
      say(leg.audio, AGENT_HZ, 1_000);
      void call.line.speak(tone(CALLER_HZ, 400));
      await Promise.all([voice, everyoneHears([call.line, AGENT_HZ])]);

      expect(causes).toEqual([]);
      await call.hangUp();
      await expect.poll(() => causes, { timeout: 10_000 }).toEqual([{ kind: 'far-end' }]);
    });

    test('Leg records both joined parties, and a listener hears them', async () => {
      const path = join(testFolder(), 'call.wav');
      const { call, leg, theirs } = await transferCall(
        { transfer: 'bridge' },
        ['PCMU', 'PCMA'],
        path,
      );
      const played = leg.audio.tap?.open();

      void call.line.speak(tone(CALLER_HZ, 2_000));
      void theirs.line.speak(tone(COLLEAGUE_HZ, 2_000));
      await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
      await setTimeout(1_000);
      const [heard, said] = [leg.audio.heard.read(0), played?.read(0) ?? NOTHING];
      await call.hangUp();
      await theirs.ended;
      await leg.hangUp();

      const { left: caller, right: agent } = readStereo(path) ?? { left: NOTHING, right: NOTHING };
      expect([caller, heard].map((sound) => hasTone(sound, CALLER_HZ))).toEqual([true, true]);
      expect([agent, said].map((sound) => hasTone(sound, COLLEAGUE_HZ))).toEqual([true, true]);
      expect([hasTone(caller, COLLEAGUE_HZ), hasTone(agent, CALLER_HZ)]).toEqual([false, false]);
    });

    test('Leg joins two who speak different laws', async () => {
      const { call, theirs, ring } = await transferCall({ transfer: 'bridge' }, ['PCMA']);

      void call.line.speak(tone(CALLER_HZ, 3_000));
      void theirs.line.speak(tone(COLLEAGUE_HZ, 3_000));
      await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
      await call.hangUp();

      expect(ring.request.body.toString()).not.toContain('PCMU');
      await theirs.ended;
    });

    test('Leg goes on talking for two who were joined when one of them holds and comes back', async () => {
      const { call, theirs } = await transferCall({ transfer: 'bridge' });

      await call.hold();
      await call.resume();
      void call.line.speak(tone(CALLER_HZ, 3_000));
      void theirs.line.speak(tone(COLLEAGUE_HZ, 3_000));
      await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);

      await call.hangUp();
      await theirs.ended;
    });

    test('Leg lets the caller hear the ringing, and then what comes before the answer', async () => {
      const { call, leg } = await connect({ transfer: 'bridge' });
      const rings = ringing();
      const transferred = leg.transfer(COLLEAGUE);
      const ring = await rings;

      ring.ring();
      await everyoneHears([call.line, 425]);
      const early = await ring.ringWithSound();
      void early.speak(tone(COLLEAGUE_HZ, 2_000));
      await everyoneHears([call.line, COLLEAGUE_HZ]);
      const [theirs] = await Promise.all([ring.answer(), transferred]);

      await theirs.hangUp();
      await call.ended;
    });

    test('Leg tells the other party alone what the call is about, and then joins both', async () => {
      const { call, leg } = await connect();
      const rings = ringing();
      const announcement = async function* () {
        yield tone(AGENT_HZ, 600);
      };
      const transferred = leg.transfer(COLLEAGUE, { announcement });
      const ring = await rings;
      ring.ring();
      const theirs = await ring.answer();
      let didLeak = false;
      call.line.onPacket(() => {
        didLeak ||= hears(call.line, AGENT_HZ) || hears(call.line, COLLEAGUE_HZ);
      });
      await theirs.line.speak(tone(COLLEAGUE_HZ, 300));

      await everyoneHears([theirs.line, AGENT_HZ]);
      const didLeakBefore = didLeak;
      await transferred;
      void call.line.speak(tone(CALLER_HZ, 3_000));
      void theirs.line.speak(tone(COLLEAGUE_HZ, 3_000));
      await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
      await call.hangUp();

      expect(didLeakBefore).toBe(false);
      await theirs.ended;
    });

    test.each([
      ['1', 'joined'],
      ['2', 'declined'],
    ])('Leg asks the other party by key whether it takes the call (%s: %s)', async (key, end) => {
      const { call, leg, causes } = await connect();
      const rings = ringing();
      const announcement = async function* () {
        yield tone(AGENT_HZ, 400);
      };
      const question = async function* () {
        yield tone(AGENT_HZ / 2, 400);
      };
      const outcome = leg
        .transfer(COLLEAGUE, { announcement, acceptance: { question } })
        .catch((error: unknown) => error);
      const theirs = await (await rings).answer();
      await theirs.line.speak(tone(COLLEAGUE_HZ, 300));

      await everyoneHears([theirs.line, AGENT_HZ / 2]);
      theirs.line.press(key);
      const result = await outcome;

      if (end === 'joined') {
        void theirs.line.speak(tone(COLLEAGUE_HZ, 2_000));
        await everyoneHears([call.line, COLLEAGUE_HZ]);
      } else {
        await theirs.ended;
        say(leg.audio, AGENT_HZ, 1_000);
        await everyoneHears([call.line, AGENT_HZ]);
      }
      const isJoined = result === 'joined';
      expect([isJoined, causes]).toEqual([end === 'joined', []]);
      await call.hangUp();
    });

    test('Leg goes on with the agent when the other party is busy', async () => {
      const { call, leg, causes } = await connect({ transfer: 'bridge' });
      beBusy();

      await expect(leg.transfer(COLLEAGUE)).rejects.toMatchObject({
        name: 'CarrierError',
        sipStatus: 486,
      });
      const voice = eventOf(leg.audio, 'voice-started');
      say(leg.audio, AGENT_HZ, 1_000);
      void call.line.speak(tone(CALLER_HZ, 400));
      await Promise.all([voice, everyoneHears([call.line, AGENT_HZ])]);
      await call.hangUp();

      await expect.poll(() => causes, { timeout: 10_000 }).toEqual([{ kind: 'far-end' }]);
    });

    test('Leg places no second call on a trunk that transfers by REFER alone', async () => {
      const { call, leg } = await connect({ transfer: 'refer' });

      await expect(leg.transfer(COLLEAGUE)).rejects.toMatchObject({ sipStatus: 603 });
      const announcement = async function* () {};
      await expect(leg.transfer(COLLEAGUE, { announcement })).rejects.toMatchObject({
        sipStatus: 501,
      });

      await call.hangUp();
    });

    test('Leg stops calling the other party when the caller hangs up meanwhile', async () => {
      const { call, leg, causes } = await connect({ transfer: 'bridge' });
      const rings = ringing();
      const outcome = leg.transfer(COLLEAGUE).catch((error: unknown) => error);
      const ring = await rings;
      const cancelled = new Promise((resolve) => ring.invite.on('cancelled', resolve));
      ring.ring();
      await expect.poll(() => hears(call.line, 425), { timeout: 3_000 }).toBe(true);

      await call.hangUp();
      await cancelled;

      expect(await outcome).toMatchObject({ name: 'CarrierError' });
      await expect.poll(() => causes, { timeout: 10_000 }).toEqual([{ kind: 'far-end' }]);
    });

    test('Carrier that drains keeps joined legs up, and ends them when it stops', async () => {
      const { call, theirs } = await transferCall({ transfer: 'bridge' });

      plane().carrier.drain();
      void call.line.speak(tone(CALLER_HZ, 3_000));
      await everyoneHears([theirs.line, CALLER_HZ]);
      await plane().carrier.stop();

      expect(await call.ended).toMatchObject({ cause: 'remote-bye' });
      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
    });
  });
}
