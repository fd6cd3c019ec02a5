/** Recorded people on bad lines: RTP through the media session, then the voice detector that comes with Offhook. */
import { afterAll, expect, test } from 'vitest';
import { openVoiceDetector } from '../../../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../../../src/speech/vad/silero/silero-engine.ts';
import { VadTrack } from '../../../src/speech/vad/vad-track.ts';
import { TestSession } from '../../media/test-session.ts';
import { describeWithout } from '../../support/server/programs.ts';
import {
  missingRecordings,
  promptOf,
  RECORDED_PEOPLE,
  type RecordedPerson,
} from '../../support/speech/callees/recorded-people.ts';
import { randomFrom } from '../../support/speech/sound-shapes.ts';

const SAMPLES_PER_MS = 8;
const FRAME_MS = 20;
const FRAME_SAMPLES = FRAME_MS * SAMPLES_PER_MS;

/** Level of a caller, in dB below full scale. */
const CALLER_DBFS = -23;

const BEFORE_MS = 1000;
const PAUSE_MS = 2000;

const SENTENCES = [
  'hello-world',
  'dir-welcome',
  'vm-goodbye',
  'demo-abouttotry',
  'vm-theperson',
  'vm-isunavail',
] as const;

/** What a line does to the sound, and which frames it carries: all unless told. */
interface Line {
  readonly gainDb?: number;
  /** Added to each sample, by its time in seconds. */
  readonly noise?: (seconds: number) => number;
  /** The far end sends nothing in its pauses. */
  readonly isSilentInPauses?: boolean;
  /** Share of the packets that is lost, in bursts of three in the mean. */
  readonly lostShare?: number;
}

const LINES: Readonly<Record<string, Line>> = {
  'a tenth lost in bursts': { lostShare: 0.1 },
  'nothing sent in pauses': { isSilentInPauses: true },
  '20 dB too quiet': { gainDb: -20 },
  '12 dB too loud, clipped': { gainDb: 12 },
  'hum 7 dB below the voice': { noise: (seconds) => 1465 * Math.sin(2 * Math.PI * 50 * seconds) },
  'a DC offset of 3 %': { noise: () => 1000 },
};

const BURST_PACKETS = 3;

/** Sentences with pauses between them, and where they are, in samples. */
function spokenBy(person: RecordedPerson, { gainDb = 0, noise = () => 0 }: Line) {
  const spoken = SENTENCES.map((name) => promptOf(person, name, CALLER_DBFS + gainDb));
  const sentences: { readonly from: number; readonly to: number }[] = [];
  let end = BEFORE_MS * SAMPLES_PER_MS;
  for (const { length } of spoken) {
    sentences.push({ from: end, to: end + length });
    end += length + PAUSE_MS * SAMPLES_PER_MS;
  }
  const pcm = new Int16Array(end);
  for (const [index, { from }] of sentences.entries()) pcm.set(spoken[index] ?? [], from);
  const clipped = (sample: number) => Math.max(-32_768, Math.min(32_767, sample));
  return { sentences, pcm: pcm.map((sample, at) => clipped(sample + noise(at / 8000))) };
}

/** Sends the sound over the line. @returns what the session hears, and when the sentences are over in it. */
function heardOver(line: Line, person: RecordedPerson) {
  const { sentences, pcm } = spokenBy(person, line);
  const session = new TestSession();
  session.setRemote();
  const random = randomFrom(1);
  const { lostShare = 0 } = line;
  const burstBegins = lostShare / BURST_PACKETS / (1 - lostShare);
  let isLosing = false;
  const parts: Int16Array[] = [];
  let position = 0;
  for (let at = 0; at + FRAME_SAMPLES <= pcm.length; at += FRAME_SAMPLES) {
    const isSpoken = sentences.some(({ from, to }) => at + FRAME_SAMPLES > from && at < to);
    isLosing = random() < (isLosing ? 1 - 1 / BURST_PACKETS : burstBegins);
    if (line.isSilentInPauses === true && !isSpoken) session.pauseFor(FRAME_MS);
    else if (isLosing) session.lose();
    else session.speak(pcm.subarray(at, at + FRAME_SAMPLES));
    const part = session.heard.read(position);
    position += part.length;
    parts.push(part);
  }
  return { sentences, parts };
}

describeWithout(missingRecordings, 'recorded people on bad lines', () => {
  const opened = openVoiceDetector(bundledSilero());

  afterAll(async () => (await opened).close());

  /** Places in the sound, in samples, at which the detector finds a voice. */
  async function voicesIn(parts: readonly Int16Array[]): Promise<readonly number[]> {
    const detector = await opened;
    const track = new VadTrack(detector);
    const voices: number[] = [];
    let position = 0;
    for (const part of parts) {
      track.push(part);
      for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
        const [score = 0] = await detector.score([window]);
        position += 256;
        const event = track.score(score, { position, atMs: position / SAMPLES_PER_MS });
        if (event?.kind === 'voice-started') voices.push(event.atMs * SAMPLES_PER_MS);
      }
    }
    return voices;
  }

  const calls = RECORDED_PEOPLE.flatMap((person) =>
    Object.keys(LINES).map((name) => ({ person, name })),
  );

  test.each(calls)('every sentence of $person is heard, with $name', async ({ person, name }) => {
    const { sentences, parts } = heardOver(LINES[name] ?? {}, person);

    const voices = await voicesIn(parts);

    const margin = 300 * SAMPLES_PER_MS;
    const missed = sentences.flatMap(({ from, to }, index) =>
      voices.some((at) => at > from - margin && at < to) ? [] : [SENTENCES[index]],
    );
    expect(missed).toEqual([]);
  });
});
