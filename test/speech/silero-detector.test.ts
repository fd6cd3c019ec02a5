/** The voice detector on our own tiny model: windows, batches, phrases, broken files. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { VoiceEvent } from '../../src/speech/hearing/hearing.ts';
import { openVoiceDetector } from '../../src/speech/vad/silero/silero-detector.ts';
import { VadTrack } from '../../src/speech/vad/vad-track.ts';
import { phraseSaying, TINY_VAD_PATH, TINY_WHISPER_DIR } from './spoken-phrases.ts';

const detector = await openVoiceDetector(TINY_VAD_PATH);
const folder = mkdtempSync(join(tmpdir(), 'silero-'));

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await detector.close();
});

/** Chances of speech in each window of a call that is scored alone. */
async function scoresAlone(pcm: Int16Array): Promise<number[]> {
  const track = new VadTrack(detector);
  track.push(pcm);
  const scores: number[] = [];
  for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
    scores.push(...(await detector.score([window])));
  }
  return scores;
}

/** The same for several calls, one run for all of them at a time. */
async function scoresTogether(calls: readonly Int16Array[]): Promise<number[][]> {
  const tracks = calls.map((pcm) => {
    const track = new VadTrack(detector);
    track.push(pcm);
    return { track, scores: [] as number[] };
  });
  for (;;) {
    const ready = tracks.flatMap(({ track, scores }) => {
      const window = track.takeWindow();
      return window === null ? [] : [{ window, scores }];
    });
    if (ready.length === 0) return tracks.map(({ scores }) => scores);
    const scores = await detector.score(ready.map(({ window }) => window));
    ready.forEach((call, index) => {
      call.scores.push(scores[index] ?? -1);
    });
  }
}

async function eventsOf(pcm: Int16Array): Promise<VoiceEvent[]> {
  const track = new VadTrack(detector);
  track.push(pcm);
  const events: VoiceEvent[] = [];
  for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
    const [score = 0] = await detector.score([window]);
    const event = track.score(score, { position: 0, atMs: 0 });
    if (event !== null) events.push(event);
  }
  return events;
}

/** White noise, the same at every run; amplitude 1 is full scale. */
function noise(samples: number, amplitude: number): Int16Array {
  let seed = 1;
  return Int16Array.from({ length: samples }, () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return (seed / 2_147_483_647 - 0.5) * 2 * amplitude * 32_767;
  });
}

function joined(...pieces: readonly Int16Array[]): Int16Array {
  return Int16Array.from(pieces.flatMap((piece) => Array.from(piece)));
}

test('SileroDetector scores calls together as it scores each alone', async () => {
  const calls = [
    phraseSaying('Transfer me to a person.'),
    phraseSaying('Goodbye.'),
    noise(20_000, 0.02),
    phraseSaying('Quiero una cita.'),
  ];
  const alone = await Promise.all(calls.map(scoresAlone));

  const together = await scoresTogether(calls);

  expect(together.map((scores) => scores.length)).toEqual(alone.map((scores) => scores.length));
  together.flat().forEach((score, index) => {
    expect(Math.abs(score - (alone.flat()[index] ?? -1))).toBeLessThan(1e-5);
  });
});

test('SileroDetector hears one stretch of speech in a phrase, where it is', async () => {
  const [started, stopped, ...others] = await eventsOf(
    phraseSaying('I would like to book an appointment.'),
  );

  expect(others).toEqual([]);
  expect(started).toMatchObject({ kind: 'voice-started' });
  expect(stopped).toMatchObject({ kind: 'voice-stopped' });
  // The fixture has 300 ms of silence before the phrase, and more than that after it.
  expect(started?.kind === 'voice-started' && started.atMs).toBeGreaterThan(200);
  expect(started?.kind === 'voice-started' && started.atMs).toBeLessThan(400);
  expect(stopped?.kind === 'voice-stopped' && stopped.lastVoicedAtMs).toBeGreaterThan(1900);
  expect(stopped?.kind === 'voice-stopped' && stopped.lastVoicedAtMs).toBeLessThan(2700);
});

test('SileroDetector hears two phrases apart over line noise', async () => {
  const phrase = phraseSaying('Goodbye.');
  const calm = joined(phrase, new Int16Array(8000), phrase);
  const hiss = noise(calm.length, 0.003);

  const events = await eventsOf(calm.map((sample, index) => sample + (hiss[index] ?? 0)));

  const kinds = events.map(({ kind }) => kind);
  expect(kinds).toEqual(['voice-started', 'voice-stopped', 'voice-started', 'voice-stopped']);
});

test.each([
  { what: 'silence', pcm: new Int16Array(16_000) },
  { what: 'line noise', pcm: noise(16_000, 0.01) },
])('SileroDetector hears no voice in $what', async ({ pcm }) => {
  expect(await eventsOf(pcm)).toEqual([]);
});

test('SileroDetector scores nothing when no call has a window', async () => {
  expect(await detector.score([])).toEqual([]);
});

test('SileroDetector refuses a window of another length', async () => {
  const window = { stream: detector.open(), pcm: new Float32Array(100) };

  await expect(detector.score([window])).rejects.toThrow(RangeError);
});

test.each([
  { what: 'a damaged file', bytes: readFileSync(TINY_VAD_PATH).subarray(0, 50_000) },
  { what: 'a web page', bytes: Buffer.from('<!DOCTYPE html><title>404</title>') },
])('openVoiceDetector names $what and the remedy', async ({ bytes }) => {
  const path = join(folder, 'broken.onnx');
  writeFileSync(path, bytes);

  await expect(openVoiceDetector(path)).rejects.toThrow(
    `Cannot load the voice detector "${path}": the file is damaged; put a whole copy there, or remove it`,
  );
});

test('openVoiceDetector says when there is no such file', async () => {
  await expect(openVoiceDetector(join(folder, 'absent.onnx'))).rejects.toThrow(
    'there is no such file',
  );
});

test('openVoiceDetector refuses a model of another kind', async () => {
  const encoder = join(TINY_WHISPER_DIR, 'onnx/encoder_model.onnx');

  await expect(openVoiceDetector(encoder)).rejects.toThrow('it has not the interface of Silero v5');
});
