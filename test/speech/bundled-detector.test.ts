/** The voice detector that comes with Offhook: Silero's own file, and what it takes for speech. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { openVoiceDetector } from '../../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../../src/speech/vad/silero/silero-engine.ts';
import { VadTrack } from '../../src/speech/vad/vad-track.ts';
import { NON_SPEECH, nonSpeech } from '../support/speech/non-speech.ts';
import { readPhrase, SPOKEN_PHRASES } from './spoken-phrases.ts';

const detector = await openVoiceDetector(bundledSilero());

afterAll(() => detector.close());

/** How many voices begin in the sound. */
async function voicesIn(pcm: Int16Array): Promise<number> {
  const track = new VadTrack(detector);
  track.push(pcm);
  let voices = 0;
  let position = 0;
  for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
    const [score = 0] = await detector.score([window]);
    position += 256;
    const event = track.score(score, { position, atMs: position / 8 });
    if (event?.kind === 'voice-started') voices += 1;
  }
  return voices;
}

test('The package has the file that the manifest of models names', () => {
  const manifest = JSON.parse(readFileSync('models/manifest.json', 'utf8'));
  const { files } = manifest.models.find(({ id }: { id: string }) => id === 'silero-vad-v5');

  const sha256 = createHash('sha256').update(readFileSync(bundledSilero())).digest('hex');

  expect(sha256).toBe(files[0].sha256);
});

/** Of this list Silero alone takes some for speech in their first seconds. */
const MISTAKEN = ['loud white noise', 'an arpeggio', 'a guitar'];

const onTheLine = (pcm: Int16Array) => decodeG711('PCMU', encodeG711('PCMU', pcm));

test('there are more than sixty sounds, and Silero mistakes less than one in twenty', () => {
  const sounds = Object.keys(NON_SPEECH).length;

  expect(sounds).toBeGreaterThanOrEqual(60);
  expect(MISTAKEN.length / sounds).toBeLessThan(0.05);
});

test.each(Object.keys(NON_SPEECH))('Silero and twenty seconds of %s', async (name) => {
  const voices = await voicesIn(onTheLine(nonSpeech(name, 20)));

  expect(voices).toBe(MISTAKEN.includes(name) ? 1 : 0);
});

test('Silero hears a voice in every phrase, also at a tenth of its level', async () => {
  for (const { file } of SPOKEN_PHRASES) {
    const phrase = readPhrase(file);
    expect(await voicesIn(phrase), file).toBeGreaterThan(0);
    expect(await voicesIn(phrase.map((sample) => sample / 10)), `${file}, quiet`).toBeGreaterThan(
      0,
    );
  }
});
