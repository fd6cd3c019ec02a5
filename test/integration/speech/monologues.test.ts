/**
 * Callers who take their time, as Silero and the turn machine have them: sentences with pauses of 0.3 to 1.2 s, hesitations, lists
 * and numbers, in three languages. Spoken by espeak-ng over G.711; the words of each stretch of voice are given, and time is
 * simulated, so that a busy machine changes nothing. On calls: `test/e2e/measured/monologues.test.ts`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../../src/media/dsp/g711.ts';
import { openVoiceDetector } from '../../../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../../../src/speech/vad/silero/silero-engine.ts';
import { type Vad, VadTrack } from '../../../src/speech/vad/vad-track.ts';
import { readScene } from '../../conversation/support/scene.ts';
import { SceneWorld } from '../../conversation/support/scene-world.ts';
import { describeWith } from '../../support/server/programs.ts';
import {
  KNOWN_STORY,
  MONOLOGUES,
  type SpokenTrack,
  speakMonologue,
} from '../../support/speech/monologues.ts';

/** Before the first word, and after the last. */
const SILENCE_MS = 1000;
const SAMPLES_PER_MS = 8;
const WINDOW_SAMPLES = 256;

/** The agent greets meanwhile. */
const GREETING_MS = 1500;

/** A voice is told to have begun a little after its word. */
const LATE_MS = 60;

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The voice that the detector finds. */
async function stretchesIn(pcm: Int16Array, detector: Vad): Promise<readonly Stretch[]> {
  const track = new VadTrack(detector);
  track.push(decodeG711('PCMU', encodeG711('PCMU', pcm)));
  const stretches: Stretch[] = [];
  let [fromMs, position] = [0, 0];
  for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
    const [score = 0] = await detector.score([window]);
    position += WINDOW_SAMPLES;
    const event = track.score(score, { position, atMs: position / SAMPLES_PER_MS });
    if (event?.kind === 'voice-started') fromMs = event.atMs;
    if (event?.kind === 'voice-stopped') stretches.push({ fromMs, toMs: event.lastVoicedAtMs });
  }
  return stretches;
}

/** The scene of a call on which that is said. */
function sceneOf({ words }: SpokenTrack, stretches: readonly Stretch[]): string {
  const lines = ['agent greets with "Hello."'];
  for (const [index, { fromMs, toMs }] of stretches.entries()) {
    const [least, most] = [
      index === 0 ? 0 : fromMs - LATE_MS,
      (stretches[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY) - LATE_MS,
    ];
    const said = words.filter(({ startMs, endMs }) => {
      const middleMs = SILENCE_MS + (startMs + endMs) / 2;
      return middleMs >= least && middleMs < most;
    });
    const text = said.map((word) => word.text).join(' ');
    const [at, length] = [(GREETING_MS + fromMs) / 1000, (toMs - fromMs) / 1000];
    lines.push('model answers "I see, and what else can you tell me?"');
    lines.push(`at ${at.toFixed(3)} s caller says "${text}" for ${length.toFixed(3)} s`);
  }
  const lastMs = stretches.at(-1)?.toMs ?? 0;
  return [...lines, `curtain after ${(GREETING_MS + lastMs + 3000) / 1000} s`].join('\n');
}

describeWith(['espeak-ng'], 'a caller who takes their time', () => {
  let detector: Vad;

  beforeAll(async () => {
    detector = await openVoiceDetector(bundledSilero());
  });

  afterAll(() => detector.close());

  test.each([
    ...MONOLOGUES,
    KNOWN_STORY,
  ])('with twenty breaths ($language $name) is interrupted once at most', async (monologue) => {
    const track = await speakMonologue(monologue, MONOLOGUES.indexOf(monologue) + 1);
    const margin = SILENCE_MS * SAMPLES_PER_MS;
    const pcm = new Int16Array(track.pcm.length + 2 * margin);
    pcm.set(track.pcm, margin);

    const stretches = await stretchesIn(pcm, detector);
    const trace = new SceneWorld(
      readScene(`agent speaks ${monologue.language}\n${sceneOf(track, stretches)}`),
    ).play();

    const turns = trace.filter((line) => line.includes('EMIT said by user'));
    expect(monologue.pieces).toHaveLength(20);
    expect(stretches.length).toBeGreaterThan(10);
    expect(turns.length - 1, turns.join('\n')).toBeLessThanOrEqual(1);
  });
});
