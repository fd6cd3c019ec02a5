/** RTP sessions with G.722 and Opus: what goes out, what is heard, what is made of losses, and changes of the codec. */
import { createDecoder, loadLibopus } from 'libopus-wasm';
import { beforeAll, describe, expect, test } from 'vitest';
import { G722Decoder, G722Encoder } from '../../src/media/codecs/g722.ts';
import { OpusEncoder } from '../../src/media/codecs/opus.ts';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { writeTelephoneEvent } from '../../src/rtp/dtmf.ts';
import { parseRtp, type RtpPacket, writeRtp } from '../../src/rtp/packet.ts';
import type { AgreedMedia } from '../../src/rtp/sdp-answer.ts';
import { SrtpReceiver, SrtpSender } from '../../src/rtp/srtp/srtp-stream.ts';
import { FAR_END, TestSession, tone, VOICE } from './test-session.ts';

const FAR_HEADER = { hasMarker: false, ssrc: 77 };
const OTHER_VOICE = Int16Array.from({ length: 3200 }, (_, at) => 8000 * Math.sin(at / 5));
const NOTHING = new Uint8Array(0);

type Wide = 'G722' | 'opus';

const AGREED: Readonly<Record<Wide, Partial<AgreedMedia>>> = {
  G722: { codec: 'G722', payloadType: 9 },
  opus: {
    ...{ codec: 'opus', payloadType: 111, opus: { bitRate: 20_000, hasFec: true } },
    ...{ telephoneEventPayloadType: 110, telephoneEventClockHz: 48_000 },
  },
};

const FRAME_TICKS: Readonly<Record<Wide, number>> = { G722: 160, opus: 960 };

beforeAll(async () => {
  await loadLibopus();
});

/** Lets libopus be there: it is loaded, and opens in the next turn. */
async function settle(): Promise<void> {
  await new Promise(setImmediate);
}

