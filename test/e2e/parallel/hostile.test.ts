/** The whole server under hostile traffic on its open ports, during a call. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { writeRtcp } from '../../../src/rtp/rtcp.ts';
import { parseSdp } from '../../../src/rtp/sdp.ts';
import { offer } from '../../../src/rtp/sdp-answer.ts';
import { garbage, hugeRtp, toneRtp } from '../../support/network/rtp-junk.ts';
import { closed, type Headers, Stranger } from '../../support/network/stranger.ts';
import { Figures } from '../../support/server/figures.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { mutantSeeds, mutants } from '../../support/sip/sip-mutants.ts';
import { readStereo } from '../../support/speech/recording.ts';
import { loudestAmplitude, tone } from '../../support/speech/tone.ts';

const CALLER = '+12025550187';
const MUTANTS = 3000;
const SEED = 4475;
/** More than one address may have. */
const SILENT_CONNECTIONS = 600;
const EVENTUALLY_MS_MAX = 15_000;
const FRAME_MS = 20;
/** Within so short a time nothing is missed. */
const SHORT_MS = 200;
const CALLER_HZ = 400;
const STRANGER_HZ = 1500;
const AMPLITUDE = 16_000;
const STRANGER_VOICE = { count: 150, frequencyHz: STRANGER_HZ, amplitude: AMPLITUDE };
/** What a tone of another frequency leaves behind where it begins and ends. */
const NO_TONE = 1000;
/** Where the stranger wants the voice of the agent. */
const OFFER = offer({ address: '127.0.0.9', port: 40_000, sessionId: 2, version: 9 });
const JUNK = Buffer.from('INVITE sip:+12025550123@127.0.0.1 SIP/2.0\r\nVia: ', 'latin1');

let server: TestServer;
let phone: Phone;
let call: PhoneCall;
let callId = '';
let stranger: Stranger;
/** Where the server hears the call. */
let rtpPort = 0;
/** The caller's own stream, as an attacker on the path sees it. */
let stream: { readonly ssrc: number; readonly sequence: number; readonly seenAtMs: number };

beforeAll(async () => {
  server = await (await startServer()).ready();
  await server.createAgent({ greeting: 'Hello, how can I help you? '.repeat(60) });
  phone = new Phone({ number: CALLER });
  stranger = new Stranger(server.sipPort);
  await Promise.all([phone.start(), stranger.start()]);
  call = await phone.call(uri());
  const { body } = await server.api('GET', '/api/calls?limit=1');
  callId = (body.data as readonly { readonly id: string }[])[0]?.id ?? '';
  await overhear();
});

afterAll(async () => {
  stranger?.stop();
  await phone?.stop();
  await server?.stop();
});

test('the call goes on through RFC 4475, mutants and garbage by UDP', async () => {
  await duringWhich(async () => {
    await stranger.throwDatagrams(mutantSeeds());
    await stranger.throwDatagrams([...mutants({ count: MUTANTS, seed: SEED })]);
    await stranger.throwDatagrams(garbage(200, 2000));
    await stranger.scan();
    await stranger.throwDatagrams([Buffer.alloc(60_000, 'x'), Buffer.alloc(60_000)]);
  });

  const figures = await Figures.of(server);
  expect(figures.sum('offhook_sip_dropped_total', 'reason="unreadable"')).toBeGreaterThan(500);
  expect(figures.sum('offhook_sip_dropped_total', 'reason="screened"')).toBe(1);
  expect(figures.sum('offhook_sip_rejected_total')).toBeGreaterThan(100);
});

test('the call goes on through the same by TCP, and through connections that say little', async () => {
  const before = await Figures.of(server);
  const slow = Array.from({ length: 20 }, () => dripping());

  await duringWhich(async () => {
    await stranger.throwStreams(mutantSeeds());
    await stranger.throwStreams([...mutants({ count: MUTANTS, seed: SEED + 1 })]);
    await stranger.throwStreams(garbage(100, 20_000));
    const silent = Array.from({ length: SILENT_CONNECTIONS }, () => stranger.openStream().resume());
    for (let left = 50; left > 0; left -= 1) stranger.openStream(JUNK).once('connect', reset);
    // A message must be whole within 5 s, however often an octet of it comes.
    await Promise.all(slow.map(closed));
    await Promise.race(silent.map(closed));
  });

  const figures = await Figures.of(server);
  const grown = (name: string, label?: string) =>
    figures.sum(name, label) - before.sum(name, label);
  expect(grown('offhook_sip_dropped_total', 'reason="bad-stream"')).toBeGreaterThan(500);
  expect(grown('offhook_sip_dropped_total', 'reason="connection-limit"')).toBeGreaterThan(0);
  expect(grown('offhook_sip_rejected_total')).toBeGreaterThan(100);
});

test.each([
  ['BYE with another tag of the caller', 'BYE', { fromTag: 'other' }, 481],
  ['BYE with another tag of the agent', 'BYE', { toTag: 'other' }, 481],
  ['BYE without a tag of the agent', 'BYE', { toTag: '' }, 481],
  ['CANCEL', 'CANCEL', { toTag: '' }, 481],
  ['re-INVITE with another tag of the agent', 'INVITE', { toTag: 'other' }, 481],
  ['re-INVITE with other tags', 'INVITE', { fromTag: 'other', toTag: 'another' }, 481],
] as const)('the call goes on through a forged %s', async (_, method, tags, status) => {
  const statuses: number[] = [];

  await duringWhich(async () => {
    for (let times = 0; times < 5; times += 1) {
      statuses.push(await stranger.ask(method, forged(method, 100 + times, tags), OFFER));
    }
  });

  expect(statuses).toEqual(Array(5).fill(status));
});

