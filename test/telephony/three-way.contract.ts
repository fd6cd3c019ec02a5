/** Contract of three-way calls for every carrier: the caller, a third party and the agent in one conference. */
import { describe, expect, test } from 'vitest';
import { COLLEAGUE, callerAndColleague } from './caller-and-colleague.ts';
import { eventOf, type StartPlane, say, tone } from './plane.ts';
import { allSpeak, EVERYBODY, heardBy, heardByAgent, TONES, whoHears } from './three-tones.ts';
import { everyoneHears, hears } from './tones.ts';

export function describeThreeWay(name: string, startPlane: StartPlane): void {
  describe(`three on a line, ${name}`, () => {
    const { plane, connect, ringing, beBusy } = callerAndColleague(startPlane);
    /** A three-way call whose third party answers at once. */
    const meet = async (codecs = ['PCMU', 'PCMA']) => {
      const { call, leg, causes, asked } = await connect({}, codecs);
      const rings = ringing();
      const met = leg.bringIn(COLLEAGUE);
      const theirs = await (await rings).answer();
      return { call, theirs, leg, causes, asked, threeWay: await met };
    };

    test('Leg lets each of three hear exactly the other two, and two of them once the agent leaves', async () => {
      const talk = await meet();
      const { call, theirs, leg, causes, asked, threeWay } = talk;

      allSpeak(talk);
      await whoHears(talk, EVERYBODY);
      const before = [...causes];
      leg.audio.drop(1);
      await threeWay.leave();
      await threeWay.leave();
      void call.line.speak(tone(TONES.caller, 5_000));
      void theirs.line.speak(tone(TONES.colleague, 5_000));
      await expect
        .poll(() => [heardBy(call.line), heardBy(theirs.line)], { timeout: 5_000, interval: 20 })
        .toEqual([['colleague'], ['caller']]);
      const talking = [...causes];
      await leg.hangUp();

      expect([before, talking]).toEqual([[], []]);
      expect(causes).toEqual([{ kind: 'near-end' }]);
      expect(await call.ended).toMatchObject({ cause: 'remote-bye' });
      expect(asked).not.toContain('REFER');
      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('Leg tells the other party alone what the call is about, and then lets both hear the agent', async () => {
      const { call, leg } = await connect();
      const rings = ringing();
      const announcement = async function* () {
        yield tone(TONES.agent, 600);
      };
      const met = leg.bringIn(COLLEAGUE, { announcement });
      const theirs = await (await rings).answer();
      let didLeak = false;
      call.line.onPacket(() => {
        didLeak ||= hears(call.line, TONES.agent) || hears(call.line, TONES.colleague);
      });
      await theirs.line.speak(tone(TONES.colleague, 300));

      await everyoneHears([theirs.line, TONES.agent]);
      const didLeakBefore = didLeak;
      await met;
      say(leg.audio, TONES.agent, 5_000);
      await everyoneHears([theirs.line, TONES.agent], [call.line, TONES.agent]);
      await call.hangUp();

      expect(didLeakBefore).toBe(false);
      await theirs.ended;
    });

    test('Leg is alone with its caller again when the other party hangs up', async () => {
      const talk = await meet();
      const alone = new Promise<void>((resolve) => talk.threeWay.onAlone(resolve));

      await talk.theirs.hangUp();
      await alone;
      const refusal = await talk.threeWay.leave().catch((error: unknown) => error);
      void talk.call.line.speak(tone(TONES.caller, 5_000));
      say(talk.leg.audio, TONES.agent, 5_000);
      await expect
        .poll(() => [heardBy(talk.call.line), heardByAgent(talk.leg.audio)], { timeout: 5_000 })
        .toEqual([['agent'], ['caller']]);
      await talk.call.hangUp();

      expect(refusal).toMatchObject({ name: 'CarrierError', sipStatus: 480 });
      await expect.poll(() => talk.causes).toEqual([{ kind: 'far-end' }]);
    });

    test('Leg ends the other party with the caller, and with itself', async () => {
      const first = await meet();
      await first.call.hangUp();
      const end = await first.theirs.ended;
      await plane().stop();

      const second = await meet();
      await second.leg.hangUp();

      expect(end).toMatchObject({ cause: 'remote-bye' });
      expect(await second.call.ended).toMatchObject({ cause: 'remote-bye' });
      expect(await second.theirs.ended).toMatchObject({ cause: 'remote-bye' });
      expect([first.causes, second.causes]).toEqual([
        [{ kind: 'far-end' }],
        [{ kind: 'near-end' }],
      ]);
    });

    test('Leg gives the agent the keys of both, and each of both those of the other', async () => {
      const { call, theirs, leg } = await meet();
      const keys: string[] = [];
      leg.onDigit((digit) => keys.push(digit));
      const pressed = eventOf(leg.audio, 'digit');

      await call.pressByInfo('1');
      await theirs.pressByInfo('2');
      await expect.poll(() => keys, { timeout: 3_000 }).toEqual(['1', '2']);
      call.line.press('5');
      const fromCaller = await pressed;
      theirs.line.press('7');
      await expect
        .poll(() => [call.line.digits, theirs.line.digits], { timeout: 3_000 })
        .toEqual(['27', '15']);
      await call.hangUp();

      expect(fromCaller).toMatchObject({ digit: '5' });
      expect(keys).toEqual(['1', '2', '7']);
      await theirs.ended;
    });

    test('Leg goes on with the others when one of three holds and comes back, also in different laws', async () => {
      const talk = await meet(['PCMA']);

      await talk.theirs.hold();
      allSpeak(talk, 3_000);
      await expect.poll(() => heardBy(talk.call.line), { timeout: 3_000 }).toEqual(['agent']);
      await talk.theirs.resume();
      await talk.call.hold();
      await talk.call.resume();
      talk.leg.audio.drop(1);
      talk.leg.audio.begin(2);
      talk.leg.audio.say(2, tone(TONES.agent, 5_000));
      void talk.call.line.speak(tone(TONES.caller, 5_000));
      void talk.theirs.line.speak(tone(TONES.colleague, 5_000));
      await whoHears(talk, EVERYBODY);

      await talk.call.hangUp();
      await talk.theirs.ended;
    });

    test('Leg refuses a busy third party, a second one, and any on a trunk that transfers by REFER alone', async () => {
      const { call, leg } = await connect();
      beBusy();

      const busy = await leg.bringIn(COLLEAGUE).catch((error: unknown) => error);
      const rings = ringing();
      const met = leg.bringIn(COLLEAGUE);
      const theirs = await (await rings).answer();
      await met;
      const second = await leg.bringIn(COLLEAGUE).catch((error: unknown) => error);
      const third = await leg.transfer(COLLEAGUE).catch((error: unknown) => error);
      await Promise.all([theirs.ended, call.hangUp()]);
      await plane().stop();
      const other = await connect({ transfer: 'refer' });
      const never = await other.leg.bringIn(COLLEAGUE).catch((error: unknown) => error);
      await other.call.hangUp();

      expect([busy, second, third, never]).toMatchObject([
        { name: 'CarrierError', sipStatus: 486 },
        { sipStatus: 491 },
        { sipStatus: 491 },
        { sipStatus: 501 },
      ]);
    });

    test('Carrier that stops ends all legs of its three-way calls', async () => {
      const { call, theirs } = await meet();

      await plane().carrier.stop();

      expect(await call.ended).toMatchObject({ cause: 'remote-bye' });
      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
    });
  });
}
