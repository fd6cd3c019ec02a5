/** A sound file that a browser takes for its microphone: sentences, each at its time. */
import { writeFileSync } from 'node:fs';
import { speakAll } from '../../../examples/demo/voice.ts';
import { wavHeader } from '../../../src/media/recording/wav-file.ts';

const RATE_HZ = 8000;

export interface SpokenSentence {
  /** Counted from the moment at which the microphone is opened. */
  readonly atMs: number;
  readonly text: string;
}

/** Writes a mono WAV of 16-bit PCM. Sentences that would overlap follow each other. */
export async function writeSpokenFile(
  path: string,
  sentences: readonly SpokenSentence[],
  voice: string,
): Promise<void> {
  const spoken = await speakAll(
    sentences.map(({ text }) => text),
    voice,
  );
  const samples: number[] = [];
  for (const [index, pcm] of spoken.entries()) {
    const start = Math.round(((sentences[index]?.atMs ?? 0) * RATE_HZ) / 1000);
    while (samples.length < start) samples.push(0);
    for (const sample of pcm) samples.push(sample);
  }
  const data = Buffer.from(Int16Array.from(samples).buffer);
  writeFileSync(
    path,
    Buffer.concat([wavHeader({ channels: 1, rateHz: RATE_HZ }, data.length), data]),
  );
}
