/** What the carrier's contract needs: a telephone plane to test, and small tools to talk to it. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { HeardPacket, PhoneLine } from '../../examples/phone/phone-line.ts';
import type { AudioEvent, AudioStream } from '../../src/media/audio-stream.ts';
import type { Carrier, IncomingCall } from '../../src/telephony/carrier.ts';
import { parseTrunks, type Trunk } from '../../src/telephony/trunks/trunks.ts';

/** A carrier that is started, and where it takes SIP. */
export interface Plane {
  readonly carrier: Carrier;
  readonly rings: Rings;
  /** Address and port, such as `127.0.0.1:5060`; the same for UDP and TCP. */
  readonly hostPort: string;
  stop(): Promise<void>;
}

export type StartPlane = (trunks: readonly Trunk[]) => Promise<Plane>;

/** Our number in all these tests, and the number of the other party. */
export const OURS = '+390612345678';
export const THEIRS = '+15550100001';

/** A trunk to a peer on this machine. */
export function trunkTo(hostPort: string, fields: object = {}): Trunk {
  const settings = {
    name: 'peer',
    proxy: hostPort,
    numbers: [OURS],
    allowedSources: ['127.0.0.1'],
    ...fields,
  };
  const [trunk] = parseTrunks(JSON.stringify([settings]));
  if (trunk === undefined) throw new Error('Cannot set up: no trunk');
  return trunk;
}

/** Queue of incoming calls, in their order. */
export class Rings {
  readonly #calls = new PassThrough({ objectMode: true });
  count = 0;

  readonly take = (call: IncomingCall): void => {
    this.count += 1;
    this.#calls.write(call);
  };

  async next(): Promise<IncomingCall> {
    for (;;) {
      const call: IncomingCall | null = this.#calls.read();
      if (call !== null) return call;
      await once(this.#calls, 'readable');
    }
  }
}

/** A sine tone at half of full scale, 8 kHz. */
export function tone(hz: number, durationMs: number): Int16Array {
  return Int16Array.from({ length: durationMs * 8 }, (_, index) =>
    Math.round(16_000 * Math.sin((2 * Math.PI * hz * index) / 8000)),
  );
}

/** Resolves at the first packet that `isWanted`. */
export function packetOf(
  line: PhoneLine,
  isWanted: (packet: HeardPacket) => boolean = () => true,
): Promise<HeardPacket> {
  return new Promise((resolve) => {
    line.onPacket((packet) => {
      if (isWanted(packet)) resolve(packet);
    });
  });
}

/** Resolves at the first event of that kind. */
export function eventOf<K extends AudioEvent['kind']>(
  audio: AudioStream,
  kind: K,
): Promise<Extract<AudioEvent, { kind: K }>> {
  return new Promise((resolve) => {
    audio.onEvent((event) => {
      if (event.kind === kind) resolve(event as Extract<AudioEvent, { kind: K }>);
    });
  });
}

/** Has the agent say a tone. */
export function say(audio: AudioStream, hz = 440, durationMs = 200): void {
  audio.begin(1);
  audio.say(1, tone(hz, durationMs));
  audio.finish(1);
}
