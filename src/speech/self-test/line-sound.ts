/** What a telephone line makes of a voice, with the talk of other people behind it; pure */
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';
import { decodeG711, encodeG711 } from '../../media/dsp/g711.ts';

/** Between the power of the voice and that of the talk behind it. */
export const BABBLE_SNR_DB = 10;

/** As many as make single words unintelligible. */
const TALKERS = 6;

const BABBLE_S = 8;

/** Silence before and after an utterance, as a call's listener keeps it. */
const EDGE_SAMPLES = (LINE_RATE_HZ * 300) / 1000;

/** Below this share of the loudest sample an utterance is silent. */
const SILENCE_SHARE = 0.02;

/** Adds silence at both ends, the babble that is given, and G.711. PCM is 8 kHz, mono, signed 16-bit. */
export function onTheLine(pcm: Int16Array, babble?: Float32Array): Int16Array {
  const sound = new Int16Array(pcm.length + 2 * EDGE_SAMPLES);
  sound.set(pcm, EDGE_SAMPLES);
  return decodeG711(
    'PCMU',
    encodeG711('PCMU', babble === undefined ? sound : mixed(sound, babble)),
  );
}

/** Several utterances at once, over and over, at a level of 1 (RMS); undefined where there are too few. */
export function babbleOf(utterances: readonly Int16Array[]): Float32Array | undefined {
  const talk = utterances.filter((pcm) => pcm.length > LINE_RATE_HZ / 2);
  if (talk.length < TALKERS) return undefined;
  const sum = new Float32Array(BABBLE_S * LINE_RATE_HZ);
  for (let talker = 0; talker < TALKERS; talker += 1) addTalker(sum, talk, talker);
  const level = rms(sum);
  return sum.map((sample) => sample / level);
}

/** Each talker says every sixth utterance, as loud as the others, and begins in the middle of the first. */
function addTalker(sum: Float32Array, talk: readonly Int16Array[], talker: number): void {
  let at = -Math.round(((talk[talker]?.length ?? 0) * (talker + 1)) / (TALKERS + 1));
  for (let turn = talker; at < sum.length; turn += TALKERS) {
    const pcm = talk[turn % talk.length];
    if (pcm === undefined) return;
    const level = voicedRms(pcm);
    for (const [index, sample] of pcm.entries()) {
      const place = at + index;
      if (place >= 0 && place < sum.length) sum[place] = (sum[place] ?? 0) + sample / level;
    }
    at += pcm.length;
  }
}

function mixed(sound: Int16Array, babble: Float32Array): Int16Array {
  const level = voicedRms(sound) * 10 ** (-BABBLE_SNR_DB / 20);
  return sound.map((sample, at) => {
    const noisy = sample + level * (babble[at % babble.length] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(noisy)));
  });
}

/** Pauses do not count. */
function voicedRms(pcm: Int16Array): number {
  const peak = pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1);
  return rms(pcm.filter((sample) => Math.abs(sample) > peak * SILENCE_SHARE));
}

function rms(samples: Int16Array | Float32Array): number {
  let power = 0;
  for (const sample of samples) power += sample * sample;
  return Math.sqrt(power / Math.max(1, samples.length)) || 1;
}
