/** Echo gate: finds frames that hold an echo of the agent's own voice, by correlation with the played sound; pure */
import { FRAME_SAMPLES } from '../audio-stream.ts';
import { meanPower } from './level-meter.ts';
import { SlidingWindow } from './sliding-window.ts';

/** Longest delay of an echo: 320 ms. */
const DELAY_SAMPLES_MAX = 16 * FRAME_SAMPLES;

/** Compared at once: 100 ms. */
const WINDOW_SAMPLES = 5 * FRAME_SAMPLES;

const PLAYED_SAMPLES = DELAY_SAMPLES_MAX + WINDOW_SAMPLES + FRAME_SAMPLES;

/** A search looks at every other sample: telephone lines carry little above 2 kHz of a voice. */
const SEARCH_STEP = 2;

/** Correlation from which a delay is taken for an echo's, and from which a known echo is believed to go on. */
const FOUND_MIN = 0.6;
const KNOWN_MIN = 0.5;

/** While the caller speaks, a frame is an echo only if there is hardly anything else in it. */
const KNOWN_MIN_IN_SPEECH = 0.9;

/** Speech begins with three frames in a row that are certainly the caller's, and lasts 300 ms more: quiet consonants are words too. */
const SPEECH_FRAMES_MIN = 3;
const SPEECH_FRAMES = 15;

/** Distance from a known delay in which it is searched again: the clocks of both ends drift apart. */
const DRIFT_SAMPLES = 3;

/** An echo has at most half the power of the played sound. */
const POWER_GAIN_MAX = 0.5;

/** A room smears an echo: for moments it is this much stronger in power than its mean. */
const SMEAR = 3;

/** Share of the newest frame in the running mean of the echo's power. */
const GAIN_LEARNT = 0.1;

/** Frames with the echo, less frames with other sound, from which on the echo is confirmed; and the limit of this count. */
const TRUST_NEEDED = 6;
const TRUST_MAX = 50;

/** Quieter frames pass: no detector takes them for a voice. -56 dBFS. */
const QUIET_POWER = 50 ** 2;

/** Failed searches in a row after which one search a second is enough; in between, received sound is not looked at. */
const FRUITLESS_MAX = 25;
const SEARCH_EVERY_SAMPLES = 3 * FRAME_SAMPLES;
const SEARCH_PAUSE_SAMPLES = 50 * FRAME_SAMPLES;

/** A delay in the played sound, in samples, and its normalised correlation with the received sound: 0 to 1. */
interface Match {
  readonly delay: number;
  readonly correlation: number;
}

/**
 * Takes the frames of both directions as they go by; one instance a session. Both have the same sample clock, so that an echo
 * keeps its distance in samples, whenever its packets arrive. It is a gate and no canceller: a caller who is louder
 * than the echo is heard with it.
 */
export class EchoGate {
  readonly #played = new SlidingWindow(PLAYED_SAMPLES);
  readonly #heard = new SlidingWindow(WINDOW_SAMPLES);
  /** Samples played less samples heard, in all. */
  #lead = 0;
  /** Frames played since the last one with sound. */
  #silentFrames = Number.POSITIVE_INFINITY;
  /** `#lead` less the delay of the known echo; undefined where none is known. */
  #distance: number | undefined;
  #trust = 0;
  /** Mean power of the echo over that of the played sound. */
  #powerGain = 0;
  #fruitless = 0;
  /** Samples to receive before the next search. */
  #searchInSamples = 0;
  /** Whether an echo was ever found: the line may have one for all of the call. */
  #hasEchoed = false;
  /** How much longer the caller is taken to speak. */
  #speechFrames = 0;
  /** Frames in a row that are certainly the caller's. */
  #ownFrames = 0;

  /** Whether received sound may hold an echo now: the line has had one, and sound was played recently. */
  get mayEcho(): boolean {
    return this.#hasEchoed && !this.#isForgotten;
  }

