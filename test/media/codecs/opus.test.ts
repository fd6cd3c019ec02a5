import { createDecoder, createEncoder, loadLibopus } from 'libopus-wasm';
import { beforeAll, expect, test } from 'vitest';
import {
  OpusDecoder,
  OpusEncoder,
  opusSamplesIn,
  silentOpus,
} from '../../../src/media/codecs/opus.ts';
import { levelDbfs } from '../../../src/media/dsp/level-meter.ts';

const FRAME = 160;

/** A vowel that glides: what is repeated from before does not fit. */
const VOICE = Int16Array.from({ length: 50 * FRAME }, (_, at) => {
  const phase = (at / 8000) * 2 * Math.PI * (120 + 60 * Math.sin(at / 3000));
  return 6000 * Math.sin(phase) + 3000 * Math.sin(3 * phase) + 2000 * Math.sin(7 * phase);
});

beforeAll(async () => {
  await loadLibopus();
});

function failing(error: unknown): never {
  throw error;
}

async function openPair(hasFec = true) {
  const settings = { bitRate: 20_000, hasFec, isConstant: false, onFault: failing };
  const pair = { encoder: new OpusEncoder(settings), decoder: new OpusDecoder(failing) };
  await new Promise(setImmediate);
  return pair;
}

function packetsOf(encoder: OpusEncoder, pcm = VOICE): Uint8Array[] {
  return Array.from({ length: pcm.length / FRAME }, (_, index) =>
    encoder.encode(pcm.subarray(index * FRAME, (index + 1) * FRAME)),
  );
}

test('OpusEncoder and OpusDecoder carry a voice in packets that other rates and channels read', async () => {
  const { encoder, decoder } = await openPair();
  const wide = await createDecoder({ sampleRate: 48_000, channels: 2 });

  const packets = packetsOf(encoder);
  const heard = packets.map((packet) => decoder.decode(packet));
  const heardWide = packets.map((packet) => wide.decode(packet));

  expect(Math.max(...packets.map(({ length }) => length))).toBeLessThan(120);
  expect(heard.every(({ length }) => length === FRAME)).toBe(true);
  expect(heardWide.every(({ length }) => length === 2 * 960)).toBe(true);
  expect(levelDbfs(heard[25] ?? new Int16Array(1))).toBeGreaterThan(-25);
  expect(levelDbfs(heardWide[25] ?? new Int16Array(1))).toBeGreaterThan(-25);
});

test('OpusDecoder plays stereo of 48 kHz as mono of the line', async () => {
  const { decoder } = await openPair();
  const browser = await createEncoder({ sampleRate: 48_000, channels: 2, bitrate: 64_000 });
  const stereo = Int16Array.from({ length: 2 * 960 }, (_, at) => 9000 * Math.sin(at / 90));

  const heard = [1, 2, 3, 4].map(() => decoder.decode(browser.encode(stereo)));

  expect(heard.map(({ length }) => length)).toEqual([FRAME, FRAME, FRAME, FRAME]);
  expect(levelDbfs(heard[3] ?? new Int16Array(1))).toBeGreaterThan(-30);
});

test('OpusDecoder takes a lost packet out of the next one, where nothing before tells what it was', async () => {
  const { encoder, decoder } = await openPair();
  const other = new OpusDecoder(failing);
  await new Promise(setImmediate);
  const silence = new Int16Array(30 * FRAME);
  const packets = packetsOf(encoder, Int16Array.from([...silence, ...VOICE]));
  for (const packet of packets.slice(0, 31)) {
    decoder.decode(packet);
    other.decode(packet);
  }

  const taken = decoder.conceal(FRAME, packets[32] ?? new Uint8Array());
  const guessed = other.conceal(FRAME, silentOpus(FRAME));

  expect(levelDbfs(taken)).toBeGreaterThan(-25);
  expect(levelDbfs(guessed)).toBeLessThan(levelDbfs(taken) - 6);
});

test.each([
  20, 160, 330, 480, 8000, 40_000,
])('OpusDecoder conceals %d samples, and ends a long loss in silence', async (samples) => {
  const { encoder, decoder } = await openPair();
  const packets = packetsOf(encoder);
  for (const packet of packets.slice(0, 30)) decoder.decode(packet);

  const pcm = decoder.conceal(samples, packets[40] ?? new Uint8Array());

  expect(pcm).toHaveLength(samples);
  expect(levelDbfs(pcm.subarray(0, Math.min(80, samples)))).toBeGreaterThan(-40);
  expect(pcm.subarray(1600, samples - FRAME).every((sample) => sample === 0)).toBe(true);
});

test.each([
  ['nothing', new Uint8Array()],
  ['more frames than a packet may have', Uint8Array.of(0xff, 0xff, 1, 2)],
  ['frames that overlap its end', Uint8Array.of(0x09, 200, 1)],
  ['noise', Uint8Array.from({ length: 60 }, (_, at) => (at * 73) & 0xff)],
])('OpusDecoder makes up sound for %s in place of a packet, and goes on', async (_, broken) => {
  const { encoder, decoder } = await openPair();
  const packets = packetsOf(encoder);
  for (const packet of packets.slice(0, 30)) decoder.decode(packet);

  const made = decoder.decode(broken);
  const after = packets.slice(31, 40).map((packet) => decoder.decode(packet));

  expect(made.length % 20).toBe(0);
  expect(made.length).toBeGreaterThan(0);
  expect(made.length).toBeLessThanOrEqual(960);
  expect(levelDbfs(after[8] ?? new Int16Array(1))).toBeGreaterThan(-25);
});

test('OpusEncoder and OpusDecoder say nothing, at the right length, before the library is there and after the end', () => {
  const encoder = new OpusEncoder({
    ...{ bitRate: 20_000, hasFec: true, isConstant: false, onFault: failing },
  });
  const decoder = new OpusDecoder(failing);

  const lengths = [80, 160, 320, 480].map((samples) => opusSamplesIn(silentOpus(samples)));
  const silent = encoder.encode(VOICE.subarray(0, FRAME));
  encoder.close();
  encoder.close();
  decoder.close();

  expect(lengths).toEqual([80, 160, 320, 480]);
  expect(silent).toEqual(silentOpus(FRAME));
  expect(decoder.decode(silent)).toEqual(new Int16Array(FRAME));
  expect(decoder.conceal(FRAME, silent)).toEqual(new Int16Array(FRAME));
});

test('OpusEncoder has packets of one length where the line is encrypted', async () => {
  const encoder = new OpusEncoder({
    ...{ bitRate: 20_000, hasFec: true, isConstant: true, onFault: failing },
  });
  await new Promise(setImmediate);

  const lengths = new Set(packetsOf(encoder).map(({ length }) => length));

  expect(lengths.size).toBe(1);
});
