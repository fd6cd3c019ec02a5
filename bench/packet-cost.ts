/**
 * Packet cost: the processor's time for what the media thread does to one packet of 20 ms besides receiving and sending it.
 * SRTP, the memory of the loss concealment, keys in the sound, and the codecs.
 */
import { loadLibopus } from 'libopus-wasm';
import { FRAME_SAMPLES } from '../src/media/audio-stream.ts';
import { G722Decoder, G722Encoder } from '../src/media/codecs/g722.ts';
import { OpusDecoder, OpusEncoder } from '../src/media/codecs/opus.ts';
import { decodeG711Into, encodeG711Into } from '../src/media/dsp/g711.ts';
import { DtmfDetector } from '../src/media/dsp/in-band-dtmf.ts';
import { LossConcealment } from '../src/media/dsp/loss-concealment.ts';
import { RTP_HEADER_BYTES, writeRtpHeader } from '../src/rtp/packet.ts';
import { SrtpReceiver, SrtpSender } from '../src/rtp/srtp/srtp-stream.ts';
import { readPhrase, SPOKEN_PHRASES } from '../test/speech/spoken-phrases.ts';
import { checkTargets, markdownTable, numberArg, printJson } from './lib/harness.ts';

/** Warm-up rounds, in which the code is compiled. */
const WARM_ROUNDS = 2;

/** The suite that every carrier has. */
const KEYS = {
  suite: 'AES_CM_128_HMAC_SHA1_80',
  inline: Buffer.alloc(30, 7).toString('base64'),
} as const;

/** Microseconds of the processor that a packet may cost. */
const LIMITS_US = {
  ...{ seal: 40, open: 40, remember: 1, keys: 20 },
  // Both ways: a packet that is encoded, and one that is decoded.
  ...{ pcmu: 2, g722: 80, opus: 500 },
} as const;

type Cost = keyof typeof LIMITS_US;

const COSTS = Object.keys(LIMITS_US) as readonly Cost[];

/** Fewer than of the rest: each is a hundred times as long. */
const OPUS_PACKETS_MAX = 5000;

/** `npm run bench -- packet-cost [--packets 50000] [--gate]`; takes ten seconds. */
export async function run(args: readonly string[]): Promise<void> {
  const packets = numberArg(args, 'packets', 50_000);
  let costs = await measure(packets);
  for (let round = 0; round < WARM_ROUNDS; round += 1) costs = await measure(packets);

  console.log(markdownTable([costs]));
  printJson({ bench: 'packet-cost', packets, ...costs });
  const targets = COSTS.map((name) => ({
    name: `${name}, us a packet`,
    value: costs[name],
    limit: LIMITS_US[name],
    tolerance: 0.1,
  }));
  checkTargets(args, targets);
}

async function measure(packets: number): Promise<Record<Cost, number>> {
  const plain = Array.from({ length: packets }, (_, index) => packetAt(index));
  const sender = new SrtpSender(KEYS);
  const receiver = new SrtpReceiver(KEYS);
  const sealed: (Uint8Array | undefined)[] = [];
  const seal = costUs(packets, (at) => {
    sealed.push(sender.protectRtp(plain[at] as Uint8Array));
  });
  let opened = 0;
  const open = costUs(packets, (at) => {
    if (receiver.unprotectRtp(sealed[at] as Uint8Array) !== undefined) opened += 1;
  });
  if (opened !== packets) throw new Error(`Cannot measure SRTP: ${opened} of ${packets} opened`);
  const frames = spokenFrames();
  const frameAt = (at: number) => frames[at % frames.length] as Int16Array;
  const concealment = new LossConcealment();
  const remember = costUs(packets, (at) => concealment.hear(frameAt(at)));
  const detector = new DtmfDetector();
  const keys = costUs(packets, (at) => void detector.hear(frameAt(at)));
  return { seal, open, remember, keys, ...(await measureCodecs(packets, frameAt)) };
}

async function measureCodecs(packets: number, frameAt: (at: number) => Int16Array) {
  const [bytes, pcm] = [new Uint8Array(FRAME_SAMPLES), new Int16Array(FRAME_SAMPLES)];
  const pcmu = costUs(packets, (at) => {
    encodeG711Into('PCMU', frameAt(at), bytes, 0);
    decodeG711Into('PCMU', bytes, pcm);
  });
  const [g722Encoder, g722Decoder] = [new G722Encoder(), new G722Decoder()];
  const g722 = costUs(packets, (at) => {
    g722Encoder.encodeInto(frameAt(at), bytes, 0);
    g722Decoder.decode(bytes);
  });
  return { pcmu, g722, opus: await measureOpus(Math.min(packets, OPUS_PACKETS_MAX), frameAt) };
}

async function measureOpus(packets: number, frameAt: (at: number) => Int16Array): Promise<number> {
  await loadLibopus();
  const onFault = (error: unknown) => {
    throw error;
  };
  const settings = { bitRate: 20_000, hasFec: true, isConstant: false, onFault };
  const [encoder, decoder] = [new OpusEncoder(settings), new OpusDecoder(onFault)];
  // The library opens them in the next turn.
  await new Promise(setImmediate);
  const cost = costUs(packets, (at) => void decoder.decode(encoder.encode(frameAt(at))));
  encoder.close();
  decoder.close();
  return cost;
}

/** Mean time of the processor, in microseconds. */
function costUs(times: number, work: (at: number) => void): number {
  const startedAt = process.cpuUsage();
  for (let at = 0; at < times; at += 1) work(at);
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / times;
}

function packetAt(index: number): Uint8Array {
  const packet = new Uint8Array(RTP_HEADER_BYTES + FRAME_SAMPLES).fill(0xd5);
  const [sequence, timestamp] = [index & 0xffff, index * FRAME_SAMPLES];
  writeRtpHeader(packet, { payloadType: 8, hasMarker: false, sequence, timestamp, ssrc: 1 });
  return packet;
}

/** Speech, of which each part is loud enough to be searched for keys. */
function spokenFrames(): readonly Int16Array[] {
  return SPOKEN_PHRASES.flatMap(({ file }) => {
    const pcm = readPhrase(file);
    return Array.from({ length: Math.floor(pcm.length / FRAME_SAMPLES) }, (_, frame) =>
      pcm.slice(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES),
    );
  });
}