  /** Takes a frame that was sent. */
  play(pcm: Int16Array): void {
    this.#lead += pcm.length;
    const isSilent = isQuiet(pcm);
    if (isSilent && this.#isForgotten) return;
    if (this.#isForgotten) {
      this.#played.clear();
      this.#heard.clear();
    }
    this.#silentFrames = isSilent ? this.#silentFrames + 1 : 0;
    this.#played.push(pcm);
  }

  /** Takes a frame that was received. @returns whether it is nothing but an echo. */
  isEcho(pcm: Int16Array): boolean {
    this.#lead -= pcm.length;
    if (this.#isForgotten || pcm.length > WINDOW_SAMPLES) return false;
    if (this.#distance === undefined && this.#searchInSamples > WINDOW_SAMPLES) {
      // The window is filled with newer sound before the search.
      this.#searchInSamples = Math.max(WINDOW_SAMPLES, this.#searchInSamples - pcm.length);
      return false;
    }
    this.#heard.push(pcm);
    if (isQuiet(pcm)) return false;
    return this.#isKnownEcho(pcm) || this.#findEcho(pcm.length);
  }

  /** Whether all that was played with sound in it is longer ago than an echo takes. */
  get #isForgotten(): boolean {
    return this.#silentFrames > PLAYED_SAMPLES / FRAME_SAMPLES;
  }

  #isKnownEcho(pcm: Int16Array): boolean {
    if (this.#distance === undefined) return false;
    const delay = this.#lead - this.#distance;
    const match = this.#bestMatch(delay - DRIFT_SAMPLES, delay + DRIFT_SAMPLES, 1);
    const isSpeech = this.#speechFrames > 0;
    this.#speechFrames -= isSpeech ? 1 : 0;
    if (match.correlation >= (isSpeech ? KNOWN_MIN_IN_SPEECH : KNOWN_MIN)) {
      this.#trust = Math.min(TRUST_MAX, this.#trust + 1);
      this.#ownFrames = 0;
      this.#learn(match.delay);
      return true;
    }
    if (this.#trust >= TRUST_NEEDED) {
      const isOwn = meanPower(pcm) > this.#powerExpected(delay);
      this.#ownFrames = isOwn ? this.#ownFrames + 1 : 0;
      if (this.#ownFrames >= SPEECH_FRAMES_MIN) this.#speechFrames = SPEECH_FRAMES;
      else if (this.#ownFrames === 0 && !isSpeech) return true;
    }
    this.#trust -= 1;
    if (this.#trust <= 0) this.#distance = undefined;
    return false;
  }

  /** A search costs as much as a hundred other frames. */
  #findEcho(heardSamples: number): boolean {
    this.#searchInSamples -= heardSamples;
    if (this.#searchInSamples > 0) return false;
    const rough = this.#bestMatch(0, DELAY_SAMPLES_MAX, SEARCH_STEP);
    const match = this.#bestMatch(rough.delay - SEARCH_STEP, rough.delay + SEARCH_STEP, 1);
    if (match.correlation < FOUND_MIN) {
      this.#fruitless += 1;
      const isHopeless = this.#fruitless > FRUITLESS_MAX;
      this.#searchInSamples = isHopeless ? SEARCH_PAUSE_SAMPLES : SEARCH_EVERY_SAMPLES;
      return false;
    }
    // A line that has echoed before does so again: its delay has jumped.
    if (this.#trust < TRUST_NEEDED) {
      this.#trust = 1;
      this.#powerGain = 0;
    }
    this.#learn(match.delay);
    return true;
  }

  #learn(delay: number): void {
    this.#hasEchoed = true;
    this.#distance = this.#lead - delay;
    this.#fruitless = 0;
    const first = this.#played.start + PLAYED_SAMPLES - WINDOW_SAMPLES - delay;
    const played = powerOf(this.#played.samples, first, WINDOW_SAMPLES);
    const gain = powerOf(this.#heard.samples, this.#heard.start, WINDOW_SAMPLES) / played;
    const share = this.#powerGain === 0 ? 1 : GAIN_LEARNT;
    this.#powerGain += share * (gain - this.#powerGain);
  }

  /** Power of the strongest echo of the sound that was played around that time. */
  #powerExpected(delay: number): number {
    const end = PLAYED_SAMPLES - delay;
    const powers = [1, 2, 3].map((frames) => {
      const first = this.#played.start + Math.max(0, end - frames * FRAME_SAMPLES);
      return powerOf(this.#played.samples, first, FRAME_SAMPLES);
    });
    return SMEAR * this.#powerGain * Math.max(...powers);
  }

  /**
   * The delay within the bounds at which received and played sound match best. The sums are updated as the window of the
   * played sound moves, without error: samples are whole numbers.
   */
  #bestMatch(from: number, to: number, step: number): Match {
    const played = this.#played.samples;
    const count = WINDOW_SAMPLES / step;
    const heard = sumsOf(this.#heard.samples, this.#heard.start, step);
    const heardPower = heard.squares - heard.sum ** 2 / count;
    let best: Match = { delay: 0, correlation: 0 };
    const last = Math.min(DELAY_SAMPLES_MAX, to);
    let delay = Math.max(0, from);
    let first = this.#played.start + PLAYED_SAMPLES - WINDOW_SAMPLES - delay;
    let { sum, squares } = sumsOf(played, first, step);
    for (; delay <= last; delay += step) {
      const power = squares - sum ** 2 / count;
      // An echo is clearly quieter than the played sound; most delays end here while the caller speaks up.
      if (heardPower > 0 && heardPower <= POWER_GAIN_MAX * power) {
        const product = this.#productAt(first, step) - (sum * heard.sum) / count;
        // Of either sign, as some lines turn the wave over.
        const correlation = Math.abs(product) / Math.sqrt(power * heardPower);
        if (correlation > best.correlation) best = { delay, correlation };
      }
      first -= step;
      const entering = played[first] as number;
      const leaving = played[first + WINDOW_SAMPLES] as number;
      sum += entering - leaving;
      squares += entering ** 2 - leaving ** 2;
    }
    return best;
  }

  /** Sum of products of the received sound with the played sound from sample `first` on. */
  #productAt(first: number, step: number): number {
    const played = this.#played.samples;
    const { samples: heard, start } = this.#heard;
    let product = 0;
    for (let index = 0; index < WINDOW_SAMPLES; index += step) {
      product += (played[first + index] as number) * (heard[start + index] as number);
    }
    return product;
  }
}

/** Whether the mean power is at most `QUIET_POWER`; the first samples of a voice already exceed it. */
function isQuiet(pcm: Int16Array): boolean {
  let restOfPower = QUIET_POWER * pcm.length;
  for (let index = 0; index < pcm.length && restOfPower >= 0; index += 1) {
    restOfPower -= (pcm[index] as number) ** 2;
  }
  return restOfPower >= 0;
}

/** Sums over every `step`th sample of a window. */
function sumsOf(samples: Int16Array, first: number, step: number) {
  let sum = 0;
  let squares = 0;
  for (let index = 0; index < WINDOW_SAMPLES; index += step) {
    const sample = samples[first + index] as number;
    sum += sample;
    squares += sample * sample;
  }
  return { sum, squares };
}

function powerOf(samples: Int16Array, first: number, length: number): number {
  let sum = 0;
  for (let index = first; index < first + length; index += 1)
    sum += (samples[index] as number) ** 2;
  return sum / length;
}
