/** What every carrier does with calls that go out, whatever plane it stands on. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Phone, type RingingCall } from '../../examples/phone/phone.ts';
import type { ReleaseCause } from '../../src/telephony/carrier.ts';
import {
  eventOf,
  OURS,
  type Plane,
  packetOf,
  type StartPlane,
  say,
  THEIRS,
  tone,
  trunkTo,
} from './plane.ts';

const REQUEST = { from: OURS, to: THEIRS, ringingTimeoutMs: 10_000 };

export function describeOutgoingCalls(name: string, startPlane: StartPlane): void {
  describe.each(['UDP', 'TCP'] as const)(`${name}, over %s`, (protocol) => {
    let plane: Plane;
    const phone = new Phone({ number: THEIRS });

    beforeAll(async () => {
      await phone.start();
      const transport = protocol.toLowerCase();
      plane = await startPlane([trunkTo(`${phone.hostPort(protocol)};transport=${transport}`)]);
    });
    afterAll(async () => {
      await phone.stop();
      await plane.stop();
    });

    const ringing = () => new Promise<RingingCall>((resolve) => phone.onRinging(resolve));
    const place = async (request = REQUEST) => {
      const rings = ringing();
      const outgoing = plane.carrier.place(request);
      return { outgoing, call: await rings };
    };
    const connect = async () => {
      const { outgoing, call } = await place();
      const [leg, theirs] = await Promise.all([outgoing.answered, call.answer()]);
      const released = new Promise<ReleaseCause>((resolve) => leg.onReleased(resolve));
      return { outgoing, leg, theirs, released };
    };

    test('Carrier places a call with sound both ways', async () => {
      const { outgoing, call } = await place();
      const rung = new Promise<void>((resolve) => outgoing.onRinging(resolve));
      call.ring();
      await rung;
      const [leg, theirs] = await Promise.all([outgoing.answered, call.answer()]);
      const heard = packetOf(theirs.line, ({ isVoiced }) => isVoiced);
      const voice = eventOf(leg.audio, 'voice-started');

      say(leg.audio);
      void theirs.line.speak(tone(300, 400));
      await Promise.all([heard, voice]);
      await leg.hangUp();

      expect(call.request.uri).toContain(`sip:${THEIRS}@`);
      expect(call.request.get('from')).toContain(`<sip:${OURS}@127.0.0.1>`);
      expect(call.request.get('p-asserted-identity')).toBe(`<sip:${OURS}@127.0.0.1>`);
      expect(call.request.callId).toBe(outgoing.carrierCallSid);
      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('Carrier hears early media and then the answer', async () => {
      const { outgoing, call } = await place();
      const rung = new Promise<void>((resolve) => outgoing.onRinging(resolve));
      const line = await call.ringWithSound();
      await rung;
      const silence = packetOf(line);
      await silence;

      const [leg] = await Promise.all([outgoing.answered, call.answer()]);
      await leg.hangUp();

      expect(line.heard.length).toBeGreaterThan(0);
    });

    test.each([
      302, 404, 480, 486, 488, 500, 503, 600, 603,
    ])('OutgoingCall fails with %d as the far end says', async (status) => {
      const { outgoing, call } = await place();

      call.reject(status);

      await expect(outgoing.answered).rejects.toMatchObject({
        name: 'CarrierError',
        sipStatus: status,
      });
    });

    test('OutgoingCall is cancelled when it has rung too long', async () => {
      const { outgoing, call } = await place({ ...REQUEST, ringingTimeoutMs: 500 });
      const cancelled = new Promise((resolve) => call.invite.on('cancelled', resolve));
      call.ring();

      await cancelled;

      await expect(outgoing.answered).rejects.toMatchObject({ sipStatus: 487 });
    });

    test('OutgoingCall can be given up while it rings', async () => {
      const { outgoing, call } = await place();
      const cancelled = new Promise((resolve) => call.invite.on('cancelled', resolve));
      call.ring();
      await new Promise<void>((resolve) => outgoing.onRinging(resolve));

      outgoing.cancel();

      await cancelled;
      await expect(outgoing.answered).rejects.toMatchObject({ sipStatus: 487 });
    });

    test('OutgoingCall given up before it was sent fails at once', async () => {
      const outgoing = plane.carrier.place(REQUEST);

      outgoing.cancel();

      await expect(outgoing.answered).rejects.toMatchObject({ sipStatus: 487 });
    });

    test('OutgoingCall given up after the answer hangs up', async () => {
      const { outgoing, theirs, released } = await connect();

      outgoing.cancel();

      expect(await released).toEqual({ kind: 'near-end' });
      expect(await theirs.ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('OutgoingCall hangs up on an answer that it cannot understand', async () => {
      const { outgoing, call } = await place();

      const { dialog } = call.invite.accept({ body: 'nonsense' });
      const ended = new Promise((resolve) => dialog.on('ended', resolve));

      await expect(outgoing.answered).rejects.toMatchObject({ sipStatus: 400 });
      expect(await ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('OutgoingCall hangs up on an answer that does not say where its sound is', async () => {
      const { outgoing, call } = await place();

      const { dialog, acknowledged } = call.invite.accept();
      const ended = new Promise((resolve) => dialog.on('ended', resolve));

      await expect(outgoing.answered).rejects.toMatchObject({ sipStatus: 488 });
      expect(await acknowledged).not.toBeNull();
      expect(await ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('OutgoingCall is answered where early media has said where the sound is', async () => {
      const { outgoing, call } = await place();
      const line = await call.ringWithSound();
      await packetOf(line);

      call.invite.accept();
      const leg = await outgoing.answered;
      const heard = packetOf(line, ({ isVoiced }) => isVoiced);
      say(leg.audio);

      expect((await heard).isVoiced).toBe(true);
      await leg.hangUp();
      line.close();
    });

    test('Leg ends when the called party hangs up', async () => {
      const { theirs, released } = await connect();

      await theirs.hangUp();

      expect(await released).toEqual({ kind: 'far-end' });
    });
  });
}