/** A far end's stream of 20 ms packets. */
class FarStream {
  readonly #codec: Wide;
  readonly #g722 = new G722Encoder();
  readonly #opus = new OpusEncoder({
    ...{
      bitRate: 20_000,
      hasFec: true,
      isConstant: false,
      onFault: (error: unknown) => {
        throw error;
      },
    },
  });
  #count = 0;

  constructor(codec: Wide) {
    this.#codec = codec;
  }

  next(pcm = VOICE): Omit<RtpPacket, 'hasMarker'> {
    this.#count += 1;
    return {
      ...{ payloadType: AGREED[this.#codec].payloadType ?? 0, ssrc: 77 },
      ...{ sequence: this.#count, timestamp: this.#count * FRAME_TICKS[this.#codec] },
      payload: this.#codec === 'G722' ? this.#bytes(pcm) : this.#opus.encode(pcm),
    };
  }

  #bytes(pcm: Int16Array): Uint8Array {
    const bytes = new Uint8Array(pcm.length);
    this.#g722.encodeInto(pcm, bytes, 0);
    return bytes;
  }
}

async function open(codec: Wide, changes: Partial<AgreedMedia> = {}) {
  const [phone, stream] = [new TestSession(), new FarStream(codec)];
  phone.setRemote({ ...AGREED[codec], ...changes });
  await settle();
  return { phone, stream };
}

function sayTo(phone: TestSession, pcm: Int16Array): void {
  phone.session.begin(1);
  phone.session.say(1, pcm, phone.nowMs);
  phone.session.finish(1, phone.nowMs);
}

function repeated(pcm: Int16Array, times: number): Int16Array {
  return Int16Array.from({ length: pcm.length * times }, (_, at) => pcm[at % pcm.length] ?? 0);
}

describe.each(['G722', 'opus'] as const)('RtpSession with %s', (codec) => {
  test('sends the reply with payload type and clock of the codec', async () => {
    const { phone, stream } = await open(codec);
    phone.speak(VOICE, stream.next());
    phone.sent.length = 0;

    sayTo(phone, repeated(VOICE, 20));
    phone.clock.advance(400);

    const steps = phone.sent
      .slice(1)
      .map(({ timestamp }, at) => timestamp - (phone.sent[at]?.timestamp ?? 0));
    expect(new Set(phone.sent.map(({ payloadType }) => payloadType))).toEqual(
      new Set([AGREED[codec].payloadType]),
    );
    expect(new Set(steps)).toEqual(new Set([FRAME_TICKS[codec]]));
    expect(await levelOf(codec, phone.sent)).toBeGreaterThan(-20);
    expect(phone.kinds()).toContain('playout-finished');
  });

  test('hears the caller, and no lost packet as silence', async () => {
    const { phone, stream } = await open(codec);
    const lost = [12, 20, 21, 33];

    for (let at = 0; at < 45; at += 1) {
      const packet = stream.next();
      if (lost.includes(at)) phone.lose();
      else phone.speak(VOICE, packet);
    }

    const letters = phone.heardAsLetters();
    expect(letters.length).toBeGreaterThanOrEqual(44);
    expect(letters.slice(2, 44)).toMatch(/^v+$/);
    expect((await phone.session.stats()).packetsLost).toBe(lost.length);
    expect((await phone.session.stats()).jitterMs).toBeLessThan(0.5);
    expect((await phone.session.stats()).details?.codec).toBe(codec);
  });

  test('is told keys with their length, and tells its own', async () => {
    const { phone, stream } = await open(codec);
    const clock = FRAME_TICKS[codec] / 160;
    const type = AGREED[codec].telephoneEventPayloadType ?? 101;
    phone.speak(VOICE, stream.next());
    const { sequence = 0, timestamp = 0 } = stream.next();
    const press = { event: 5, isEnd: true, durationSamples: 800 * clock };

    phone.speak(VOICE, {
      ssrc: 77,
      sequence,
      timestamp,
      payloadType: type,
      payload: writeTelephoneEvent(press),
    });
    phone.sent.length = 0;
    phone.session.sendDigits('7');
    phone.clock.advance(200);

    const keys = phone.sent.filter(({ payloadType }) => payloadType === type);
    expect(phone.events).toContainEqual({ kind: 'digit', digit: '5', durationMs: 100 });
    expect(new Set(keys.map((packet) => packet.timestamp)).size).toBe(1);
    expect(keys.at(-1)?.payload).toEqual(
      writeTelephoneEvent({ event: 7, isEnd: true, durationSamples: 800 * clock }),
    );
  });

  test('changes from G.711 and back in mid-call, and hears on', async () => {
    const { phone, stream } = await open(codec, { codec: 'PCMU', payloadType: 0 });

    phone.speakFor(200);
    phone.setRemote(AGREED[codec]);
    await settle();
    // A packet of the old codec that was on its way.
    phone.speakFor(20);
    for (let at = 0; at < 10; at += 1) phone.speak(VOICE, stream.next());
    const wide = phone.sent.at(-1)?.payloadType;
    phone.setRemote();
    phone.speakFor(200);

    expect(wide).toBe(AGREED[codec].payloadType);
    expect(phone.sent.at(-1)?.payloadType).toBe(0);
    expect(phone.heardAsLetters().match(/v/g)?.length).toBeGreaterThanOrEqual(28);
  });

  test('passes its sound on to a joined session with G.711, and keys once', async () => {
    const { phone, stream } = await open(codec);
    const other = new TestSession();
    other.setRemote();
    other.session.feed.from(phone.session.feed);

    for (let at = 0; at < 30; at += 1) {
      phone.speak(VOICE, stream.next());
      other.clock.advance(20);
    }
    phone.session.press({ digit: '5', durationMs: 100 });
    other.clock.advance(200);

    const voiced = other.sent.filter(
      ({ payload, payloadType }) =>
        payloadType === 0 && payload.some((byte) => (byte & 0x7f) < 0x40),
    );
    const presses = other.sent.filter(
      ({ payloadType, hasMarker }) => payloadType === 101 && hasMarker,
    );
    expect(voiced.length).toBeGreaterThanOrEqual(24);
    expect(presses).toHaveLength(1);
  });

  test('gets the sound of a joined session with G.711', async () => {
    const { phone } = await open(codec);
    const other = new TestSession();
    other.setRemote();
    phone.session.feed.from(other.session.feed);

    for (let at = 0; at < 30; at += 1) {
      other.speak(VOICE);
      phone.clock.advance(20);
    }

    expect(new Set(phone.sent.map(({ payloadType }) => payloadType))).toEqual(
      new Set([AGREED[codec].payloadType]),
    );
    expect(await levelOf(codec, phone.sent.slice(5))).toBeGreaterThan(-20);
  });

  test('sends nothing on hold, and hears and is heard after it', async () => {
    const { phone, stream } = await open(codec);
    phone.speak(VOICE, stream.next());

    phone.setRemote({ ...AGREED[codec], maySend: false });
    phone.sent.length = 0;
    phone.clock.advance(200);
    const onHold = phone.sent.length;
    phone.setRemote(AGREED[codec]);
    for (let at = 0; at < 10; at += 1) phone.speak(VOICE, stream.next());

    expect(onHold).toBe(0);
    expect(phone.sent.length).toBeGreaterThanOrEqual(9);
    expect(phone.heardAsLetters()).toMatch(/v{8}$/);
  });
});

test.each([
  [10, 480, 20],
  [20, 960, 10],
  [30, 960, 10],
  [40, 1920, 5],
  [60, 2880, 3],
])('RtpSession sends Opus to a far end that asks for %d ms in packets of %d ticks', async (ptimeMs, ticks, packets) => {
  const { phone, stream } = await open('opus', { ptimeMs });
  phone.speak(VOICE, stream.next());
  phone.sent.length = 0;

  sayTo(phone, repeated(VOICE, 40));
  phone.clock.advance(200);

  const steps = phone.sent
    .slice(1)
    .map(({ timestamp }, at) => timestamp - (phone.sent[at]?.timestamp ?? 0));
  expect(phone.sent.length).toBeGreaterThanOrEqual(packets);
  expect(phone.sent.length).toBeLessThanOrEqual(packets + 2);
  expect(new Set(steps)).toEqual(new Set([ticks]));
});

test('RtpSession obeys another bit rate that the far end asks for in mid-call', async () => {
  const { phone, stream } = await open('opus');
  const voice = Int16Array.from({ length: 16_000 }, (_, at) => 8000 * Math.sin((at * at) / 9000));
  phone.speak(VOICE, stream.next());
  const bytesAt = async (bitRate: number, generation: number) => {
    phone.setRemote({ ...AGREED.opus, opus: { bitRate, hasFec: false } });
    await settle();
    phone.sent.length = 0;
    phone.session.begin(generation);
    phone.session.say(generation, voice, phone.nowMs);
    phone.clock.advance(1000);
    return phone.sent.reduce((sum, { payload }) => sum + payload.length, 0);
  };

  const [many, few] = [await bytesAt(20_000, 1), await bytesAt(8000, 2)];

  expect(few).toBeGreaterThan(300);
  expect(few).toBeLessThan(many * 0.7);
});

test.each(['G722', 'opus'] as const)('RtpSession with %s sends and hears SRTP', async (codec) => {
  const keys = (value: number) => ({
    suite: 'AES_CM_128_HMAC_SHA1_80' as const,
    inline: Buffer.alloc(30, value).toString('base64'),
  });
  const srtp = { send: keys(1), receive: keys(2) };
  const { phone, stream } = await open(codec, { srtp });
  const [farSender, farReceiver] = [new SrtpSender(srtp.receive), new SrtpReceiver(srtp.send)];

  for (let at = 0; at < 20; at += 1) {
    const plain = writeRtp({ ...FAR_HEADER, ...stream.next() });
    const sealed = farSender.protectRtp(plain);
    if (sealed !== undefined) phone.session.onDatagram(sealed, FAR_END, phone.nowMs);
    // Another tone than the caller's, which would count as its echo.
    if (at === 5) sayTo(phone, OTHER_VOICE);
    phone.clock.advance(20);
  }

  const opened = phone.sealed.flatMap(
    (packet) => parseRtp(farReceiver.unprotectRtp(packet) ?? NOTHING) ?? [],
  );
  expect(phone.heardAsLetters().slice(2)).toMatch(/^v{15,}$/);
  expect(opened).toHaveLength(phone.sealed.length);
  expect(await levelOf(codec, opened)).toBeGreaterThan(-25);
  expect(new Set(opened.slice(1).map(({ payload }) => payload.length)).size).toBe(1);
});

test('RtpSession gives the memory of Opus back when the codec changes', async () => {
  const [phone, packet] = [new TestSession(), new FarStream('opus').next()];
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      phone.setRemote(AGREED.opus);
      await settle();
      phone.speak(VOICE, packet);
      phone.setRemote();
    }
    return process.memoryUsage().external;
  };

  const before = await turns(50);
  const after = await turns(1500);

  expect(after - before).toBeLessThan(6_000_000);
});

