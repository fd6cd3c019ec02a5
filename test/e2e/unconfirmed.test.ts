/** An INVITE whose ACK never comes: forged, with somebody else's address in its SDP, or from a caller whose ACK is lost. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { parseRtp, writeRtp } from '../../src/rtp/packet.ts';
import { parseSdp } from '../../src/rtp/sdp.ts';
import { offer } from '../../src/rtp/sdp-answer.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { tone } from '../support/speech/tone.ts';

const NUMBER = '+12025550123';

let server: TestServer;

beforeAll(async () => {
  server = await (await startServer()).ready();
  await server.createAgent({ phoneNumber: NUMBER, greeting: 'Hello. '.repeat(40) });
});

afterAll(() => server.stop());

async function openSocket(address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, address);
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return socket;
}

/** Rings with sound wanted at `media`, and never says ACK. @returns the port that the server hears the call on. */
async function ringWithoutAck(media: Socket): Promise<number> {
  const sip = await openSocket('127.0.0.1');
  const { port } = sip.address();
  const uri = `sip:${NUMBER}@127.0.0.1:${server.sipPort}`;
  const body = offer({ ...media.address(), sessionId: 2, version: 9 });
  const invite = [
    `INVITE ${uri} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${port}`,
    'Max-Forwards: 70',
    `From: <sip:+12025550187@127.0.0.1>;tag=${port}`,
    `To: <${uri}>`,
    `Call-ID: unconfirmed-${port}`,
    'CSeq: 1 INVITE',
    `Contact: <sip:127.0.0.1:${port}>`,
    'Content-Type: application/sdp',
    `Content-Length: ${body.length}`,
    '',
    body,
  ];
  const answered = Promise.withResolvers<number>();
  sip.on('message', (datagram) => {
    const text = datagram.toString();
    if (!text.startsWith('SIP/2.0 200')) return;
    const { port: rtpPort } = parseSdp(text.slice(text.indexOf('\r\n\r\n') + 4));
    answered.resolve(rtpPort);
  });
  sip.send(invite.join('\r\n'), server.sipPort, '127.0.0.1');
  return answered.promise;
}

const newestCall = async () => {
  const { body } = await server.api('GET', '/api/calls?limit=1');
  return (body.data as readonly Record<string, unknown>[])[0];
};

test('a forged INVITE draws no packet to the address in its SDP, and is no call that was answered', async () => {
  const victim = await openSocket('127.0.0.5');
  const drawn: number[] = [];
  victim.on('message', ({ length }) => drawn.push(length));

  await ringWithoutAck(victim);
  await setTimeout(7_000);
  const call = await newestCall();
  const events = await server.api('GET', `/api/events?callId=${call?.id}`);

  expect(drawn).toEqual([]);
  expect(call).toMatchObject({ status: 'ringing', hasRecording: false });
  expect(events.body.data).toEqual([]);
});

test('a caller whose ACK is lost hears the agent once its own sound has come', async () => {
  const caller = await openSocket('127.0.0.1');
  let heard = 0;
  caller.on('message', (datagram) => {
    const packet = parseRtp(datagram);
    if (packet?.payload.some((byte) => (byte & 0x7f) < 0x60)) heard += 1;
  });

  const port = await ringWithoutAck(caller);
  const before = heard;
  // The greeting may have to be spoken first: for 10 s at most.
  for (let sequence = 0; sequence < 500 && heard <= 10; sequence += 1) {
    const payload = encodeG711('PCMU', tone(400, 20, 100));
    const header = { payloadType: 0, hasMarker: false, ssrc: 9, sequence };
    caller.send(writeRtp({ ...header, timestamp: sequence * 160, payload }), port, '127.0.0.1');
    await setTimeout(20);
  }

  expect(before).toBe(0);
  expect(heard).toBeGreaterThan(10);
  expect(await newestCall()).toMatchObject({ status: 'in_progress' });
});
