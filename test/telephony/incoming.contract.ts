/** What every carrier does with calls that come in, whatever plane it stands on. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
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
} from './plane.ts';

export function describeIncomingCalls(name: string, startPlane: StartPlane): void {
  describe(name, () => {
    let plane: Plane;
    const phone = new Phone({ number: THEIRS });

    beforeAll(async () => {
      [plane] = await Promise.all([startPlane([]), phone.start()]);
    });
    afterAll(async () => {
      await phone.stop();
      await plane.stop();
    });

    const uri = () => `sip:${OURS}@${plane.hostPort}`;
    const ring = async (options = {}) => {
      const [dialled, incoming] = await Promise.all([
        phone.dial(uri(), options),
        plane.rings.next(),
      ]);
      return { ...dialled, incoming };
    };
    const connect = async (options = {}) => {
      const { answered, incoming, invite } = await ring(options);
      const [leg, call] = await Promise.all([incoming.answer(), answered]);
      const released = new Promise<ReleaseCause>((resolve) => leg.onReleased(resolve));
      return { leg, call, incoming, invite, released };
    };

    test.each([
      'UDP',
      'TCP',
    ])('Carrier brings a call over %s with sound both ways', async (protocol) => {
      const target = `${uri()};transport=${protocol.toLowerCase()}`;
      const [{ answered, invite }, incoming] = await Promise.all([
        phone.dial(target),
        plane.rings.next(),
      ]);
      const [leg, call] = await Promise.all([incoming.answer(), answered]);
      const heard = packetOf(call.line, ({ isVoiced }) => isVoiced);
      const voice = eventOf(leg.audio, 'voice-started');

      say(leg.audio);
      void call.line.speak(tone(300, 400));
      await Promise.all([heard, voice]);
      await call.hangUp();

      const { response } = await invite.outcome;
      expect(incoming).toMatchObject({
        from: THEIRS,
        to: OURS,
        carrierCallSid: response.get('call-id'),
      });
    });

    test('IncomingCall answers with the headers it is given, and keeps our name of the call to itself', async () => {
      const { invite, answered, incoming } = await ring();

      const answer = { callId: 'call_1', headers: { 'X-Service-Extra': 'one' } };
      const [, call] = await Promise.all([incoming.answer(answer), answered]);
      await call.hangUp();

      const { response } = await invite.outcome;
      expect(response.get('x-service-extra')).toBe('one');
      expect(response.toBuffer().toString()).not.toContain('call_1');
    });

    test('Carrier reads SDP from a multipart body', async () => {
      const description = [
        ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
        ...['m=audio 40002 RTP/AVP 8', ''],
      ].join('\r\n');
      const sdp = [
        ...['--one', 'Content-Type: application/ISUP;version=itu-t92+', '', '\x01\x02'],
        ...['--one', 'Content-Type: application/sdp', '', description],
        ...['--one--', ''],
      ].join('\r\n');

      const headers = { 'Content-Type': 'multipart/mixed;boundary=one' };
      const { call, invite } = await connect({ headers, sdp });
      await call.hangUp();

      const { response } = await invite.outcome;
      expect(response.body.toString()).toMatch(/^m=audio \d+ RTP\/AVP 8\b/m);
    });

    test('Carrier tells when the caller gives up', async () => {
      const { invite, answered, incoming } = await ring();
      incoming.ring();
      const cancelled = new Promise<void>((resolve) => incoming.onCancelled(resolve));

      invite.cancel();
      await cancelled;

      await expect(answered).rejects.toMatchObject({ sipStatus: 487 });
      await expect(incoming.answer()).rejects.toMatchObject({
        name: 'CarrierError',
        sipStatus: 487,
      });
    });

    test.each([
      [404, undefined],
      [480, undefined],
      [503, 30],
    ])('IncomingCall can be rejected with %d', async (status, retryAfterSeconds) => {
      const { invite, incoming } = await ring();

      incoming.reject(status, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
      const { response } = await invite.outcome;

      expect(response.status).toBe(status);
      expect(response.get('retry-after')).toBe(retryAfterSeconds?.toString());
    });

    test('Leg ends when the caller hangs up', async () => {
      const { call, released } = await connect();

      await call.hangUp();

      expect(await released).toEqual({ kind: 'far-end' });
    });

    test('Leg hangs up', async () => {
      const { leg, call, released } = await connect();

      await Promise.all([leg.hangUp(), leg.hangUp()]);

      expect(await call.ended).toMatchObject({ cause: 'remote-bye' });
      expect(await released).toEqual({ kind: 'near-end' });
    });

    test('Leg is held and resumed', async () => {
      const { call } = await connect();
      await packetOf(call.line);

      const held = await call.hold();
      const resumed = await call.resume();
      await packetOf(call.line);
      await call.hangUp();

      expect(held.body.toString()).toContain('a=recvonly');
      expect(resumed.body.toString()).toContain('a=sendrecv');
    });

    test('Leg hears digits by INFO and in RTP, and sends them in RTP', async () => {
      const { leg, call } = await connect();
      const digits: string[] = [];
      leg.onDigit((digit) => digits.push(digit));

      await call.pressByInfo('5');
      call.line.press('#');
      const inRtp = await eventOf(leg.audio, 'digit');
      await call.pressByInfo('6');
      leg.audio.sendDigits('7');
      await expect.poll(() => call.line.digits, { timeout: 2000 }).toBe('7');
      await call.hangUp();

      expect(digits).toEqual(['5', '6']);
      expect(inRtp.digit).toBe('#');
    });

    test('IncomingCall answers a call that has no offer', async () => {
      const { leg, call } = await connect({ hasOffer: false });

      const heard = packetOf(call.line, ({ isVoiced }) => isVoiced);
      say(leg.audio);
      await heard;

      await call.hangUp();
    });

    test.each([
      ['no common codec', 'm=audio 4000 RTP/AVP 18\r\n', 488],
      ['DTLS-SRTP', 'm=audio 4000 UDP/TLS/RTP/SAVPF 0\r\na=fingerprint:sha-256 4A:AD\r\n', 488],
      [
        'DTLS-SRTP by its old name',
        'm=audio 4000 RTP/SAVP 0\r\na=fingerprint:sha-256 4A:AD\r\n',
        488,
      ],
      ['SRTP without keys', 'm=audio 4000 RTP/SAVP 0\r\n', 488],
      ['an IPv6 address', 'm=audio 4000 RTP/AVP 0\r\nc=IN IP6 ::1\r\n', 488],
      ['no sense', 'nonsense', 400],
    ])('IncomingCall refuses an offer with %s', async (_, line, status) => {
      const session = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n';
      const sdp = line.startsWith('m=') ? session + line : line;
      const { answered, incoming } = await ring({ sdp });

      const [ours, theirs] = await Promise.allSettled([incoming.answer(), answered]);

      expect(ours).toMatchObject({ reason: { name: 'CarrierError', sipStatus: status } });
      expect(theirs).toMatchObject({ reason: { sipStatus: status } });
    });

    test('Leg refuses to be transferred by the caller', async () => {
      const { call } = await connect();

      const headers = { 'Refer-To': '<sip:+881000000@evil.example>' };
      const { status } = await call.dialog.request('REFER', { headers });
      await call.hangUp();

      expect(status).toBe(603);
    });

    test('Leg transfers the caller, who then hangs up', async () => {
      const { leg, call, released } = await connect();
      call.dialog.removeAllListeners('request').on('request', async ({ request, respond }) => {
        respond(202);
        expect(request.get('refer-to')).toMatch(/^<sip:\+390687654321@/);
        for (const body of ['SIP/2.0 100 Trying', 'SIP/2.0 200 OK']) {
          await call.dialog.request('NOTIFY', {
            body,
            contentType: 'message/sipfrag',
            headers: { Event: 'refer', 'Subscription-State': 'active' },
          });
        }
      });

      await leg.transfer('+390687654321');

      expect(await released).toEqual({ kind: 'transferred' });
      expect(await call.ended).toMatchObject({ cause: 'remote-bye' });
    });

    test('Leg goes on after a transfer that failed', async () => {
      const { leg, call, released } = await connect();

      await expect(leg.transfer('+390687654321')).rejects.toMatchObject({ sipStatus: 603 });
      await call.hangUp();

      expect(await released).toEqual({ kind: 'far-end' });
    });
  });
}
