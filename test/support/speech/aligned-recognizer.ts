/**
 * A recognition server with OpenAI's interface that knows what is said beforehand: it finds the place of the sound that it is
 * sent in what the caller says, and answers with the words of that stretch. For languages that our tiny recogniser does not
 * know: what is sent, and when, is the real detector's and the real turn machine's doing; only the words are not recognised.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a caller says, from beginning to end. */
export interface SpokenTrack {
  /** ISO 639-1. */
  readonly language: string;
  /** 8 kHz, mono. */
  readonly pcm: Int16Array;
  readonly words: readonly {
    /** With the marks that follow it. */
    readonly text: string;
    /** From the beginning of the track. */
    readonly startMs: number;
    readonly endMs: number;
  }[];
}

export interface AlignedRecognizer {
  readonly address: string;
  /** Requests with sound that was in none of the tracks. */
  readonly strangers: () => number;
  stop(): void;
}

const FRAME_MS = 20;
const WAV_HEADER_BYTES = 44;

/** Silence on the line before and after what is said. */
const MARGIN_FRAMES = 100;

/** The same sound correlates by more, after G.711 and resampling. */
const SAME_MIN = 0.9;

/** Starts one that knows these tracks. */
export async function startAlignedRecognizer(
  tracks: readonly SpokenTrack[],
): Promise<AlignedRecognizer> {
  const known = tracks.map((track) => ({
    track,
    envelope: withMargins(envelopeOf(track.pcm, 8)),
  }));
  let strangers = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pcm, language } = await askedOf(request);
    const envelope = envelopeOf(pcm, 16);
    const isSilent = envelope.every((level) => level < 30);
    const ofLanguage = known.filter(({ track }) => track.language === language);
    const text = isSilent ? '' : textOf(envelope, ofLanguage);
    if (text === undefined) strangers += 1;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ text: text ?? '' }));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    strangers: () => strangers,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Asked {
  /** 16 kHz, mono. */
  readonly pcm: Int16Array;
  readonly language: string;
}

async function askedOf(request: IncomingMessage): Promise<Asked> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(new Uint8Array(Buffer.concat(pieces)), { headers }).formData();
  const wav = await (form.get('file') as File).arrayBuffer();
  const pcm = new Int16Array(wav.slice(WAV_HEADER_BYTES));
  return { pcm, language: String(form.get('language')) };
}

/** Root mean square of each 20 ms. */
function envelopeOf(pcm: Int16Array, samplesPerMs: number): Float64Array {
  const size = FRAME_MS * samplesPerMs;
  return Float64Array.from({ length: Math.floor(pcm.length / size) }, (_, frame) => {
    const samples = pcm.subarray(frame * size, (frame + 1) * size);
    return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / size);
  });
}

function withMargins(envelope: Float64Array): Float64Array {
  const whole = new Float64Array(envelope.length + 2 * MARGIN_FRAMES);
  whole.set(envelope, MARGIN_FRAMES);
  return whole;
}

interface KnownTrack {
  readonly track: SpokenTrack;
  readonly envelope: Float64Array;
}

/** The words of the stretch that sounds most like it; undefined where none does. */
function textOf(heard: Float64Array, known: readonly KnownTrack[]): string | undefined {
  let best = { likeness: SAME_MIN, text: undefined as string | undefined };
  for (const { track, envelope } of known) {
    const [likeness, frame] = placeOf(heard, envelope);
    if (likeness <= best.likeness) continue;
    const fromMs = (frame - MARGIN_FRAMES) * FRAME_MS;
    const toMs = fromMs + heard.length * FRAME_MS;
    const words = track.words.filter(
      ({ startMs, endMs }) => startMs + endMs > 2 * fromMs && startMs + endMs < 2 * toMs,
    );
    best = { likeness, text: words.map(({ text }) => text).join(' ') };
  }
  return best.text;
}

/** How alike the likeliest stretch is, from -1 to 1, and where it begins. */
function placeOf(heard: Float64Array, envelope: Float64Array): readonly [number, number] {
  const { length } = heard;
  const mean = sumOf(heard) / length;
  const centred = heard.map((level) => level - mean);
  const square = sumOf(centred.map((level) => level * level));
  let place: readonly [number, number] = [-1, 0];
  for (let frame = 0; frame + length <= envelope.length; frame += 1) {
    let [product, sum, squares] = [0, 0, 0];
    for (let index = 0; index < length; index += 1) {
      const level = envelope[frame + index] ?? 0;
      product += level * (centred[index] ?? 0);
      sum += level;
      squares += level * level;
    }
    const likeness = product / Math.sqrt(square * (squares - (sum * sum) / length) || 1);
    if (likeness > place[0]) place = [likeness, frame];
  }
  return place;
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
