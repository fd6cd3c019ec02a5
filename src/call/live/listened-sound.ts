/** What those hear who listen in on one call: both sides laid beside each other, read from shared memory piece by piece. */
import { LIVE_SOUND_SHAPE } from '../../domain/call/live-sound.ts';
import type { SoundTap } from '../../media/audio-stream.ts';
import type { ReceiveRing } from '../../media/buffers/receive-ring.ts';
import { StereoTrack, type TrackSide } from '../../media/recording/stereo-track.ts';

/** Time that late packets, and silence in their place, have to arrive: the sound is heard so much later. */
const LAG_MS = 120;

/** After a longer stall of ours nobody wants to hear what was missed. */
const STALL_MS_MAX = 2000;

const FRAMES_PER_MS = LIVE_SOUND_SHAPE.rateHz / 1000;

interface Side {
  readonly side: TrackSide;
  readonly ring: ReceiveRing;
  /** Position up to which it was read. */
  position: number;
}

/** One for all who listen to a call. The media worker only copies what it plays; all else is done here. */
export class ListenedSound {
  readonly #tap: SoundTap;
  readonly #sides: readonly Side[];
  #track: StereoTrack;
  #startedAtMs: number;
  #takenFrames = 0;

  constructor(line: { readonly heard: ReceiveRing; readonly tap: SoundTap }, nowMs: number) {
    this.#tap = line.tap;
    const [caller, agent] = [line.heard, line.tap.open()];
    this.#sides = [
      { side: 'caller', ring: caller, position: caller.end },
      { side: 'agent', ring: agent, position: agent.end },
    ];
    this.#track = new StereoTrack({ startedAtMs: nowMs });
    this.#startedAtMs = nowMs;
  }

  /** What has become due since the last time, in the shape of `LIVE_SOUND_SHAPE`; silence where a side has none. */
  take(nowMs: number): Buffer {
    if (this.#framesDue(nowMs) > STALL_MS_MAX * FRAMES_PER_MS) this.#restart(nowMs);
    for (const side of this.#sides) this.#read(side);
    const frames = Math.max(0, this.#framesDue(nowMs));
    this.#takenFrames += frames;
    return this.#track.take(frames);
  }

  /** Safe to call twice. */
  close(): void {
    this.#tap.close();
  }

  #framesDue(nowMs: number): number {
    const dueMs = Math.floor(nowMs - LAG_MS - this.#startedAtMs);
    return dueMs * FRAMES_PER_MS - this.#takenFrames;
  }

  #read(from: Side): void {
    from.position = Math.max(from.position, from.ring.oldest);
    const pcm = from.ring.read(from.position);
    from.position += pcm.length;
    if (pcm.length > 0) this.#track.add(from.side, pcm, from.ring.endAtMs);
  }

  #restart(nowMs: number): void {
    for (const side of this.#sides) side.position = side.ring.end;
    this.#startedAtMs = nowMs - LAG_MS;
    this.#takenFrames = 0;
    this.#track = new StereoTrack({ startedAtMs: this.#startedAtMs });
  }
}
