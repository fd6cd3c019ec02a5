/** Recorded people who speak with a television in the room, through the voice detector that comes with Offhook. */
import { afterAll, expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../../src/media/dsp/g711.ts';
import { openVoiceDetector } from '../../../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../../../src/speech/vad/silero/silero-engine.ts';
import { VadTrack } from '../../../src/speech/vad/vad-track.ts';
import { describeWithout } from '../../support/server/programs.ts';
import {
  longPromptsOf,
  missingRecordings,
  promptOf,
  RECORDED_PEOPLE,
  type RecordedPerson,
} from '../../support/speech/callees/recorded-people.ts';

const SAMPLES_PER_MS = 8;

/** Levels in dB below full scale. */
const CALLER_DBFS = -23;
const LINE_NOISE_DBFS = -62;

/** The caller listens after each sentence. */
const LISTENS_MS = 6000;

const SENTENCES = [
  'vm-theperson',
  'dir-welcome',
  'demo-abouttotry',
  'priv-recordintro',
  'vm-intro',
  'demo-echotest',
  'vm-goodbye',
  'conf-onlyperson',
] as const;

/** A pause that ends a turn. */
const PAUSE_MS = 900;

/** A voice of this length interrupts the agent, whatever is said. */
const LONG_MS = 800;

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Two other people in turn, with hardly a pause. */
function television(viewer: RecordedPerson, belowDb: number, samples: number): Float64Array {
  const sound = new Float64Array(samples);
  const speakers = RECORDED_PEOPLE.filter((person) => person !== viewer);
  const pieces = speakers.flatMap((person) => [
    ...longPromptsOf(person, { count: 4, secondsMax: 15 }).keys(),
  ]);
  let at = 0;
  for (let turn = 0; at < samples; turn += 1) {
    const piece = pieces[(3 * turn) % pieces.length] ?? '';
    const [person = '', file = ''] = piece.split('/');
    const name = file.replace('.wav', '');
    const pcm = promptOf(person as RecordedPerson, name, CALLER_DBFS - belowDb);
    sound.set(pcm.subarray(0, samples - at), at);
    at += pcm.length + 300 * SAMPLES_PER_MS;
  }
  return sound;
}

/** A call: all sentences, with the television from before the first one on. */
function callOf(person: RecordedPerson, belowDb: number | null) {
  const spoken = SENTENCES.map((name) => promptOf(person, name, CALLER_DBFS));
  const sentences: Stretch[] = [];
  let endMs = 2000;
  for (const { length } of spoken) {
    const toMs = endMs + Math.round(length / SAMPLES_PER_MS);
    sentences.push({ fromMs: endMs, toMs });
    endMs = toMs + LISTENS_MS;
  }
  const samples = endMs * SAMPLES_PER_MS;
  const room = belowDb === null ? new Float64Array(samples) : television(person, belowDb, samples);
  for (const [index, pcm] of spoken.entries()) {
    const start = (sentences[index]?.fromMs ?? 0) * SAMPLES_PER_MS;
    for (const [at, sample] of pcm.entries()) room[start + at] = (room[start + at] ?? 0) + sample;
  }
  const amplitude = 32_768 * 10 ** (LINE_NOISE_DBFS / 20);
  const line = Int16Array.from(room, (sample, at) => sample + amplitude * Math.sin(at * at));
  return { sentences, line: decodeG711('PCMU', encodeG711('PCMU', line)) };
}

/** Stretches of voice without a pause that ends a turn. */
function turnsOf(voices: readonly Stretch[]): readonly Stretch[] {
  const turns: Stretch[] = [];
  for (const voice of voices) {
    const last = turns.at(-1);
    if (last === undefined || voice.fromMs - last.toMs >= PAUSE_MS) turns.push(voice);
    else turns[turns.length - 1] = { fromMs: last.fromMs, toMs: voice.toMs };
  }
  return turns;
}

function overlapMs(voices: readonly Stretch[], { fromMs, toMs }: Stretch): number {
  return voices.reduce((sum, voice) => {
    const overlap = Math.min(toMs, voice.toMs) - Math.max(fromMs, voice.fromMs);
    return sum + Math.max(0, overlap);
  }, 0);
}

describeWithout(missingRecordings, 'a television in the room', () => {
  const opened = openVoiceDetector(bundledSilero());

  afterAll(async () => (await opened).close());

  async function voicesOn(line: Int16Array): Promise<readonly Stretch[]> {
    const detector = await opened;
    const track = new VadTrack(detector);
    track.push(line);
    const voices: Stretch[] = [];
    let [position, fromMs] = [0, 0];
    for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
      const [score = 0] = await detector.score([window]);
      position += 256;
      const event = track.score(score, { position, atMs: position / SAMPLES_PER_MS });
      if (event?.kind === 'voice-started') fromMs = event.atMs;
      if (event?.kind === 'voice-stopped') voices.push({ fromMs, toMs: event.lastVoicedAtMs });
    }
    return voices;
  }

  const rooms = RECORDED_PEOPLE.flatMap((person) => [
    { person, belowDb: 18 },
    { person, belowDb: 24 },
  ]);

  test.each(rooms)('$person is heard, and their turns end, with one $belowDb dB below', async ({
    person,
    belowDb,
  }) => {
    const quiet = callOf(person, null);
    const { sentences, line } = callOf(person, belowDb);
    const alone = await voicesOn(quiet.line);
    const voices = await voicesOn(line);
    // The level of the caller is known from the second sentence on.
    const known = sentences.slice(1);

    const heardMs = known.reduce((sum, sentence) => sum + overlapMs(voices, sentence), 0);
    const spokenMs = known.reduce((sum, sentence) => sum + overlapMs(alone, sentence), 0);
    const turns = turnsOf(voices);
    const ended = known.filter(({ toMs }) =>
      turns.some((turn) => turn.toMs > toMs - 700 && turn.toMs < toMs + 1500),
    );
    const long = known.filter(({ toMs }) =>
      voices.some(
        (voice) =>
          voice.fromMs > toMs &&
          voice.fromMs < toMs + LISTENS_MS - LONG_MS &&
          voice.toMs - voice.fromMs >= LONG_MS,
      ),
    );

    expect(heardMs / spokenMs).toBeGreaterThan(0.8);
    expect(ended.length).toBeGreaterThanOrEqual(known.length - 1);
    expect(long.length).toBeLessThanOrEqual(1);
  });
});
