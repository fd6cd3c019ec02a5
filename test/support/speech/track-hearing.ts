/** A recogniser that knows what is said: it finds the place of a piece of sound in a spoken track, and gives its words. */
import { decodeG711, encodeG711 } from '../../../src/media/dsp/g711.ts';
import type { Recognition } from '../../../src/speech/stt/pool/recognizer.ts';
import type { SpokenTrack } from './monologues.ts';

const FRAME_MS = 10;
const TRACK_SAMPLES_PER_MS = 8;
const HEARD_SAMPLES_PER_MS = 16;

/** So much of a piece's beginning tells its place. */
const TELLING_FRAMES = 100;

/** A piece with a lower correlation at its best position comes from another speaker. */
const LIKENESS_MIN = 0.8;

/** Loudness of each 10 ms: amplitudes, the telephone's hiss left out. */
function envelopeOf(pcm: Int16Array, samplesPerMs: number): Float64Array {
  const frame = FRAME_MS * samplesPerMs;
  return Float64Array.from({ length: Math.floor(pcm.length / frame) }, (_, index) => {
    const samples = pcm.subarray(index * frame, (index + 1) * frame);
    return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / frame);
  });
}

interface Place {
  /** Of the piece's first frame in the track; below 0 where the piece begins before it. */
  readonly frame: number;
  /** 0 to 1. */
  readonly likeness: number;
}

/** The place at which the piece is most like the track. */
function placeOf(piece: Float64Array, track: Float64Array): Place {
  let best: Place = { frame: 0, likeness: 0 };
  for (let first = -piece.length + 1; first < track.length; first += 1) {
    let [product, pieceSquares, trackSquares] = [0, 0, 0];
    for (const [index, heard] of piece.entries()) {
      const said = track[first + index] ?? 0;
      product += heard * said;
      pieceSquares += heard * heard;
      trackSquares += said * said;
    }
    const likeness = product / Math.sqrt(pieceSquares * trackSquares) || 0;
    if (likeness > best.likeness) best = { frame: first, likeness };
  }
  return best;
}

export class TrackHearing {
  readonly #tracks: readonly { readonly track: SpokenTrack; readonly envelope: Float64Array }[];

  constructor(tracks: readonly SpokenTrack[]) {
    this.#tracks = tracks.map((track) => ({
      track,
      envelope: envelopeOf(decodeG711('PCMU', encodeG711('PCMU', track.pcm)), TRACK_SAMPLES_PER_MS),
    }));
  }

  /** @param pcm 16 kHz. Words of which less than half is in it are left out. */
  async hear(pcm: Int16Array, language: string): Promise<Recognition> {
    const beginning = envelopeOf(pcm, HEARD_SAMPLES_PER_MS).subarray(0, TELLING_FRAMES);
    const places = this.#tracks
      .filter(({ track }) => track.language.startsWith(language))
      .map(({ track, envelope }) => ({ track, ...placeOf(beginning, envelope) }));
    const best = places.reduce((one, other) => (other.likeness > one.likeness ? other : one));
    const audioMs = pcm.length / HEARD_SAMPLES_PER_MS;
    const fromMs = best.frame * FRAME_MS;
    const isKnown = best.likeness >= LIKENESS_MIN;
    const words = best.track.words.filter(({ startMs, endMs }) => {
      const middleMs = (startMs + endMs) / 2;
      return isKnown && middleMs >= fromMs && middleMs < fromMs + audioMs;
    });
    return {
      text: words.map(({ text }) => text).join(' '),
      words: words.map(({ text, startMs, endMs }) => ({
        text,
        startMs: Math.max(0, startMs - fromMs),
        endMs: Math.max(0, endMs - fromMs),
        confidence: 0.95,
      })),
      confidence: 0.95,
      language,
      noSpeechProbability: words.length === 0 ? 1 : 0.01,
      audioMs,
    };
  }
}
