/** Runs that compare calls with G.722 and Opus: against our PCMU, and against rtpengine that transcodes them to PCMU. */
import { createEncoder } from 'libopus-wasm';
import { G722Encoder } from '../../src/media/codecs/g722.ts';
import { CODECS } from '../../src/rtp/codecs.ts';
import type { Command } from './line-process.ts';
import { isInstalled } from './native-tool.ts';
import { engineCommand, nodeTool, type runRtp } from './rtp-run.ts';

type Run = Omit<Parameters<typeof runRtp>[0], 'caller' | 'seconds'> & {
  /** The bench's caller when not given. */
  readonly caller?: Command;
};

/** Calls with a codec, SRTP or keys that are searched in the sound, and what they are compared with. */
export interface CodecRun {
  readonly codec: 'G722' | 'opus' | 'PCMU, keys in the sound' | 'PCMU, SRTP';
  readonly peer: string;
  readonly ours: Run;
  readonly theirs: Run;
}

/** Prints which peer is missing. @param calls with the codec, on both sides. */
export async function codecRuns(calls: number): Promise<readonly CodecRun[]> {
  const hasRtpengine = isInstalled('rtpengine');
  if (!hasRtpengine) {
    console.log('peer missing: rtpengine that transcodes to PCMU (Debian: rtpengine-daemon)');
  }
  const sounds = { G722: g722Sound(), opus: await opusSound() };
  const plain = { calls, server: engineCommand(), serverArgs: ['plain'] };
  const tones: CodecRun = {
    ...{ codec: 'PCMU, keys in the sound', peer: 'ours with telephone-event' },
    ...{ ours: { ...plain, serverArgs: ['plain', 'tones'] }, theirs: plain },
  };
  const codecs = (['G722', 'opus'] as const).flatMap((codec): readonly CodecRun[] => {
    const callerArgs = soundArgs(codec, sounds[codec]);
    const ours = { calls, server: engineCommand(), serverArgs: ['plain', codec], callerArgs };
    const transcoding = {
      // A call of two legs, the second of them PCMU: two packets are decoded, and two encoded, where ours has one of each.
      ...{ calls: 2 * calls, counted: calls, server: nodeTool('rtp-rtpengine'), isPidTold: true },
      ...{ serverArgs: [codec], callerArgs: [...callerArgs, 'mixed'] },
    };
    return [
      { codec, peer: 'ours with PCMU', ours, theirs: plain },
      ...(hasRtpengine ? [{ codec, peer: 'rtpengine, to PCMU', ours, theirs: transcoding }] : []),
    ];
  });
  return [tones, ...codecs];
}

function soundArgs(codec: 'G722' | 'opus', payload: Uint8Array): readonly string[] {
  const { payloadType, clockRateHz } = CODECS[codec];
  return [String(payloadType), String(clockRateHz), Buffer.from(payload).toString('hex')];
}

/** 20 ms of a tone, which is heard as a voice. */
function toneOf(samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, at) => 9000 * Math.sin((at * 60) / samples));
}

function g722Sound(): Uint8Array {
  const payload = new Uint8Array(160);
  new G722Encoder().encodeInto(toneOf(160), payload, 0);
  return payload;
}

/** As a browser sends it. */
async function opusSound(): Promise<Uint8Array> {
  const encoder = await createEncoder({ sampleRate: 48_000, channels: 1, bitrate: 24_000 });
  const pcm = toneOf(960);
  const [, , , payload = new Uint8Array()] = [1, 2, 3, 4].map(() => encoder.encode(pcm));
  encoder.free();
  return payload;
}
