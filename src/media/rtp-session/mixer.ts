/** Mixes two sessions and the agent between them, so that each hears the sum of the other two; pure */
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** So much waits before a source is heard, beside the packet in hand: what comes up to 20 ms late leaves no hole. */
const HEAD_START_SAMPLES = FRAME_MS * SAMPLES_PER_MS;

/** Packets are seldom longer; a longer stretch is silence that was filled in. */
const PACKET_SAMPLES_MAX = 60 * SAMPLES_PER_MS;

/** What a far end hears may come so much later than it need; then the oldest is left out. */
const LATE_MS_MAX = 60;

/** The agent's ear takes from the other session when its own has a packet, which may be later still, and waits for nothing. */
const EAR_LATE_MS_MAX = 160;

/** More than a queue ever holds: head start, packet and the greatest lateness. */
const CAPACITY_SAMPLES = 2_048;

/** The mix in hand. All sessions share it, so that it stays in the processor's nearest memory. */
const usualMix = new Int16Array(FRAME_SAMPLES);

/** Sound of one source on its way to one listener: 8 kHz, mono, in stretches of any length. */
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

  /** How much waits, in samples. */
  get length(): number {
    return this.#length;
  }

  /** Adds to the end. Where too much waits by that, the oldest is left out, so that nobody is heard late for long. */
  push(pcm: Int16Array): void {
    const packet = Math.min(PACKET_SAMPLES_MAX, Math.max(FRAME_SAMPLES, pcm.length));
    this.#headStart = HEAD_START_SAMPLES + packet;
    const isFull = this.#length + pcm.length > this.#headStart + this.#lateSamplesMax;
    const kept = isFull ? Math.max(0, this.#headStart - pcm.length) : this.#length;
    this.#skip(this.#length - kept);
    this.#write(isFull ? pcm.subarray(-this.#headStart) : pcm);
  }

  /**
   * Adds what is due to a listener's sound, clipped where it is too loud, and takes it out. Nothing is due before the
   * head start is there, at the beginning and after each hole.
   *
   * @returns whether there was anything.
   */
  mixInto(pcm: Int16Array): boolean {
    if (!this.#isFlowing && this.#length < this.#headStart) return false;
    const due = Math.min(pcm.length, this.#length);
    for (let index = 0; index < due; index += 1) {
      const sample = this.#samples[(this.#start + index) % CAPACITY_SAMPLES] ?? 0;
      pcm[index] = clip((pcm[index] ?? 0) + sample);
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
 * One of two sessions that are mixed; the agent may speak on either. Driven by what the session hears and by what it is about
 * to send, each in its own time.
 */
export class Mixer {
  /** What the other session's far end says, and what the agent says there: for our far end. */
  readonly #voiceThere = new SoundQueue({ lateMsMax: LATE_MS_MAX });
  readonly #agentThere = new SoundQueue({ lateMsMax: LATE_MS_MAX });
  /** What the other session's far end says, for the agent that listens here. */
  readonly #forEar = new SoundQueue({ lateMsMax: EAR_LATE_MS_MAX });
  readonly #other: Mixer;

  private constructor(other?: Mixer) {
    this.#other = other ?? new Mixer(this);
  }

  /** Two that hear each other. */
  static pair(): readonly [Mixer, Mixer] {
    const one = new Mixer();
    return [one, one.#other];
  }

  /** Takes what our far end says. @returns what the agent hears here; the memory is used again for the next mix. */
  hear(pcm: Int16Array): Int16Array {
    this.#other.#voiceThere.push(pcm);
    this.#other.#forEar.push(pcm);
    const heard = copied(pcm);
    return this.#forEar.mixInto(heard) ? heard : pcm;
  }

  /** Takes what the agent says here, or silence. @returns what our far end is sent; likewise. */
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

function clip(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, sample));
}
