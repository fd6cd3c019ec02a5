/** Conference mixer: two sessions and the agent, where each hears the sum of the other two; pure */
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** Jitter buffer of a source, besides the current packet: sound that is up to 20 ms late leaves no gap. */
const HEAD_START_SAMPLES = FRAME_MS * SAMPLES_PER_MS;

/** Longest usual packet; longer sound is inserted silence. */
const PACKET_SAMPLES_MAX = 60 * SAMPLES_PER_MS;

/** Most delay of a far end's sound; the oldest is dropped beyond it. */
const LATE_MS_MAX = 60;

/** Most delay of the sound for the agent, which is mixed as packets of the agent's caller arrive. */
const AGENT_LATE_MS_MAX = 160;

/** More than head start, packet and greatest delay together. */
const CAPACITY_SAMPLES = 2_048;

/** Mix under way, shared by all sessions of the thread. */
const usualMix = new Int16Array(FRAME_SAMPLES);

/** Queue of one source's sound for one listener: 8 kHz, mono, any length. */
export class SoundQueue {
  readonly #samples = new Int16Array(CAPACITY_SAMPLES);
  readonly #lateSamplesMax: number;
  #start = 0;
  #length = 0;
  #headStart = HEAD_START_SAMPLES + FRAME_SAMPLES;
  #isFlowing = false;

  constructor({ lateMsMax }: { readonly lateMsMax: number }) {
    this.#lateSamplesMax = lateMsMax * SAMPLES_PER_MS;
  }

  /** Waiting samples. */
  get length(): number {
    return this.#length;
  }

  /** Adds sound; drops the oldest where the delay grows too large. */
  push(pcm: Int16Array): void {
    const packet = Math.min(PACKET_SAMPLES_MAX, Math.max(FRAME_SAMPLES, pcm.length));
    this.#headStart = HEAD_START_SAMPLES + packet;
    const isFull = this.#length + pcm.length > this.#headStart + this.#lateSamplesMax;
    const kept = isFull ? Math.max(0, this.#headStart - pcm.length) : this.#length;
    this.#skip(this.#length - kept);
    this.#write(isFull ? pcm.subarray(-this.#headStart) : pcm);
  }

  /**
   * Moves due samples into a listener's sound, clipped at full scale. Nothing is due before the head start has arrived, at the
   * beginning and after each gap.
   *
   * @returns whether any sound was due.
   */
  mixInto(pcm: Int16Array): boolean {
    if (!this.#isFlowing && this.#length < this.#headStart) return false;
    const due = Math.min(pcm.length, this.#length);
    for (let index = 0; index < due; index += 1) {
      const sample = this.#samples[(this.#start + index) % CAPACITY_SAMPLES] ?? 0;
      pcm[index] = Math.max(-32_768, Math.min(32_767, (pcm[index] ?? 0) + sample));
    }
    this.#skip(due);
    this.#isFlowing = due === pcm.length;
    return due > 0;
  }

  #skip(samples: number): void {
    this.#start = (this.#start + samples) % CAPACITY_SAMPLES;
    this.#length -= samples;
  }

  #write(pcm: Int16Array): void {
    for (let index = 0; index < pcm.length; index += 1) {
      const at = (this.#start + this.#length + index) % CAPACITY_SAMPLES;
      this.#samples[at] = pcm[index] ?? 0;
    }
    this.#length += pcm.length;
  }
}

/**
 * One side of a mix of two sessions; the agent may speak on either. Driven by received sound and by sound to send, each at
 * its own time.
 */
export class Mixer {
  /** The other far end's sound, and the agent's there, for our far end. */
  readonly #voiceThere = new SoundQueue({ lateMsMax: LATE_MS_MAX });
  readonly #agentThere = new SoundQueue({ lateMsMax: LATE_MS_MAX });
  /** The other far end's sound, for the agent here. */
  readonly #forAgent = new SoundQueue({ lateMsMax: AGENT_LATE_MS_MAX });
  readonly #other: Mixer;

  private constructor(other?: Mixer) {
    this.#other = other ?? new Mixer(this);
  }

  /** Creates both sides of a mix. */
  static pair(): readonly [Mixer, Mixer] {
    const one = new Mixer();
    return [one, one.#other];
  }

  /** Takes our far end's sound. @returns the sound for the agent here, in memory that is reused for the next mix. */
  hear(pcm: Int16Array): Int16Array {
    this.#other.#voiceThere.push(pcm);
    this.#other.#forAgent.push(pcm);
    const heard = copied(pcm);
    return this.#forAgent.mixInto(heard) ? heard : pcm;
  }

  /** Takes the agent's sound here, or silence. @returns the sound for our far end; likewise. */
  say(pcm: Int16Array): Int16Array {
    this.#other.#agentThere.push(pcm);
    const said = copied(pcm);
    const hasVoice = this.#voiceThere.mixInto(said);
    const hasAgent = this.#agentThere.mixInto(said);
    return hasVoice || hasAgent ? said : pcm;
  }
}

function copied(pcm: Int16Array): Int16Array {
  if (pcm.length !== FRAME_SAMPLES) return pcm.slice();
  usualMix.set(pcm);
  return usualMix;
}