test('RtpSession goes on after a packet that is no Opus', async () => {
  const { phone, stream } = await open('opus');
  for (let at = 0; at < 10; at += 1) phone.speak(VOICE, stream.next());

  phone.speak(VOICE, { ...stream.next(), payload: Uint8Array.of(0x09, 200, 1) });
  for (let at = 0; at < 10; at += 1) phone.speak(VOICE, stream.next());

  expect(phone.heardAsLetters().slice(2)).toMatch(/^v+$/);
});

test('RtpSession hears G.711 that comes though G.722 is agreed', async () => {
  const { phone } = await open('G722');

  for (let at = 0; at < 5; at += 1)
    phone.speak(VOICE, { payload: encodeG711('PCMA', tone(8000)), payloadType: 8 });

  expect(phone.heardAsLetters()).toMatch(/^v{4,5}$/);
});

test('RtpSession conceals a loss of G.711 that comes though Opus is agreed', async () => {
  const { phone } = await open('opus');
  const speak = (frames: number) => {
    for (let at = 0; at < frames; at += 1) phone.speak(VOICE);
  };

  speak(10);
  phone.lose();
  speak(10);

  expect(phone.heardAsLetters()).toMatch(/^v{20,21}$/);
});

/** What the far end hears, in dBFS. */
async function levelOf(codec: Wide, packets: readonly RtpPacket[]): Promise<number> {
  const [g722, opus] = [new G722Decoder(), await createDecoder({ sampleRate: 8000, channels: 1 })];
  const heard = packets.map(({ payload }) =>
    codec === 'G722' ? g722.decode(payload) : opus.decode(payload),
  );
  return levelDbfs(Int16Array.from(heard.flatMap((pcm) => [...pcm])));
}