test('the call goes on through RTP of a stranger, and neither hears nor answers him', async () => {
  const caller = tone(CALLER_HZ, 1500, AMPLITUDE);
  const ssrc = stream.ssrc ^ 1;
  const packets = toneRtp({ ...STRANGER_VOICE, ssrc, sequence: 1 });

  await duringWhich(async () => {
    const spoken = call.line.speak(caller);
    await stranger.throwRtp(packets, rtpPort);
    const passedFrames = Math.round((performance.now() - stream.seenAtMs) / FRAME_MS);
    const sequence = stream.sequence + passedFrames;
    await stranger.throwRtp(toneRtp({ ...STRANGER_VOICE, ssrc: stream.ssrc, sequence }), rtpPort);
    for (const port of [rtpPort, rtpPort + 1]) {
      const leaving = writeRtcp({ ssrc: stream.ssrc, cname: 'caller', isBye: true });
      await stranger.throwMedia([leaving, ...garbage(100, 1400)], port);
      await stranger.throwMedia(Array(10).fill(hugeRtp()), port);
    }
    await spoken;
  });

  expect(stranger.heardDatagrams).toBe(0);
});

test('a new call is answered while the connections are still there, by UDP and by TCP', async () => {
  for (const transport of ['', ';transport=tcp']) {
    const other = await phone.call(uri() + transport);

    const isHeard = await eventually(() => other.line.heard.some(({ isVoiced }) => isVoiced));
    await other.hangUp();

    expect(isHeard).toBe(true);
  }
});

test('in the end the record has the caller alone, the figures are told, and nothing broke', async () => {
  await call.hangUp();
  await server.endedCalls();
  const { status } = await fetch(`${server.baseUrl}/readyz`);
  const path = join(server.dataDir, 'recordings', `${callId}.wav`);
  await eventually(() => readStereo(path) !== undefined);
  const caller = readStereo(path)?.left ?? new Int16Array();
  const figures = await Figures.of(server);
  const lines = server.output.split('\n').filter((line) => line.startsWith('{'));

  expect(loudestAmplitude(caller, CALLER_HZ)).toBeGreaterThan(AMPLITUDE / 2);
  expect(loudestAmplitude(caller, STRANGER_HZ)).toBeLessThan(NO_TONE);
  expect(figures.sum('offhook_rtp_packets_total', 'result="rejected"')).toBeGreaterThan(300);
  expect(status).toBe(200);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
});

function uri(): string {
  return `sip:+12025550123@127.0.0.1:${server.sipPort}`;
}

async function eventually(isSo: () => boolean): Promise<boolean> {
  const deadlineMs = performance.now() + EVENTUALLY_MS_MAX;
  while (!isSo() && performance.now() < deadlineMs) await wait(FRAME_MS);
  return isSo();
}

/** Does the attack, and shows that the agent was heard all the while, and speaks on. */
async function duringWhich(attack: () => Promise<void>): Promise<void> {
  const { heard } = call.line;
  const [heardBefore, startedAtMs] = [heard.length, performance.now()];

  await attack();

  const tookMs = performance.now() - startedAtMs;
  const heardAfter = heard.length;
  const speaksOn = await eventually(() => heard.slice(heardAfter).some(({ isVoiced }) => isVoiced));
  expect(call.dialog.state).toBe('confirmed');
  const heardMs = (heardAfter - heardBefore) * FRAME_MS;
  expect(heardMs + SHORT_MS).toBeGreaterThan(tookMs / 2);
  expect(speaksOn).toBe(true);
}

/** Learns from the reports that go to the caller what his stream counts by, and where the server hears it. */
async function overhear(): Promise<void> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const media = { address: '127.0.0.1', port: call.line.port, sessionId: 1, version: 2 };
  const body = `${offer(media)}a=rtcp:${socket.address().port}\r\n`;
  const answer = await call.dialog.reinvite({ body });
  rtpPort = parseSdp(answer.body.toString()).port;
  let report = Buffer.alloc(0);
  // A sender's report with one block, once both have spoken: RFC 3550, 6.4.1.
  while (report.length < 40 || report.readUInt16BE(0) !== 0x81c8) {
    [report] = (await once(socket, 'message')) as [Buffer<ArrayBuffer>];
  }
  socket.close();
  stream = {
    ssrc: report.readUInt32BE(28),
    sequence: report.readUInt16BE(38),
    seenAtMs: performance.now(),
  };
}

/** Headers of a request for the live call, with something in them that only the two ends know got wrong. */
function forged(
  method: string,
  sequence: number,
  tags: { fromTag?: string; toTag?: string },
): Headers {
  const { callId, localTag, remoteTag, localAddress, remoteAddress } = call.dialog.data;
  const { fromTag = localTag, toTag = remoteTag } = tags;
  const plain = (address: string) => address.replace(/;tag=.*/, '');
  return {
    From: `${plain(localAddress)};tag=${fromTag}`,
    To: plain(remoteAddress) + (toTag === '' ? '' : `;tag=${toTag}`),
    'Call-ID': callId,
    CSeq: `${sequence} ${method}`,
  };
}

/** A connection on which one octet comes every now and then, until the server has enough. */
function dripping() {
  const socket = stranger.openStream(JUNK);
  const timer = setInterval(() => socket.write('x'), 200);
  return socket.resume().once('close', () => clearInterval(timer));
}

function reset(this: Socket): void {
  this.resetAndDestroy();
}
